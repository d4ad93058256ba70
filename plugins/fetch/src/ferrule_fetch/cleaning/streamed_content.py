"""Content that a server sent after its place: React's boundaries and segments, and shadow roots."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.cleaning.edits import replace
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Comment, Element

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document, Node

# The calls that put content into its place, in the order in which the server wrote them.
_CALL = compile_late(r"\$R([CRS])\(\s*[\"']([^\"']+)[\"']\s*,\s*[\"']([^\"']+)[\"']")
_PLACE = compile_late(r"(.*)[BP]:([0-9a-f]+)")
_BEGINS = frozenset({"$", "$?", "$!", "$~"})  # comments around a boundary, which may have others in it
_ENDS = "/$"


class _Move(NamedTuple):
    """Content, by its id, and the id of the template that stands in its place."""

    content: str
    place: str


def put_in_place(tree: Document) -> None:
    """Put what was streamed where its placeholder is, instead of what was shown while it loaded."""
    templates = tree.find_all("template")
    if not templates:
        return
    places: dict[str, Element] = {}
    for template in templates:
        if template.attr("shadowrootmode"):
            _show_contents(template)
        elif _PLACE.fullmatch(name := template.attr("id") or ""):
            places[name] = template
    if not places:
        return
    contents = {each.attr("id") or "": each for each in tree.select("[hidden][id]")}
    for content, place in (*_moves(tree), *_by_number(places)):
        if content in contents and place in places:
            _move(contents.pop(content), places.pop(place))


def _moves(tree: Document) -> list[_Move]:
    found: list[_Move] = []
    for script in tree.select("script"):
        for kind, first, second in _CALL.findall(script.text):
            found.append(_Move(first, second) if kind == "S" else _Move(second, first))
    for call in tree.select("template[data-sid]"):  # as React's external runtime has them
        content, place = call.attr("data-sid"), call.attr("data-bid") or call.attr("data-pid")
        if content and place:
            found.append(_Move(content, place))
    return found


def _by_number(places: dict[str, Element]) -> list[_Move]:
    """Where no script says it, content and place have the same number."""
    numbers = ((place, found) for place in places if (found := _PLACE.fullmatch(place)))
    return [_Move(f"{found[1]}S:{found[2]}", place) for place, found in numbers]


def _move(content: Element, place: Element) -> None:
    if content == place or any(content == each for each in place.ancestors):
        return
    if not (place.attr("id") or "").rpartition(":")[0].endswith("P"):
        _remove_fallback(place)
    content.extract()
    replace(place, *list(content.children))


def _remove_fallback(place: Element) -> None:
    """Remove what stands behind a placeholder up to the comment that ends its boundary, if there is one."""
    depth = 0
    fallback: list[Node] = []
    for node in place.next_siblings:
        if isinstance(node, Comment):
            depth += (node.data in _BEGINS) - (node.data == _ENDS)
            if depth < 0:
                for each in fallback:
                    each.extract()
                return
        fallback.append(node)


def _show_contents(template: Element) -> None:
    fragments = list(template.children)
    replace(template, *(node for fragment in fragments for node in list(fragment.children)))
