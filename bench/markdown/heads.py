"""The head of a page: what its title, its standfirst, its byline and its date say, whichever elements hold them.

Known articles leave the head out, and an extractor may have it. So it counts for nobody: neither the one who has it
nor the one who has it not.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

LONGEST = 120  # words of what is taken for a part of a head
BYLINE_LONGEST = 30  # words of a byline, or of a date
_WORD = re.compile(r"\w+")
_PARTS = re.compile(r"\s[|\-–—:·»]\s")  # between a title and the name of a site
_METAS = frozenset(
    ("og:title", "twitter:title", "og:description", "twitter:description", "description", "author", "article:author")
)
_FROM_JSON = frozenset(("headline", "alternativeHeadline", "description"))
_BYLINE_NAMES = re.compile(r"byline|author|(?:^|[-_ ])(?:date|dateline|published|timestamp|pubdate)", re.IGNORECASE)
_BYLINE_MARKS = ("rel", "itemprop", "class")


def read_head(html: str) -> list[str]:
    """The parts of a page's head, each as its words in small letters, the longest first."""
    import html5lib

    tree = html5lib.parse(html, namespaceHTMLElements=False)
    found = {" ".join(words) for text in _read_texts(tree) if 0 < len(words := _WORD.findall(text.lower())) <= LONGEST}
    return sorted((words for words in found if " " in words), key=len, reverse=True)


def remove_head(text: str, head: list[str]) -> str:
    """The words of a text, in small letters, without those places that say a part of a head."""
    words = f" {' '.join(_WORD.findall(text.lower()))} "
    for part in head:
        words = words.replace(f" {part} ", " ")
    return words.strip()


def _read_texts(tree: Element) -> Iterator[str]:
    title = tree.find("head/title")
    if title is not None and title.text:
        yield title.text
        yield from _PARTS.split(title.text)
    for meta in tree.iter("meta"):
        if (meta.get("property") or meta.get("name") or "").lower() in _METAS:
            yield meta.get("content") or ""
    for script in tree.iter("script"):
        if script.get("type") == "application/ld+json":
            yield from _read_json(script.text or "")
    for element in tree.iter():
        if element.tag in ("h1", "time", "address") or _is_byline(element):
            text = " ".join(" ".join(element.itertext()).split())
            if element.tag == "h1" or len(text.split()) <= BYLINE_LONGEST:
                yield text


def _read_json(source: str) -> Iterator[str]:
    try:
        found = json.loads(source)
    except ValueError:
        return
    for node in found if isinstance(found, list) else [found]:
        if isinstance(node, dict):
            yield from (value for name in _FROM_JSON if isinstance(value := node.get(name), str))


def _is_byline(element: Element) -> bool:
    return isinstance(element.tag, str) and any(_BYLINE_NAMES.search(element.get(mark) or "") for mark in _BYLINE_MARKS)
