"""The content of a page as HTML: paragraphs, headings, items and tables, by how their lines stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from itertools import groupby, pairwise
from statistics import median
from typing import NamedTuple

from ferrule_fetch.formats.pdf.columns import Part, find_parts
from ferrule_fetch.formats.pdf.rows import Row, find_pitch, find_rows
from ferrule_fetch.formats.pdf.tables import Table, find_tables
from ferrule_fetch.formats.pdf.words import PageContent, Word

_HEADING_RATIOS = ((1.5, "h3"), (1.12, "h4"))  # of the size of a heading to that of the text
_BOLD_HEADING = "h5"
_MAX_HEADING_CHARS = 200
_MAX_BOLD_CHARS = 90
_NEW_PARAGRAPH = 1.35  # of the usual distance between lines
_LEAST_ROWS = 4  # of a page that may have a header or footer
_MAX_MARGIN_WORDS = 15
_MARGIN_GAP = 1.0  # of the size of letters
_LARGE = 1.08  # of the usual size of letters
_PITCH = 1.25  # of the size of letters, from line to line
_INDENT = 0.9  # of the size of letters
_SHORT_LINE = 0.8  # of the width of a column, that the last line of a paragraph does not reach
_HALF = 0.5  # of the width of a column, that a line does not fill which nothing but its end has ended
_ENDS = (".", "!", "?", ":", "”", '"', ".)", "。")
_BULLETS = "•◦▪‣●○■□–·∙\uf0b7"
_ENDING_CHARS = 60
_SPACED_LEADERS = re.compile(r"(?: ?\.){5,} ?")
_LEADERS = re.compile(r"(?: ?\.){5,} ?\w{1,6}$")  # of a line in a table of contents
_NUMBER = re.compile(r"(\d{1,3})[.)]$")
_MAX_INDENT = 80
_HYPHENS = ("-", "\N{HYPHEN}", "\N{SOFT HYPHEN}")


class Sizes:
    """The sizes of the letters of a document, as far as it has been read."""

    def __init__(self, counts: dict[float, int] | None = None) -> None:
        self.counts: Counter[float] = Counter(counts or {})

    def add(self, words: list[Word]) -> None:
        """Count the letters of a page."""
        for word in words:
            self.counts[round(word.size * 2) / 2] += len(word.text)

    @property
    def usual(self) -> float:
        """That of the most letters."""
        return self.counts.most_common(1)[0][0] if self.counts else 0.0


def write_page(page: PageContent, sizes: Sizes) -> str:
    """The content of a page in the order in which it is read."""
    tables = find_tables(page.words, page.rules)
    taken = {id(word) for table in tables for word in table.words}
    words, header, footer = _split_margins([word for word in page.words if id(word) not in taken])
    # Each table is a word of its own, so that it has its place in the order.
    places = {_find_place(table.words): table for table in tables}
    html = list(_write_blocks(header, sizes.usual)) if header else []
    for part in find_parts([*words, *places]) if words or places else []:
        for block in _read_part(part, places, sizes.usual):
            _add(html, block)
    html.extend(f"<p>{_write_words(row.words)}</p>" for row in footer)
    if page.sideways:
        html.append(f"<p>{escape(page.sideways)}</p>")
    return "".join(html)


def _read_part(part: Part, places: dict[Word, Table], usual: float) -> Iterator[str]:
    if part.cells is not None and not any(word in places for word in part.words):
        yield _write_table(part.cells)
        return
    for has_table, run in groupby(find_rows(part.words), key=lambda row: any(word in places for word in row.words)):
        rows = list(run)
        if not has_table:
            yield from _write_blocks(rows, usual)
            continue
        for word in (word for row in rows for word in row.words):
            yield _write_table(places[word].cells) if word in places else f"<p>{_write_words([word])}</p>"


def _split_margins(words: list[Word]) -> tuple[list[Word], list[Row], list[Row]]:
    """The words of a page, and its first and its last line where these are short and stand apart: of no column."""
    rows = find_rows(words)
    if len(rows) < _LEAST_ROWS:
        return words, [], []
    header = rows[:1] if _is_apart(rows[0], rows[1]) else []
    footer = rows[-1:] if _is_apart(rows[-1], rows[-2]) else []
    inner = rows[len(header) : len(rows) - len(footer)]
    return [word for row in inner for word in row.words], header, footer


def _is_apart(row: Row, neighbour: Row) -> bool:
    gap = max(row.bottom - neighbour.top, neighbour.bottom - row.top)
    return len(row.words) <= _MAX_MARGIN_WORDS and gap >= _MARGIN_GAP * row.size


def _add(html: list[str], block: str) -> None:
    """Add a block, or the rest of a paragraph to what stands at the foot of the column before."""
    if html and block.startswith("<p>") and html[-1].startswith("<p>"):
        before, after = html[-1].removesuffix("</p>"), block.removeprefix("<p>")
        if after[:1].islower() and not before.endswith((*_ENDS, ">")):
            html[-1] = f"{before} {after}"
            return
    html.append(block)


def _find_place(words: list[Word]) -> Word:
    edges = zip(*((word.left, word.bottom, word.right, word.top) for word in words), strict=True)
    left, bottom, right, top = (list(edge) for edge in edges)
    return Word("\0", min(left), min(bottom), max(right), max(top), words[0].size)


def _write_table(cells: list[list[list[Word]]]) -> str:
    rows = []
    for number, row in enumerate(cells):
        name = "td" if number else "th"
        texts = (_write_lines(find_rows(cell)) if cell else "" for cell in row)
        rows.append("<tr>" + "".join(f"<{name}>{text}</{name}>" for text in texts) + "</tr>")
    return f"<table>{''.join(rows)}</table>"


def _write_blocks(rows: list[Row], usual: float) -> Iterator[str]:
    """The lines of one column as blocks."""
    items: list[str] = []
    pending = ""
    for paragraph in _find_paragraphs(rows, usual):
        kind, html = _write_block(paragraph, usual)
        if items and kind != pending:
            yield _write_list(pending, items)
            items = []
        if kind in ("ul", "ol"):
            pending = kind
            items.append(html)
        else:
            yield f"<{kind}>{html}</{kind}>"
    if items:
        yield _write_list(pending, items)


def _write_list(kind: str, items: list[str]) -> str:
    return f"<{kind}>{''.join(items)}</{kind}>"


def _write_block(rows: list[Row], usual: float) -> tuple[str, str]:
    """What a paragraph is, as the name of an element, and its content."""
    words = rows[0].words
    if rows[0].is_fixed:
        return "pre", _write_lines_as_they_are(rows)
    first = words[0].text
    if len(words) > 1 or len(rows) > 1:
        rest = [Row(words[1:]), *rows[1:]] if len(words) > 1 else rows[1:]
        if first in _BULLETS:
            return "ul", f"<li>{_write_lines(rest)}</li>"
        if (number := _NUMBER.match(first)) and not _is_heading(rows, usual):
            return "ol", f'<li value="{number[1]}">{_write_lines(rest)}</li>'
    return _is_heading(rows, usual) or "p", _write_lines(rows)


def _is_heading(rows: list[Row], usual: float) -> str:
    """The name of the element that a heading is; empty where it is none."""
    text = " ".join(row.text for row in rows)
    if len(text) > _MAX_HEADING_CHARS or not any(letter.isalpha() for letter in text):
        return ""
    size = rows[0].size
    for ratio, name in _HEADING_RATIOS:
        if usual and size >= ratio * usual:
            return name
    is_bold = all(word.is_bold for row in rows for word in row.words)
    is_short = len(text) <= _MAX_BOLD_CHARS and not text.endswith((".", ",", ";", ":"))
    return _BOLD_HEADING if is_bold and is_short and size >= usual * 0.95 else ""


def _find_paragraphs(rows: list[Row], usual: float) -> Iterator[list[Row]]:
    around = _Surroundings(find_pitch(rows), min(row.left for row in rows), max(row.right for row in rows), usual)
    paragraph = [rows[0]]
    for before, row in pairwise(rows):
        if _is_new(before, row, around):
            yield paragraph
            paragraph = []
        paragraph.append(row)
    yield paragraph


class _Surroundings(NamedTuple):
    """Of a line: the usual distance between lines, where they begin and end, and the usual size of letters."""

    pitch: float
    left: float
    right: float
    usual: float


def _is_new(before: Row, row: Row, around: _Surroundings) -> bool:
    """Whether a line begins a paragraph."""
    pitch, left, right, usual = around
    if row.is_fixed or before.is_fixed:
        return row.is_fixed != before.is_fixed
    size = max(row.size, 0.01)
    step = before.bottom - row.bottom
    is_large = row.size > _LARGE * usual
    if is_large:  # lines of a heading are farther apart than those of the text
        pitch = max(pitch, _PITCH * row.size)
    if abs(row.size - before.size) > 0.08 * max(row.size, before.size):
        return True
    if step > max(_NEW_PARAGRAPH * min(pitch, 1.6 * size), 1.25 * size if pitch == 0 else 0):
        return True
    first = row.words[0].text
    if (
        _LEADERS.search(before.text[-_ENDING_CHARS:])
        or first in _BULLETS
        or (_NUMBER.match(first) and len(row.words) > 1 and row.left <= before.left + size)
    ):
        return True
    if all(word.is_bold for word in row.words) != all(word.is_bold for word in before.words) and (
        before.right < left + _SHORT_LINE * (right - left)
    ):
        return True
    if not is_large and before.right < left + _HALF * (right - left) and _would_fit(before, row, right):
        return True
    has_ended = before.text.endswith(_ENDS)
    if has_ended and before.right < left + _SHORT_LINE * (right - left):
        return True
    return has_ended and row.left > before.left + _INDENT * size and before.left < left + _INDENT * size


def _would_fit(before: Row, row: Row, right: float) -> bool:
    """Whether the first word of a line had room on the line before, so that it was put below on purpose."""
    first = row.words[0]
    return before.right + (first.right - first.left) + row.size < right


def _write_lines(rows: list[Row]) -> str:
    """Lines as one: a word that is divided at the end of a line becomes whole."""
    words: list[Word] = []
    for row in rows:
        if words and _is_divided(words[-1].text, row.words[0].text):
            words[-1] = words[-1]._replace(text=_join(words[-1].text, row.words[0].text))
            words.extend(row.words[1:])
        else:
            words.extend(row.words)
    return _write_words(words)


def _write_lines_as_they_are(rows: list[Row]) -> str:
    """Lines in letters of one width, with their indents."""
    left = min(row.left for row in rows)
    width = max(median((word.right - word.left) / len(word.text) for row in rows for word in row.words), 0.1)
    lines = (" " * min(round((row.left - left) / width), _MAX_INDENT) + row.text for row in rows)
    return escape("\n".join(lines))


def _is_divided(end: str, start: str) -> bool:
    return len(end) > 1 and end.endswith(_HYPHENS) and end[-2].isalnum() and start[:1].isalnum()


def _join(end: str, start: str) -> str:
    """A word from its two parts. Its hyphen stays where it cannot be only that of the end of the line."""
    return (end[:-1] if end[-2].islower() and start[0].islower() else end) + start


def _write_words(words: list[Word]) -> str:
    parts = []
    for link, run in groupby(words, key=lambda word: word.link):
        text = _SPACED_LEADERS.sub(" … ", escape(" ".join(word.text for word in run)))
        parts.append(f'<a href="{escape(link)}">{text}</a>' if link else text)
    return " ".join(parts)
