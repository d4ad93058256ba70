"""Sheets of a workbook with cells far from all others, which a reader would fill the space between with empty cells."""

from __future__ import annotations

import re
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING
from zipfile import ZipFile

from ferrule_fetch.formats.documents.archive import replace_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHEETS = "xl/worksheets/"
_CONTENT = "content.xml"
_REPEATED = re.compile(rb"""(number-(?:rows|columns)-repeated=["'])(\d{5,})(?=["'])""")
_MAX_REPEATED = b"100"
_CELL = re.compile(rb"""(<(?:\w{1,20}:)?c\s(?:[^<>]{0,200}?\s)?r=["'])([A-Z]{1,7})(\d{1,10})(?=["'])""")
_ROW = re.compile(rb"""(<(?:\w{1,20}:)?row\s(?:[^<>]{0,500}?\s)?r=["'])(\d{1,10})(?=["'])""")
_MAX_SPACE = 5_000  # cells that a sheet may have room for without a closer look
_MAX_EMPTINESS = 50  # times as much room as there are cells
_GAP = 20  # rows or columns without a cell, which become one


def pull_together(body: bytes) -> bytes:
    """A workbook (XLSX, ODS) in which wide gaps within sheets are narrow; the same bytes where it has none.

    Raises what zipfile raises.
    """
    with ZipFile(BytesIO(body)) as archive:
        names = [name for name in archive.namelist() if name.startswith(_SHEETS) and name.endswith(".xml")]
        changed = {name: sheet for name in names if (sheet := _pull_sheet(archive.read(name)))}
        if _CONTENT in archive.namelist() and (content := _limit_repeated(archive.read(_CONTENT))):
            changed[_CONTENT] = content
        return replace_parts(archive, changed) if changed else body


def _limit_repeated(content: bytes) -> bytes | None:
    """The content of an ODS, which has 10,000 or more equal rows or cells as one; None where it has none of them."""
    limited, count = _REPEATED.subn(lambda it: it[1] + _MAX_REPEATED, content)
    return limited if count else None


def _pull_sheet(sheet: bytes) -> bytes | None:
    """A sheet whose gaps are narrow; None for one that has room for few cells, or is full of them."""
    count, columns, rows = 0, set[int](), set[int]()
    for cell in _CELL.finditer(sheet):
        count += 1
        columns.add(_read_column(cell[2]))
        rows.add(int(cell[3]))
    room = max(rows, default=0) * max(columns, default=0)
    if room <= max(_MAX_SPACE, count * _MAX_EMPTINESS):
        return None
    to_column = {number: _write_column(place) for number, place in _close_gaps(columns).items()}
    to_row = {number: b"%d" % place for number, place in _close_gaps(rows).items()}
    sheet = _CELL.sub(lambda it: it[1] + to_column[_read_column(it[2])] + to_row[int(it[3])], sheet)
    return _ROW.sub(lambda it: it[1] + to_row.get(int(it[2]), b"1"), sheet)


def _close_gaps(numbers: Iterable[int]) -> dict[int, int]:
    """For each number the place that it gets: the order stays, and of a wide gap one place."""
    places: dict[int, int] = {}
    place = 0
    for before, number in pairwise([0, *sorted(numbers)]):
        place += number - before if number - before <= _GAP else 2
        places[number] = place
    return places


def _read_column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number


def _write_column(number: int) -> bytes:
    letters = b""
    while number:
        number, letter = divmod(number - 1, 26)
        letters = bytes([65 + letter]) + letters
    return letters
