"""The elements that rules are about, found before the tree is edited: each search behind an edit reads all of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.tree.nodes import Document, Element

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Node

MAX_DEPTH = 300
# the name of the elements that a selector matches, which have to be of one name
_NAME = re.compile(r"(?:^|[ +])([a-z][a-z0-9]*)(?:[:.\[][^ ]*)?$")

Found = dict[str, list[Element]]


class _Plan(NamedTuple):
    """Selectors by how their elements are found.

    Elements are found by their name alone in a tenth of the time, and most pages have none of most names.
    names: of elements that a selector is about. whole: the selectors that are names. narrowed: those that say more,
    each with the name. others: those that are about elements of any name.
    """

    names: list[str]
    whole: list[str]
    narrowed: list[tuple[str, str]]
    others: list[str]


def find(tree: Document, *selectors: tuple[str, ...]) -> Found:
    """The elements of a tree by the selectors that match them, in their order."""
    plan, find_all = _plan(selectors), tree.find_all
    named = {name: find_all(name) for name in plan.names}
    found = {selector: named[selector] for selector in plan.whole}
    for selector, name in plan.narrowed:
        found[selector] = tree.select(selector) if named[name] else []
    for selector in plan.others:
        found[selector] = tree.select(selector)
    return found


@cache
def _plan(selectors: tuple[tuple[str, ...], ...]) -> _Plan:
    names: dict[str, str] = {}
    for selector in (selector for some in selectors for selector in some):
        named = _NAME.search(selector)
        names[selector] = named[1] if named else ""
    return _Plan(
        list(dict.fromkeys(filter(None, names.values()))),
        [selector for selector, name in names.items() if selector == name],
        [(selector, name) for selector, name in names.items() if name and selector != name],
        [selector for selector, name in names.items() if not name],
    )


def by_role(elements: Iterable[Element]) -> Found:
    """Elements by their roles, in their order."""
    roles: Found = {}
    for element in elements:
        if role := element.attr("role"):
            roles.setdefault(role, []).append(element)
    return roles


def is_there(element: Element) -> bool:
    """Whether an element is still in a page."""
    return any(isinstance(around, Document) for around in element.ancestors)


def is_deep(tree: Document) -> bool:
    """Whether elements stand in each other as no page needs it, so that to look into each of them takes too long."""
    node: Node | None = tree.root
    for _ in range(MAX_DEPTH):
        node = node[-1] if isinstance(node, Element) and len(node) else None
        while node is not None and not isinstance(node, Element):
            node = node.previous_sibling
        if node is None:
            return False
    return True
