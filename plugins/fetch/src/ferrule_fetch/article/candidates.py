"""Where the article is: paragraphs give points to what holds them, and what has most holds the article."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.article.outline import MIXED, text_of
from ferrule_fetch.article.shapes import holds_cards, is_data
from ferrule_fetch.tree.nodes import Element

if TYPE_CHECKING:
    from ferrule_fetch.article.outline import Outline

COMMAS = ",،﹐︐︑⹁⸴⸲、，"  # of all scripts that have one
SHORTEST = 25  # characters of a paragraph that counts
HOLDER_SHORTEST = 500  # letters of a block that holds paragraphs, between line breaks
SHARES = (1, 2, 6, 9, 12)  # what a paragraph's points are divided by, for each of the levels above it
FEW = 0.03  # of the most points of an element: with less it is not looked at
NO_PARAGRAPHS = frozenset(("li", "th", "dt", "dd", "blockquote", "article"))
# Points of an element for what it is.
BASE = {
    **dict.fromkeys(("article", "main"), 8), "div": 5, **dict.fromkeys(("pre", "td", "blockquote"), 3),
    **dict.fromkeys(("ol", "ul", "dl", "dd", "dt", "li", "form", "address"), -3),
    **dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6", "th"), -5),
}  # fmt: skip
# What is never an article without what holds it; a table of data is none either.
NEVER_ALONE = frozenset(
    ("p", "ul", "ol", "dl", "dd", "dt", "blockquote", "pre", "tbody", "thead", "tr", "figure", "details")
)
TOP = frozenset(("html", "body"))

RIVALS = 3  # that are as good as the best, nearly: then the article is what holds them all
RIVAL = 0.75  # of the best score
# An element around the best one is taken instead where it has more prose, and what it adds is prose above all.
GAIN = 0.15  # of the prose of the best element, at least
DENSITY = 0.6  # of what is added, at least
ALIKE = 0.2  # of the prose of the best element, that another piece of the same class holds at least
ALIKE_PARAGRAPHS = 0.5  # of the mean length of the article's paragraphs, that others of it have at least
NEAR = 2  # levels above the best element, up to which there need be no such piece
CONTAINERS = "article,main,[role=main],[itemprop~=articleBody]"

BESIDE_SHORTEST, BESIDE_SHORTEST_ALIKE = 200, 80  # characters of prose in what belongs to the article beside it
BETWEEN = frozenset(("h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "pre", "table", "blockquote", "figure", "p"))


def find(outline: Outline) -> list[Element]:
    """The elements that hold the article, in order: one, and those beside it that belong to it. Empty without prose."""
    scores = _scores(outline)
    if not scores:
        return []
    best = _whole(_raised(_best(scores, outline), scores, outline), outline)
    return _joined(_widened(best, scores, outline), outline)


def _scores(outline: Outline) -> dict[Element, float]:
    scores: dict[int, float] = {}
    parents, elements, tags = outline.parents, outline.elements, outline.tags
    for block in outline.content:
        tag = tags[block.place]
        if block.letters < SHORTEST or tag in NO_PARAGRAPHS:
            continue
        points = 2 + _commas(block.text) + min(block.letters // 100, 3)
        is_holder = block.letters >= HOLDER_SHORTEST and tag in MIXED
        place = block.place if is_holder else parents[block.place]
        for share in SHARES:
            if not place:
                break
            scores[place] = scores.get(place, 0) + points / share
            place = parents[place]
    least = FEW * max(scores.values(), default=0)
    return {elements[place]: _score(place, points, outline) for place, points in scores.items() if points >= least}


def _score(place: int, points: float, outline: Outline) -> float:
    holder = outline.elements[place]
    return (points + BASE.get(outline.tags[place], 0) + outline.names.weight(holder)) * (
        1 - outline.link_share_at(place)
    )


def _commas(text: str) -> int:
    return text.count(",") if text.isascii() else sum(map(text.count, COMMAS))


def _best(scores: dict[Element, float], outline: Outline) -> Element:
    best, *others = sorted(scores, key=scores.__getitem__, reverse=True)[:5]
    rivals = [set(outline.line(other)) for other in others if scores[other] >= RIVAL * scores[best]]
    if len(rivals) >= RIVALS:
        for holder in outline.line(best):
            if sum(holder in line for line in rivals) >= RIVALS and holder.tag not in TOP:
                return holder
    return best


def _raised(best: Element, scores: dict[Element, float], outline: Outline) -> Element:
    """The nearest element around it with a better score, unless one between them is far worse."""
    score = scores.get(best, 0)
    for holder in outline.line(best):
        around = scores.get(holder, score)
        if holder.tag in TOP or around < score / 3:
            break
        if around > score:
            return holder
    return best


def _whole(best: Element, outline: Outline) -> Element:
    """What holds it, where it makes no sense alone, or is alone in there."""
    for holder in outline.line(best):
        is_part = best.tag in NEVER_ALONE or (best.tag == "table" and is_data(best))
        if not is_part and (holder.tag in TOP or sum(isinstance(child, Element) for child in holder) > 1):
            break
        best = holder
    return best


def _widened(best: Element, scores: dict[Element, float], outline: Outline) -> Element:
    """The element around it that holds more of the same: pieces of an article stand beside each other, ads between."""
    least, kind = ALIKE * outline.prose(best), _kind(best)
    pieces = [other for other in scores if kind and _kind(other) == kind and outline.prose(other) >= least]
    lines = {holder for piece in pieces if piece is not best for holder in outline.line(piece)}
    found = best
    for level, holder in enumerate(outline.line(best)):
        if found.matches(CONTAINERS) or holder.tag == "html":
            break
        prose, words = outline.prose(holder) - outline.prose(found), outline.words(holder) - outline.words(found)
        is_alike = _is_alike(prose, outline.paragraphs(holder) - outline.paragraphs(found), found, outline)
        is_prose = prose >= GAIN * outline.prose(found) and prose >= DENSITY * words
        if is_prose and is_alike and (level < NEAR or holder in lines):
            found = holder
    return found


def _is_alike(prose: float, paragraphs: float, best: Element, outline: Outline) -> bool:
    """Whether so many paragraphs of so many characters are no teasers, beside those of the best element."""
    return prose * outline.paragraphs(best) >= ALIKE_PARAGRAPHS * outline.prose(best) * paragraphs


def _kind(element: Element) -> str:
    """The first of its classes."""
    return (element.attr("class") or "").partition(" ")[0]


def _joined(best: Element, outline: Outline) -> list[Element]:
    """It, and those beside it that are of the article too, with the lists, headings and tables between them."""
    holder = outline.parent(best)
    if holder is None or best.tag in TOP:
        return [best]
    beside = [
        child for child in holder if isinstance(child, Element) and (child is best or not outline.is_chrome(child))
    ]
    belongs = [child is best or _belongs(child, best, outline) for child in beside]
    first, last = belongs.index(True), len(belongs) - belongs[::-1].index(True)
    return [
        child
        for child, is_sure in zip(beside[first:last], belongs[first:last], strict=True)
        if is_sure or child.tag in BETWEEN
    ]


def _belongs(element: Element, best: Element, outline: Outline) -> bool:
    prose, kind = outline.prose(element), element.attr("class")
    if element.tag == "p":
        return prose > 0
    if prose < (BESIDE_SHORTEST_ALIKE if kind and kind == best.attr("class") else BESIDE_SHORTEST):
        return False
    if not _is_alike(prose, outline.paragraphs(element), best, outline):
        return False
    length = len(text_of(element))
    return prose >= DENSITY * length and outline.names.weight(element) >= 0 and not holds_cards(element, length)
