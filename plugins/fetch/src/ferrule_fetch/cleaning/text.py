"""What the text of elements is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Node

HEADINGS = "h1,h2,h3,h4,h5,h6"
BLOCKS = (
    f"address,article,aside,blockquote,dd,details,div,dl,dt,fieldset,figcaption,figure,footer,form,{HEADINGS}"
    ",header,hr,li,main,ol,p,pre,section,table,tr,ul"
)
_WORD = compile_late(r"[^\W_]+")


def words_of(element: Element) -> str:
    """The text of an element in one line."""
    return " ".join(element.text.replace("\u200b", " ").split())


def length_of(text: str) -> int:
    """How many characters of a text are no white space."""
    return len(text) - text.count(" ") - text.count("\n") - text.count("\t") - text.count("\r")


def letters_of(text: str) -> str:
    """The words of a text, to compare it with another that differs in signs, blanks and capitals alone."""
    return " ".join(_WORD.findall(text.casefold()))


def last_letter(node: Node | None) -> str:
    """The last character of what stands before a node, without what is invisible; "" at the beginning of a block."""
    while node is not None:
        text = node.data if isinstance(node, Text) else node.text if isinstance(node, Element) else ""
        if text:
            return text[-1]
        node = node.previous_sibling
    return ""


def make(tag: str, text: str, **attributes: str) -> Element:
    """An element that holds a text."""
    return Element(tag, attributes, [Text(text)])
