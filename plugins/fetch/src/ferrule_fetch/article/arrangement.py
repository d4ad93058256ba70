"""A page arranged by its article: the article, and the rest of the page apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.article.head import make_line
from ferrule_fetch.article.outline import text_of
from ferrule_fetch.tree.nodes import Element

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule_fetch.article import Article
    from ferrule_fetch.tree.nodes import Document, Node

# What makes no sense without the table or the list around it.
DEPENDENT = frozenset(("td", "th", "li", "dd", "dt", "figcaption", "summary"))

TITLED = "h1,h2,h3,h4,h5,h6,p:not(:has(*)),div:not(:has(*)),span:not(:has(*))"  # what may say a title once more

SAID_LONGEST = 1_000  # characters of what may say a title, white space not collapsed


class Halves(NamedTuple):
    """article: an element that holds the article alone. rest: the page's body with all else, in the page's order."""

    article: Element
    rest: Element


def split(tree: Document, article: Article) -> Halves:
    """Take the article out of the page's tree, which is left with the rest.

    What stands inside the article and is none of it goes to the rest, where the article was. The head of the article
    stands before it, a line each. What says the title once more in the rest is left out.
    """
    body = tree.select_one("body")
    if body is None:
        raise ValueError("a tree without a body has no article")
    before = _extract_head(article, body)
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
    for element in reversed(before):
        halves.article.insert(0, element)
    return halves


def _extract_head(article: Article, body: Element) -> list[Element]:
    """What stands before the article, taken out of the page, as far as it is there still."""
    heading, lines, prose = article.head
    found = []
    if heading is not None and body in heading.ancestors:
        said = text_of(heading)
        first = Element("h1", {}, [])
        first.extend(list(heading))
        heading.extract()
        _remove_same(said, article, body)
        found.append(first)
    found += [make_line(line) for line in lines if body in line.ancestors]
    return found + [element.extract() for element in prose if body in element.ancestors]


def _remove_empty(holder: Node | None, part: Element) -> None:
    """Remove an item from which all was left out, and what holds nothing but it."""
    item = holder.closest("li") if isinstance(holder, Element) else None
    while isinstance(item, Element) and item.tag in ("li", "ul", "ol") and item is not part:
        if item.text.strip() or item.select_one("img,li") is not None:
            return
        around = item.parent
        item.extract()
        item = around if isinstance(around, Element) else None


def _remove_same(said: str, article: Article, body: Element) -> None:
    """Remove what says the title once more, outside of the article, and links nowhere."""
    parts = set(article.parts)
    for element in body.select(TITLED):
        is_same = len(element.text) < SAID_LONGEST and text_of(element) == said
        if is_same and not _is_linked(element) and parts.isdisjoint(element.ancestors):
            element.extract()


def _is_linked(element: Element) -> bool:
    return element.closest("a") is not None or element.select_one("a,img") is not None


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
