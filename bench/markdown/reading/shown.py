"""What a browser shows of a page, and what is neither here nor there."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

NEVER = frozenset(("script", "style", "template", "head", "title", "noframes", "noembed"))
# Left out by some tools on purpose, shown or not as the browser is set, or without one way to tell it in markdown.
# fmt: off
_OPTIONAL = frozenset((
    "nav", "noscript", "iframe", "object", "audio", "video", "canvas", "button", "input", "select", "textarea",
    "datalist", "option", "optgroup", "progress", "meter", "dialog", "rt", "rp", "map", "math", "svg",
))
_OPTIONAL_ROLES = frozenset(("navigation", "search"))
BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "br", "button", "caption", "center", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li", "listing", "main", "menu", "nav", "ol", "optgroup",
    "option", "p", "plaintext", "pre", "search", "section", "select", "summary", "table", "tbody", "td", "textarea",
    "tfoot", "th", "thead", "tr", "ul", "xmp",
))
# fmt: on
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_WORD = re.compile(r"\w+")
_UNSEEN = dict.fromkeys((0xAD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF))
_BREAK = "\n"


def name(element: Element) -> str:
    """The element's name without a namespace; nothing for a comment."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def is_optional(element: Element) -> bool:
    """Whether a tool may tell this or not."""
    style = element.get("style")
    if element.get("role") in _OPTIONAL_ROLES or is_permalink(element):
        return True
    return name(element) in _OPTIONAL or "hidden" in element.keys() or bool(style and _HIDDEN.search(style))  # noqa: SIM118 - an element's `in` looks at its children


def is_permalink(element: Element) -> bool:
    """Whether a link leads to the place where it stands, and says no word."""
    is_here = name(element) == "a" and (element.get("href") or "").startswith("#")
    return is_here and not words("".join(element.itertext()))


def words(text: str) -> list[str]:
    """The words of a text, composed, without characters that are not seen."""
    return _WORD.findall(unicodedata.normalize("NFC", text.translate(_UNSEEN)))


def texts(element: Element, *, without: str = "") -> list[str]:
    """The words of an element, with spaces between: those that must be told, and, if there are more, all of them.

    without: the name of elements in it to pass over.
    """
    pieces = list(runs(element, without=without))
    must = " ".join(words("".join(piece for piece, optional in pieces if not optional)))
    every = " ".join(words("".join(piece for piece, _ in pieces)))
    return [must] if must == every else [must, every]


def runs(root: Element, *, without: str = "") -> Iterator[tuple[str, bool]]:
    """The pieces of text in their order, with a line feed at the edges of blocks, and whether they may be left out."""
    waiting: list[tuple[Element | str, bool]] = [(root, False)]
    while waiting:
        piece, optional = waiting.pop()
        if isinstance(piece, str):
            yield piece, optional
        elif name(piece) and name(piece) not in NEVER and (piece is root or name(piece) != without):
            inside = optional or is_optional(piece)
            edge = [_BREAK] if name(piece) in BLOCKS or inside != optional else []
            waiting += [(part, inside) for part in reversed([*edge, *_parts(piece), *edge])]
        elif name(piece) == without:
            yield _BREAK, optional


def code(element: Element) -> str:
    """A block of code, without white space at the ends of its lines and empty lines around it."""
    pieces: list[str] = []
    waiting: list[Element | str] = [element]
    while waiting:
        piece = waiting.pop()
        if isinstance(piece, str):
            if piece != _BREAK or (pieces and not pieces[-1].endswith("\n")):
                pieces.append(piece)
        elif name(piece) == "br":
            pieces.append("\n")
        elif name(piece) not in NEVER:
            edge = [_BREAK] if name(piece) in BLOCKS else []
            waiting += reversed([*edge, *_parts(piece), *edge])
    return "\n".join(line.rstrip() for line in "".join(pieces).split("\n")).strip("\n")


def _parts(element: Element) -> Iterator[Element | str]:
    if element.text:
        yield element.text
    for child in element:
        yield child
        if child.tail:
            yield child.tail
