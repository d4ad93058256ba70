"""Tables of data as one cell for each place; tables that only place things as what stands in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace, unwrap
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found

MAX_SPAN = 1_000  # columns or rows, as in browsers
_MAX_FILLED = 10_000  # places that cells may fill besides their first, in all tables of a page
_MAX_REPEATED_CHARS = 200  # a longer value is not repeated
# What no cell of a table can hold. A table without headers that has any of them in it places things.
_STRUCTURE = "table,pre,blockquote,h1,h2,h3,h4,h5,h6,hr,ul,ol,dl,form,fieldset,article,section,figure"
_IN_CELL = f"{_STRUCTURE},p,div,br,li,address,header,footer,main,aside,details,summary,center"
_BLOCKS_IN_CELL = _IN_CELL.replace("pre,", "").replace("br,", "").replace("li,", "")
_BLOCK_IN_CELL = compile_late(f"<({_IN_CELL.replace(',', '|')})\\b")
_BREAKS, _ITEMS, _NO_BLOCKS = frozenset({"br", "hr"}), frozenset({"li", "dl"}), frozenset({"br", "pre", "li"})
_NUMBER = compile_late(r"\s*([0-9]{1,9})")


SELECTORS = ("table",)


def clean(found: Found) -> None:
    """Fill what spans leave empty, put one line into each cell, and lay out the tables that hold no data."""
    places = _MAX_FILLED
    for table in reversed(found["table"]):
        rows = [row for row in _rows(table) if row]
        if not _is_data(table, rows):
            _lay_out(table)
            continue
        if table.select_one(_IN_CELL) is not None:
            for row in rows:
                for cell in row:
                    _put_on_one_line(cell)
        if table.select_one("[colspan],[rowspan]") is not None:
            places = _fill(rows, places)
        width = min(max(map(len, rows)), MAX_SPAN)
        if any(len(row) < width for row in rows):
            places -= _pad(rows, width, places)


def _rows(table: Element) -> list[list[Element]]:
    """The cells of each row, without those of tables inside."""
    rows: list[Element] = []
    for child in table.children:
        if isinstance(child, Element):
            if child.tag == "tr":
                rows.append(child)
            elif child.tag in ("tbody", "thead", "tfoot"):
                rows += [row for row in child.children if isinstance(row, Element) and row.tag == "tr"]
    return [[cell for cell in row.children if isinstance(cell, Element) and cell.tag in ("td", "th")] for row in rows]


def _is_data(table: Element, rows: list[list[Element]]) -> bool:
    if table.attr("role") in ("presentation", "none") or not rows:
        return False
    cells = sum(map(len, rows))
    headers = sum(cell.tag == "th" for row in rows for cell in row)
    if headers and cells > 1:
        return True
    return cells > len(rows) and table.select_one(_STRUCTURE) is None


def _lay_out(table: Element) -> None:
    for row in _rows(table):
        for cell in row:
            if isinstance(cell.parent, Element):
                cell.parent.tag = "div"
            cell.tag = "div"
    for part in table.children:
        if isinstance(part, Element) and part.tag in ("tbody", "thead", "tfoot", "tr", "caption", "colgroup"):
            part.tag = "div"
    table.tag = "div"


def _put_on_one_line(cell: Element) -> None:
    if len(cell) < 2 and cell.find(True) is None:
        return
    names = frozenset(_BLOCK_IN_CELL.findall(cell.inner_html))
    for code in cell.select("pre") if "pre" in names else ():
        lines = [line.strip() for line in code.text.split("\n") if line.strip()]
        spans = [node for line in lines for node in (Element("code", {}, [Text(line)]), Text(" "))]
        replace(code, *spans)
    for line_break in cell.select("br,hr") if names & _BREAKS else ():
        replace(line_break, Text(" "))
    for item in cell.select("li,dt,dd") if names & _ITEMS else ():
        item.insert(0, Text(" - " if item.tag == "li" else " "))
        item.append(Text(" "))
        unwrap(item)
    for nested in cell.select("td,th,tr,tbody,thead,tfoot,caption") if "table" in names else ():
        nested.append(Text(" "))
        unwrap(nested)
    for block in cell.select(_BLOCKS_IN_CELL) if names - _NO_BLOCKS else ():
        block.insert(0, Text(" "))
        block.append(Text(" "))
        unwrap(block)


def _fill(rows: list[list[Element]], places: int) -> int:
    """Give each place of a table a cell of its own; returns how many places more may be filled."""
    below: dict[int, tuple[int, Element]] = {}  # by column: how many rows more a cell fills
    for row in rows:
        owner = row[0].parent
        column, filled = 0, []
        cells = iter(row)
        while True:
            left, value = below.get(column, (0, None))
            if left > 0 and value is not None and places > 0:
                below[column] = (left - 1, value)
                filled.append(_repeated(value))
                places -= 1
                column += 1
                continue
            cell = next(cells, None)
            if cell is None:
                if any(at > column and rest > 0 for at, (rest, _) in below.items()) and places > 0:
                    filled.append(Element(row[0].tag))
                    column, places = column + 1, places - 1
                    continue
                break
            across, down = _span(cell, "colspan"), _span(cell, "rowspan")
            filled.append(cell)
            extra = min(across - 1, places)
            filled += [Element(cell.tag) for _ in range(extra)]
            places -= extra
            if down > 1:
                below[column] = (down - 1, cell)
                below |= {column + 1 + more: (down - 1, Element("td")) for more in range(extra)}
            column += 1 + extra
        if isinstance(owner, Element) and filled != row:
            owner.clear()
            owner.extend(filled)
        row[:] = filled
    return places


def _pad(rows: list[list[Element]], width: int, places: int) -> int:
    """Make all rows as long as the longest; returns how many cells it took."""
    taken = 0
    for row in rows:
        owner = row[0].parent
        missing = min(width - len(row), places - taken)
        if missing > 0 and isinstance(owner, Element):
            owner.extend(Element(row[0].tag) for _ in range(missing))
            taken += missing
    return taken


def _repeated(cell: Element) -> Element:
    if len(cell.text) > _MAX_REPEATED_CHARS:
        return Element(cell.tag)
    from copy import deepcopy  # few pages have a cell that is repeated

    return Element(cell.tag, {}, [deepcopy(child) for child in cell.children])


def _span(cell: Element, name: str) -> int:
    """How many places a cell takes; a `rowspan` of 0 is all that are left."""
    value = cell.attr(name)
    if value is None:
        return 1
    del cell.attrs[name]
    found = _NUMBER.match(value)
    number = int(found[1]) if found else 1
    if number == 0:
        return MAX_SPAN if name == "rowspan" else 1
    return number if number <= MAX_SPAN else 1
