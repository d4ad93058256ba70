"""The heading of a page that says its title again."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule_fetch.tree.nodes import Document, Element

SEPARATORS = "|-–—·»"  # between a title and the name of a site, with blanks around; an underscore has none
TITLES = ("meta[property='og:title']", "meta[name='twitter:title']")
HEADINGS = ("h1", "h2", "h3", "[itemprop~=headline]")
LOOKED_AT = 10  # headings of a page, of each kind
LONGEST = 300  # characters of a title
ALIKE = 0.75  # of the words of a heading that the title has too
COVERED = 0.4  # of the words of a title, by the heading that says it; the name of a site is less
INSIDE = 1.5  # what a letter in the main content is worth
FIRST = 3  # what one is worth in a heading there that is the first part of a title: the name of a site may be longer
PLAIN = ",".join(f"{tag}:not(:has(*))" for tag in ("div", "p", "span", "td", "strong", "b", "font", "center"))
PLAIN_LOOKED_AT = 1_000
PLAIN_SHORTEST = 10  # characters of what is no heading, and says a title
LONE_SHORTEST = 15  # characters of a heading that is the title of a page whose head calls it something else
NEVER = "nav,aside,footer,dialog,[role=navigation],[role=complementary],[role=contentinfo]"


def find(tree: Document, is_inside: Callable[[Element], bool]) -> Element | None:
    """What says most of the page's title, or the page's only large heading; None if it has neither.

    is_inside: as for `find_said`.
    """
    return find_said(tree, is_inside) or _find_plain(tree) or _find_lone(tree)


def find_said(tree: Document, is_inside: Callable[[Element], bool]) -> Element | None:
    """The heading that says most of the page's title; None where none does.

    is_inside: whether a heading stands in the main content. Of two that say much the same, that one is taken.
    """
    names = [words for name in titles(tree) if (words := split_words(name))]
    firsts = [split_words(_cut_site(name)) for name in titles(tree)]
    headings = [heading for kind in HEADINGS for heading in tree.select(kind)[:LOOKED_AT]]
    best, most = None, 0.0
    for heading in headings:
        if len(heading.text) > LONGEST or heading.closest(NEVER) is not None:
            continue
        words = split_words(heading.text)
        is_first, is_in = words in firsts, is_inside(heading)
        is_whole = is_in or (is_first and heading.select_one("a") is None)
        factor = (INSIDE if is_in else 1) * (FIRST if is_in and is_first else 1)
        worth = factor * _count_letters(words, [*names, *firsts] if is_whole else names)
        if worth > most:
            best, most = heading, worth
    return best


def titles(tree: Document) -> list[str]:
    """What the page's head calls it."""
    found = [element.text for element in tree.select("title")[:1]]
    heads = [head for selector in TITLES for head in tree.select(selector)]
    return found + [head.attr("content") or "" for head in heads]


def _cut_site(name: str) -> str:
    """A title up to the first sign that parts it from what follows."""
    words = name[:LONGEST].partition("_")[0].split()
    return " ".join(words[: next((at for at, word in enumerate(words) if at and word in SEPARATORS), None)])


def split_words(text: str) -> list[str]:
    """The words of a text, in small letters."""
    return "".join([char if char.isalnum() else " " for char in text[:LONGEST].lower()]).split()


def _count_letters(words: list[str], names: list[list[str]]) -> int:
    """How many letters of a title a heading says; 0 where it says something else, or too little of it."""
    length = sum(map(len, words))
    most = 0
    for name in names:
        letters = sum(len(word) for word in words if word in name)
        if letters >= ALIKE * length and letters >= COVERED * sum(map(len, name)):
            most = max(most, letters)
    return most


def _find_plain(tree: Document) -> Element | None:
    """What is no heading, and says the title as the page's head does."""
    said = {cut for name in titles(tree) if len(cut := _cut_site(name)) >= PLAIN_SHORTEST}
    for element in tree.select(PLAIN)[:PLAIN_LOOKED_AT] if said else ():
        is_title = len(element.text) <= LONGEST and " ".join(element.text.split()) in said
        if is_title and element.closest("a") is None and element.closest(NEVER) is None:
            return element
    return None


def _find_lone(tree: Document) -> Element | None:
    """The only large heading of a page, where it is no link and too long for the name of a site."""
    headings = tree.select("h1")
    if len(headings) != 1 or headings[0].closest(NEVER) is not None or headings[0].select_one("a") is not None:
        return None
    return headings[0] if LONE_SHORTEST <= len(headings[0].text.strip()) <= LONGEST else None
