"""Tables that are one by their roles alone (ARIA) become elements of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found

_TABLES = ("table", "grid", "treegrid")
_ROWS = "[role=row]"
_CELLS = {"columnheader": "th", "rowheader": "th", "cell": "td", "gridcell": "td"}
_ANY_CELL = ",".join(f"[role={role}]" for role in _CELLS)
_SPANS = ("colspan", "rowspan")
_MAX_TABLES = 200  # of a page


def make_tables(roles: Found) -> None:
    """Make tables of the elements whose roles are those of a table with two columns or more, the inner ones first."""
    owners = [owner for role in _TABLES for owner in roles.get(role, ())]
    for owner in reversed(owners[:_MAX_TABLES]):
        if owner.tag != "table" and owner.parent is not None and owner.select_one("table") is None:
            _make_table(owner)


def _make_table(owner: Element) -> None:
    rows = [cells for row in owner.select(_ROWS) if (cells := row.select(_ANY_CELL))]
    if len(rows) < 2 or max(map(len, rows)) < 2:
        return
    caption = " ".join((owner.attr("aria-label") or "").split())
    body = Element("tbody", {}, [Element("tr", {}, list(map(_make_cell, row))) for row in rows])
    owner.clear()
    owner.tag = "table"
    if caption:
        owner.append(Element("caption", {}, [Text(caption)]))
    owner.append(body)


def _make_cell(cell: Element) -> Element:
    attributes = {name: span for name in _SPANS if (span := cell.attr(f"aria-{name}"))}
    return Element(_CELLS[cell.attr("role") or ""], attributes, list(cell.children))
