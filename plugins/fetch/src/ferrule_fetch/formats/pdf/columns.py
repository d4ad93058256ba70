"""The order in which the words of a page are read: columns one after the other, and what stands across them between.

The page is cut where a white stripe goes from side to side, into bands. Bands below each other that have an upright
white stripe in common are columns, or a table without lines.
"""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.formats.pdf.rows import Row, find_rows

if TYPE_CHECKING:
    from ferrule_fetch.formats.pdf.words import Word

_LEAST_GUTTER = 0.9  # of the size of letters
_COLUMN_WORDS = 3.5  # in each line of a column, on average; cells of a table have fewer
_COLUMN_FILL = 0.45  # of the width of a column, that its lines fill on average
_LEAST_LINES = 3
_MAX_DEPTH = 6
_STEP_POINTS = 2.0  # in which white stripes are looked for
_MAX_STEPS = 5_000
_MOST_CROSSING = 0.12  # of the lines, that stand across a stripe between columns
_FEW_CROSSING = 2  # lines, which may do so on a page with few others
_LEAST_SIDE = 0.15  # of the words, at each side of it
_REACH_POINTS = 6.0

_Span = tuple[float, float]


class Part(NamedTuple):
    """Words that are read one row after the other. cells: those of a table without lines, row by row, if it is one."""

    words: list[Word]
    cells: list[list[list[Word]]] | None = None


def find_parts(words: list[Word], depth: int = 0) -> list[Part]:
    """The parts of a page, in the order in which they are read."""
    parts: list[Part] = []
    for group in _find_sections(words) if depth < _MAX_DEPTH else []:
        columns = _split(group.words, [(start + end) / 2 for start, end in group.free])
        if _are_columns(columns):
            parts.extend(part for column in columns for part in find_parts(column, depth + 1))
        else:
            parts.extend(_find_plain_parts(group.words))
    return parts or _find_plain_parts(words)


def _find_plain_parts(words: list[Word]) -> list[Part]:
    """The parts of what has no columns: text, and tables without lines."""
    parts: list[Part] = []
    for group in _find_groups(words):
        gutters = _find_gutters(group)
        columns = _split(group.words, gutters)
        if _are_columns(columns):
            parts.extend(Part(column) for column in columns)
            continue
        cells = _read_cells(group.words, gutters) if gutters else None
        if cells:
            parts.append(Part(group.words, cells))
        else:
            _add_plain(parts, group.words)
    return parts


def _add_plain(parts: list[Part], words: list[Word]) -> None:
    if parts and parts[-1].cells is None and _is_below(parts[-1].words, words):
        parts[-1].words.extend(words)
    else:
        parts.append(Part(list(words)))


def _is_below(before: list[Word], words: list[Word]) -> bool:
    """Whether words stand below others, and not at the top of the next column."""
    return max(word.middle for word in words) < min(word.middle for word in before)


class _Group(NamedTuple):
    """Bands that have a white stripe in common, or one that has none. free: the stripes, from left to right."""

    words: list[Word]
    free: list[_Span]


def _find_sections(words: list[Word]) -> list[_Group]:
    """The page cut where something stands across the stripes that most of its lines leave white; none without such."""
    stripes = _find_stripes(words)
    sections: list[_Group] = []
    for band in _find_bands(words) if stripes else []:
        is_across = any(word.left < start and word.right > end for word in _find_pieces(band) for start, end in stripes)
        if sections and bool(sections[-1].free) != is_across:
            sections[-1].words.extend(band)
        else:
            sections.append(_Group(list(band), [] if is_across else stripes))
    return sections


def _find_pieces(words: list[Word]) -> list[Row]:
    return [piece for row in find_rows(words) for piece in row.split()]


def _find_stripes(words: list[Word]) -> list[_Span]:
    """The upright stripes, as wide as a gutter, that hardly any line of a page crosses, with much at both sides."""
    pieces = _find_pieces(words)
    left, right = min(piece.left for piece in pieces), max(piece.right for piece in pieces)
    crossed = [0] * (min(int((right - left) / _STEP_POINTS), _MAX_STEPS) + 1)
    for piece in pieces:
        for step in range(int((piece.left - left) / _STEP_POINTS), int((piece.right - left) / _STEP_POINTS) + 1):
            if step < len(crossed):
                crossed[step] += 1
    most = max(_MOST_CROSSING * max(crossed), min(max(crossed) // 4, _FEW_CROSSING))
    least = _LEAST_GUTTER * median(word.size for word in words)
    found, start = [], None
    for step, count in enumerate([*crossed, len(pieces)]):
        if count <= most and start is None:
            start = step
        elif count > most and start is not None:
            span = left + start * _STEP_POINTS, left + step * _STEP_POINTS
            if span[1] - span[0] >= least and _has_much_around(words, span):
                found.append(span)
            start = None
    return found


def _has_much_around(words: list[Word], span: _Span) -> bool:
    least = _LEAST_SIDE * len(words)
    return (
        sum(word.right <= span[0] + _STEP_POINTS for word in words) >= least
        and sum(word.left >= span[1] - _STEP_POINTS for word in words) >= least
    )


def _find_groups(words: list[Word]) -> list[_Group]:
    groups: list[_Group] = []
    for band in _find_bands(words):
        free = _find_free(band)
        if groups and (common := _intersect(groups[-1].free, free)) and _is_between(common, groups[-1].words, band):
            groups[-1] = _Group(groups[-1].words + band, common)
        else:
            groups.append(_Group(band, free))
    return groups


def _find_bands(words: list[Word]) -> list[list[Word]]:
    """Words whose heights overlap, one with the next. Letters seldom fill all of their height."""
    bands: list[list[Word]] = []
    low = 0.0
    for word in sorted(words, key=lambda word: -word.top):
        margin = (word.top - word.bottom) * 0.25
        if bands and word.top - margin > low:
            bands[-1].append(word)
            low = min(low, word.bottom + margin)
        else:
            bands.append([word])
            low = word.bottom + margin
    return bands


def _find_free(words: list[Word]) -> list[_Span]:
    """The stripes in which no word stands, those at both sides too."""
    least = _LEAST_GUTTER * median(word.size for word in words)
    free, right = [], float("-inf")
    for word in sorted(words, key=lambda word: word.left):
        if word.left - right >= least:
            free.append((right, word.left))
        right = max(right, word.right)
    return [*free, (right, float("inf"))]


def _intersect(first: list[_Span], second: list[_Span]) -> list[_Span]:
    found = [(max(a[0], b[0]), min(a[1], b[1])) for a in first for b in second]
    return [span for span in found if span[1] - span[0] >= 4.0]


def _is_between(spans: list[_Span], above: list[Word], below: list[Word]) -> bool:
    """Whether one of the stripes has words at both of its sides, and neither of the two reaches out of the other."""
    sides = sorted([_measure_reach(above), _measure_reach(below)], key=lambda reach: reach[0] - reach[1])
    (left, right), (inner_left, inner_right) = sides
    if inner_left < left - _REACH_POINTS or inner_right > right + _REACH_POINTS:
        return False
    return any(left < start and end < right for start, end in spans)


def _measure_reach(words: list[Word]) -> _Span:
    return min(word.left for word in words), max(word.right for word in words)


def _find_gutters(group: _Group) -> list[float]:
    """The middles of the stripes that have words at both sides."""
    left, right = min(word.left for word in group.words), max(word.right for word in group.words)
    return [(start + end) / 2 for start, end in group.free if left < start and end < right]


def _split(words: list[Word], gutters: list[float]) -> list[list[Word]]:
    columns: list[list[Word]] = [[] for _ in range(len(gutters) + 1)]
    for word in words:
        columns[sum(word.left > gutter for gutter in gutters)].append(word)
    return [column for column in columns if column]


def _are_columns(columns: list[list[Word]]) -> bool:
    """Whether columns hold running text, and no cells."""
    return len(columns) > 1 and sum(_is_running_text(column) for column in columns) >= 2


def _is_running_text(words: list[Word]) -> bool:
    rows = find_rows(words)
    if len(rows) < _LEAST_LINES:
        return False
    width = max(row.right for row in rows) - min(row.left for row in rows)
    fill = sum(row.right - row.left for row in rows) / len(rows)
    return len(words) / len(rows) >= _COLUMN_WORDS and fill >= _COLUMN_FILL * width


def _read_cells(words: list[Word], gutters: list[float]) -> list[list[list[Word]]] | None:
    """The cells of a table without lines, row by row; None where the words are no such table."""
    rows = [_split_cells(row, gutters) for row in find_rows(words)]
    full = [row for row in rows if sum(map(bool, row)) >= 2]
    if len(full) < _LEAST_LINES or len(full) * 3 < len(rows) * 2:
        return None
    table: list[list[list[Word]]] = []
    for row in rows:
        if table and not row[0] and sum(map(bool, row)) < len(row):  # a cell of the row above goes on
            table[-1] = [before + cell for before, cell in zip(table[-1], row, strict=True)]
        else:
            table.append(row)
    return table if len(table) >= _LEAST_LINES else None


def _split_cells(row: Row, gutters: list[float]) -> list[list[Word]]:
    cells: list[list[Word]] = [[] for _ in range(len(gutters) + 1)]
    for word in row.words:
        cells[sum(word.left > gutter for gutter in gutters)].append(word)
    return cells
