"""What a script shows at some time, by the shape of a page: answers below questions, slides, conditions."""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.blocks.panels import is_menu, is_never_content
from ferrule_fetch.cleaning.text import HEADINGS, words_of
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ferrule_fetch.tree.nodes import Node

_MAX_QUESTION_CHARS = 200
_QUESTIONS = ("?", "\N{FULLWIDTH QUESTION MARK}", "\N{ARABIC QUESTION MARK}")
_MAX_NEIGHBOURS = 40  # of a slide, on each side, among which another is looked for
_MAX_STEPS = 3  # from a slide to what is named as a carousel
_CAROUSEL = compile_late(
    r"(?:^|[\s_-])(?:carousel|slide(?:s|r|show)?|slick|swiper|splide|glide|flickity)(?:$|[\s_-])", re.I
)
_ANSWERED = frozenset({*HEADINGS.split(","), "dt"} - {"h1", "h2"})  # without a question mark
_CONDITIONS = ("x-show", "v-show", "x-collapse")
_NO_PANEL = compile_late(
    "load|cop(?:y|ied)|error|success|modal|menu|search|submit|sent|cart|toast|cookie|consent|tooltip|dropdown", re.I
)


def find_disclosed(hidden: Iterable[Element]) -> set[Element]:
    """Those of the hidden elements that a script shows when its reader asks for more."""
    candidates = {each for each in hidden if not is_never_content(each)}
    answers = [each for each in candidates if _find_question(each) is not None]
    are_answers = len(answers) > 1 or any(_has_question_mark(_find_question(each)) for each in answers)
    others = (each for each in candidates if _is_shown_on(each) or _is_slide(each, candidates))
    return {each for each in (*(answers if are_answers else ()), *others) if not is_menu(each)}


def _find_question(element: Element) -> Element | None:
    """The heading, or the question, of which a hidden element is all that follows it."""
    before, behind = _find_element(element.previous_siblings), _find_element(element.next_siblings)
    if before is None or (behind is not None and not _is_question(behind)):
        return None
    return before if _is_question(before) else None


def _find_element(nodes: Iterable[Node]) -> Element | None:
    return next((node for node in nodes if isinstance(node, Element)), None)


def _is_question(element: Element) -> bool:
    text = words_of(element)
    if not text or len(text) > _MAX_QUESTION_CHARS or element.tag == "li":
        return False
    if element.tag in _ANSWERED or text.endswith(_QUESTIONS):
        return True
    heading = element.select_one(HEADINGS)
    return heading is not None and words_of(heading) == text


def _has_question_mark(question: Element | None) -> bool:
    return question is not None and words_of(question).endswith(_QUESTIONS)


def _is_slide(element: Element, hidden: Collection[Element]) -> bool:
    """Whether an element is one of several in a carousel, of which another can be seen."""
    around = element.parent
    for _ in range(_MAX_STEPS):
        if not isinstance(around, Element):
            return False
        if around.attr("aria-roledescription") == "carousel" or _CAROUSEL.search(around.attr("class") or ""):
            nodes = (islice(some, _MAX_NEIGHBOURS) for some in (element.previous_siblings, element.next_siblings))
            others = (each for each in chain(*nodes) if isinstance(each, Element) and each.tag == element.tag)
            return any(each not in hidden and each.text.strip() for each in others)
        around = around.parent
    return False


def _is_shown_on(element: Element) -> bool:
    """Whether a condition in an attribute shows an element, and not for a moment."""
    conditions = [element.attr(name) for name in _CONDITIONS if name in element.attrs]
    return bool(conditions) and not any(_NO_PANEL.search(each or "") for each in conditions)
