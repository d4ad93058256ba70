"""Comments and the replies to them: their depth is that of nested lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found

_KINDS = ("div", "article", "section", "details")
_OF_COMMENT = compile_late("comment|reply", re.I)  # what a class of comments holds
_GROUP = compile_late(r"(?:comments|replies|children|list|threads?|container|wrapper)$", re.I)
_MAX_COMMENTS = 3_000  # of a page that are looked at
_MAX_AROUND = 40  # elements between a comment and one that it answers

_NESTED = tuple(f"{tag}:is([class*=omment],[class*=eply],[itemprop=comment])" for tag in _KINDS)
_LEVELS = {"td[indent]": "indent", "div[data-depth]": "data-depth"}  # what says how deep one is that stands in no other
_LEVEL = compile_late("[0-9]{1,2}")

SELECTORS = (*_NESTED, *_LEVELS)


def clean(found: Found) -> None:
    """Make lists of comments of which some stand in others, or say how deep they are."""
    _nest_levels(found)
    named = {each: _find_names(each) for selector in _NESTED for each in found[selector][:_MAX_COMMENTS]}
    name = _find_name_of_nested(named) if len(named) > 1 else ""
    if not name:
        return
    for comment, names in named.items():
        if name in names and comment.parent is not None:
            _put_into_list(comment)


def _find_names(element: Element) -> frozenset[str]:
    classes = (element.attr("class") or "").split()
    kind = ["itemprop=comment"] if element.attr("itemprop") == "comment" else []
    return frozenset([*kind, *(name for name in classes if _OF_COMMENT.search(name))])


def _find_name_of_nested(named: dict[Element, frozenset[str]]) -> str:
    """The name that comments share with those around them; of several, that of the outermost, and of no group."""
    outermost: dict[str, int] = {}
    order = {each: index for index, each in enumerate(named)}
    for comment, names in named.items():
        for around, _ in zip(comment.ancestors, range(_MAX_AROUND), strict=False):
            if not isinstance(around, Element):
                break
            for name in names & named.get(around, frozenset()):
                outermost[name] = min(order[around], outermost.get(name, len(order)))
    return min(outermost, key=lambda name: (bool(_GROUP.search(name)), outermost[name], name), default="")


def _put_into_list(comment: Element) -> None:
    """Make an item of a comment, in the list of the one before it, or in one of its own."""
    before = comment.previous_sibling
    while isinstance(before, Text) and not before.data.strip():
        before = before.previous_sibling
    if not (isinstance(before, Element) and before.tag == "ul" and before.attr("data-comments") is not None):
        before = Element("ul", {"data-comments": ""})
        comment.insert_before(before)
    comment.tag = "li"
    before.append(comment.extract())


def _nest_levels(found: Found) -> None:
    """Nest the comments that stand side by side, each with a number of how deep it is."""
    groups: dict[Element, list[tuple[Element, Element, int]]] = {}
    for selector, name in _LEVELS.items():
        for place in found[selector][:_MAX_COMMENTS]:
            level = place.attr(name) or ""
            row = _find_row(place) if place.tag == "td" else place
            if row is not None and isinstance(around := row.parent, Element) and _LEVEL.fullmatch(level):
                groups.setdefault(around, []).append((row, place, int(level)))
    for comments in groups.values():
        if len({level for _, _, level in comments}) > 1:
            _nest(comments)


def _find_row(cell: Element) -> Element | None:
    """The row of a table that holds the table of one comment."""
    table = cell.closest("table")
    around = table.parent if table is not None else None
    return around.closest("tr") if isinstance(around, Element) else None


def _nest(comments: list[tuple[Element, Element, int]]) -> None:
    """Make nested lists of comments. Each is what holds it, the element with its level, and the level."""
    first, root = comments[0][0], Element("ul")
    ((first.closest("table") if first.tag == "tr" else None) or first).insert_before(root)
    answered: list[tuple[int, Element]] = []  # the comments that the next one may answer, with their levels
    lists: dict[Element, Element] = {}  # of the answers to each
    for row, place, level in comments:
        while answered and answered[-1][0] >= level:
            answered.pop()
        cells = [cell for cell in place.next_siblings if isinstance(cell, Element)] if place.tag == "td" else [place]
        item = Element("li", {}, [node for cell in cells for node in list(cell.children)])
        row.extract()
        if not answered:
            root.append(item)
        else:
            comment = answered[-1][1]
            if comment not in lists:
                lists[comment] = Element("ul")
                comment.append(lists[comment])
            lists[comment].append(item)
        answered.append((level, item))
