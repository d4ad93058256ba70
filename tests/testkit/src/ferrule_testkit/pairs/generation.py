"""The rows of the table, made of its factors; the same at every call. Takes two seconds, so they stand in a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping

from covertable import make
from covertable.shortcuts import Constraint

from ferrule_testkit.pairs.table import APART, FACTORS, FORCED, Row, Some


def generate() -> str:
    """The text of the file: a line for each row, the forced ones first."""
    made = make(dict(FACTORS), presets=[row._asdict() for row in FORCED], constraints=[_apart(*two) for two in APART])
    text = io.StringIO()
    writer = csv.DictWriter(text, Row._fields, lineterminator="\n")
    writer.writeheader()
    writer.writerows(made)
    return text.getvalue()


def _apart(one: Some, other: Some) -> object:
    def holds(row: Mapping[str, str]) -> bool:
        return not (row[one[0]] in one[1:] and row[other[0]] in other[1:])

    return Constraint().fn([one[0], other[0]], holds)
