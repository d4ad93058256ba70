"""Edits of elements that another rule may have taken out of the tree already."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Element, Node


def replace(element: Element, *nodes: Node) -> None:
    """Put nodes instead of an element, if it has one."""
    if element.parent is not None:
        element.replace_with(*nodes)


def unwrap(element: Element) -> None:
    """Put what is in an element in its place, if it has one."""
    if element.parent is not None:
        element.unwrap()
