"""How much of a page its markdown tells: F1 of each kind of its features."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markdown.reading.addresses import absolute
from markdown.reading.features import KINDS, Bag, Features, features
from markdown.reading.rendering import renderer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element


def truth(html: str, url: str) -> tuple[Features, str]:
    """What a browser would show of a page, and the address that its links start from."""
    root = _parsed(html)
    base = next((element.get("href") for element in root.iter("base") if element.get("href")), "")
    base = absolute(base, url)
    return features(root, base), base


def told(markdown: str, base: str, *, raw_html: bool = False) -> Mapping[str, Bag]:
    """What markdown says once it is rendered. Links that are not whole start from `base`, as the page's do."""
    return features(_parsed(renderer(raw_html=raw_html).render(markdown)), base, rendered=True).required


def likeness(page: Features, markdown: Mapping[str, Bag]) -> dict[str, float]:
    """F1 by kind, for the kinds that the page has. 1.0: all that must be told is, and nothing else."""
    return {kind: f1(page.required[kind], page.allowed[kind], markdown[kind]) for kind in KINDS if page.required[kind]}


def f1(required: Bag, allowed: Bag, given: Bag) -> float:
    """The harmonic mean of precision and recall of bags; what is allowed is neither right nor wrong."""
    right = (given & required).total()
    wrong = (given - required - allowed).total()
    return 2 * right / (right + wrong + required.total()) if required else 1.0


def _parsed(html: str) -> Element:
    import html5lib

    root: Element = html5lib.parse(html, namespaceHTMLElements=False)
    return root
