"""The elements that rules are about, found before the tree is edited: each search behind an edit reads all of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Document, Element

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Node

MAX_DEPTH = 300
# the name of the elements that a selector matches, which have to be of one name
_NAME = compile_late(r"(?:^|[ +])([a-z][a-z0-9]*)(?:[:.\[][^ ]*)?$")

Found = dict[str, list[Element]]


class _Named(NamedTuple):
    """What is looked for among the elements of one name.

    is_wanted: whether a selector is the name itself, and so wants all of them. narrowed: selectors that say more.
    """

    name: str
    is_wanted: bool
    narrowed: list[str]


class _Plan(NamedTuple):
    """Selectors by how their elements are found.

    Whether there are elements of a name is known in a tenth of the time, and most pages have none of most names.
    empty: no elements for each selector. others: selectors that are about elements of any name.
    """

    empty: Found
    named: list[_Named]
    others: list[str]


class Search:
    """A search for the elements that any of several selectors matches. It is planned when it is first made."""

    def __init__(self, *selectors: tuple[str, ...]) -> None:
        self._selectors = dict.fromkeys(selector for some in selectors for selector in some)

    @cached_property
    def _plan(self) -> _Plan:
        named: dict[str, list[str]] = {}
        others: list[str] = []
        for selector in self._selectors:
            name = _NAME.search(selector)
            if name is None:
                others.append(selector)
            else:
                named.setdefault(name[1], []).extend([selector] if selector != name[1] else [])
        nothing: list[Element] = []
        plans = [_Named(name, name in self._selectors, narrowed) for name, narrowed in named.items()]
        return _Plan(dict.fromkeys(self._selectors, nothing), plans, others)

    def find(self, tree: Document) -> Found:
        """The elements of a tree by the selectors that match them, in their order."""
        plan, select_one, find_all, select = self._plan, tree.select_one, tree.find_all, tree.select
        found = plan.empty.copy()
        for name, is_wanted, narrowed in plan.named:
            if is_wanted:
                found[name] = elements = find_all(name)
                if not elements:
                    continue
            elif select_one(name) is None:
                continue
            for selector in narrowed:
                found[selector] = select(selector)
        for selector in plan.others:
            found[selector] = select(selector)
        return found


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
