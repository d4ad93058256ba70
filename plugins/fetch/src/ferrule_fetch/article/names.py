"""What the names (class and id) that authors give to the parts of a page say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Element

# All are in lower case. Parts of names are looked for anywhere in them, words where hyphens and underscores end them.

# What surrounds an article: it is not looked for in there, and nothing of it stands inside an article.
SURROUNDINGS = (
    "advert", "adsense", "-ad-", "banner", "breadcrumb", "comment", "community", "consent", "cookie", "disqus",
    "footer", "gallery", "gdpr", "masthead", "menu", "most-popular", "most-read", "mostpopular", "mostread", "navbar",
    "navigat", "newsletter", "outbrain", "pager", "pagination", "popup", "readnext", "read-next", "recommend",
    "related", "replies", "sharedaddy", "side-bar", "side_bar", "sidebar", "sign-up", "signup", "social", "sponsor",
    "subscribe", "subscription", "taboola", "toolbar", "trending",
)  # fmt: skip
SURROUNDING_WORDS = frozenset(("ad", "ads", "extra", "header", "login", "nav", "rss"))
# Themes name what holds everything by what it holds too: with one of these, a name of the above says nothing.
HOLDERS = ("article", "body", "column", "content", "main")

# What is left out inside an article, whatever else the name says.
CHROME = (
    "about-author", "about-the-author", "aboutauthor", "addthis", "addtoany", "advert", "article-footer", "author-bio",
    "author-box", "authorbio", "breadcrumb", "catlinks", "consent", "cookie", "copyright", "disclaimer", "donate",
    "donation", "entry-footer", "more-stories", "morestories", "mw-editsection", "mw-jump", "navbox", "navframe",
    "newsletter", "nextpage", "outbrain", "pagination", "paywall", "popular", "portal-bar", "portalbox", "post-flair",
    "post-footer", "print-only", "printfooter", "promo", "read-more", "read-next", "readmore", "readnext", "recommend",
    "related", "screen-reader", "-share", "_share", "share-", "share_", "sharebar", "sharedaddy", "sharelink",
    "sharetool", "sharing", "sidebar", "sign-up", "signup", "skip-link", "social", "sponsor", "storyblock-footer",
    "subscri", "taboola", "tag-list", "taglist", "tags-list", "toolbar", "trending", "video-list", "video-playlist",
    "visually-hidden", "widget",
)  # fmt: skip
CHROME_WORDS = frozenset(
    (
        "ad", "ads", "adsense", "adslot", "comments", "feedback", "follow", "hidden", "login", "menu", "modal", "nav",
        "next", "noprint", "poll", "popup", "prev", "promo", "rating", "ratings", "share", "shares", "sharing",
        "survey", "tags", "teaser", "teasers", "tools",
    )
)  # fmt: skip
COMMENTS = (
    "comment-area", "comment-form", "comment-list", "comment-section", "comment_form", "comment_list",
    "comment_section", "commentbox", "commentlist", "comments", "disqus", "replies", "respond",
)  # fmt: skip
BYLINES = (
    "article-date", "article-meta", "author", "byline", "dateline", "dates", "datetime", "entry-meta", "meta-info",
    "post-date", "post-meta", "posted-on", "postmeta", "pubdate", "published", "story-meta", "timestamp", "written-by",
)  # fmt: skip
# What is of the article, though it is short, or links only.
NOTES = (
    "admonition", "bibliograph", "callout", "citation", "endnote", "footnote", "gallerytext", "reference", "reflist",
    "seealso",
)  # fmt: skip

# What makes a part more likely to hold the article, or less.
FOR = ("article", "blog", "body", "content", "entry", "main", "page", "post", "story", "text")
AGAINST = (
    "banner", "comment", "contact", "foot", "gdpr", "hid", "masthead", "media", "meta", "newsletter", "outbrain",
    "promo", "recommend", "related", "scroll", "share", "sharing", "shopping", "sidebar", "social", "sponsor",
    "subscribe", "taboola", "tags", "teaser", "tool", "widget",
)  # fmt: skip
POINTS = 25  # of a class, or an id, that speaks for or against a part


class Hints(NamedTuple):
    """What names say of a part inside an article."""

    chrome: bool = False
    comments: bool = False
    byline: bool = False
    notes: bool = False


NO_HINTS = Hints()
_Pair = tuple[str, str]  # a class and an id


class Names:
    """Hints of elements. Each name is judged once, for a page gives the same to many of its parts.

    of_sections: whether ids of sections count; generators of documentation make these of the sections' headings.
    """

    def __init__(self, *, of_sections: bool) -> None:
        self._of_sections = of_sections
        self._surrounds: dict[_Pair, bool] = {("", ""): False}
        self._weights: dict[_Pair, int] = {("", ""): 0}
        self._hints: dict[_Pair, Hints] = {("", ""): NO_HINTS}

    def surrounds(self, element: Element) -> bool:
        """Whether an element is named like what surrounds an article."""
        pair = self._pair(element)
        known = self._surrounds.get(pair)
        if known is None:
            known = self._surrounds[pair] = _surrounds(f"{pair[0]} {pair[1]}".lower())
        return known

    def weight(self, element: Element) -> int:
        """Points for an element (over 0) or against it (under 0), as what holds an article."""
        pair = self._pair(element)
        known = self._weights.get(pair)
        if known is None:
            known = self._weights[pair] = _weight(pair[0].lower()) + _weight(pair[1].lower())
        return known

    def inside(self, element: Element) -> Hints:
        """What an element is inside an article."""
        pair = self._pair(element)
        known = self._hints.get(pair)
        if known is None:
            hints = _judged(f"{pair[0]} {pair[1]}".lower())
            known = self._hints[pair] = NO_HINTS if hints == NO_HINTS else hints
        return known

    def _pair(self, element: Element) -> _Pair:
        class_name, identity = element.attr("class") or "", element.attr("id") or ""
        if identity and not self._of_sections and ("sect" in class_name or element.tag == "section"):
            identity = ""
        return class_name, identity


def _surrounds(names: str) -> bool:
    is_named = _has(SURROUNDINGS, names) or not SURROUNDING_WORDS.isdisjoint(words_in(names))
    return is_named and not _has(HOLDERS, names)


def _judged(names: str) -> Hints:
    return Hints(
        chrome=_has(CHROME, names) or not CHROME_WORDS.isdisjoint(words_in(names)),
        comments=_has(COMMENTS, names),
        byline=_has(BYLINES, names),
        notes=_has(NOTES, names),
    )


def words_in(names: str) -> list[str]:
    """The words of names, which blanks, hyphens and underscores part."""
    return names.replace("-", " ").replace("_", " ").split()


def _weight(name: str) -> int:
    return POINTS * (_has(FOR, name) - _has(AGAINST, name)) if name else 0


def _has(parts: tuple[str, ...], names: str) -> bool:
    for part in parts:  # noqa: SIM110 - any() takes three times as long
        if part in names:
            return True
    return False
