"""The main content of a page: where it is, what inside it is none of it, and the page arranged by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.article import candidates, chrome, head, judgement, preamble, title
from ferrule_fetch.article.arrangement import Halves, split
from ferrule_fetch.article.outline import Outline, TooDeep

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document, Element

__all__ = ["Article", "Halves", "find_article", "split"]

AROUND_DOCUMENTATION = "nav:not(.contents),footer,[role=navigation],.md-content__button,.md-source-file,.md-feedback"
_WITHIN = ",".join(f"[class*={name}]" for name in ("note", "citation", "topic", "admonition", "quote", "onebox"))
# Boxes and lines that lead around an encyclopedia.
_AROUND_ENTRY = ".navbox,.vertical-navbox,.catlinks,.printfooter,.portalbox,.portal-bar,.mw-jump,#jump-to-nav,#siteSub"
AROUND_MAIN = f"{AROUND_DOCUMENTATION},aside:not({_WITHIN}),{_AROUND_ENTRY}"
NO_TEXT = ("script", "style", "noscript", "template")


class Article(NamedTuple):
    """The main content of a page.

    parts: the elements that hold it, in order. left_out: elements in them that are none of it. head: what stands before
    it, wherever it is on the page.
    """

    parts: list[Element]
    left_out: list[Element]
    head: head.Head


def find_article(tree: Document) -> Article | None:
    """The main content of a page, None where it has none: a listing, a table, a home page, or one too doubtful.

    Scripts and styles are removed from the tree; its linked data (JSON-LD) is read before. Nothing else is changed.
    """
    marks = judgement.marks_of(tree)
    for tag in NO_TEXT:
        for element in tree.select(tag):
            element.extract()
    named = _named(tree, marks)
    if named is not None:
        return named
    try:
        outline = Outline(tree, is_marked=marks.is_article)
    except TooDeep:
        return None
    return _scored(tree, outline, is_marked=marks.is_article)


def _named(tree: Document, marks: judgement.Marks) -> Article | None:
    """The one part that the page names as its content; an article's page may name more than the article."""
    if len(marks.authored) == 1 and judgement.is_whole(tree, marks.authored[0]):
        return _add_heading(tree, marks.authored, AROUND_DOCUMENTATION)
    if len(marks.mains) == 1 and not marks.is_article and judgement.is_whole(tree, marks.mains[0]):
        named = _add_heading(tree, marks.mains, AROUND_MAIN)
        return named._replace(left_out=[*named.left_out, *chrome.find_comments(marks.mains[0], named.left_out)])
    return None


def _add_heading(tree: Document, parts: list[Element], around: str) -> Article:
    """A part that the page names as its content, without what matches a selector, under the page's title."""
    heading = title.find(tree, lambda heading: any(part in parts for part in heading.ancestors))
    left_out = parts[0].select(around)
    return Article(parts, [*left_out, *preamble.find(parts[0], left_out)], head.Head(heading, [], []))


def _scored(tree: Document, outline: Outline, *, is_marked: bool) -> Article | None:
    parts = candidates.find(outline)
    if not parts:
        return None
    left_out = chrome.prune(tree, parts, outline, is_marked=is_marked)
    is_marked = is_marked or _is_titled(tree, parts)
    if not judgement.is_article(judgement.held(outline, parts, left_out), parts, outline, is_marked=is_marked):
        return None
    left_out += preamble.find(parts[0], left_out)
    return Article(parts, left_out, head.find(tree, parts, left_out, outline))


def _is_titled(tree: Document, parts: list[Element]) -> bool:
    """Whether the part is an `<article>` whose large heading says the page's title, as that of no listing does.

    The heading stands in it, or it is the page's only one.
    """
    if len(parts) != 1 or parts[0].tag != "article":
        return False
    heading = title.find_said(tree, lambda heading: parts[0] in heading.ancestors)
    if heading is None or heading.tag != "h1":
        return False
    return parts[0] in heading.ancestors or len(tree.select("article")) == 1
