"""The heading of a page that says its title again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_fetch.article.outline import Outline
    from ferrule_fetch.tree.nodes import Document, Element

TITLES = ("meta[property='og:title']", "meta[name='twitter:title']")
LOOKED_AT = 10  # headings of a page
LONGEST = 300  # characters of a title
FIRST = 3  # headings in which the title is looked for
ALIKE = 0.75  # of the words of a heading that the title has too


def repeated(tree: Document, parts: list[Element], outline: Outline) -> Element | None:
    """The one of the first headings in the parts that says the page's title; None where none does."""
    inside = set(parts)
    headings = (heading for tag in ("h1", "h2") for heading in tree.select(tag)[:LOOKED_AT])
    found = [heading for heading in headings if outline.is_inside(heading, inside, set())][:FIRST]
    names = [_words(name) for name in titles(tree)] if found else []
    return next((heading for heading in found if _says(_words(heading.text), names)), None)


def titles(tree: Document) -> list[str]:
    """What the page's head calls it."""
    found = [element.text for element in tree.select("title")[:1]]
    heads = [head for selector in TITLES for head in tree.select(selector)]
    return found + [head.attr("content") or "" for head in heads]


def _says(words: list[str], names: list[list[str]]) -> bool:
    least = ALIKE * sum(map(len, words))
    return bool(words) and any(sum(len(word) for word in words if word in name) >= least for name in names)


def _words(text: str) -> list[str]:
    return "".join([char if char.isalnum() else " " for char in text[:LONGEST].lower()]).split()
