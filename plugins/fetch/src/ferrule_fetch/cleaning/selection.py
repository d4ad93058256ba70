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
    empty: no elements for each selector. named: by each name of elements that selectors are about, those that say more.
    others: selectors that are about elements of any name.
    """

    empty: Found
    named: list[tuple[str, list[str]]]
    others: list[str]


def find(tree: Document, *selectors: tuple[str, ...]) -> Found:
    """The elements of a tree by the selectors that match them, in their order."""
    plan, find_all, select = _plan(selectors), tree.find_all, tree.select
    found = plan.empty.copy()
    for name, narrowed in plan.named:
        if elements := find_all(name):
            found[name] = elements
            for selector in narrowed:
                found[selector] = select(selector)
    for selector in plan.others:
        found[selector] = select(selector)
    return found


@cache
def _plan(selectors: tuple[tuple[str, ...], ...]) -> _Plan:
    every = dict.fromkeys(selector for some in selectors for selector in some)
    named: dict[str, list[str]] = {}
    others: list[str] = []
    for selector in every:
        name = _NAME.search(selector)
        if name is None:
            others.append(selector)
        else:
            named.setdefault(name[1], []).extend([selector] if selector != name[1] else [])
    nothing: list[Element] = []
    return _Plan(dict.fromkeys([*every, *named], nothing), list(named.items()), others)


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
