"""Tables, and what is in their cells."""

from __future__ import annotations

from ferrule_fetch.markdown import escapes
from ferrule_fetch.markdown.blocks import Kind
from ferrule_fetch.markdown.code import is_gutter
from ferrule_fetch.markdown.grid import Cell, Grid, is_data
from ferrule_fetch.markdown.layout import Flow, Meanings, meanings_of
from ferrule_fetch.markdown.tokens import skip


class Tables:
    """What the elements of tables mean: a grid, or nothing but places where something stands."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._tables: list[Grid | None] = []  # None for one that only places things
        self._cell: Cell | None = None

    def meanings(self) -> Meanings:
        """By the name of a tag."""
        return meanings_of(
            ("table", self._begin, self._end),
            ("caption", self._flow.complete, self._flow.complete),
            ("tr", self._row, self._flow.complete),
            ("td", self._begin_cell, self._end_cell),
            ("th", self._begin_cell, self._end_cell),
        )

    def _begin(self, spelt: str) -> None:
        flow = self._flow
        flow.complete()
        self._tables.append(Grid() if not flow.in_cell and is_data(spelt, flow.ahead()) else None)

    def _end(self, _: str) -> None:
        self._flow.complete()
        grid = self._tables.pop()
        lines = grid.lines() if grid else []
        if lines:
            self._flow.add(Kind.TABLE, lines)

    def _row(self, _: str) -> None:
        self._flow.complete()
        if self._tables and self._tables[-1]:
            self._tables[-1].begin_row()

    def _begin_cell(self, spelt: str) -> bool:
        self._flow.complete()
        if "class=" in spelt and is_gutter(spelt):
            self._flow.put(skip(self._flow.rest, spelt[:2]))
            return True
        grid = self._tables[-1] if self._tables else None
        if grid:
            self._cell = grid.begin_cell(spelt)
            self._flow.in_cell = True
        return False

    def _end_cell(self, _: str) -> None:
        if not self._cell or not self._tables[-1]:
            self._flow.complete()
            return
        lines = [line for paragraph in self._flow.take() for line in paragraph]
        self._cell.text = escapes.cell(" ".join(lines))
        self._cell, self._flow.in_cell = None, False
