"""The blocks of text on a page and all that holds them, with the sums that tell what is article and what is chrome."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.article.names import Names
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrule_fetch.tree.nodes import Document, Node

INNER = "p,div,ul,ol,dl,table,pre,blockquote,section,article,figure,form,h1,h2,h3,h4,h5,h6"
WHOLE = ("p", "pre", "h2", "h3", "h4", "h5", "h6")  # blocks, whatever they hold
LEAVES = ("td", "th", "dt", "dd", "section", "div", "li", "blockquote", "article")  # blocks, where they hold none
MIXED = frozenset(("div", "td", "center", "section", "article"))  # that may hold text and blocks; the text is theirs
PHRASING = frozenset(("a", "b", "i", "em", "strong", "span", "font", "u", "small", "sup", "sub", "code", "abbr", "q"))

# Elements and roles that never hold an article, and those whose names say nothing of that.
CHROME_TAGS = frozenset(("nav", "aside", "footer", "dialog", "menu", "button", "select", "textarea"))
CHROME_ROLES = frozenset(
    ("menu", "menubar", "complementary", "navigation", "alert", "alertdialog", "dialog", "search", "contentinfo")
)
NEUTRAL_TAGS = frozenset(
    (
        "html", "body", "article", "main", "p", "pre", "table", "tbody", "thead", "tr", "td", "th", "li", "dt", "dd",
        "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "center", "figure", "figcaption", "summary", "details",
        "cite",
    )
)  # fmt: skip
DEEPEST = 120  # elements one in the other; a page that goes deeper is no page to look for an article in

# Elements that were made, not parsed, have one hash, so that a dictionary looks through all of them for each.
MOST_ALIKE = 3_000

SHORTEST = 25  # characters of a block that counts on an article's page; on others, where tables may be, all count
PROSE_SHORTEST = 80  # characters of a block of prose
WIDE_BYTES = 2.2  # of UTF-8 to a character, at least, where a text is of characters that are words or syllables
WIDE_WORTH = 2.5  # letters
BREADTH_SHOWN = 60  # characters of a text that tell what it is of
PROSE_LINKS = 0.33  # share of links in a block of prose, at most
NOTE_WEIGHT = 0.3  # of a link to the page itself, as a note's number is: it leads to no other page
# What holds so much of a page's prose is no chrome, whatever its name; less is enough where it holds the heading too.
HELD = 0.8
HELD_WITH_HEADING = 0.2
BELIEVED = 0.15  # of a page's prose: where names leave less than that, only those of comments are believed
HEADINGS = "h1,main,[role=main],[itemprop~=articleBody]"
_ABOVE_ALL = 0  # the place of what holds the root; also said of what has none, because it holds no block


class TooDeep(Exception):
    """Elements stand in each other so deep, or so many are alike, that an outline would take too long."""


class Block(NamedTuple):
    """A block of text, white space collapsed.

    place: that of its element. letters: its length; unlinked: that of what is no link; see `breadth`.
    """

    place: int
    text: str
    letters: float
    unlinked: float
    is_prose: bool


class Outline:
    """What a page is made of. Lengths are characters of text, white space collapsed; sums are those of all within.

    Elements that hold text have places, which are numbers; those of what they hold are larger. By place:
    elements, tags, parents (places). blocks: all; content:
    those that no chrome holds. is_marked: whether the page says that it is an article. Raises TooDeep.
    """

    def __init__(self, tree: Document, *, is_marked: bool) -> None:
        self.names = Names(of_sections=is_marked)
        self.elements: list[Element] = [Element("html")]  # instead of the document
        self.tags, self.parents, self._depths = [""], [_ABOVE_ALL], [0]
        self._places: dict[Node | None, int] = {tree: _ABOVE_ALL, None: _ABOVE_ALL}
        self._unplaced_links: dict[Element, float] = {}
        self.short: list[tuple[Element, str]] = []  # paragraphs that are too short to count
        texts = self._texts(tree, SHORTEST if is_marked else 1)
        self._linked = self._sums(self._links(tree))
        self.blocks = list(self._blocks(texts))
        self.prose_with_chrome = _prose(self.blocks)
        held = self._sums((block.place, len(block.text)) for block in self.blocks if block.is_prose)
        for self._by_name in (True, False):
            self._chrome = self._find_chrome(tree, held)
            self.content = [block for block in self.blocks if not self._chrome[block.place]]
            if _prose(self.content) >= BELIEVED * self.prose_with_chrome:
                break
        self._sum_up()

    def words(self, element: Element) -> float:
        """Characters of the blocks in it."""
        return self._words[self._places.get(element, _ABOVE_ALL)]

    def unlinked(self, element: Element) -> float:
        """Letters in it that are no links."""
        return self._unlinked[self._places.get(element, _ABOVE_ALL)]

    def prose(self, element: Element) -> float:
        """Characters of prose in it."""
        return self._prose[self._places.get(element, _ABOVE_ALL)]

    def paragraphs(self, element: Element) -> int:
        """How many blocks of prose it holds."""
        return int(self._paragraphs[self._places.get(element, _ABOVE_ALL)])

    def linked(self, element: Element) -> float:
        """Characters of links in it."""
        if place := self._places.get(element):
            return self._linked[place]
        lengths = self._unplaced_links
        return sum(lengths.get(link, 0) for link in element.select("a")) if lengths else 0

    def link_share_at(self, place: int) -> float:
        """How much of the text of the element at a place is links, 0 to 1."""
        linked = self._linked[place]
        return linked / (linked + self._unlinked[place]) if linked else 0.0

    def parent(self, element: Element) -> Element | None:
        """The element around it; None for the root."""
        holder = element.parent
        return holder if isinstance(holder, Element) else None

    def line(self, element: Element) -> Iterator[Element]:
        """The elements around it, from the nearest."""
        holder = element.parent
        while isinstance(holder, Element):
            yield holder
            holder = holder.parent

    def is_chrome(self, element: Element) -> bool:
        """Whether it, or what holds it, is by its element, role or name no part of an article."""
        place = self._places.get(element, _ABOVE_ALL)
        if place:
            return self._chrome[place]
        holder, tag = self.parent(element), element.tag
        if holder is not None and self.is_chrome(holder):
            return True
        return tag not in NEUTRAL_TAGS and self._is_named_chrome(element, tag)

    def is_inside(self, element: Element, parts: set[Element], left_out: set[Element]) -> bool:
        """Whether it stands in the parts, but in nothing that is left out."""
        for holder in (element, *self.line(element)):
            if holder in left_out:
                return False
            if holder in parts:
                return True
        return False

    def _place(self, node: Node | None) -> int:
        """The place of an element; it gets one, with all that holds it, if it has none."""
        places, elements = self._places, self.elements
        line: list[Element] = []
        while (place := places.get(node)) is None:
            line.append(node)  # type: ignore[arg-type] # the root is known, so it is no None
            node = node.parent  # type: ignore[union-attr] # as above
        depth = self._depths[place]
        if depth + len(line) > DEEPEST:
            raise TooDeep
        for element in reversed(line):
            depth += 1
            self.parents.append(place)
            self._depths.append(depth)
            place = places[element] = len(elements)
            elements.append(element)
            self.tags.append(element.tag)
        return place

    def _texts(self, tree: Document, shortest: int) -> list[tuple[int, str]]:
        places, parents, tags, depths, elements = self._places, self.parents, self.tags, self._depths, self.elements
        taken = []
        selectors = [(tag, tag) for tag in WHOLE] + [(tag, f"{tag}:not(:has({INNER}))") for tag in LEAVES]
        for tag, selector in selectors:
            found = tree.select(selector)
            if len(found) > MOST_ALIKE and len(found) - len(set(map(hash, found))) > MOST_ALIKE:
                raise TooDeep
            for element in found:
                text = element.text
                if len(text) < shortest and tag != "p":
                    continue
                text = " ".join(text.split())
                if len(text) >= shortest:
                    place = places.get(element)
                    if place is None:
                        holder = places.get(parent := element.parent)
                        if holder is None:
                            holder = self._place(parent)
                        place = places[element] = len(elements)
                        elements.append(element)
                        tags.append(tag)
                        parents.append(holder)
                        depths.append(depths[holder] + 1)
                    taken.append((place, text))
                elif text and tag == "p":
                    self.short.append((element, text))
        return taken + self._mixed(tree, shortest)

    def _mixed(self, tree: Document, shortest: int) -> list[tuple[int, str]]:
        """The texts between line breaks of those elements that hold blocks too."""
        holders = dict.fromkeys(lined.parent for lined in tree.select("br"))
        taken = []
        for holder in holders:
            if isinstance(holder, Element) and holder.tag in MIXED and holder.select_one(INNER):
                text = " ".join("".join(child.text for child in holder if _is_phrasing(child)).split())
                if len(text) >= shortest:
                    taken.append((self._place(holder), text))
        return taken

    def _links(self, tree: Document) -> list[tuple[int, float]]:
        """The places of what holds links, with their characters."""
        places, found = self._places, []
        notes = set(tree.select('a[href^="#"]'))
        for link in tree.select("a"):
            length = len(link.text) * (NOTE_WEIGHT if link in notes else 1)
            place = places.get(holder := link.parent)
            if place is None:
                self._unplaced_links[link] = length
                place = self._around(holder)
            found.append((place, length))
        return found

    def _around(self, node: Node | None) -> int:
        """The place of the nearest element around one that has one."""
        for _ in range(DEEPEST):
            if node is None:
                break
            node = node.parent
            place = self._places.get(node)
            if place is not None:
                return place
        raise TooDeep

    def _blocks(self, texts: list[tuple[int, str]]) -> Iterator[Block]:
        linked_at = self._linked
        for place, text in texts:
            letters = len(text) if text.isascii() else breadth(text)
            unlinked, is_prose = letters, letters >= PROSE_SHORTEST
            if linked := linked_at[place]:
                share = min(1.0, linked / len(text))
                unlinked, is_prose = letters * (1 - share), is_prose and share < PROSE_LINKS
            yield Block(place, text, letters, unlinked, is_prose)

    def _sums(self, values: Iterable[tuple[int, float]]) -> list[float]:
        parents = self.parents
        sums: list[float] = [0] * len(parents)
        for place, value in values:
            sums[place] += value
        for place in range(len(parents) - 1, 0, -1):
            if held := sums[place]:
                sums[parents[place]] += held
        sums[_ABOVE_ALL] = 0
        return sums

    def _sum_up(self) -> None:
        parents = self.parents
        words, unlinked, prose, paragraphs = ([0.0] * len(parents) for _ in range(4))
        for place, text, _, without_links, is_prose in self.content:
            length = len(text)
            words[place] += length
            unlinked[place] += without_links
            if is_prose:
                prose[place] += length
                paragraphs[place] += 1
        for place in range(len(parents) - 1, 0, -1):
            if held := words[place]:
                holder = parents[place]
                words[holder] += held
                unlinked[holder] += unlinked[place]
                if held := prose[place]:
                    prose[holder] += held
                    paragraphs[holder] += paragraphs[place]
        self.words_everywhere, self.unlinked_everywhere = words[_ABOVE_ALL], unlinked[_ABOVE_ALL]
        for sums in (words, unlinked, prose, paragraphs):
            sums[_ABOVE_ALL] = 0
        self._words, self._unlinked, self._prose, self._paragraphs = words, unlinked, prose, paragraphs

    def _find_chrome(self, tree: Document, held: list[float]) -> list[bool]:
        everything = self.prose_with_chrome or 1
        headed: set[Element] | None = None
        chrome = [False] * len(self.parents)
        for place, (tag, holder) in enumerate(zip(self.tags, self.parents, strict=True)):
            if chrome[holder]:
                chrome[place] = True
            elif place and tag not in NEUTRAL_TAGS and self._is_named_chrome(self.elements[place], tag):
                share = held[place] / everything
                is_excused = share > HELD and tag != "form"
                if not is_excused and share > HELD_WITH_HEADING:
                    if headed is None:
                        headed = {holder for each in tree.select(HEADINGS) for holder in (each, *self.line(each))}
                    is_excused = self.elements[place] in headed
                chrome[place] = not is_excused
        return chrome

    def _is_named_chrome(self, element: Element, tag: str) -> bool:
        if tag in CHROME_TAGS:
            return True
        names = self.names
        is_named = names.surrounds(element) if self._by_name else names.inside(element).comments
        return is_named or element.attr("role") in CHROME_ROLES


def _prose(blocks: list[Block]) -> int:
    return sum(len(block.text) for block in blocks if block.is_prose)


def text_of(element: Element) -> str:
    """All its text, white space collapsed."""
    return " ".join(element.text.split())


def breadth(text: str) -> float:
    """Its length as if it were of letters: a character of Chinese, Japanese or Korean says as much as several."""
    beginning = text[:BREADTH_SHOWN]
    if text.isascii() or len(beginning.encode(errors="replace")) < WIDE_BYTES * len(beginning):
        return len(text)
    return len(text) * WIDE_WORTH


def _is_phrasing(node: object) -> bool:
    return isinstance(node, Text) or (isinstance(node, Element) and node.tag in PHRASING)
