"""Forms: their fields are told where they are what the page is for, and left out elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace, unwrap
from ferrule_fetch.cleaning.text import length_of, words_of
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found

_MIN_FIELDS = 3
_CHARS_A_FIELD = 150  # of text besides, on a page that is mostly a form
_MAX_OPTIONS = 30  # of a field that are told
_MAX_VALUE_CHARS = 200
_NO_FIELDS = frozenset({"hidden", "submit", "button", "reset", "image", "search"})
_BOXES = frozenset({"checkbox", "radio"})


SELECTORS = ("form", "label", "input", "select", "textarea", "body")


def clean(found: Found) -> None:
    """Write the fields of a page that is mostly a form as text. Boxes of tasks stand in the items themselves."""
    for label in found["label"]:
        if label.has_class("task-list-control"):
            unwrap(label)
        else:
            _part_from_label_before(label)
    if sum(len(found[tag]) for tag in ("input", "select", "textarea")) < _MIN_FIELDS:
        return
    fields = [field for form in found["form"] for field in form.select("input,select,textarea") if _is_field(field)]
    if len(fields) < _MIN_FIELDS:
        return
    if sum(length_of(body.text) for body in found["body"]) - _options_chars(fields) > _CHARS_A_FIELD * len(fields):
        return
    for button in (button for form in found["form"] for button in form.select("button,input")):
        _write_button(button)
    for field in fields:
        _write(field)
    for label in found["label"]:
        if label.select_one("label") is None:
            label.tag = "div"


def _part_from_label_before(label: Element) -> None:
    """Two labels with nothing but fields between them are two words, as the fields show."""
    before = label.previous_sibling
    while isinstance(before, Element) and before.tag == "input":
        before = before.previous_sibling
    if isinstance(before, Element) and before.tag == "label":
        label.insert_before(Text(" "))


def _is_field(field: Element) -> bool:
    return (field.attr("type") or "text").lower() not in _NO_FIELDS and "hidden" not in field.attrs


def _options_chars(fields: list[Element]) -> int:
    return sum(length_of(field.text) for field in fields if field.tag == "select")


def _write(field: Element) -> None:
    kind = (field.attr("type") or "text").lower()
    if field.tag == "select":
        written = _options(field)
    elif field.tag == "textarea":
        written = _value(field, field.text)
    elif kind in _BOXES:
        written = "[x] " if "checked" in field.attrs else "[ ] "
    elif kind == "password":
        written = " (password)"
    else:
        written = _value(field, field.attr("value") or "")
    before = field.previous_sibling
    if isinstance(before, Text) and kind not in _BOXES:
        before.data = before.data.rstrip().removesuffix(":")
    states = [state for state in ("required", "disabled", "readonly") if state in field.attrs]
    if states and kind not in _BOXES:
        written += f" ({', '.join(states)})"
    elif states:
        around = field.parent
        state = Text(f" ({', '.join(states)})")
        if isinstance(around, Element) and around.tag == "label":
            around.append(state)
        else:
            field.insert_after(state)
    replace(field, Text(f"{_own_label(field)}{written}"))


def _value(field: Element, value: str) -> str:
    value = " ".join(value.split())[:_MAX_VALUE_CHARS]
    if value:
        return f": {value}"
    hint = " ".join((field.attr("placeholder") or "").split())
    return f": … (such as {hint})" if hint else ": …"


def _options(field: Element) -> str:
    options = field.select("option")
    told = [
        f"{words_of(each)} (chosen)" if "selected" in each.attrs else words_of(each) for each in options[:_MAX_OPTIONS]
    ]
    more = f"; {len(options) - _MAX_OPTIONS} more" if len(options) > _MAX_OPTIONS else ""
    return f": one of {'; '.join(filter(None, told))}{more}"


def _own_label(field: Element) -> str:
    """The name of a field that has no label in the text."""
    name = field.attr("aria-label") or ""
    return name if not field.attr("id") or name else ""


def _write_button(button: Element) -> None:
    kind = (button.attr("type") or ("submit" if button.tag == "button" else "text")).lower()
    name = words_of(button) if button.tag == "button" else button.attr("value") or ""
    if kind in ("submit", "button", "reset") and name:
        replace(button, Element("p", {}, [Text(f"[{name}]")]))
