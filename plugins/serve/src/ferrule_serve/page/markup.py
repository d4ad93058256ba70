"""HTML as a tree, from the standard library, which escapes every text when it is written: a text can be no markup."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, tostring

if TYPE_CHECKING:
    from collections.abc import Iterable

Child = Element | str | None
_CONTROLS = (code for code in range(32) if chr(code) not in "\t\n")
_DIRECTIONS = (
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)  # with which a text can show in another order than it has
_VISIBLE: dict[int, str] = {code: chr(0x2400 + code) for code in _CONTROLS}
_VISIBLE |= {code: f"<U+{code:04X}>" for code in (0x7F, *_DIRECTIONS)}
_KEEPS_SPACE = ("pre", "textarea")


def element(tag: str, *children: Child, **attributes: str | int | bool | None) -> Element:
    """An element of HTML.

    children: texts and elements; None is left out. attributes: `class_` stands for `class`, `data_label` for
    `data-label`; True for one without a value; None and False leave one out.
    """
    made = Element(tag)
    for name, value in attributes.items():
        if value is not None and value is not False:
            made.set(name.rstrip("_").replace("_", "-"), "" if value is True else str(value))
    if tag in _KEEPS_SPACE:
        made.text = "\n"  # a parser leaves the first one out, which may be the text's own
    for child in children:
        _append(made, child)
    return made


def table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[Child]], **attributes: str) -> Element:
    """A table whose first column names the rows. On narrow screens each cell shows its column's name itself."""
    names = list(heads)
    head = element("tr", *(element("th", name, role="columnheader", scope="col") for name in names), role="row")
    body = [element("tr", *_cells(names, row), role="row") for row in rows]
    return element(
        "table",
        element("caption", caption),
        element("thead", head, role="rowgroup"),
        element("tbody", *body, role="rowgroup"),
        role="table",  # which it is to assistive technology even where the style sheet makes blocks of it
        **attributes,
    )


def document(page: Element) -> bytes:
    """The whole page as it is sent."""
    return b"<!DOCTYPE html>\n" + tostring(page, encoding="unicode", method="html").encode(errors="replace")


def _cells(names: list[str], row: Iterable[Child]) -> Iterable[Element]:
    for index, (name, cell) in enumerate(zip(names, row, strict=True)):
        if index == 0:
            yield element("th", cell, role="rowheader", scope="row", data_label=name)
        else:
            yield element("td", cell, role="cell", data_label=name)


def _append(parent: Element, child: Child) -> None:
    if isinstance(child, str):
        text = child if parent.tag == "textarea" else _shown(child)  # there it is a value, which is sent again
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + text
        else:
            parent.text = (parent.text or "") + text
    elif child is not None:
        parent.append(child)


def _shown(text: str) -> str:
    """The text with characters made visible that would not be, or would hide what others are."""
    return text.replace("\r\n", "\n").translate(_VISIBLE)
