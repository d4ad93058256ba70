"""Figures, one table for each measure: for people, or as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Row(NamedTuple):
    """A converter and its figures, in the order of the table's columns; None if there is none."""

    name: str
    figures: Sequence[float | None]


class Table(NamedTuple):
    """What a measure found. note: what the figures are, in a sentence or two. decimals: how many are shown."""

    measure: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Row]
    decimals: int = 1


def as_text(table: Table) -> str:
    """The table as people read it."""
    widths = [max(len(column), 7) for column in table.columns]
    first = max(len(row.name) for row in table.rows) if table.rows else 0
    lines = [f"{table.measure}: {table.note}", _line("", table.columns, first, widths)]
    for row in table.rows:
        cells = ["–" if figure is None else f"{figure:.{table.decimals}f}" for figure in row.figures]
        lines.append(_line(row.name, cells, first, widths))
    return "\n".join(lines) + "\n"


def as_json(table: Table) -> str:
    """A line of JSON for each row."""
    return "\n".join(json.dumps(_object(table, row)) for row in table.rows)


def _object(table: Table, row: Row) -> Mapping[str, object]:
    figures = dict(zip(table.columns, row.figures, strict=True))
    return {"measure": table.measure, "converter": row.name, "figures": figures}


def _line(name: str, cells: Sequence[str], first: int, widths: Sequence[int]) -> str:
    return "  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))])
