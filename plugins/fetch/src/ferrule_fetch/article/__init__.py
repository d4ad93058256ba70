"""The main content of a page: where it is, what inside it is none of it, and the page arranged by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.article import candidates, chrome, judgement, title
from ferrule_fetch.article.arrangement import Halves, split
from ferrule_fetch.article.outline import Outline, TooDeep

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document, Element

__all__ = ["Article", "Halves", "find_article", "split"]

AROUND_DOCUMENTATION = "nav:not(.contents),footer,[role=navigation],.md-content__button,.md-source-file,.md-feedback"
_WITHIN = ",".join(f"[class*={name}]" for name in ("note", "citation", "topic", "admonition", "quote", "onebox"))
AROUND_MAIN = f"{AROUND_DOCUMENTATION},aside:not({_WITHIN})"
NO_TEXT = ("script", "style", "noscript", "template")


class Article(NamedTuple):
    """The main content of a page.

    parts: the elements that hold it, in order. left_out: elements in them that are none of it. heading: the one of
    these that says the page's title, None if there is none.
    """

    parts: list[Element]
    left_out: list[Element]
    heading: Element | None = None


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
        return Article(marks.authored, marks.authored[0].select(AROUND_DOCUMENTATION))
    if len(marks.mains) == 1 and not marks.is_article and judgement.is_whole(tree, marks.mains[0]):
        return Article(marks.mains, marks.mains[0].select(AROUND_MAIN))
    return None


def _scored(tree: Document, outline: Outline, *, is_marked: bool) -> Article | None:
    parts = candidates.find(outline)
    if not parts:
        return None
    left_out = chrome.prune(tree, parts, outline, is_marked=is_marked)
    if not judgement.is_article(judgement.held(outline, parts, left_out), parts, outline, is_marked=is_marked):
        return None
    heading = title.repeated(tree, parts, outline)
    return Article(parts, left_out if heading is None else [*left_out, heading], heading)
