"""The tree of a page. What walks through it needs to know nothing of the parser."""

from collections.abc import Mapping
from typing import Protocol
from xml.etree.ElementTree import Element


class Visitor(Protocol):
    """What `walk` tells what it meets, in the order of the page."""

    def enter(self, tag: str, attributes: Mapping[str, str]) -> bool:
        """An element begins. Return False to leave out all that is in it; then it does not end either."""

    def leave(self) -> None:
        """The element that was entered last, and has not ended, ends."""

    def text(self, data: str) -> None:
        """Text, with its white space as it stands in the page."""


def parse(html: str) -> Element:
    """Build the tree of a page, as a browser that runs no scripts does; returns the root element."""
    import html5lib

    root: Element = html5lib.parse(html, treebuilder="etree", namespaceHTMLElements=False)
    return root


def walk(root: Element, visitor: Visitor) -> None:
    """Go through all that is below the root. Depth costs no recursion, and comments are passed over."""
    open_elements = [iter(root)]
    closing: list[Element] = []
    while open_elements:
        child = next(open_elements[-1], None)
        if child is None:
            open_elements.pop()
            if closing:
                visitor.leave()
                _text(closing.pop().tail, visitor)
        elif _is_element(child) and visitor.enter(child.tag, child.attrib):
            _text(child.text, visitor)
            open_elements.append(iter(child))
            closing.append(child)
        else:
            _text(child.tail, visitor)


def title_of(root: Element) -> str:
    """The text of the first `<title>` in one line, empty where there is none."""
    title = next(root.iter("title"), None)
    return "" if title is None else " ".join((title.text or "").split())


def base_of(root: Element) -> str:
    """The address of the first `<base>` that has one, empty where there is none."""
    return next((base.attrib["href"] for base in root.iter("base") if "href" in base.attrib), "")


def _is_element(node: Element) -> bool:
    return not callable(node.tag)  # ElementTree's function Comment is the tag of a comment


def _text(data: str | None, visitor: Visitor) -> None:
    if data:
        visitor.text(data)
