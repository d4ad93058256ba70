"""Rows of a table as markdown, written at once: a table may have more cells than a tree has room for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta

Cell = str | float | int | bool | date | datetime | time | timedelta | None

_SIGNS = re.compile(r"([\\|`\[<*]|(?<!\w)_|_(?!\w))")
_MAX_EMPTINESS = 10  # cells for one that is there
_BETWEEN = "\x1f"  # of cells, until their signs are escaped
_CONTROLS = re.compile(r"[\r\n\t\v\f\x1f]+")


def write_table(rows: Iterable[Sequence[Cell]]) -> str:
    """Rows as a table of markdown, of which the first is the head. Columns that are empty at the right are left out."""
    lines = [_trim([_write_cell(cell) for cell in row]) for row in rows]
    while lines and not any(lines[-1]):
        lines.pop()
    while lines and not any(lines[0]):
        del lines[0]
    width = max(map(len, lines), default=0)
    if not width:
        return ""
    lines = [line for line in lines if any(line)]
    # A row may have fewer cells than the head; where one row alone is wide, the others are not filled up to it.
    is_even = width * len(lines) <= _MAX_EMPTINESS * sum(map(len, lines))
    written = [_write_row(line, width if is_even or not number else 0) for number, line in enumerate(lines)]
    return "\n".join([written[0], "|" + " --- |" * width, *written[1:]])


def _trim(cells: list[str]) -> list[str]:
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _write_cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return _CONTROLS.sub(" ", cell).strip()
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else f"{cell:.15g}"
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ").removesuffix(" 00:00:00")
    return str(cell)


def _write_row(cells: list[str], width: int) -> str:
    text = _SIGNS.sub(r"\\\1", _BETWEEN.join([*cells, *[""] * (width - len(cells))]))
    return f"| {text.replace(_BETWEEN, ' | ')} |"
