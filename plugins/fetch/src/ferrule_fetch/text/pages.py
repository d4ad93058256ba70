"""The part of a document that an answer holds: from a line on, as many lines as were asked for and as fit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_fetch.text.lines import Document

_MAIN_CONTENT_ENDS = "The main content ends here. Lines {} to {} hold what surrounds it on the page."


def answer(url: str, document: Document, offset: int, limit: int | None, context: Context) -> JSONObject:
    """Return `{"success", "url", "title", "content"}` with the lines from `offset` on; 1 is the first.

    Where `limit` or the size of an answer leaves lines out, it has `truncated`, `next_offset` (the line with
    which the next call goes on) and `total_lines` too, if the document was read to its end; where `offset` is past the
    end, `total_lines` alone. A line that fits into no answer is cut, and says so. An answer that ends where the main
    content of a document does says so, too.
    """

    def fits(answer: JSONObject) -> bool:
        return context.size(answer) <= context.max_bytes

    page = _Page({"success": True, "url": url, "title": document.title}, document, offset)
    last = document.main_lines if offset <= document.main_lines else len(document.lines)
    wanted = last if limit is None else min(last, offset - 1 + limit)
    most = page.most_lines(wanted, context.max_bytes)
    if most >= wanted and fits(page.until(wanted)):
        return page.until(wanted)
    ends = range(offset, most + 1)
    fitting = _count_while(lambda count: fits(page.until(ends[count])), len(ends))
    if fitting:
        return page.until(ends[fitting - 1])
    lengths = min(len(document.lines[offset - 1]), context.max_bytes) + 1
    return page.cut(max(0, _count_while(lambda length: fits(page.cut(length)), lengths) - 1))


class _Page:
    """The answers that begin with line `offset`."""

    def __init__(self, head: JSONObject, document: Document, offset: int) -> None:
        self._head = head
        self._lines = document.lines
        self._main_lines = document.main_lines
        self._is_whole = document.is_whole
        self._offset = offset

    def until(self, end: int) -> JSONObject:
        """The answer up to line `end`, that line too."""
        content = "\n".join(self._lines[self._offset - 1 : end])
        if end == self._main_lines > 0:
            content += f"\n\n[{_MAIN_CONTENT_ENDS.format(end + 1, len(self._lines))}]"
        answer = {**self._head, "content": content}
        if self._offset > len(self._lines):
            return {**answer, "total_lines": len(self._lines)}
        return answer | self._way_on(end) if end < len(self._lines) or not self._is_whole else answer

    def cut(self, length: int) -> JSONObject:
        """The answer with the first `length` characters of one line."""
        line = self._lines[self._offset - 1]
        note = f" … [line {self._offset:,} is cut: {length:,} of its {len(line):,} characters]"
        return {**self._head, "content": line[:length] + note, **self._way_on(self._offset)}

    def most_lines(self, wanted: int, max_bytes: int) -> int:
        """The last line that is worth a try: a character takes one byte or more."""
        end = self._offset - 1
        while end < wanted and max_bytes >= 0:
            max_bytes -= len(self._lines[end]) + 1
            end += 1
        return end

    def _way_on(self, end: int) -> JSONObject:
        way_on: JSONObject = {"truncated": True, "next_offset": end + 1}
        return way_on | {"total_lines": len(self._lines)} if self._is_whole else way_on


def _count_while(holds: Callable[[int], bool], total: int) -> int:
    """How many of the numbers from 0 up to `total` hold, where those that do come first."""
    return bisect_left(range(total), True, key=lambda number: not holds(number))
