"""Single elements of a page, found in its tree: what stands in the head, what scripts hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.markdown import tokens
from ferrule_fetch.markdown.attributes import attributes_of
from ferrule_fetch.markdown.elements import RAW_TEXT

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class Element(NamedTuple):
    """An element. attributes: by names in small letters. text: of one in which tags are text, such as a script."""

    name: str
    attributes: dict[str, str]
    text: str = ""


def elements(tree: str, names: Collection[str]) -> Iterator[Element]:
    """Yield the elements of these names, in their order, but for those in comments and templates.

    tree: the page as canonical HTML.
    """
    rest = iter(tree.split("<"))
    next(rest)
    for piece in rest:
        if piece.startswith("!--"):
            tokens.comment(rest, piece)
            continue
        tag, _, text = piece.partition(">")
        name, _, spelt = tag.partition(" ")
        inside = tokens.raw_text(rest, name, text)[0] if name in RAW_TEXT else ""
        if name == "template":
            tokens.within(rest, name)
        elif name in names:
            yield Element(name, attributes_of(spelt), inside)
