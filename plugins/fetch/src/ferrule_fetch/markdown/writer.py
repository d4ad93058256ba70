"""Writes a page as markdown, in one pass over its tree, spelt out as canonical HTML."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ferrule_fetch.markdown import tokens
from ferrule_fetch.markdown.attributes import attributes_of, is_hidden, unescape
from ferrule_fetch.markdown.elements import LEFT_OUT, VOID
from ferrule_fetch.markdown.layout import Flow, Meaning, Meanings
from ferrule_fetch.markdown.lists import Lists
from ferrule_fetch.markdown.paragraphs import Paragraphs
from ferrule_fetch.markdown.spans import Spans
from ferrule_fetch.markdown.tables import Tables

if TYPE_CHECKING:
    from ferrule_fetch.markdown.links import Links


_MOST_TAGS = 10_000  # that are kept; a page of nothing but different ones shall not fill the memory


class Writer:
    """Goes through the tags of a page, each of which means something to one of the parts of a writer.

    tree: a page as canonical HTML. title: the page's, once it is written; one line.
    """

    def __init__(self, tree: str, links: Links) -> None:
        self.title = ""
        self._flow = Flow(tree.split("<"))
        parts = (Paragraphs(self._flow), Lists(self._flow), Tables(self._flow), Spans(self._flow, links))
        self._meanings: Meanings = dict.fromkeys(LEFT_OUT, self._leave_out)
        for part in parts:
            self._meanings |= part.meanings()
        self._meanings |= {"title": self._title, "template": self._template, "dialog": self._dialog}

    def write(self) -> str:
        """The page as markdown, without an empty line at its end."""
        flow, collected, put = self._flow, self._flow.collected, self._flow.put
        vocabulary = _Vocabulary(self._meaning)
        next(flow.rest)
        for piece in flow.rest:
            tag, _, text = piece.partition(">")
            meaning = vocabulary[tag]
            if meaning is not None:
                if isinstance(meaning, str):
                    put(meaning)
                    flow.marked = True
                else:
                    flow.behind = text
                    if meaning(tag):
                        continue
            # white space at the beginning of a block is none
            if text and (collected or not text.isspace()):
                put(text)
        flow.complete()
        return flow.blocks.text()

    def _meaning(self, tag: str) -> Meaning | None:
        name, _, spelt = tag.partition(" ")
        if name.startswith("!"):
            return self._comment if name.startswith("!--") else self._declaration
        # most tags have neither, so that it is worth while to look twice
        if spelt and ("hidden" in spelt or "style=" in spelt) and is_hidden(spelt):
            return self._leave_out if name not in VOID else None
        return self._meanings.get(name)

    def _comment(self, _: str) -> bool:
        self._flow.put(tokens.comment(self._flow.rest, self._flow.piece()))
        return True

    def _declaration(self, _: str) -> bool:
        return True

    def _leave_out(self, tag: str) -> bool:
        self._flow.put(tokens.skip(self._flow.rest, tag.partition(" ")[0]))
        return True

    def _title(self, _: str) -> bool:
        inside, behind = tokens.within(self._flow.rest, "title")
        text = self._flow.behind + tokens.text_of(inside)
        self.title = self.title or " ".join(unescape(text).split())
        self._flow.put(behind)
        return True

    def _template(self, tag: str) -> bool:
        # one that a browser makes a shadow root of is shown
        return "shadowrootmode" not in attributes_of(tag) and self._leave_out(tag)

    def _dialog(self, tag: str) -> bool:
        self._flow.complete()
        return "open" not in attributes_of(tag) and self._leave_out(tag)


class _Vocabulary(dict[str, Meaning | None]):
    """What the tags of a page mean, attributes and all, each looked up once however often it comes."""

    def __init__(self, look_up: Callable[[str], Meaning | None]) -> None:
        self._look_up = look_up

    def __missing__(self, tag: str) -> Meaning | None:
        """Called by `self[tag]` where the tag is not known."""
        meaning = self._look_up(tag)
        if len(self) < _MOST_TAGS:
            self[tag] = meaning
        return meaning
