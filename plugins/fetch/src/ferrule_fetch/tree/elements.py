"""Single elements of a tree, for readers that look for what a page says to machines."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule_fetch.tree import nodes

# They have no end tag.
VOID = frozenset(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen"}
    | {"link", "meta", "param", "source", "track", "wbr"}
)

# Their text is written as it is, and ends with their end tag only.
RAW_TEXT = frozenset(["iframe", "noembed", "noframes", "plaintext", "script", "style", "xmp"])


class Element(NamedTuple):
    """An element. attributes: by names in small letters. text: of one in which tags are text, such as a script."""

    name: str
    attributes: dict[str, str]
    text: str = ""


def elements(tree: nodes.Document, names: Collection[str]) -> Iterator[Element]:
    """Yield the elements of these names, in their order, but for those in templates."""
    for found in tree.select(",".join(f"{name}:not(template *)" for name in names)):
        name = found.tag
        yield Element(name, attributes_of(found), found.text if name in RAW_TEXT else "")


def attributes_of(element: nodes.Element) -> dict[str, str]:
    """All attributes of an element, each as text."""
    return {name: element.attr(name) or "" for name in element.attrs}
