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
_LINKED = "a "  # how a selector of what stands in links begins
_MIN_GUARDED = 2  # selectors for which a guard is worth its while
_MATCHED = frozenset({"a", "script"})  # names with something on most pages, which a guard would not keep out

Found = dict[str, list[Element]]


class _Group(NamedTuple):
    """Selectors that are asked about together: where nothing matches the guard, none of them does.

    To compile a selector costs more than to look for what it matches on a small page, and few are kept compiled.
    """

    guard: str
    selectors: list[str]


class _Named(NamedTuple):
    """What is looked for among the elements of one name.

    is_wanted: whether a selector is the name itself, and so wants all of them. groups: of selectors that say more.
    """

    name: str
    is_wanted: bool
    groups: list[_Group]


class _Plan(NamedTuple):
    """Selectors by how their elements are found.

    Whether there are elements of a name is known in a tenth of the time, and most pages have none of most names.
    empty: no elements for each selector. named: selectors about elements of one name. linked: one selector of what
    stands in links, by its names, and the guard of it. others: selectors that are about elements of any name.
    """

    empty: Found
    named: list[_Named]
    linked: _Group
    others: list[str]


class Search:
    """A search for the elements that any of several selectors matches. It is planned when it is first made."""

    def __init__(self, *selectors: tuple[str, ...]) -> None:
        self._selectors = dict.fromkeys(selector for some in selectors for selector in some)

    @cached_property
    def _plan(self) -> _Plan:
        named: dict[str, list[str]] = {}
        linked: list[str] = []
        others: list[str] = []
        for selector in self._selectors:
            name = _NAME.search(selector)
            if name is None:
                others.append(selector)
            elif selector == f"{_LINKED}{name[1]}":
                linked.append(name[1])
            else:
                named.setdefault(name[1], []).extend([selector] if selector != name[1] else [])
        plans = [_Named(name, name in self._selectors, _group(name, narrowed)) for name, narrowed in named.items()]
        inside = ",".join(linked)
        nothing: list[Element] = []
        return _Plan(
            dict.fromkeys(self._selectors, nothing),
            plans,
            _Group(f"a:has({inside})", [f"{_LINKED}:is({inside})"] if inside else []),
            others,
        )

    def find(self, tree: Document) -> Found:
        """The elements of a tree by the selectors that match them, in their order."""
        plan, find, find_all, select = self._plan, tree.find, tree.find_all, tree.select
        found = plan.empty.copy()
        for name, is_wanted, groups in plan.named:
            if find(name) is None:
                continue
            if is_wanted:
                found[name] = find_all(name)
            for guard, selectors in groups:
                if not guard or tree.select_one(guard) is not None:
                    for selector in selectors:
                        found[selector] = select(selector)
        if plan.linked.selectors and find("a") is not None and tree.select_one(plan.linked.guard) is not None:
            linked: Found = {}
            for each in select(plan.linked.selectors[0]):
                linked.setdefault(f"{_LINKED}{each.tag}", []).append(each)
            found |= linked
        for selector in plan.others:
            found[selector] = select(selector)
        return found


def _group(name: str, selectors: list[str]) -> list[_Group]:
    """Selectors of elements of one name, those together that ask about nothing but the element and what it holds."""
    alike = [selector for selector in selectors if selector.startswith(name) and " " not in selector]
    groups = [_Group("", [selector]) for selector in selectors if selector not in alike]
    if len(alike) < _MIN_GUARDED or name in _MATCHED:
        return [*groups, *(_Group("", [selector]) for selector in alike)]
    guard = f"{name}:is({','.join(selector.removeprefix(name) for selector in alike)})"
    return [*groups, _Group(guard, alike)]


def is_any_found(found: Found, selectors: Iterable[str]) -> bool:
    """Whether a search has found anything for any of its selectors."""
    return any(map(found.__getitem__, selectors))


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
