"""Tables whose cells are drawn, found by the rules between them."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule_fetch.formats.pdf.words import Rule, Word


_NEAR_POINTS = 3.0  # of two rules that meet, and of two that are one
_MAX_SIDES = 400  # of one table, across or down
_LEAST_FULL = 0.3  # of the cells, that hold words


class Table(NamedTuple):
    """A table, as the words of its cells, row by row from the top. top, bottom: where it stands."""

    cells: list[list[list[Word]]]
    words: list[Word]
    top: float


def find_tables(words: list[Word], rules: list[Rule]) -> list[Table]:
    """The tables that are drawn on a page. A word belongs to one at most."""
    tables: list[Table] = []
    taken: set[int] = set()
    for level, upright in _find_grids(rules):
        lines = _merge([rule.at for rule in level]), _merge([rule.at for rule in upright])
        if all(3 <= len(line) <= _MAX_SIDES for line in lines):
            inside = [word for word in words if id(word) not in taken and _is_inside(word, *lines)]
            if table := _read_table(inside, *lines, upright):
                tables.append(table)
                taken.update(id(word) for word in inside)
    return tables


def _find_grids(rules: list[Rule]) -> list[tuple[list[Rule], list[Rule]]]:
    """The rules that meet each other, directly or by others, as the level and the upright ones of each such group."""
    level = [rule for rule in rules if rule.is_level]
    upright = [rule for rule in rules if not rule.is_level]
    parents = list(range(len(level) + len(upright)))

    def find_root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for number, first in enumerate(level):
        for other, second in enumerate(upright, start=len(level)):
            if _do_meet(first, second):
                parents[find_root(other)] = find_root(number)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for number, rule in enumerate([*level, *upright]):
        groups.setdefault(find_root(number), ([], []))[0 if rule.is_level else 1].append(rule)
    return [group for group in groups.values() if len(group[0]) > 1 and len(group[1]) > 1]


def _do_meet(level: Rule, upright: Rule) -> bool:
    return (
        level.start - _NEAR_POINTS <= upright.at <= level.end + _NEAR_POINTS
        and upright.start - _NEAR_POINTS <= level.at <= upright.end + _NEAR_POINTS
    )


def _merge(places: list[float]) -> list[float]:
    """Places in their order, of which those that are near to each other are one."""
    merged: list[float] = []
    for place in sorted(places):
        if not merged or place - merged[-1] > _NEAR_POINTS:
            merged.append(place)
    return merged


def _is_inside(word: Word, down: list[float], across: list[float]) -> bool:
    middle = (word.left + word.right) / 2
    return across[0] <= middle <= across[-1] and down[0] <= word.middle <= down[-1]


def _read_table(words: list[Word], down: list[float], across: list[float], upright: list[Rule]) -> Table | None:
    width, height = len(across) - 1, len(down) - 1
    cells: list[list[list[Word]]] = [[[] for _ in range(width)] for _ in range(height)]
    for word in words:
        row = height - bisect_right(down, word.middle, 1, height)
        column = bisect_right(across, (word.left + word.right) / 2, 1, width) - 1
        cells[row][column].append(word)
    for number, row_cells in enumerate(cells):
        middle = (down[height - number] + down[height - number - 1]) / 2
        _join_cells(row_cells, across, [rule for rule in upright if rule.start <= middle <= rule.end])
    cells = [row for row in cells if any(row)]
    full = sum(bool(cell) for row in cells for cell in row)
    if len(cells) < 2 or full < _LEAST_FULL * len(cells) * width:
        return None
    return Table(cells, words, down[-1])


def _join_cells(row: list[list[Word]], across: list[float], upright: list[Rule]) -> None:
    """Put the words of cells between which no rule stands into the first of them."""
    first = 0
    for column in range(1, len(row)):
        if any(abs(rule.at - across[column]) <= _NEAR_POINTS for rule in upright):
            first = column
        else:
            row[first].extend(row[column])
            row[column] = []
