"""Whether hidden text is the page itself: what is hidden is weighed against the prose that is left without it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.cleaning.blocks.panels import is_menu
from ferrule_fetch.cleaning.styles import Hiding
from ferrule_fetch.cleaning.text import HEADINGS, length_of
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule_fetch.tree.nodes import Document

_MAX_WEIGHED = 2_000  # hidden elements; a page with more is judged by each of them alone
_MIN_CHARS = 20  # less hidden text than this is never the page
_MIN_CHARS_WITH_PROSE = 200  # nor is less than this where other prose can be seen
_OVERWEIGHT = 2  # times the prose that can be seen
_MIN_PROSE_CHARS = 40  # of one element that takes no place
_AROUND = "nav,footer,[role=navigation]"
_FIELDS = "button,select,textarea"
_NO_PROSE = f"{_AROUND},{_FIELDS},{HEADINGS},script,style,noscript"
_OPENED_ROLES = frozenset({"dialog", "alertdialog", "alert", "menu", "listbox", "tooltip", "status", "search"})
_OPENED_NAMES = compile_late(
    "modal|popup|popover|overlay|cookie|consent|gdpr|toast|tooltip|dropdown|menu|loading|spinner|error|alert|lightbox"
    "|drawer|search|template",
    re.I,
)


class Judged(NamedTuple):
    """An element that is to be left out, and how it is hidden."""

    element: Element
    hiding: Hiding


def find_own_text(tree: Document, bodies: Sequence[Element], judged: Sequence[Judged]) -> set[Element]:
    """Those of the hidden elements that are the page itself: without them, more than twice as much goes as stays.

    Each way to hide is weighed as one, the one with the most text first: a page that fades in does not bring a short
    text along that has letters without a size. Headings, navigation and fields are no prose.
    """
    if len(judged) > _MAX_WEIGHED:
        return set()
    all_of_them = {each.element for each in judged}
    outermost = [each for each in judged if all_of_them.isdisjoint(each.element.ancestors)]
    own = [(each, length) for each in outermost if (length := length_of(each.element.text)) and _is_own(each, length)]
    weights: Counter[Hiding] = Counter()
    for each, length in own:
        weights[each.hiding] += length
    rest = weights.total()
    if rest < _MIN_CHARS:
        return set()
    hidden = (length_of(each.element.text) for each in outermost if each.element.closest(_NO_PROSE) is None)
    stays = _count_prose(tree, bodies) - sum(hidden)
    if stays > 0 and rest <= max(_MIN_CHARS_WITH_PROSE, _OVERWEIGHT * stays):
        return set()
    shown = set()
    for hiding, weight in weights.most_common():
        if rest <= stays:
            break
        shown.add(hiding)
        stays, rest = stays + weight, rest - weight
    return {each.element for each, _ in own if each.hiding in shown}


def _is_own(judged: Judged, length: int) -> bool:
    """Whether a hidden element may be a part of the page, and is not what an action of its reader opens."""
    element = judged.element
    if judged.hiding is Hiding.DISPLAY and length < _MIN_PROSE_CHARS:
        return False
    if element.attr("role") in _OPENED_ROLES or _OPENED_NAMES.search(f"{element.attr('id')} {element.attr('class')}"):
        return False
    around = f"{_AROUND},form,dialog,[role=dialog],[aria-modal]"
    return element.closest(around) is None and not is_menu(element)


def _count_prose(tree: Document, bodies: Sequence[Element]) -> int:
    """How many letters of a page are neither headings nor navigation nor fields."""
    others = [each for each in tree.select(_NO_PROSE) if each.text]
    outermost = (each for each in others if isinstance(each.parent, Element) and each.parent.closest(_NO_PROSE) is None)
    return sum(length_of(body.text) for body in bodies) - sum(length_of(each.text) for each in outermost)
