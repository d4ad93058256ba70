"""The head of an article, whichever elements hold it: title, standfirst, authors, date, the lead picture's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.article import title
from ferrule_fetch.article.names import words_in
from ferrule_fetch.article.outline import CHROME_TAGS, INNER, text_of
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule_fetch.article.outline import Outline
    from ferrule_fetch.tree.nodes import Document

DESCRIPTIONS = "meta[name=description],meta[property='og:description'],meta[name='twitter:description']"
STANDFIRSTS = ("standfirst", "subtitle", "sub-title", "subhead", "sub-head", "subline", "sub-line")
STANDFIRST_WORDS = frozenset(("dek", "deck", "lead", "lede", "intro", "summary", "excerpt"))
STANDFIRST_TAGS = frozenset(("h2", "h3", "h4", "p", "div"))
STANDFIRST_SHORTEST, STANDFIRST_LONGEST = 25, 600  # characters
BYLINE_MARKS = "address,[rel~=author],[itemprop~=author]"
BYLINE_LONGEST = 120  # characters
DATE_LONGEST = 60  # characters
DATES = ("date", "time", "publish", "posted")
CAPTION = "caption"
FILES = (".jpg", ".jpeg", ".png", ".gif", ".webp")
CAPTION_LONGEST = 600  # characters
CHROME_LONGEST = 1_000  # characters of what is passed over for its name; what has more only holds such things
ELEMENTS_MOST = 3_000  # that are looked at between a heading and its article
BLOCKS = f"{INNER},li,figcaption,time,address,header,span,br"
ORDER = ("standfirst", "byline", "date", "picture")


class Head(NamedTuple):
    """What stands before an article, in the order in which it is to be read.

    heading: the title. lines: what becomes a line each. prose: paragraphs with which the article begins.
    """

    heading: Element | None
    lines: list[Element]
    prose: list[Element]


def find(tree: Document, parts: list[Element], left_out: list[Element], outline: Outline) -> Head:
    """The head of an article that stands in parts of a page, of which some elements are left out."""
    inside, out = set(parts), set(left_out)
    heading = title.find(tree, lambda element: outline.is_inside(element, inside, set()))
    search = _Search(tree, outline, heading, parts)
    for element in _list_between(tree, heading, parts, left_out, outline):
        search.look_at(element, is_outside=not outline.is_inside(element, inside, out))
    lines = [element for kind in ORDER for element in search.found[kind]]
    return Head(heading, lines, search.prose)


def _list_between(
    tree: Document, heading: Element | None, parts: list[Element], left_out: list[Element], outline: Outline
) -> Iterator[Element]:
    """The elements from the heading, with the header around it, to the first prose of the article."""
    body = tree.select_one("body")
    if body is None:
        return
    inside, out = set(parts), set(left_out)
    ends = {
        element
        for block in outline.content
        if block.is_prose and outline.is_inside(element := outline.elements[block.place], inside, out)
    }
    start = parts[0] if heading is None else heading.closest("header,hgroup") or heading
    found: list[Element] = []
    for element in body.iter_elements():
        if not found and element is not start:
            if element in ends:
                return
            continue
        if element in ends:
            yield from found
        if element in ends or len(found) == ELEMENTS_MOST:
            return
        found.append(element)


class _Search:
    """found: the elements of each kind. prose: paragraphs."""

    def __init__(self, tree: Document, outline: Outline, heading: Element | None, parts: list[Element]) -> None:
        self._outline = outline
        kept = parts if heading is None else [*parts, heading]
        self._around = {holder for element in kept for holder in (element, *outline.line(element))}
        self._descriptions = [title.split_words(meta.attr("content") or "") for meta in tree.select(DESCRIPTIONS)]
        self._prose = {outline.elements[block.place] for block in outline.content if block.is_prose}
        self._seen: set[Element] = {heading} if heading is not None else set()
        self._said = "" if heading is None else _mark_words(text_of(heading))
        self.found: dict[str, list[Element]] = {kind: [] for kind in ORDER}
        self.prose: list[Element] = []

    def look_at(self, element: Element, *, is_outside: bool) -> None:
        """Take an element that is of the head, unless it stands in one that was seen. is_outside: of the article."""
        if element.parent in self._seen:
            self._seen.add(element)
            return
        if not is_outside:
            return
        text = text_of(element)
        if self._is_chrome(element, text):
            self._seen.add(element)
            return
        kind = self._find_kind(element, text)
        if not kind or element in self._around:
            return
        self._seen.add(element)
        if self._is_said(text):
            return
        (self.prose if kind == "prose" else self.found[kind]).append(element)

    def _is_said(self, text: str) -> bool:
        """Whether all words of a text stand in one that was taken before; they do from now on."""
        spoken = _mark_words(text)
        if spoken and spoken in self._said:
            return True
        self._said += spoken
        return False

    def _is_chrome(self, element: Element, text: str) -> bool:
        if element.tag in CHROME_TAGS or element.tag == "form":
            return True
        hints = self._outline.names.inside(element)
        return (hints.chrome or hints.comments) and len(text) < CHROME_LONGEST and not hints.byline

    def _holds_chrome(self, element: Element) -> bool:
        return any(each.tag in CHROME_TAGS or self._outline.names.inside(each).chrome for each in element.select("*"))

    def _find_kind(self, element: Element, text: str) -> str:
        """Which part of the head it is; empty for none."""
        tag, length = element.tag, len(text)
        if tag == "figure" or CAPTION in (element.attr("class") or "").lower():
            return "picture" if 0 < length <= CAPTION_LONGEST or (tag == "figure" and not length) else ""
        if tag == "time" and 0 < length <= DATE_LONGEST:
            return "date"
        if self._outline.names.inside(element).byline or element.matches(BYLINE_MARKS):
            if 0 < length <= BYLINE_LONGEST and not self._holds_chrome(element):
                return "date" if length <= DATE_LONGEST and _is_date(element, text) else "byline"
            return ""
        if tag in STANDFIRST_TAGS and self._is_standfirst(element, text):
            return "standfirst"
        return "prose" if element in self._prose else ""

    def _is_standfirst(self, element: Element, text: str) -> bool:
        if not STANDFIRST_SHORTEST <= len(text) <= STANDFIRST_LONGEST or element.select_one(INNER) is not None:
            return False
        if _is_named_standfirst(element) and self._outline.linked(element) < len(text) / 2:
            return True
        words = title.split_words(text)
        return any(_is_same(words, description) for description in self._descriptions)


def _mark_words(text: str) -> str:
    """The words of a text, with a mark around each."""
    return f"|{'|'.join(title.split_words(text))}|" if text else ""


def _is_date(element: Element, text: str) -> bool:
    names = f"{element.attr('class') or ''} {element.attr('itemprop') or ''}".lower()
    return any(part in names for part in DATES) and any(map(str.isdigit, text))


def _is_named_standfirst(element: Element) -> bool:
    names = f"{element.attr('class') or ''} {element.attr('itemprop') or ''}".lower()
    return any(part in names for part in STANDFIRSTS) or not STANDFIRST_WORDS.isdisjoint(words_in(names))


def _is_same(words: list[str], others: list[str]) -> bool:
    """Whether two texts begin with the same words, as far as the shorter one goes."""
    shared = min(len(words), len(others))
    return shared > 3 and words[:shared] == others[:shared]


def make_line(element: Element) -> Element:
    """An element as a paragraph of one line. A picture's own words go where its caption says them too."""
    text = text_of(element).lower()
    for image in element.select("img"):
        alternative = " ".join((image.attr("alt") or "").lower().split())
        if not alternative or alternative in text or alternative.endswith(FILES) or element.tag != "figure":
            image.extract()
    for block in element.select(BLOCKS):
        block.insert(0, Text(" "))
        block.append(Text(" "))
        block.tag = "span"
    line = Element("p", {}, [])
    if element.tag == "a":
        line.append(element.extract())
    else:
        element.extract()
        line.extend(list(element))
    return line
