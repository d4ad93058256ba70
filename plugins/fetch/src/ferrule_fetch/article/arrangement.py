"""A page arranged by its article: the article, and the rest of the page apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.tree.nodes import Element

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule_fetch.article import Article
    from ferrule_fetch.tree.nodes import Document, Node

# What makes no sense without the table or the list around it.
DEPENDENT = frozenset(("td", "th", "li", "dd", "dt", "figcaption", "summary"))


class Halves(NamedTuple):
    """article: an element that holds the article alone. rest: the page's body with all else, in the page's order."""

    article: Element
    rest: Element


def split(tree: Document, article: Article) -> Halves:
    """Take the article out of the page's tree, which is left with the rest.

    What stands inside the article and is none of it goes to the rest, where the article was. The heading that says the
    title stands before the article.
    """
    body = tree.select_one("body")
    if body is None:
        raise ValueError("a tree without a body has no article")
    heading = article.heading.extract() if article.heading is not None else None
    halves = Halves(Element("article"), body)
    left_out = set(article.left_out)
    for part in _movable(article.parts, body):
        for element in _outermost(part, left_out):
            holder = element.parent
            part.insert_before(element.extract())
            _remove_empty(holder, part)
        halves.article.append(part.extract())
        if part.tag in DEPENDENT:
            part.tag = "div"
    if heading is not None:
        halves.article.insert(0, heading)
    return halves


def _remove_empty(holder: Node | None, part: Element) -> None:
    """Remove an item from which all was left out, and what holds nothing but it."""
    item = holder.closest("li") if isinstance(holder, Element) else None
    while isinstance(item, Element) and item.tag in ("li", "ul", "ol") and item is not part:
        if item.text.strip() or item.select_one("img,li") is not None:
            return
        around = item.parent
        item.extract()
        item = around if isinstance(around, Element) else None


def _movable(parts: list[Element], body: Element) -> list[Element]:
    if parts != [body]:
        return parts
    whole = Element("div")
    whole.extend(list(body))
    body.append(whole)
    return [whole]


def _outermost(part: Element, left_out: set[Element]) -> Iterable[Element]:
    """The elements of the part that are left out, in order; none that stands in another of them."""
    found = [element for element in part.iter_elements() if element in left_out]
    taken = set(found)
    return [element for element in found if not any(holder in taken for holder in element.ancestors)]
