"""Texts and presentations of OpenDocument: the elements of their content as those of HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from ferrule_fetch.formats.documents.archive import (
    DocumentText,
    UnreadableDocument,
    open_archive,
    read_properties,
    read_xml,
)
from ferrule_fetch.markdown import convert

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

_MAX_DEPTH = 150
_TOO_DEEP = "<p>[What is nested more deeply here is left out.]</p>"
_MAX_REPEATED = 100  # of cells that a table has as one, and of blanks
_MAX_HEADING = 6
# Deleted text, remarks, fields that are not shown, and descriptions of pictures.
_LEFT_OUT = frozenset(
    {"tracked-changes", "annotation", "annotation-end", "hidden-text", "hidden-paragraph", "note-citation"}
    | {
        "sequence-decls",
        "variable-decls",
        "user-field-decls",
        "forms",
        "title",
        "desc",
        "scripts",
        "bibliography-source",
    }
)
_ELEMENTS = {
    "p": "p",
    "list": "ul",
    "list-item": "li",
    "list-header": "li",
    "table": "table",
    "table-row": "tr",
    "table-cell": "td",
}


def read_opendocument(body: bytes, url: str) -> DocumentText:
    """The text of a document. Raises UnreadableDocument, and what zipfile and ElementTree raise."""
    with open_archive(body) as archive:
        facts = read_properties(archive, "meta.xml")
        if "content.xml" not in archive.namelist():
            raise UnreadableDocument("it is malformed")
        if b"encryption-data" in (archive.read("META-INF/manifest.xml") if _is_listed(archive.namelist()) else b""):
            raise UnreadableDocument("it is encrypted")
        tree = read_xml(archive.read("content.xml"))
    content = next((element for element in tree.iter() if element.tag.endswith("}body")), tree)
    html = "".join(_write(content, 0))
    if not re.sub(r"<[^>]*>", "", html.replace(_TOO_DEEP, "")).strip() and _TOO_DEEP in html:
        raise UnreadableDocument("it is nested too deeply")
    return facts._replace(text=convert(html, url).markdown)


def _is_listed(names: list[str]) -> bool:
    return "META-INF/manifest.xml" in names


def _write(element: ET.Element, depth: int) -> Iterator[str]:
    """An element, and what is in it, as HTML."""
    if depth > _MAX_DEPTH:
        yield _TOO_DEEP if depth == _MAX_DEPTH + 1 else ""
        return
    name = element.tag.rpartition("}")[2]
    if name in _LEFT_OUT:
        return
    start, end = _find_tags(element, name)
    yield start
    if element.text:
        yield escape(element.text)
    for child in element:
        yield from _write(child, depth + 1)
        if child.tail:
            yield escape(child.tail)
    yield end
    if name == "table-cell":
        yield "<td></td>" * (min(_read_number(element, "number-columns-repeated", 1), _MAX_REPEATED) - 1)


def _find_tags(element: ET.Element, name: str) -> tuple[str, str]:
    if name == "h":
        level = min(max(_read_number(element, "outline-level", 1), 1), _MAX_HEADING)
        return f"<h{level}>", f"</h{level}>"
    if name == "a":
        return f'<a href="{escape(_read(element, "href"))}">', "</a>"
    if name == "s":
        return " " * min(_read_number(element, "c", 1), _MAX_REPEATED), ""
    if name == "note-body":
        return " (", ") "
    if name == "page":
        return f"<h2>{escape(_read(element, 'name'))}</h2>", ""
    if name in ("tab", "line-break"):
        return (" " if name == "tab" else "<br>"), ""
    tag = _ELEMENTS.get(name)
    return (f"<{tag}>", f"</{tag}>") if tag else ("", "")


def _read(element: ET.Element, name: str) -> str:
    return next((value for key, value in element.items() if key.endswith(f"}}{name}")), "")


def _read_number(element: ET.Element, name: str, default: int) -> int:
    value = _read(element, name)
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else default
