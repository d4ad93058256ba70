"""Links that lead somewhere, each told once."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ferrule_fetch.cleaning.addresses import base_of
from ferrule_fetch.cleaning.edits import replace, unwrap
from ferrule_fetch.cleaning.text import HEADINGS, letters_of
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Document, Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found

_PERMALINK = compile_late(
    r"[\s\u200b\ufeff#¶§†^↩\ufe0e\ufe0f⚓🔗∞•\u2693\ue000-\uf8ff]*"
    r"|(?i:permalink|permanent link|direct link to|link to this|copy link)\b.*",
)
_SKIP = compile_late(
    r"\s*(?:skip|jump) to .{0,40}"
    r"|\s*[▲↑⇑^]?\s*(?:back to |to (?:the )?|go to )?top(?: of (?:the )?page)?\s*[▲↑⇑^]?\s*",
    re.I,
)
_BEGINS = frozenset("pdlcsjbtgPDLCSJBTG")  # how a text may begin that one of these two matches
_MORE = compile_late(
    r"(?:read|continue|learn|see|view|show)?\s*(?:full |the |whole )*(?:more|reading|article|story|details|post)?"
    r"\s*[.…»›→>]*",
    re.I,
)
_ABOUT = compile_late(r"\b(?:about|of|on)\s*$")  # before the title of what there is more of
_OF_SENTENCE = compile_late(r"[^\W\d_]|[.,;:?!。，；：？！]")  # letters, and the signs that end a part of one
_EMPHASIS = frozenset({"b", "strong", "i", "em", "cite", "code", "span", "u", "small", "mark", "q"})
_MAX_EMPHASIS = 4  # elements around a link that are looked at
_BLOCKS = (
    *("div", "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol"),
    *("section", "article", "figure", "header", "li", "table"),
)
_WITH_TEXT = f"p,li,td,th,dt,dd,figcaption,pre,blockquote,div,section,article,header,footer,{HEADINGS}"
_ENLARGE = compile_late(r"enlarge|zoom|view (?:full )?(?:size|image)|open|permalink|#|click to enlarge", re.I)
_HEADINGS = frozenset(HEADINGS.split(","))
_SHORT = 3  # characters, which may be part of anything
_FEW_WORDS = 3  # which a title may have besides the text and says nothing by them, as in "view all posts by"
_CARD = "li,article,section,tr,figure,td,blockquote"
_RECENT = 4  # links before a link that may lead to the same place in the same card


# Links that share a page with others: to each site there is one address that does it.
_SHARING = (
    *("facebook.com/share", "facebook.com/dialog/", "/intent/tweet", "twitter.com/share", "pinterest.com/pin/create"),
    *("linkedin.com/shareArticle", "linkedin.com/sharing", "reddit.com/submit", "//wa.me/?text", "t.me/share"),
    "mailto:?",
)
_MAX_SHARE_CHARS = 40  # of the text of such a link

SELECTORS = ("a[href]", "a:empty", "a:has(:empty)", "a[title]", "base", *(f"a {tag}" for tag in _BLOCKS))


def may_become_empty(found: Found) -> list[Element]:
    """The links that have no text, or may have none once what says nothing is removed from them."""
    return [*found["a:empty"], *found["a:has(:empty)"]]


def clean(found: Found, doubtful: list[Element], url: str) -> None:
    """Remove links that lead nowhere or have been told, and what repeats their text."""
    _shorten_titles(found)
    moved = _move_into_blocks(found)
    for link in doubtful:
        text = link.text
        if (not text or text.isspace()) and link.tag == "a":
            _name_or_remove(link)
    links = [moved.get(link, link) for link in found["a[href]"]] if moved else found["a[href]"]
    page = url.partition("#")[0]
    based = base_of(found["base"], page).partition("#")[0]
    within = _list_beginnings(page, based)
    places = frozenset(_list_places(links, page, based))
    last: dict[str, int] = {}  # where a link to each address was met
    hrefs = [link.attr("href") or "" for link in links]
    _remove_shares(links, hrefs)
    for index, href in enumerate(hrefs):
        if href.startswith(within) or href in places:
            _clean_within_page(links[index], href, page, based)
            continue
        before = last.get(href, -_RECENT)
        last[href] = index
        if index - before < _RECENT:
            _tell_once(links[before], links[index])


def _list_beginnings(page: str, based: str) -> tuple[str, ...]:
    """How links to places of a page begin. based: what its relative links are relative to."""
    begins = ("#", f"{page}#")
    address, _, query = page.partition("?")
    if page != based or not query:
        return begins
    path = address.partition("//")[2].partition("/")[2]
    return (*begins, *(f"{written}?{query}#" for written in ("", f"/{path}", path.rpartition("/")[2])))


def _list_places(links: list[Element], page: str, based: str) -> tuple[str, ...]:
    """The addresses of places of a page, where its links leave out the query that it was asked for with."""
    address, _, query = page.partition("?")
    path = f"/{address.partition('//')[2].partition('/')[2]}"
    if (
        page != based
        or not query
        or not any((link.attr("href") or "").startswith((f"{address}#", f"{path}#")) for link in links)
    ):
        return ()
    root = next(node for node in links[0].ancestors if isinstance(node, Document))
    return tuple(f"{written}#{each.attr('id')}" for each in root.select("[id]") for written in (address, path))


def _remove_shares(links: list[Element], hrefs: list[str]) -> None:
    every = "\n".join(hrefs)
    addresses = [address for address in _SHARING if address in every]
    if not addresses:
        return
    for link, href in zip(links, hrefs, strict=True):
        shares = any(address in href for address in addresses)
        if shares and len(link.text.strip()) <= _MAX_SHARE_CHARS and not _is_in_sentence(link):
            _remove(link)


def _clean_within_page(link: Element, href: str, page: str, based: str) -> None:
    """A link to another place of the page: short, and none where it leads to itself or to the page's own top."""
    text = link.text
    fragment = href[href.index("#") :]
    if href[:1] == "#" and based != page:
        link.attrs["href"] = f"{based}{href}"
    elif href != fragment:
        link.attrs["href"] = fragment
    if text[:1] == "[" or text.isdigit():  # a note, as most of them are
        return
    if text[:1].isalnum() and text[0] not in _BEGINS and fragment != "#":
        if _is_in_heading(link):
            unwrap(link)
        return
    if _PERMALINK.fullmatch(text.strip()) and "footnote" not in fragment and link.closest("sup,sub") is None:
        if link.select_one("img") is None:
            _remove(link)
        else:
            unwrap(link)
    elif fragment == "#" or _is_in_heading(link):
        unwrap(link)
    elif _SKIP.fullmatch(text):
        _remove(link)


def _remove(link: Element) -> None:
    """Remove a link; a blank in it stays one, and so does the space that it takes between two words."""
    around = link.parent
    if link.text.isspace():
        replace(link, Text(" "))
    else:
        link.extract()
    if isinstance(around, Element) and around.tag == "li" and not around.text.strip() and around.find("img") is None:
        around.extract()


def _name_or_remove(link: Element) -> None:
    if link.select_one("img") is not None:
        return
    name = " ".join((link.attr("aria-label") or link.attr("title") or "").split())
    if not name or _ENLARGE.fullmatch(name) or link.attr("href") is None:
        _remove(link)
        return
    link.set_text(name)
    if link.attr("title") is not None:
        del link.attrs["title"]


def _tell_once(other: Element, link: Element) -> None:
    """Of two links to one place in one card, keep the one that says what is there."""
    above = link.parent
    if above is None or other.parent is None:
        return
    if above == other.parent and (_is_in_sentence(link) or _is_in_sentence(other)):
        return
    card, other_card = link.closest(_CARD), other.closest(_CARD)
    if card != other_card or (card is None and not _are_neighbours(other, link)):
        return
    other_text, text = other.text.strip(), link.text.strip()
    if other_text and _is_in_sentence(link):  # which needs all of its words, and where they lead
        return
    if other_text and (paragraph := link.closest("p")) is not None and paragraph == other.closest("p"):
        return
    if not other_text:  # an image
        _unwrap_image(other, letters_of(text))
    elif _is_in_heading(link) and not _is_in_heading(other):
        if not _is_in_sentence(other):
            other.extract() if text == other_text else unwrap(other)
    elif letters_of(text) == letters_of(other_text) or _is_more(text, other_text):
        link.extract()
    else:
        unwrap(link)


def _unwrap_image(link: Element, text: str) -> None:
    for image in link.select("img"):
        if letters_of(image.attr("alt") or "") in text:
            image.extract()
    unwrap(link)


def _is_in_heading(link: Element) -> bool:
    """Whether a heading is near around a link, which a selector finds in more time."""
    around = link.parent
    for _ in range(_MAX_EMPHASIS):
        if not isinstance(around, Element):
            return False
        if around.tag in _HEADINGS:
            return True
        around = around.parent
    return False


def _is_more(text: str, title: str) -> bool:
    """Whether a text says no more than that there is more, perhaps of what has a title."""
    if _MORE.fullmatch(text):
        return True
    about = letters_of(title)
    before, found, after = letters_of(text).partition(about) if len(about) > _SHORT else ("", "", "")
    return bool(found) and not after and bool(_MORE.fullmatch(_ABOUT.sub("", before).strip()))


def _is_in_sentence(link: Element) -> bool:
    """Whether a link has words or the signs of a sentence next to it, as far as emphasis reaches."""
    place: Element = link
    for _ in range(_MAX_EMPHASIS):
        for node in (place.previous_sibling, place.next_sibling):
            if isinstance(node, Text) and _OF_SENTENCE.search(node.data):
                return True
        around = place.parent
        if not isinstance(around, Element) or around.tag not in _EMPHASIS:
            return False
        place = around
    return False


def _are_neighbours(other: Element, link: Element) -> bool:
    """Whether two links stand in one element, or in elements side by side."""
    above = [node for node, _ in zip(other.ancestors, range(3), strict=False)]
    return any(node in above for node, _ in zip(link.ancestors, range(3), strict=False))


def _shorten_titles(found: Found) -> None:
    """Remove titles that repeat the text or the address."""
    for link in found["a[title]"]:
        title, text = link.attr("title") or "", link.text.strip()
        if text and (title == text or _repeats(title, text, link.attr("href") or "")):
            del link.attrs["title"]


@lru_cache(maxsize=1_024)
def _repeats(title: str, text: str, href: str) -> bool:
    if len(title) > _SHORT and title.replace(" ", "_") in href:
        return True
    title, text = letters_of(title), letters_of(text)
    if len(text) > _SHORT and f" {text} " in f" {title} ":
        return len(title.split()) - len(text.split()) <= _FEW_WORDS
    if not title or f" {title} " in f" {text} ":
        return bool(title)
    return len(title) > _SHORT and title in letters_of(unquote(href).replace("_", " "))


def _move_into_blocks(found: Found) -> dict[Element, Element]:
    """A link around blocks becomes one within the heading among them, or within the first that has text.

    Returns the new links by the old ones.
    """
    moved: dict[Element, Element] = {}
    for tag in _BLOCKS:
        for block in found[f"a {tag}"]:
            link = block.closest("a")
            if link is not None and link not in moved:
                moved[link] = _move_into_block(link) or link
    return moved


def _move_into_block(link: Element) -> Element | None:
    attributes = {name: link.attr(name) or "" for name in ("href", "title", "aria-label") if name in link.attrs}
    place = next((each for each in link.select(HEADINGS) if each.text.strip()), None)
    if place is None:
        with_text = [each for each in link.select(_WITH_TEXT) if each.text.strip()]
        place = next((each for each in with_text if each.select_one(_WITH_TEXT) is None), None)
    link.tag = "div"
    for name in attributes:
        del link.attrs[name]
    if "href" not in attributes:
        return None
    if place is not None:
        return place.wrap_children(Element("a", attributes))
    image = link.select_one("img")
    return image.wrap(Element("a", attributes)) if image is not None else None
