"""What stands in a main content before its first sentence and is none of it: languages, contents, ways to share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.article.chrome import LINKED_WHOLLY, LISTS
from ferrule_fetch.article.names import words_in
from ferrule_fetch.article.outline import PROSE_LINKS, PROSE_SHORTEST, text_of
from ferrule_fetch.article.phrases import is_notice

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferrule_fetch.tree.nodes import Element

LINKS_LEAST = 3  # of what leads elsewhere
HELD_MOST = 0.4  # of the characters of a main content; what has more is the content, as it is of an index
LOOKED_AT = 2_000  # elements
HOLDERS = frozenset((*LISTS, "div", "section", "p", "details"))
CONTENT = "h1,img,pre,table,figure,blockquote"
LANGUAGES = frozenset(("lang", "langs", "language", "languages", "interlanguage"))
HEADINGS = frozenset(("p", "h2", "h3", "h4", "h5", "h6"))
TITLE_LONGEST = 40  # characters of what stands over a list of links and goes with it


def find(part: Element, left_out: Collection[Element]) -> list[Element]:
    """The outermost elements before the first sentence of a part that are links only, or a word about sharing."""
    found: list[Element] = []
    seen = set(left_out)
    before: Element | None = None
    for count, element in enumerate(part.iter_elements()):
        if count == LOOKED_AT or is_sentence(element):
            break
        if element.parent in seen or element in seen:
            seen.add(element)
        elif leads_elsewhere(element):
            if before is not None and before.tag in HEADINGS and 0 < len(text_of(before)) < TITLE_LONGEST:
                found.append(before)
            found.append(element)
            seen.add(element)
        else:
            before = element
    else:
        return []  # without a sentence, the links may be what the page is about
    return found if sum(len(each.text) for each in found) <= HELD_MOST * len(part.text) else []


def is_sentence(element: Element) -> bool:
    """Whether it is a paragraph of prose."""
    if element.tag != "p":
        return False
    text = text_of(element)
    return len(text) >= PROSE_SHORTEST and count_linked(element) < PROSE_LINKS * len(text)


def leads_elsewhere(element: Element) -> bool:
    """Whether it is only links to places of the page or to other languages, or says only that something is shared."""
    if element.tag not in HOLDERS or element.select_one(CONTENT) is not None:
        return False
    text = text_of(element)
    if is_notice(text):
        return True
    links = element.select("a")
    if len(links) < LINKS_LEAST or count_linked(element) < LINKED_WHOLLY * len(text):
        return False
    is_contents = all((link.attr("href") or "").startswith("#") for link in links)
    return is_contents or _is_of_languages(element, links)


def _is_of_languages(element: Element, links: list[Element]) -> bool:
    if all(link.attr("hreflang") or link.attr("lang") for link in links):
        return True
    return not LANGUAGES.isdisjoint(words_in(f"{element.attr('class') or ''} {element.attr('id') or ''}".lower()))


def count_linked(element: Element) -> int:
    """Characters of its links."""
    return sum(len(text_of(link)) for link in element.select("a"))
