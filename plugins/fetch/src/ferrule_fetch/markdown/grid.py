"""Tables as a grid of cells, and which of them are one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ferrule_fetch.markdown.attributes import attributes_of, number

MAX_SPAN = 1000  # columns or rows, as in browsers
_MAX_FILLED = 10_000  # places in a table that cells may fill besides their first

# What no cell can hold. A table without headers that has any of them in it is there for the layout of a page.
_STRUCTURE = frozenset(
    {"table", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "ul", "ol", "dl", "form"}
    | {"fieldset", "article", "section", "figure"}
)
_FREQUENT = frozenset({"td", "tr", "th", "p", "br"})
_RULES = {"left": ":--- |", "center": ":---: |", "right": "---: |"}
_ALIGN = re.compile(r"text-align\s*:\s*(left|center|right)", re.I)


def is_data(spelt: str, following: Iterable[str]) -> bool:
    """Whether a table is written as one. following: the pieces of the page behind its start tag, each from a "<" on."""
    if '"presentation"' in spelt or '"none"' in spelt:
        return False
    rows = cells = headers = 0
    tables = 1
    for piece in following:
        if piece[0] == "/":
            tables -= piece.startswith("/table>")
            if tables == 0:
                break
            continue
        tag = piece[: piece.find(">")]
        if tag not in _FREQUENT:
            tag = tag.partition(" ")[0]
        if tag == "table" and headers:
            tables += 1
        if tables > 1:
            continue
        if tag == "td":
            cells += 1
        elif tag == "tr":
            rows += 1
        elif tag == "th":
            headers += 1
        elif (tag in _STRUCTURE and not headers) or (tag == "pre" and "\n" in piece.rstrip()):
            return False
    return headers > 0 or cells > max(rows, 1)


class Cell:
    """A cell, before its text is there."""

    __slots__ = ("align", "colspan", "rowspan", "text")

    def __init__(self, spelt: str) -> None:
        self.text = ""
        self.colspan = self.rowspan = 1
        self.align = ""
        if "span=" in spelt or "align" in spelt:
            attributes = attributes_of(spelt)
            self.colspan = number(attributes.get("colspan"), 1, 1, MAX_SPAN)
            self.rowspan = number(attributes.get("rowspan"), 1, 0, MAX_SPAN) or MAX_SPAN  # 0 is: to the end
            self.align = _align(attributes)


class Grid:
    """A table that is being read: rows of cells."""

    def __init__(self) -> None:
        self._rows: list[list[Cell]] = []

    def begin_row(self) -> None:
        """Put the cells that follow into a new row."""
        self._rows.append([])

    def begin_cell(self, spelt: str) -> Cell:
        """Add a cell to the row."""
        if not self._rows:
            self.begin_row()
        cell = Cell(spelt)
        self._rows[-1].append(cell)
        return cell

    def lines(self) -> list[str]:
        """The lines of the table, of which the first row is the header; [] where no cell has text."""
        rows = [row for row in self._rows if row]
        if not any(cell.text for row in rows for cell in row):
            return []
        filling = _Filling()
        texts = [filling.row(row) for row in rows]
        width = max(map(len, texts))
        texts[0] += [""] * (width - len(texts[0]))  # what goes beyond the header would be dropped
        header, *body = (f"| {' | '.join(row)} |" for row in texts)
        return [header, self._rules(rows, width), *body]

    def _rules(self, rows: list[list[Cell]], width: int) -> str:
        aligned: list[str] = []
        for cell in rows[0]:
            aligned += [_RULES.get(cell.align, "--- |")] * min(cell.colspan, width - len(aligned))
        return "| " + " ".join(aligned + ["--- |"] * (width - len(aligned)))


class _Filling:
    """Puts each cell into the column where a browser would, with empty ones for what spans fill."""

    def __init__(self) -> None:
        self._rows_below: dict[int, int] = {}  # by column: how many rows a cell above still fills
        self._left = _MAX_FILLED

    def row(self, cells: list[Cell]) -> list[str]:
        """The texts of a row."""
        texts: list[str] = []
        for cell in cells:
            self._fill_from_above(texts)
            column = len(texts)
            texts.append(cell.text)
            self._pad(texts, cell.colspan - 1)
            if cell.rowspan > 1:
                self._rows_below |= dict.fromkeys(range(column, len(texts)), cell.rowspan - 1)
        self._fill_from_above(texts)
        return texts

    def _fill_from_above(self, row: list[str]) -> None:
        while self._rows_below.get(len(row), 0) > 0 and self._left > 0:
            self._rows_below[len(row)] -= 1
            self._pad(row, 1)

    def _pad(self, row: list[str], places: int) -> None:
        places = min(places, self._left)
        self._left -= places
        row += [""] * places


def _align(attributes: dict[str, str]) -> str:
    found = _ALIGN.search(attributes.get("style", ""))
    return found[1].lower() if found else attributes.get("align", "").lower()
