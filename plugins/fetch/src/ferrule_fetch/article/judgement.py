"""Whether what was found is the article of a page, or the page is none: a listing, a table, a thread, a home page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.article.shapes import holds_cards

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule_fetch.article.outline import Outline
    from ferrule_fetch.tree.nodes import Document, Element

# What authors mark an article with: names in the head, names and types of microdata.
META_MARKS = ("article:", "news_keywords", "parsely-pub-date", "sailthru.date")  # beginnings
META_PARTS = ("pubdate", "publishdate", "publish-date", "publish_date", "published")
ITEM_MARKS = frozenset(("articleBody", "datePublished"))
TYPE_MARKS = ("Article", "BlogPosting")
ROLES_AND_ITEMS = "[itemprop],[itemtype],[role=main]"
LINKED_DATA = "script[type='application/ld+json']"
LINKED_ARTICLES = ('Article"', 'BlogPosting"')
LINKED_THREADS = ('"QAPage"', '"DiscussionForumPosting"')
LINKED_OTHERS = (*LINKED_THREADS, '"Product"')
# What is none, though it may bear such a mark: shops, threads, and a theme of documentation that says it of every page.
NOT_TYPES = ("Product", "QAPage", "DiscussionForumPosting")
# What generators of documentation and of readmes put their text in, which holds that alone.
AUTHORED = (
    "div:is(.rst-content,.theme-doc-markdown,.vp-doc,.md-content,.markdown-body,.bodywrapper)",
    "article.markdown-body",
)
FEWEST = 200  # letters of an article on a page that does not say that it is one
LONG = 1_500  # letters of an article that is no teaser
# Of the words of a page, links aside, an article holds at least so much: on a page that says that it is one, there
# where it is long and what follows may be a stream of others, and on any other page.
HELD_IF_MARKED = 0.5
HELD_IF_MARKED_AND_LONG = 0.15
HELD_OF_PROSE_IF_MARKED = 0.6  # of the prose of a page that says so, all about it being links and names
HELD = 0.7
# Of all words, and of all prose, on any other page; of all words where the article is long.
HELD_OF_ALL = 0.5
HELD_OF_ALL_IF_LONG = 0.25
MAIN_LINKS = 0.35  # of the main part of a page that is content, at most


class Held(NamedTuple):
    """What an article holds of its page, 0 to 1.

    words: of the words that are no links. every: of all words. prose: of all prose, that of chrome too. kept: letters
    of the words that are no links.
    """

    words: float
    every: float
    prose: float
    kept: int


class Marks(NamedTuple):
    """What a page says of itself. is_article: that it is one. authored, mains: the parts it names as its content."""

    is_article: bool
    authored: list[Element]
    mains: list[Element]


def marks_of(tree: Document) -> Marks:
    """The marks of a page; to be asked for before its linked data is removed."""
    marked = tree.select(ROLES_AND_ITEMS)
    mains = [*tree.select("main"), *(element for element in marked if element.attr("role") == "main")]
    authored = [part for selector in AUTHORED for part in tree.select(selector)]
    return Marks(_is_article(tree, marked, authored), authored, list(dict.fromkeys(mains)))


def _is_article(tree: Document, marked: list[Element], authored: list[Element]) -> bool:
    types = [(element.attr("itemtype") or "").rstrip() for element in marked]
    heads = [
        ((meta.attr("property") or meta.attr("name") or "").lower(), meta.attr("content") or "")
        for meta in tree.select("meta")
    ]
    og_types = {content.lower() for name, content in heads if name == "og:type"}
    is_manual = any(part.has_class("rst-content") for part in authored)
    if is_manual or "product" in og_types or any(name.endswith(NOT_TYPES) for name in types):
        return False
    linked = "".join(script.text for script in tree.select(LINKED_DATA))
    if any(kind in linked for kind in LINKED_ARTICLES):
        return not any(kind in linked for kind in LINKED_THREADS)
    if any(kind in linked for kind in LINKED_OTHERS):
        return False
    return (
        "article" in og_types
        or any(name.startswith(META_MARKS) or any(part in name for part in META_PARTS) for name, _ in heads)
        or any(name.endswith(TYPE_MARKS) for name in types)
        or any(not ITEM_MARKS.isdisjoint((element.attr("itemprop") or "").split()) for element in marked)
        or tree.select_one("body.single-post") is not None
        or tree.select_one("time[pubdate]") is not None
    )


def held(outline: Outline, parts: list[Element], left_out: list[Element]) -> Held:
    """What the parts hold. left_out: none stands in another."""
    unlinked = _held(outline.unlinked, parts, left_out)
    return Held(
        unlinked / (outline.unlinked_everywhere or 1),
        _held(outline.words, parts, left_out) / (outline.words_everywhere or 1),
        _held(outline.prose, parts, left_out) / (outline.prose_with_chrome or 1),
        int(unlinked),
    )


def _held(length_of: Callable[[Element], float], parts: list[Element], left_out: list[Element]) -> float:
    return sum(map(length_of, parts)) - sum(map(length_of, left_out))


def is_article(share: Held, parts: list[Element], outline: Outline, *, is_marked: bool) -> bool:
    """Whether parts that hold so much are the page's article."""
    if is_marked and (share.words >= HELD_IF_MARKED or (share.kept >= LONG and share.words >= HELD_IF_MARKED_AND_LONG)):
        return True
    if is_marked and share.kept >= FEWEST and share.prose >= HELD_OF_PROSE_IF_MARKED:
        return True
    if share.kept < FEWEST or any(holds_cards(part, outline.words(part)) for part in parts):
        return False
    least = HELD_OF_ALL if share.kept < LONG else HELD_OF_ALL_IF_LONG
    return share.words >= HELD and share.every >= least and share.prose >= HELD_OF_ALL


def is_whole(tree: Document, part: Element) -> bool:
    """Whether a part that the page names as its content is that, and not a listing, and holds most of the page."""
    body = tree.select_one("body")
    length, linked = len(part.text), _linked(part)
    if body is None or linked > MAIN_LINKS * length:
        return False
    unlinked, everything = length - linked, len(body.text)
    if unlinked < HELD * everything and unlinked < HELD * (everything - _linked(body)):
        return False
    return not holds_cards(part, length)


def _linked(part: Element) -> int:
    return sum(len(link.text) for link in part.select("a"))
