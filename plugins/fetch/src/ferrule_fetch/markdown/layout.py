"""The flow of a page: running text that is being collected, and the blocks that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from operator import length_hint
from typing import TYPE_CHECKING

from ferrule_fetch.markdown import escapes, sentinels
from ferrule_fetch.markdown.attributes import one_line, unescape
from ferrule_fetch.markdown.blocks import Blocks, Kind
from ferrule_fetch.markdown.inline import Inline

if TYPE_CHECKING:
    from ferrule_fetch.markdown.links import Target

# What an element's tag means: a mark to put into the text, or something to be done, given the tag as it is spelt. It
# returns True where the text behind the tag has been dealt with.
Meaning = str | Callable[[str], bool | None]
Meanings = dict[str, Meaning]


def meanings_of(*elements: tuple[str, Meaning, Meaning]) -> Meanings:
    """What tags mean, from the name of each element, and what its start tag and its end tag mean."""
    meanings: Meanings = {}
    for name, begin, end in elements:
        meanings[name], meanings[f"/{name}"] = begin, end
    return meanings


class Flow:
    """Collects running text, and completes a block wherever one begins or ends.

    pieces: the page as canonical HTML, split at each "<". put: adds running text, escaped as in HTML, with marks.
    """

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces
        self.rest: Iterator[str] = iter(pieces)  # what is still to come
        self.behind = ""  # the text behind the tag at hand
        self.blocks = Blocks()
        self.collected: list[str] = []
        self.put = self.collected.append
        self.marked = False  # whether there are marks in what was collected
        self.kind = Kind.TEXT  # of the block that the text at hand becomes
        self.heading = 0  # its level, where it becomes one
        self.defines = False  # whether it begins a definition
        self.task = ""  # the box before it, where it is a task
        self.language = ""  # what an element around a code block says of it
        self.in_cell = False  # of a table, where every block is only a part of one line
        self._inline = Inline()

    def put_mark(self, mark: str, inset: Target | str | None = None) -> None:
        """Add a mark, and what it stands for if it does."""
        self.put(mark)
        self.marked = True
        if inset is not None:
            self._inline.insets.append(inset)

    def put_text(self, text: str) -> None:
        """Add text that is not escaped."""
        self.put(text.replace("&", "&amp;"))

    def piece(self) -> str:
        """The piece at hand."""
        return self._pieces[-1 - length_hint(self.rest)]

    def ahead(self) -> Iterator[str]:
        """The pieces to come, without taking them."""
        return copy(self.rest)  # an iterator of a list, whose copy is one at the same place

    def complete(self, _: str = "") -> None:
        """Make a block of the running text at hand, if there is any."""
        if not self.collected:
            return
        if self.in_cell:
            self.put(" ")
            return
        for lines in self.take():
            self._add_text(lines)

    def take(self) -> list[list[str]]:
        """The running text at hand as paragraphs: the lines of each."""
        if not self.marked and not self._inline.is_open:
            line = self._take_plain()
            return [[line]] if line else []
        text = unescape("".join(self.collected))
        self.collected.clear()
        self.marked = False
        if text.count(sentinels.BREAK) > 1:
            settled = map(self._inline.settle, sentinels.PARAGRAPH_END.split(text))
            return [lines for lines in settled if lines]
        lines = self._inline.settle(text)
        return [lines] if lines else []

    def add(self, kind: Kind, lines: list[str]) -> None:
        """Add a block that is complete."""
        self.defines, self.language = False, ""
        if self._inline.is_open:
            self._inline.pass_block()
        self.blocks.add(kind, lines)

    def _take_plain(self) -> str:
        text = "".join(self.collected)
        self.collected.clear()
        text = unescape(one_line(text))
        return text if escapes.is_plain(text) else escapes.whole(text)

    def _add_text(self, lines: list[str]) -> None:
        if "\xa0" in lines[0] and not any(map(str.strip, lines)):
            return  # no-break spaces, which keep two blocks apart and say nothing
        if self.heading:
            self.add(Kind.HEADING, [f"{'#' * self.heading} {escapes.heading(' '.join(lines))}"])
            return
        written = escapes.lines(lines)
        if self.task:
            written[0], self.task = self.task + written[0], ""
        elif self.blocks.begins_item:
            written[0] = escapes.item_start(written[0])
        if self.defines:
            self.add(Kind.TEXT, [f": {written[0]}", *written[1:]])
        else:
            self.add(self.kind, written)
