"""Paragraphs, headings, definitions, quotes, rules and code blocks."""

from __future__ import annotations

from collections.abc import Callable

from ferrule_fetch.markdown import code, escapes, sentinels
from ferrule_fetch.markdown.blocks import MAX_DEPTH, Kind
from ferrule_fetch.markdown.elements import BLOCKS, CODE_BLOCKS
from ferrule_fetch.markdown.layout import Flow, Meanings, meanings_of


class Paragraphs:
    """What the elements mean that are one block, or have blocks in them."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._quotes: list[bool] = []  # whether an open quote is written as one

    def meanings(self) -> Meanings:
        """By the name of a tag."""
        complete = self._flow.complete
        meanings = meanings_of(
            *((name, complete, complete) for name in BLOCKS),
            *((f"h{level}", self._heading(level), self._heading(0)) for level in range(1, 7)),
            ("blockquote", self._quote, self._end_quote),
            ("dd", self._definition, self._end_definition),
            ("dt", self._text(Kind.TERM), self._text(Kind.TEXT)),
            ("p", self._text(Kind.PARAGRAPH), self._text(Kind.TEXT)),
        )
        meanings |= {"div": self._division, "figure": self._division, "hr": self._rule}
        return meanings | dict.fromkeys(CODE_BLOCKS, self._code_block)

    def _text(self, kind: Kind) -> Callable[[str], None]:
        def follows(_: str) -> None:
            self._flow.complete()
            self._flow.kind = kind

        return follows

    def _heading(self, level: int) -> Callable[[str], None]:
        def follows(_: str) -> None:
            self._flow.complete()
            self._flow.heading = level

        return follows

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

    def _code_block(self, tag: str) -> bool:
        flow = self._flow
        flow.complete()
        around = flow.language
        text, language, behind = code.read(flow.rest, tag, flow.behind)
        if flow.in_cell:
            flow.put_mark(sentinels.ATOM, escapes.code(" ".join(text.split()) or " "))
        else:
            flow.add(Kind.CODE, escapes.code_block(text.removesuffix("\n"), language or around))
        flow.put(behind)
        return True
