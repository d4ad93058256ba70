"""Definitions, as lists in which each stands below its term."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found
    from ferrule_fetch.tree.nodes import Node

SELECTORS = ("dl",)


def clean(found: Found) -> None:
    """Make lists of the terms of all `dl`, the inner ones first."""
    for owner in reversed(found["dl"]):
        _make_list(owner)


def _make_list(owner: Element) -> None:
    """Make items of the terms where they stand, and put what follows into them."""
    owner.tag = "ul"
    item: Element | None = None
    ended = False  # whether a definition has come since the last term
    for part in _parts(owner):
        if not (isinstance(part, Element) and part.tag == "dt"):
            if item is None:
                item = Element("li")
                part.insert_before(item)
            _define(item, part)
            ended = True
        elif item is None or ended:
            part.tag = "li"
            item, ended = part, False
        else:
            if len(item):
                item.append(Text(", "))
            item.extend(list(part.children))
            part.extract()


def _define(item: Element, part: Node) -> None:
    """Put a definition below its terms; one that is a list is the list below them."""
    if not isinstance(part, Element) or part.tag != "dd":
        item.append(part)
        return
    contents = [] if _says_nothing(part) else list(part.children)
    while contents and _is_blank(contents[0]):
        del contents[0]
    while contents and _is_blank(contents[-1]):
        del contents[-1]
    only = contents[0] if len(contents) == 1 else None
    if isinstance(only, Element) and only.tag in ("ul", "ol"):
        item.append(only)
    elif contents:
        last = item[-1] if len(item) else None
        if not (isinstance(last, Element) and last.tag == "ul"):
            last = Element("ul")
            item.append(last)
        part.tag = "li"
        last.append(part)
        return
    part.extract()


def _says_nothing(part: Element) -> bool:
    for node in part.children:
        text = node.data if isinstance(node, Text) else node.text if isinstance(node, Element) else ""
        if text and not text.isspace():
            return False
    return part.select_one("img,input,hr") is None


def _is_blank(node: Node) -> bool:
    return isinstance(node, Text) and not node.data.strip()


def _parts(owner: Element) -> list[Node]:
    """Terms and definitions, which may stand in `div` elements, and what else there is with text."""
    parts: list[Node] = []
    for child in owner.children:
        if isinstance(child, Element) and child.tag == "div":
            parts += child.children
            child.unwrap()
        else:
            parts.append(child)
    return [part for part in parts if isinstance(part, Element) or (isinstance(part, Text) and part.data.strip())]
