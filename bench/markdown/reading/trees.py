"""HTML as a canonical tree: two pages have the same one where a browser shows, and markdown can tell, no difference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from xml.etree.ElementTree import Element

from markdown.reading.addresses import absolute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SPACE = re.compile(r"([ \t\n\r\f]+)")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BLOCKS = frozenset(("blockquote", "div", "hr", "li", "ol", "p", "pre", "table", "td", "th", "tr", "ul", *_HEADINGS))
_FORMATS = frozenset(("em", "strong", "del", "code"))  # nothing is seen of these where they are empty
_SAME = {"b": "strong", "i": "em", "s": "del", "strike": "del"}
_LANGUAGE = re.compile(r"(?:^|\s)language-(\S+)")
_ALIGN = re.compile(r"text-align:\s*(\w+)")


class Node(NamedTuple):
    """An element. attributes: those that markdown can tell, in a fixed order. children: nodes and text."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Node | str, ...]


class _Begin(NamedTuple):
    node: Node


class _End(NamedTuple):
    pass


_Token = str | Node | _Begin | _End


def canonical(html: str, base: str, *, loose: bool = False) -> Node:
    """The tree of a fragment. Links are resolved against `base`; loose: a list item's text counts as a paragraph."""
    import html5lib

    root = html5lib.parseFragment(html, namespaceHTMLElements=False)
    return Node("", (), tuple(_Reader(base, loose=loose).blocks(root)))


def outline(node: Node | str, depth: int = 0) -> str:
    """A tree as indented lines, for people."""
    indent = "  " * depth
    if isinstance(node, str):
        return f"{indent}{node!r}"
    attributes = "".join(f" {name}={value!r}" for name, value in node.attributes)
    lines = [f"{indent}<{node.name}{attributes}>", *(outline(child, depth + 1) for child in node.children)]
    return "\n".join(lines if node.name else [outline(child, depth) for child in node.children])


class _Reader:
    def __init__(self, base: str, *, loose: bool) -> None:
        self._base = base
        self._wrapping = frozenset(("", "blockquote", "div", *(("li",) if loose else ())))

    def blocks(self, parent: Element) -> Iterator[Node | str]:
        """The blocks in an element, and its bare text, which is a paragraph except in items and cells."""
        run: list[_Token] = []
        name = "" if parent.tag == "DOCUMENT_FRAGMENT" else str(parent.tag)
        for piece in _pieces(parent):
            if isinstance(piece, Element) and piece.tag in _BLOCKS:
                yield from self._bare(run, name)
                run = []
                yield from self._block(piece)
            elif isinstance(piece, Element) and piece.tag in ("thead", "tbody", "tfoot"):
                yield from self.blocks(piece)
            else:
                run += self._tokens(piece)
        yield from self._bare(run, name)

    def _bare(self, run: list[_Token], parent: str) -> Iterator[Node | str]:
        inline = _nested(_as_shown(run))
        if inline and parent in self._wrapping:
            yield Node("p", (), inline)
        else:
            yield from inline

    def _block(self, element: Element) -> Iterator[Node]:
        name = str(element.tag)
        if name == "pre":
            yield Node(name, _language(element), ("".join(element.itertext()).removesuffix("\n"),))
            return
        children = tuple(self.blocks(element))
        if children or name != "p":
            yield Node(name, self._attributes(element), children)

    def _tokens(self, piece: Element | str) -> Iterator[_Token]:
        if isinstance(piece, str):
            yield from (" " if part.isspace() and part.isascii() else part for part in _SPACE.split(piece) if part)
            return
        node = Node(_SAME.get(str(piece.tag), str(piece.tag)), self._attributes(piece), ())
        if node.name in ("br", "img", "input"):
            yield node
            return
        yield _Begin(node)
        for inner in _pieces(piece):
            yield from self._tokens(inner)
        yield _End()

    def _attributes(self, element: Element) -> tuple[tuple[str, str], ...]:
        return tuple((name, value) for name, value in self._told(element) if value)

    def _told(self, element: Element) -> Iterator[tuple[str, str]]:
        get = element.get
        if element.tag == "a":
            yield "href", absolute(get("href"), self._base)
        elif element.tag == "img":
            yield "src", absolute(get("src"), self._base)
            yield "alt", _one_line(get("alt"))
        elif element.tag == "ol":
            yield "start", (get("start") or "1").lstrip("0") or "0"
        elif element.tag == "input":
            yield "checked", "yes" if get("checked") is not None else "no"
        elif element.tag in ("td", "th"):
            style = _ALIGN.search(get("style") or "")
            yield "align", style[1] if style else get("align") or ""
        if element.tag in ("a", "img"):
            yield "title", _one_line(get("title"))


def _pieces(element: Element) -> Iterator[Element | str]:
    if element.text:
        yield element.text
    for child in element:
        if isinstance(child.tag, str):  # it is a function where the child is a comment
            yield child
        if child.tail:
            yield child.tail


def _language(pre: Element) -> tuple[tuple[str, str], ...]:
    found = (_LANGUAGE.search(element.get("class") or "") for element in pre.iter())
    return tuple(("language", match[1]) for match in found if match)[:1]


def _one_line(text: str | None) -> str:
    return " ".join(_SPACE.sub(" ", text or "").strip(" ").split(" "))


def _as_shown(run: Iterable[_Token]) -> list[_Token]:
    """White space goes out of the elements at whose edges it stands, and only the first of more is kept."""
    tokens = _without_empty(_hoisted(run))
    kept: list[_Token] = []
    for token in tokens:
        if token == " " and (not kept or kept[-1] == " " or _is_break(kept[-1])):
            continue
        if _is_break(token) and kept and kept[-1] == " ":
            kept.pop()
        kept.append(token)
    while kept and (kept[-1] == " " or _is_break(kept[-1])):
        kept.pop()
    return kept


def _hoisted(run: Iterable[_Token]) -> list[_Token]:
    left: list[_Token] = []
    for token in run:
        at = len(left)
        while token == " " and at and isinstance(left[at - 1], _Begin):
            at -= 1
        left.insert(at, token)
    right: list[_Token] = []
    for token in reversed(left):
        at = len(right)
        while token == " " and at and isinstance(right[at - 1], _End):
            at -= 1
        right.insert(at, token)
    return right[::-1]


def _without_empty(tokens: list[_Token]) -> list[_Token]:
    kept: list[_Token] = []
    for token in tokens:
        last = kept[-1] if kept else None
        if isinstance(token, _End) and isinstance(last, _Begin) and last.node.name in _FORMATS:
            kept.pop()
        else:
            kept.append(token)
    return kept


def _is_break(token: _Token) -> bool:
    return isinstance(token, Node) and token.name == "br"


def _nested(tokens: Iterable[_Token]) -> tuple[Node | str, ...]:
    stack: list[tuple[Node, list[Node | str]]] = [(Node("", (), ()), [])]
    for token in tokens:
        children = stack[-1][1]
        if isinstance(token, _Begin):
            stack.append((token.node, []))
        elif isinstance(token, _End):
            node, inner = stack.pop()
            stack[-1][1].append(node._replace(children=tuple(inner)))
        elif isinstance(token, str) and children and isinstance(children[-1], str):
            children[-1] += token
        else:
            children.append(token)
    return tuple(stack[0][1])
