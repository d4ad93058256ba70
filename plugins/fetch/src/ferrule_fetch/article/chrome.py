"""What is left out inside an article: shares, related articles, newsletters, bylines, comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.article.names import NO_HINTS, Hints, Names
from ferrule_fetch.article.outline import CHROME_TAGS, INNER, text_of
from ferrule_fetch.article.phrases import LEAD_LONGEST, is_notice, leads_away
from ferrule_fetch.article.shapes import LINKED_HEADINGS, holds_cards, holds_headlines, host_of, is_data, own_hosts
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from collections.abc import Collection

    from ferrule_fetch.article.outline import Outline
    from ferrule_fetch.tree.nodes import Document, Node

NAMED_ONLY = frozenset(("header", "span", "address", "time"))  # left out for their names alone
NAMED = "header,address,time,.mw-editsection,span[class*=byline],span[class*=author],div>span[class*=date],header>span"
LISTS = frozenset(("ul", "ol", "dl"))
HEADINGS = frozenset(("h2", "h3", "h4", "h5", "h6"))
COMMENT_HOLDERS = "div,section,form,ul,ol"
PARTS = f"div,section,form,table,p[class],p[id],{','.join(sorted({*CHROME_TAGS, *LISTS}))},{NAMED}"

# Shares of an article's prose. What holds more than the first is left out only where it is comments that leave the
# article the rest. Where names say of more than the second that it is none of the article, they do not mean that.
MUCH_PROSE = 0.25
LOST_MOST = 0.4
COMMENTS_MOST = 0.9
NOTICE_MARKUP_LONGEST = 200  # characters of a notice, white space not collapsed
BYLINE_LONGEST = 120  # characters
DATE_LONGEST = 60  # characters of a block that is a date, and what is said of it
BOX_LONGEST = 500  # characters of a box whose name speaks against it
# Shares of links in the text of what is left out, at least: on an article's page, there where it has little prose,
# in lists of headlines and on other pages.
LINKED = 0.5
LINKED_IN_PART = 0.25
LINKED_WHOLLY = 0.8


def prune(tree: Document, parts: list[Element], outline: Outline, *, is_marked: bool) -> list[Element]:
    """The outermost elements in the parts of an article that are none of it.

    Args:
        is_marked: whether the page says that it is an article. On other pages, lists and boxes of links are content.
    """
    pruner = _Pruner(tree, parts, outline, is_marked=is_marked)
    pruner.visit()
    if pruner.lost > LOST_MOST * pruner.prose:
        pruner = _Pruner(tree, parts, outline, is_marked=is_marked, by_name=False)
        pruner.visit()
    return [*pruner.left_out, *_announcing(pruner.left_out), *_notices(parts, pruner.left_out, outline)]


def find_comments(main: Element, left_out: Collection[Element]) -> list[Element]:
    """The parts of a main content that are comments on its one `<article>`, by their names.

    Where there are more articles, or none, the comments may be a thread, which is what the page is about.
    """
    gone = set(left_out)

    def stays(element: Element) -> bool:
        return element not in gone and gone.isdisjoint(element.ancestors)

    if sum(map(stays, main.select("article"))) != 1:
        return []
    names = Names(of_sections=False)
    found = [each for each in main.select(COMMENT_HOLDERS) if names.inside(each).comments and stays(each)]
    outermost = [element for element in found if not any(holder in found for holder in element.ancestors)]
    is_most = sum(len(element.text) for element in outermost) > COMMENTS_MOST * len(main.text)
    return [] if is_most else outermost


def _announcing(left_out: list[Element]) -> list[Element]:
    """The headings before what is left out that have nothing else under them."""
    gone = set(left_out)
    return [
        heading
        for element in left_out
        if (heading := _beside(element, "previous_sibling")) is not None
        and heading.tag in HEADINGS
        and ((after := _beside(element, "next_sibling")) is None or after.tag in HEADINGS or after in gone)
    ]


def _beside(element: Element, direction: str) -> Element | None:
    """The nearest element beside it, where no text stands between."""
    node: Node | None = getattr(element, direction)
    while node is not None and not isinstance(node, Element):
        if isinstance(node, Text) and not node.data.isspace():
            return None
        node = getattr(node, direction)
    return node


def _notices(parts: list[Element], left_out: list[Element], outline: Outline) -> list[Element]:
    """Paragraphs that tell nothing, and those that lead to another article."""
    found = [element for element, text in outline.short if is_notice(text)]
    found += [
        outline.elements[block.place]
        for block in outline.content
        if outline.tags[block.place] == "p"
        and len(block.text) < LEAD_LONGEST
        and (is_notice(block.text) or (block.unlinked < block.letters * LINKED and leads_away(block.text)))
    ]
    inside, out = set(parts), set(left_out)
    return [element for element in found if outline.is_inside(element, inside, out)]


class _Pruner:
    """prose: characters of it in the article. lost: those of what is left out for its name, comments aside."""

    def __init__(
        self, tree: Document, parts: list[Element], outline: Outline, *, is_marked: bool, by_name: bool = True
    ) -> None:
        self._parts, self._outline, self._is_marked, self._by_name = parts, outline, is_marked, by_name
        self._tree = tree
        self._own_hosts: set[str] | None = None
        self._has_cards = is_marked and sum(len(part.select(LINKED_HEADINGS)) for part in parts) > 1
        self.prose = sum(outline.prose(part) for part in parts) or 1
        self.lost = 0.0
        self.left_out: list[Element] = []

    def visit(self) -> None:
        """Judge everything in the parts."""
        for part in self._parts:
            inside = 0  # how many of those that follow stand in one that is left out
            for element in part.select(PARTS):
                if inside:
                    inside -= 1
                elif self._is_none_of_it(element):
                    inside = len(element.select(PARTS))
                    self.left_out.append(element)

    def _is_none_of_it(self, element: Element) -> bool:
        outline, tag = self._outline, element.tag
        prose = outline.prose(element)
        if prose and tag == "p":
            return False
        hints = outline.names.inside(element)
        if prose > MUCH_PROSE * self.prose:
            return hints.comments and prose < COMMENTS_MOST * self.prose
        if hints.notes:
            return False
        if tag == "aside" and not hints.chrome and element.select_one("blockquote,article") is not None:
            return False  # a quotation, or a preview of what is linked, as posts of threads have them
        if tag in CHROME_TAGS or (hints is not NO_HINTS and self._is_named_so(element, hints, prose)):
            return True
        if tag in NAMED_ONLY:
            return tag == "time" and self._stands_alone(element)
        linked = outline.linked(element)
        if self._is_plain(element, linked):
            return False
        if linked or tag == "form" or outline.names.weight(element) < 0:
            length = len(text_of(element))
            return self._reads_so(element, prose, length, min(1.0, linked / (length or 1)))
        return _is_notice(element)

    def _is_plain(self, element: Element, linked: float) -> bool:
        """Whether it is so long, and has so few links, that it reads like nothing that is left out."""
        unlinked = self._outline.unlinked(element)
        if unlinked < BOX_LONGEST or linked > LINKED_IN_PART * (linked + unlinked):
            return False
        return element.tag != "form" and not self._has_cards

    def _stands_alone(self, time: Element) -> bool:
        """Whether a date is no part of a sentence."""
        holder = self._outline.parent(time)
        return holder is not None and len(text_of(holder)) < DATE_LONGEST

    def _is_named_so(self, element: Element, hints: Hints, prose: float) -> bool:
        if hints.comments:
            return True
        if hints.chrome and self._by_name and not _is_told(element):
            self.lost += prose
            return True
        return hints.byline and 0 < len(text_of(element)) < BYLINE_LONGEST

    def _reads_so(self, element: Element, prose: float, length: int, share: float) -> bool:
        tag = element.tag
        if tag in LISTS:
            is_none = share > LINKED_WHOLLY and holds_headlines(element) and self._stays(element)
        elif tag == "table":
            is_none = share > LINKED and not is_data(element)
        elif tag == "form":
            is_none = prose < length * 0.5
        elif not element.select_one(INNER):
            is_none = _is_notice(element) or (share > LINKED and leads_away(text_of(element)))
        elif self._is_marked:
            is_none = self._is_box(element, prose, length, share)
        else:
            is_none = share > LINKED_WHOLLY and tag != "section" and "sect" not in (element.attr("class") or "")
        return is_none and not _holds_data(element)

    def _is_box(self, element: Element, prose: float, length: int, share: float) -> bool:
        if share > LINKED:
            return True
        weight = self._outline.names.weight(element)
        if prose < 0.5 * length:
            if share > LINKED_IN_PART and weight <= 0:
                return True
            if weight < 0 and length < BOX_LONGEST:
                return True
        return self._has_cards and holds_cards(element, length)

    def _stays(self, element: Element) -> bool:
        """Whether all links in it lead to the page's own site."""
        if self._own_hosts is None:
            self._own_hosts = own_hosts(self._tree)
        return all(host_of(link.attr("href") or "") in self._own_hosts for link in element.select("a"))


def _is_told(element: Element) -> bool:
    """Whether it is plainly content, whatever its name: code."""
    return element.select_one("pre") is not None


def _is_notice(element: Element) -> bool:
    text = element.text
    return len(text) < NOTICE_MARKUP_LONGEST and is_notice(" ".join(text.split()))


def _holds_data(element: Element) -> bool:
    """Whether code, formulas, captions of a gallery or a table of data are in it, or no text at all."""
    if element.select_one("pre,math,.gallerytext") is not None or not element.text.strip():
        return True
    return element.tag not in ("table", "form", *LISTS) and any(is_data(table) for table in element.select("table"))
