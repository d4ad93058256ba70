"""Buttons and fields that say something: in a sentence, in a cell, as a state, as a choice of what is sold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace, unwrap
from ferrule_fetch.cleaning.text import words_of
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule_fetch.cleaning.selection import Found
    from ferrule_fetch.tree.nodes import Node

_STATE = compile_late(
    r"(?:currently |temporarily )?(?:sold[ -]?out|out of stock|in stock|unavailable|not available|coming soon"
    r"|pre-?order|on backorder|discontinued|ausverkauft|nicht verfügbar|épuisé|rupture de stock|agotado|esaurito"
    r"|esgotado|uitverkocht|slutsåld|udsolgt|売り切れ|在庫なし|品切れ|售罄|缺货|품절)",
    re.I,
)
# What buttons do whose names tell a reader nothing.
_OPERATION = compile_late(
    r"(?:share|copy|copied|menu|close|open|edit|delete|remove|reply|print|save|like|follow|subscribe|sort|filter"
    r"|search|play|pause|next|previous|prev|back|more|show|hide|expand|collapse|toggle|view|select|choose|add|buy|download"
    r"|report|vote|upvote|downvote|help|info|options|actions|settings|cancel|submit|apply|reset"
    r"|refresh|log ?in|sign ?(?:in|up))\b(?:\s\w+){0,3}[.…!]?|\W*",
    re.I,
)
_VARIANT = compile_late(r"size|colou?r|variant|material|edition|flavou?r|capacity", re.I)
_SETTING = compile_late(r"scheme|theme|font|text|page|sort|mode", re.I)  # of how a page is shown
_PURCHASE = compile_late(r"/cart|/basket|/checkout|add-to-cart|product-form|variations_form", re.I)
_CHOICES = frozenset({"radio", "option", "tab", "switch", "checkbox"})
_CELLS = "td,th,[role=cell],[role=gridcell],[role=columnheader],[role=rowheader]"
_MIN_CARD_CHARS = 60  # of a button that holds more than its name, as a card does
_MAX_BUTTONS = 2_000
_MAX_OPTIONS = 30  # of a choice that are written
_MAX_VALUE_CHARS = 200
_TYPED = frozenset(
    {"text", "number", "email", "tel", "url", "date", "time", "datetime-local", "month", "week", "color"}
)
_SENTENCE_ENDS = (".", "!", "?", ":", "。", "！", "？")
_WORD = compile_late(r"[^\W\d_]{2}|[\u3041-\u9fff\uac00-\ud7a3]")
_NUMBERS = compile_late(r"\s*[0-9]*\s*")

SELECTORS = ("button", "select", "input[value]", "input[type=radio][disabled]", "input[type=checkbox]")


def clean(found: Found) -> None:
    """Make text of the buttons and fields that say something; the others are removed later."""
    for button in found["button"][:_MAX_BUTTONS]:
        if button.parent is not None and _says_something(button):
            _make_text(button)
    for field in found["select"]:
        _write_choice(field)
    for field in found["input[value]"]:
        _write_value(field)
    for field in found["input[type=radio][disabled]"]:
        _write_disabled(field)
    _check_cells(found["input[type=checkbox]"])


def _says_something(button: Element) -> bool:
    name = words_of(button)
    if not name:
        return False
    if len(name) <= _MIN_CARD_CHARS:
        if _STATE.fullmatch(name) or button.attr("role") in _CHOICES - {"tab", "switch"}:
            return True
        is_operation = _OPERATION.fullmatch(name) is not None
        if button.closest(_CELLS) is not None:
            return not is_operation
        words = [_has_word(node) for node in (button.previous_sibling, button.next_sibling)]
        return _may_be_in_sentence(button) and (all(words) or (not is_operation and _continues(button)))
    return button.closest("nav,header,footer,dialog,[role=dialog]") is None


def _may_be_in_sentence(button: Element) -> bool:
    """Whether a button belongs to no form that it would send."""
    return button.attr("type") == "button" or button.closest("form") is None


def _has_word(node: Node | None) -> bool:
    return isinstance(node, Text) and _WORD.search(node.data) is not None


def _continues(button: Element) -> bool:
    """Whether a button follows words that end no sentence, or has words behind it."""
    before = button.previous_sibling
    if isinstance(before, Text) and _WORD.search(before.data):
        return not before.data.rstrip().endswith(_SENTENCE_ENDS)
    return _has_word(button.next_sibling)


def _make_text(button: Element) -> None:
    """Put what a button holds in its place; a state and a card stand on lines of their own."""
    if len(words_of(button)) > _MIN_CARD_CHARS:
        replace(button, Element("div", {}, list(button.children)))
    elif _has_word(button.previous_sibling) or _has_word(button.next_sibling) or button.closest(_CELLS) is not None:
        unwrap(button)
    else:
        states = " (disabled)" if "disabled" in button.attrs and not _STATE.fullmatch(words_of(button)) else ""
        replace(button, Element("p", {}, [Text(f"{words_of(button)}{states}")]))


def _write_choice(field: Element) -> None:
    """Write the options of what is sold, under the name of the field."""
    if field.parent is None:
        return
    options = [(words_of(option), "disabled" in option.attrs) for option in field.select("option")[: _MAX_OPTIONS + 1]]
    options = [(name, disabled) for name, disabled in options if name]
    if not options or all(_NUMBERS.fullmatch(name) for name, _ in options):
        return
    names = " ".join(filter(None, map(field.attr, ("aria-label", "name", "id"))))
    form = field.closest("form")
    sells = form is not None and _PURCHASE.search(f"{form.attr('action')} {form.attr('class')} {form.attr('id')}")
    if not sells and (not _VARIANT.search(names) or _SETTING.search(names)):
        return
    written = "; ".join(f"{name} (disabled)" if disabled else name for name, disabled in options[:_MAX_OPTIONS])
    more = "; …" if len(options) > _MAX_OPTIONS else ""
    label = " ".join((field.attr("aria-label") or "").split())
    replace(field, Element("p", {}, [Text(f"{label}: {written}{more}" if label else f"{written}{more}")]))


def _write_value(field: Element) -> None:
    """Write a value that a reader sees and cannot change, or that stands in a cell."""
    value = " ".join((field.attr("value") or "").split())
    kind = (field.attr("type") or "text").lower()
    if field.parent is None or not value or len(value) > _MAX_VALUE_CHARS or kind not in _TYPED:
        return
    is_fixed = "readonly" in field.attrs or "disabled" in field.attrs
    if (is_fixed and "://" not in value) or field.closest("td,th") is not None:
        replace(field, Text(value))


def _write_disabled(field: Element) -> None:
    """Write behind the name of a choice that it cannot be made."""
    label = field.closest("label") or _find_label(field)
    if label is not None and words_of(label):
        label.append(Text(" (disabled)"))


def _find_label(field: Element) -> Element | None:
    node = field.next_sibling
    while isinstance(node, Text) and not node.data.strip():
        node = node.next_sibling
    return node if isinstance(node, Element) and node.tag == "label" else None


def _check_cells(boxes: Iterable[Element]) -> None:
    """Write the boxes of a table in which some are checked; in others they select rows."""
    tables: dict[Element, list[Element]] = {}
    for box in boxes:
        table = box.closest("table") if box.closest("td,th") is not None else None
        if table is not None:
            tables.setdefault(table, []).append(box)
    for cells in tables.values():
        if any("checked" in box.attrs for box in cells):
            for box in cells:
                replace(box, Text("[x] " if "checked" in box.attrs else "[ ] "))
