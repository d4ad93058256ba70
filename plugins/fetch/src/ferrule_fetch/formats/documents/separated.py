"""Tables as text: values that commas, semicolons, tabs or bars keep apart."""

from __future__ import annotations

import csv
from io import StringIO
from itertools import islice

from ferrule_fetch.formats.documents.cells import write_table
from ferrule_fetch.limits.conversion import SMALL_CHARS
from ferrule_fetch.limits.reader import TooMuch, bounded_reading

_SECONDS = 6.0
_SEPARATORS = ",;\t|"
_SAMPLED_ROWS = 30
_MAX_COLUMNS = 2_000
_MAX_CELLS = 400_000  # of which a table is made; what has more is lines of text, and none of them is missing


def read_table(text: str, deadline: float) -> str:
    """Do what `parse_table` does, by a deadline; the text itself where that takes too much."""
    if len(text) <= SMALL_CHARS:
        return parse_table(text)
    if text.count("\n") + max(map(text.count, _SEPARATORS)) > _MAX_CELLS:
        return text
    try:
        return bounded_reading(lambda: (parse_table(text),), deadline=deadline, seconds=_SECONDS)[0]
    except TooMuch:
        return text


def parse_table(text: str) -> str:
    """The table that a text is; the text itself where it is none."""
    text = text.replace("\0", "")
    separator = max(_SEPARATORS, key=lambda sign: _count_columns(text, sign))
    if _count_columns(text, separator) < 2:
        return text
    try:
        rows = list(csv.reader(StringIO(text), delimiter=separator))
    except csv.Error:
        return text
    return text if any(len(row) > _MAX_COLUMNS for row in rows) else write_table(rows)


def _count_columns(text: str, separator: str) -> int:
    """How many columns most of the first rows have; 0 where they differ."""
    try:
        rows = [row for row in islice(csv.reader(StringIO(text[: 1 << 16]), delimiter=separator), _SAMPLED_ROWS) if row]
    except csv.Error:
        return 0
    widths = [len(row) for row in (rows[:-1] if len(text) > 1 << 16 else rows)]
    usual = max(set(widths), key=widths.count, default=0)
    return usual if widths.count(usual) * 2 > len(widths) else 0
