"""What a page says and how, as bags: its words, headings, links, images, cells, items, emphasis and code blocks.

What a browser shows must be told. Some of it may be told or not: what `shown.is_optional` says, images without a
description, definitions as items of a list, cells of tables that only lay the page out, cells told once for every row
or column that they span, what markdown cannot tell within code, and emphasis that a browser gives to headings and
captions anyway.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from markdown.reading import shown
from markdown.reading.addresses import absolute

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

KINDS = ("words", "headings", "links", "images", "cells", "items", "emphasis", "code")

_HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
_BLOCKS_OF_CODE = frozenset(("pre", "listing", "xmp", "plaintext"))
_CODE = _BLOCKS_OF_CODE | {"code", "kbd", "samp", "tt"}
_BEYOND_CELLS = _HEADINGS | _BLOCKS_OF_CODE | {"table", "hr", "blockquote", "form"}
_EMPHASIS = {"b": "strong", "strong": "strong", "i": "em", "em": "em"}
_PERHAPS = {
    **dict.fromkeys(("address", "caption", "cite", "dfn", "figcaption", "var"), "em"),
    **dict.fromkeys(("dt", "summary", "th"), "strong"),
}
_NOWHERE = re.compile(r"\s*(?:javascript|data|vbscript|about):", re.I)

Bag = Counter[object]


class Features(NamedTuple):
    """Bags of what a page must tell and of what it may, by kind."""

    required: dict[str, Bag]
    allowed: dict[str, Bag]


class _Around(NamedTuple):
    """What holds at a place in the page. data: it is in a table of data. must, may: kinds of emphasis."""

    optional: bool = False
    code: bool = False
    data: bool = False
    bold: bool = False
    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()


def features(root: Element, base: str, *, rendered: bool = False) -> Features:
    """The features of a page that stands at `base`. rendered: it came from markdown, where each table is one of data.

    root: a tree of html5lib, with HTML's elements out of namespaces.
    """
    reader = _Reader(base, rendered=rendered)
    reader.read(root)
    return Features(reader.required, reader.allowed)


class _Reader:
    def __init__(self, base: str, *, rendered: bool) -> None:
        self._base = base
        self._rendered = rendered
        self.required: dict[str, Bag] = {kind: Counter() for kind in KINDS}
        self.allowed: dict[str, Bag] = {kind: Counter() for kind in KINDS}

    def read(self, root: Element) -> None:
        """Note all that is in the page. The stack is our own, since pages nest deep."""
        for piece, optional in _sentences(root):
            (self.allowed if optional else self.required)["words"].update(shown.words(piece))
        waiting = [(root, _Around())]
        while waiting:
            element, around = waiting.pop()
            if shown.name(element) in shown.NEVER:
                self.allowed["words"].update(shown.words(" ".join(part.text or "" for part in element.iter("title"))))
                continue
            inside = self._note(element, around)
            self._emphasis(element, inside)
            waiting += [(child, inside) for child in element if shown.name(child)]

    def _add(self, kind: str, feature: object, *, optional: bool) -> None:
        (self.allowed if optional else self.required)[kind][feature] += 1

    def _note(self, element: Element, around: _Around) -> _Around:
        """Note what an element is; what holds within it."""
        tag = shown.name(element)
        around = around._replace(optional=around.optional or shown.is_optional(element))
        self.allowed["words"].update(shown.words(f"{element.get('alt') or ''} {element.get('title') or ''}"))
        if tag in _HEADINGS:
            self._named("headings", element, around)
        elif tag == "li":
            self._named("items", element, around)
        elif tag in ("dt", "dd"):
            self.allowed["items"].update(("li", text) for text in shown.texts(element, without="dd"))
        elif tag == "a":
            self._link(element, around)
        elif tag == "img":
            self._image(element, around)
        elif tag in ("td", "th"):
            self._cell(element, around)
        elif tag == "table":
            around = around._replace(data=self._rendered or _is_data(element))
        elif tag in _BLOCKS_OF_CODE and shown.code(element):
            self._add("code", shown.code(element), optional=around.optional)
        return self._inside(tag, around)

    def _inside(self, tag: str, around: _Around) -> _Around:
        must, may = around.must, around.may
        if tag in _EMPHASIS:
            must |= {_EMPHASIS[tag]}
        elif tag in _PERHAPS and not self._rendered:
            may |= {_PERHAPS[tag]}
        bold = around.bold or tag in _HEADINGS or tag == "th"
        return around._replace(code=around.code or tag in _CODE, bold=bold, must=must, may=may)

    def _named(self, kind: str, element: Element, around: _Around) -> None:
        texts = shown.texts(element, without="li" if kind == "items" else "")
        for text in filter(None, texts):
            self._add(kind, (shown.name(element), text), optional=around.optional or len(texts) > 1)

    def _link(self, element: Element, around: _Around) -> None:
        """Which words lead where, since a link around blocks may be told as one or as several."""
        href = element.get("href")
        if href is None or _NOWHERE.match(href):
            return
        target = absolute(href, self._base)
        pieces = list(_sentences(element))
        for text, optional in pieces:
            for word in shown.words(text):
                self._add("links", (target, word), optional=optional or around.optional or around.code)
        if not any(shown.words(text) for text, _ in pieces) and any(child.tag == "img" for child in element.iter()):
            self._add("links", (target, ""), optional=around.optional)

    def _image(self, element: Element, around: _Around) -> None:
        """What is shown, and what scripts would put in its place."""
        source = element.get("src")
        if source and not _NOWHERE.match(source):
            optional = around.optional or around.code or not (element.get("alt") or "").strip()
            self._add("images", absolute(source, self._base), optional=optional)
        for attribute, value in element.items():
            if attribute.startswith("data-") or attribute == "srcset":
                self.allowed["images"].update(absolute(part, self._base) for part in value.split()[:20])

    def _cell(self, element: Element, around: _Around) -> None:
        texts = shown.texts(element)
        for text in filter(None, texts):
            self._add("cells", text, optional=around.optional or not around.data or len(texts) > 1)
            self.allowed["cells"][text] += _span(element, "colspan") * _span(element, "rowspan") - 1

    def _emphasis(self, element: Element, around: _Around) -> None:
        """Emphasis counts word by word, so that it does not matter where it is interrupted."""
        for kind in around.must | around.may:
            optional = around.optional or around.code or kind not in around.must or (around.bold and kind == "strong")
            for text in (element.text, *(child.tail for child in element)):
                for word in shown.words(text or ""):
                    self._add("emphasis", (kind, word), optional=optional and not self._rendered)


def _sentences(root: Element) -> Iterator[tuple[str, bool]]:
    """All text, in runs of what must and what may be told."""
    run: list[str] = []
    state = False
    for piece, optional in shown.runs(root):
        if optional != state:
            yield "".join(run), state
            run, state = [], optional
        run.append(piece)
    yield "".join(run), state


def _is_data(table: Element) -> bool:
    """Whether a table holds data: rows and columns, of which no cell holds what a cell of markdown cannot."""
    inner = {shown.name(element) for element in table.iter() if element is not table}
    rows = [sum(shown.name(cell) in ("td", "th") for cell in row) for row in table.iter("tr")]
    is_grid = len(rows) > 1 and max(rows) > 1
    return is_grid and not inner & _BEYOND_CELLS and table.get("role") not in ("presentation", "none")


def _span(cell: Element, attribute: str) -> int:
    value = (cell.get(attribute) or "").strip()
    return min(int(value), 1000) if re.fullmatch("[1-9][0-9]{0,5}", value) else 1
