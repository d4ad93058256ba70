"""Texts and tables in the columns of a terminal: nothing is cut, and no line is longer where its words allow that."""

from __future__ import annotations

from itertools import zip_longest

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GAP_COLUMNS = 2
_NARROWEST_COLUMNS = 16  # of a column that is wrapped
_INDENT_COLUMNS = 2


def wrap(text: str, width: int, indent: int = 0, hanging: int | None = None) -> list[str]:
    """The text as lines of at most so many columns; a longer word, such as a path or a URL, is left whole.

    Args:
        indent: columns before the first line.
        hanging: before the others, as many by default.
    """
    hanging = indent if hanging is None else hanging
    lines, line = [], " " * indent
    is_begun = False
    for word in text.split(" "):
        if is_begun and len(line) + 1 + len(word) > width:
            lines.append(line.rstrip())
            line, is_begun = " " * hanging, False
        line += f" {word}" if is_begun else word
        is_begun = True
    return [*lines, line.rstrip()]


def fit(table: Sequence[Sequence[str]], width: int | None) -> list[int] | None:
    """How wide each column of a table is, headings among its rows, without the last one if there is all room.

    width: of the terminal; None for as much as the cells take. Columns of several words are made narrower, the widest
    first. None where they cannot be narrow enough.
    """
    columns = list(zip(*table, strict=True))
    natural = [max(map(len, column)) for column in columns]
    if width is None:
        return natural
    narrowest = [
        min(wide, max(_NARROWEST_COLUMNS, *(_longest_word(cell) for cell in column)))
        for wide, column in zip(natural, columns, strict=True)
    ]
    room = width - GAP_COLUMNS * (len(natural) - 1)
    if sum(narrowest) > room:
        return None
    while sum(natural) > room:
        widest = max((wide, number) for number, wide in enumerate(natural) if wide > narrowest[number])[1]
        natural[widest] -= 1
    return natural


def lines_of(row: Sequence[str], widths: Sequence[int]) -> Iterator[list[str]]:
    """The row as lines of cells, each as wide as its column."""
    wrapped = [wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
    for line in zip_longest(*wrapped, fillvalue=""):
        yield [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]


def stacked(headings: Sequence[str], row: Sequence[str], width: int) -> Iterator[str]:
    """The row as a list of its cells, for a terminal that is too narrow for its columns: the first one, then others."""
    yield from wrap(row[0], width)
    margin = _INDENT_COLUMNS + max(map(len, headings)) + GAP_COLUMNS
    for heading, cell in zip(headings[1:], row[1:], strict=True):
        if cell:
            label = f"{'':{_INDENT_COLUMNS}}{heading}"
            if margin + _longest_word(cell) > width:
                yield label
                yield from wrap(cell, width, 2 * _INDENT_COLUMNS)
                continue
            first, *others = wrap(cell, width - margin)
            yield from (label.ljust(margin) + first, *(" " * margin + line for line in others))


def _longest_word(cell: str) -> int:
    return max(map(len, cell.split(" ")))
