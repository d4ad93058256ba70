"""Tables: rows of cells, written as a grid where they are one."""

from ferrule_fetch.markdown.blocks import Block

MAX_SPAN = 100  # columns or rows; a cell that claims to fill more fills one
_MAX_FILLED = 10_000  # places in a table that cells may fill besides their first


class Cell(Block):
    """A cell. colspan, rowspan: how many columns and rows it fills."""

    def __init__(self, *, header: bool = False, colspan: int = 1, rowspan: int = 1) -> None:
        super().__init__()
        self.header = header
        self.colspan = max(colspan, 1)
        self.rowspan = max(rowspan, 1)

    def text(self) -> str:
        """The cell in one line, with its bars escaped."""
        return "<br>".join(filter(None, map(str.strip, self.lines))).replace("|", "\\|")


class Table(Block):
    """A table. What is added to it itself, such as its caption, stands before its rows."""

    def __init__(self) -> None:
        super().__init__()
        self._rows: list[list[Cell]] = []

    def begin_row(self) -> None:
        """Put the cells that follow into a new row."""
        self._rows.append([])

    def add_cell(self, cell: Cell) -> None:
        """Add a cell to the row."""
        if not self._rows:
            self.begin_row()
        self._rows[-1].append(cell)

    def finished(self) -> list[str]:
        rows = [row for row in self._rows if any(cell.lines for cell in row)]
        if _is_layout(rows):
            for row in rows:
                for cell in row:
                    self.add(cell.lines)
        else:
            self.add(_grid(_Filling().rows(rows)))
        return self.lines


def _is_layout(rows: list[list[Cell]]) -> bool:
    """Whether the table only places things, or holds what no cell of a markdown table can hold."""
    cells = [cell for row in rows for cell in row]
    one_column = all(len(row) == 1 for row in rows) and not any(cell.header for cell in cells)
    return one_column or any(cell.structured for cell in cells)


def _grid(rows: list[list[str]]) -> list[str]:
    """The first row is the header. It is as wide as any, since what goes beyond it would be dropped."""
    width = max(map(len, rows))
    rows[0] += [""] * (width - len(rows[0]))
    header, *body = (f"| {' | '.join(row)} |" for row in rows)
    return [header, "|" + " --- |" * width, *body]


class _Filling:
    """Puts each cell into the column where a browser would, with empty ones for what spans fill."""

    def __init__(self) -> None:
        self._rows_below: dict[int, int] = {}  # by column: how many rows a cell above still fills
        self._left = _MAX_FILLED

    def rows(self, rows: list[list[Cell]]) -> list[list[str]]:
        """The texts of the cells."""
        return [self._row(row) for row in rows]

    def _row(self, cells: list[Cell]) -> list[str]:
        row: list[str] = []
        for cell in cells:
            self._fill_from_above(row)
            column = len(row)
            row.append(cell.text())
            self._fill(row, cell.colspan - 1)
            if cell.rowspan > 1:
                self._rows_below |= dict.fromkeys(range(column, len(row)), cell.rowspan - 1)
        self._fill_from_above(row)
        return row

    def _fill_from_above(self, row: list[str]) -> None:
        while self._rows_below.get(len(row), 0) > 0 and self._left > 0:
            self._rows_below[len(row)] -= 1
            self._fill(row, 1)

    def _fill(self, row: list[str], places: int) -> None:
        places = min(places, self._left)
        self._left -= places
        row += [""] * places
