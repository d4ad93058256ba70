"""Paragraphs, headings, definitions, quotes, rules and code blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.markdown import code, escapes, sentinels
from ferrule_fetch.markdown.blocks import MAX_DEPTH, Kind
from ferrule_fetch.markdown.elements import BLOCKS, CODE_BLOCKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule_fetch.markdown.layout import Flow, Meanings


class Paragraphs:
    """What the elements mean that are one block, or have blocks in them."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._quotes: list[bool] = []  # whether an open quote is written as one

    def meanings(self) -> Meanings:
        """By the name of a tag."""
        complete = self._flow.complete
        meanings: Meanings = {name: complete for block in BLOCKS for name in (block, f"/{block}")}
        for level in range(1, 7):
            meanings |= {f"h{level}": self._heading(level), f"/h{level}": self._end_heading}
        return meanings | {
            **{name: self._code_block(name) for name in CODE_BLOCKS},
            "blockquote": self._quote,
            "/blockquote": self._end_quote,
            "dd": self._definition,
            "/dd": self._end_definition,
            "div": self._division,
            "figure": self._division,
            "dt": self._paragraph(Kind.TERM),
            "/dt": self._end_paragraph,
            "hr": self._rule,
            "p": self._paragraph(Kind.PARAGRAPH),
            "/p": self._end_paragraph,
        }

    def _paragraph(self, kind: Kind) -> Callable[[str], None]:
        def begin(_: str) -> None:
            self._flow.complete()
            self._flow.kind = kind

        return begin

    def _end_paragraph(self, _: str) -> None:
        self._flow.complete()
        self._flow.kind = Kind.TEXT

    def _heading(self, level: int) -> Callable[[str], None]:
        def begin(_: str) -> None:
            self._flow.complete()
            self._flow.heading = level

        return begin

    def _end_heading(self, _: str) -> None:
        self._flow.complete()
        self._flow.heading = 0

    def _division(self, spelt: str) -> None:
        self._flow.complete()
        if " " in spelt:
            self._flow.language = code.language_around(spelt) or self._flow.language

    def _definition(self, _: str) -> None:
        self._flow.complete()
        self._flow.defines = not self._flow.in_cell

    def _end_definition(self, _: str) -> None:
        self._flow.complete()
        self._flow.defines = False

    def _quote(self, _: str) -> None:
        self._flow.complete()
        self._flow.defines = False
        written = not self._flow.in_cell and self._flow.blocks.depth < MAX_DEPTH
        self._quotes.append(written)
        if written:
            self._flow.blocks.begin_quote()

    def _end_quote(self, _: str) -> None:
        self._flow.complete()
        if self._quotes.pop():
            self._flow.blocks.end()

    def _rule(self, _: str) -> None:
        self._flow.complete()
        if not self._flow.in_cell:
            # dashes behind the dash of an item, or below a line of it, would be something else
            self._flow.add(Kind.RULE, ["___" if self._flow.blocks.in_item else "---"])

    def _code_block(self, name: str) -> Callable[[str], bool]:
        def read(spelt: str) -> bool:
            flow = self._flow
            flow.complete()
            around = flow.language
            text, language, behind = code.read(flow.rest, name, spelt, flow.behind)
            if flow.in_cell:
                flow.put_mark(sentinels.ATOM, escapes.code(" ".join(text.split()) or " "))
            else:
                flow.add(Kind.CODE, escapes.code_block(text.removesuffix("\n"), language or around))
            flow.put(behind)
            return True

        return read
