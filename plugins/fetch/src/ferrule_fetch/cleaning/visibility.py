"""Hidden is what a browser would keep hidden.

What takes no place (`display:none`, `hidden`) is left out, unless something on the page opens it or it is the page
itself, which a script shows once it runs. All other ways to hide (transparent, invisible, off the screen, clipped,
without ink) are those of animations and of menus as well as of a hidden instruction: they hide one short text, but no
section, no heading, and nothing that holds most of the page. What is hidden then is weighed as a whole (`balance`).
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.cleaning.balance import Judged, find_own_text
from ferrule_fetch.cleaning.blocks.panels import Panels, is_menu
from ferrule_fetch.cleaning.edits import replace
from ferrule_fetch.cleaning.styles import Hiding, declarations, has_size, hiding_of, is_visible
from ferrule_fetch.cleaning.text import HEADINGS, length_of, words_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferrule_fetch.cleaning.selection import Found
    from ferrule_fetch.tree.nodes import Document, Element

_PAGE = frozenset({"html", "body", "main", "article"})
_NEVER_BY_LOOKS = frozenset({*_PAGE, "section", *HEADINGS.split(",")})
_SECTIONS = f"main,article,section,{HEADINGS}"
_PARAGRAPHS = f"p,li,td,dd,dt,pre,blockquote,{HEADINGS}"
_VOID = frozenset({"img", "input", "br", "hr", "source", "meta", "link", "track", "wbr", "col", "embed"})
_SHORT_CHARS = 500  # no more than this is never the page
_MIN_CHARS = 12  # of a text that a sheet hides; less is a label, such as "Image", and no instruction
_ALIKE = 3  # elements with one transparent style are about to be faded in
_MOVING = 2  # are enough where the style moves them as well
_MOTION = "motion"
_WITHOUT_PLACE = frozenset({Hiding.DISPLAY, Hiding.VISIBILITY, Hiding.PLACE})  # as panels and slides are hidden
_MOTIONS = ("transform", "transition", "animation", "translate", "will-change", "blur(")
_FOR_SCREEN_READERS = (
    '[class~="sr-only"],[class*="visually-hidden"],[class~="screen-reader-text"],[class~="visuallyhidden"]'
)


SELECTORS = ("[style],[hidden],[role]", "body", *(f"{tag}:is({_FOR_SCREEN_READERS})" for tag in ("span", "div")))


class Hidden(NamedTuple):
    """removed: how many elements with text were removed. shown: how many were hidden, but are the page itself."""

    removed: int
    shown: int = 0


def remove_hidden(tree: Document, found: Found) -> Hidden:
    """Remove what a browser keeps hidden, unless it is the page itself."""
    hidden = list(_hidden(found[SELECTORS[0]]))
    hidden += _find_unreadable(tree, found, {each.element for each in hidden})
    page = _Page(tree, found, hidden)
    judged = page.judge()
    own = find_own_text(tree, found["body"], judged) if judged else set()
    removed = sum(_remove(element, hiding) for element, hiding in judged if element not in own)
    return Hidden(removed + _remove_for_screen_readers(found), len(own))


def remove_all_hidden(found: Found) -> int:
    """Remove all that a style hides, however much it holds; returns how many elements these were."""
    hidden = [element for element, _ in _hidden(found[SELECTORS[0]]) if element.tag not in _PAGE]
    for element in hidden:
        element.extract()
    return len(hidden)


def _hidden(candidates: list[Element]) -> Iterator[Judged]:
    styles: dict[str | None, Hiding | None] = {None: None}
    for element in candidates:
        style = element.attr("style")
        if style not in styles:
            styles[style] = hiding_of(style or "")
        hiding = styles[style]
        if element.attr("hidden") is not None and _is_not_displayed(element, style or ""):
            hiding = Hiding.DISPLAY
        if hiding:
            yield Judged(element, hiding)


def _find_unreadable(tree: Document, found: Found, known: Collection[Element]) -> list[Judged]:
    """Short texts that the page's own sheets hide, or that have the colour of what they stand on.

    A longer part that a sheet hides is mostly one that a script shows.
    """
    coloured = [each for each in found[SELECTORS[0]] if "color" in (each.attr("style") or "").lower()]
    if not coloured and not found["style"]:
        return []
    from ferrule_fetch.cleaning.colours import is_in_ground
    from ferrule_fetch.cleaning.sheets import Sheets

    sheets = Sheets(found["style"])
    ground = None if tree.select_one('link[rel~="stylesheet" i]') else sheets.find_ground()
    hidden = sheets.find_hidden(tree, _is_short, ground) if found["style"] else []
    pale = [each for each in coloured if is_in_ground(each, declarations(each.attr("style") or ""), ground)]
    judged = [*(Judged(*each) for each in hidden), *(Judged(each, Hiding.INK) for each in pale if _is_short(each))]
    return [each for each in judged if each.element not in known]


def _is_short(element: Element) -> bool:
    """Whether an element holds one short text, which is no heading and not all that a link or a cell says."""
    if element.tag in _NEVER_BY_LOOKS:
        return False
    text = element.text
    if len(text) > _SHORT_CHARS or length_of(text) < _MIN_CHARS:
        return False
    return _is_leaf(element) and element.closest(HEADINGS) is None and not _says_it_alone(element)


def _motion(style: str) -> str:
    """What a style that makes transparent has in common with others: each may have its own distance and delay."""
    return _MOTION if any(word in style for word in _MOTIONS) else style


def _is_not_displayed(element: Element, style: str) -> bool:
    """Whether the attribute `hidden` hides an element, which a style undoes."""
    until_found = (element.attr("hidden") or "").lower() == "until-found"
    return not until_found and declarations(style).get("display", "none") == "none"


class _Page:
    """What has to be known of a page to judge one of its elements; each is looked up when it is first needed."""

    def __init__(self, tree: Document, found: Found, hidden: list[Judged]) -> None:
        self._tree = tree
        self._bodies = found["body"]
        self._hidden = hidden
        self._gone: dict[Element, Judged] = {}

    @cached_property
    def _transparent(self) -> Counter[str]:
        """How many elements have each style that makes transparent."""
        transparent = (each.element for each in self._hidden if each.hiding is Hiding.OPACITY)
        return Counter(_motion(each.attr("style") or "") for each in transparent)

    @cached_property
    def _panels(self) -> Panels:
        return Panels(self._tree)

    @cached_property
    def _disclosed(self) -> set[Element]:
        from ferrule_fetch.cleaning.blocks.disclosures import find_disclosed

        return find_disclosed(each.element for each in self._hidden if each.hiding in _WITHOUT_PLACE)

    @cached_property
    def _half(self) -> float:
        return sum(length_of(body.text) for body in self._bodies) / 2

    def _is_most(self, element: Element, text: str) -> bool:
        if len(text) <= _SHORT_CHARS:
            return False
        return length_of(text) > max(_SHORT_CHARS, self._half) and not is_menu(element)

    def judge(self) -> list[Judged]:
        """The elements that a browser would keep hidden, in the order in which they were found."""
        for each in self._hidden:
            if self._keeps_hidden(*each):
                self._gone[each.element] = each
        return list(self._gone.values())

    def _keeps_hidden(self, element: Element, hiding: Hiding) -> bool:
        """Whether a browser would keep an element hidden, as far as can be seen without its scripts."""
        tag = element.tag
        if element.parent is None or tag in _VOID:
            return True
        if tag in _PAGE or (hiding is not Hiding.DISPLAY and tag in _NEVER_BY_LOOKS):
            return False
        text = element.text
        if not text or text.isspace():
            return hiding is Hiding.DISPLAY
        if self._panels.is_opened(element, self._gone) or element in self._disclosed:
            return False
        if hiding is Hiding.DISPLAY:
            return not self._is_most(element, text) or element.closest("[role=dialog],[aria-modal]") is not None
        if element.closest(HEADINGS) is not None:
            return False
        if hiding is Hiding.OPACITY and self._is_animated(element):
            return False
        if _is_leaf(element):
            return not self._is_most(element, text)
        return not self._is_section(element, hiding, text)

    def _is_animated(self, element: Element) -> bool:
        """Whether an element is transparent in the same way as others."""
        motion = _motion(element.attr("style") or "")
        return self._transparent[motion] >= (_MOVING if motion == _MOTION else _ALIKE)

    def _is_section(self, element: Element, hiding: Hiding, text: str) -> bool:
        if hiding in (Hiding.OPACITY, Hiding.INK) or self._is_most(element, text):
            return True
        return element.select_one(_SECTIONS) is not None


def _is_leaf(element: Element) -> bool:
    """Whether an element holds no more than one paragraph."""
    return len(element.select(_PARAGRAPHS)) < 2 and element.select_one(_SECTIONS) is None


def _remove(element: Element, hiding: Hiding) -> bool:
    if element.parent is None:
        return False
    has_text = element.tag not in _VOID and bool(element.text.strip())
    if shown := _find_shown(element, hiding):
        replace(element, *(each.extract() for each in shown))
        return has_text
    element.extract()
    return has_text


def _find_shown(element: Element, hiding: Hiding) -> list[Element]:
    """What can be seen within a hidden element, because its own style says so."""
    if hiding is Hiding.VISIBILITY:
        return [each for each in element.select('[style*="visib" i]') if is_visible(each.attr("style") or "")]
    if hiding is Hiding.INK:
        return [each for each in element.select('[style*="font" i]') if has_size(each.attr("style") or "")]
    return []


def _remove_for_screen_readers(found: Found) -> int:
    """Remove texts that a class hides from eyes, unless they are a heading or say alone what a link or cell is."""
    removed = 0
    for selector in SELECTORS[2:]:
        for element in found[selector]:
            if element.select_one(HEADINGS) is None and not _says_it_alone(element):
                element.extract()
                removed += 1
    return removed


def _says_it_alone(element: Element) -> bool:
    around = element.closest("a,button,td,th,li,summary,label,dt,h1,h2,h3,h4,h5,h6")
    return around is not None and words_of(around) == words_of(element)
