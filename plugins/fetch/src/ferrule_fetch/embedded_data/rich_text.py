"""Text that editors keep as trees: ProseMirror, Slate, Lexical, Contentful, Portable Text, hast and its short form."""

from __future__ import annotations

import re
from html import escape
from typing import TypeGuard

from ferrule_fetch.embedded_data.literals import MAX_DEPTH

MAX_CHARS = 1 << 20
"""Of one tree, together with some for each node."""

_NODE_CHARS = 8

_TYPES = ("type", "_type", "nodeType")
_PARTS = ("children", "content")
_LEVEL = re.compile(r"(?:heading|header|h)[-_]?([1-6])")
_TAGS = {
    **dict.fromkeys(("paragraph", "p", "block"), "p"),
    **dict.fromkeys(("bulletlist", "unorderedlist", "bulletedlist", "ul", "list"), "ul"),
    **dict.fromkeys(("orderedlist", "numberedlist", "ol"), "ol"),
    **dict.fromkeys(("listitem", "li", "listitemchild"), "li"),
    **dict.fromkeys(("blockquote", "quote"), "blockquote"),
    **dict.fromkeys(("codeblock", "pre"), "pre"),
    **dict.fromkeys(("table", "tr", "td", "th", "hr", "br", "code", "em", "strong"), ""),
    "tablerow": "tr",
    "tablecell": "td",
    "tableheadercell": "th",
    "tableheader": "th",
    "hardbreak": "br",
    "bold": "strong",
    "italic": "em",
    "horizontalrule": "hr",
    "linebreak": "br",
}
_LINKS = ("link", "hyperlink", "a")
_ROOTS = ("root", "doc", "document", "minimark")
_VOID = ("br", "hr")
_SIGNS = re.compile(r"[-_ ]")
_STYLES = {"h1", "h2", "h3", "h4", "h5", "h6", "blockquote"}


def is_rich(value: object) -> TypeGuard[dict[str, object]]:
    """Whether an object is a node of such a tree that holds more than a text."""
    if not isinstance(value, dict) or not _name_of(value):
        return False
    parts = _parts_of(value)
    known = _tag_of(value) is not None or _name_of(value) in _ROOTS
    return known and bool(parts) and all(isinstance(part, dict | list | str) for part in parts)


def write_tree(value: object) -> str:
    """The HTML of a node."""
    return _TreeWriter().write(value, 0)


class _TreeWriter:
    """Writes one tree. A node may stand in many places of it, so what is written is counted."""

    def __init__(self) -> None:
        self._left = MAX_CHARS

    def write(self, value: object, depth: int) -> str:
        self._left -= _NODE_CHARS
        if depth > MAX_DEPTH or self._left < 0:
            return ""
        if isinstance(value, str):
            return self._write_words(value)
        if isinstance(value, list):
            return self._write_short(value, depth)
        if not isinstance(value, dict):
            return ""
        text = value.get("text", value.get("value"))
        if isinstance(text, str):
            return _mark(self._write_words(text), value)
        within = self._write_all(_parts_of(value), depth)
        if _name_of(value) in _LINKS:
            return f'<a href="{escape(_address_of(value))}">{within}</a>'
        return _wrap(within, _tag_of(value) or "")

    def _write_short(self, value: list[object], depth: int) -> str:
        """`["p", {}, "text", ["em", {}, "more"]]`."""
        if len(value) < 2 or not isinstance(value[0], str) or not isinstance(value[1], dict):
            return self._write_all(value, depth)
        return self.write({"type": value[0], "attrs": value[1], "children": value[2:]}, depth + 1)

    def _write_words(self, text: str) -> str:
        self._left -= len(text)
        return escape(text, quote=False)

    def _write_all(self, values: list[object], depth: int) -> str:
        return "".join(self.write(one, depth + 1) for one in values if self._left > 0)


def _wrap(within: str, tag: str) -> str:
    if tag in _VOID:
        return f"<{tag}>"
    return f"<{tag}>{within}</{tag}>" if tag else within


def _name_of(node: dict[str, object]) -> str:
    name = next((name for key in _TYPES if isinstance(name := node.get(key), str)), "")
    if name == "element":
        name = next((tag for key in ("tag", "tagName") if isinstance(tag := node.get(key), str)), "")
    return _SIGNS.sub("", name[:40]).lower()


def _parts_of(node: dict[str, object]) -> list[object]:
    keys = (*_PARTS, "value") if _name_of(node) in _ROOTS else _PARTS
    return next((parts for key in keys if isinstance(parts := node.get(key), list)), [])


def _tag_of(node: dict[str, object]) -> str | None:
    """The element that a node is; "" for one without an element of its own, None for one that is not known."""
    name = _name_of(node)
    style = node.get("style")
    if name == "block" and isinstance(style, str) and style in _STYLES:
        return "li" if "listItem" in node else style
    if name == "block" and "listItem" in node:
        return "li"
    if found := _LEVEL.fullmatch(name):
        return f"h{found[1]}"
    if name in ("heading", "header"):
        return f"h{_level_of(node)}"
    if name in _LINKS or name == "span":
        return ""
    return (_TAGS[name] or name) if name in _TAGS else None


def _level_of(node: dict[str, object]) -> int:
    attributes = node.get("attrs")
    found = node.get("level", node.get("depth", attributes.get("level") if isinstance(attributes, dict) else None))
    tag = node.get("tag")
    if isinstance(tag, str) and (level := _LEVEL.fullmatch(tag)):
        return int(level[1])
    return found if isinstance(found, int) and 1 <= found <= 6 else 2


def _address_of(node: dict[str, object]) -> str:
    for holder in (
        node,
        node.get("attrs"),
        node.get("data"),
        node.get("props"),
        node.get("properties"),
        node.get("fields"),
    ):
        if isinstance(holder, dict):
            for key in ("url", "href", "uri"):
                if isinstance(found := holder.get(key), str):
                    return found
    return ""


def _mark(text: str, node: dict[str, object]) -> str:
    marks = node.get("marks")
    objects = [mark for mark in marks if isinstance(mark, dict)] if isinstance(marks, list) else []
    names = {name for mark in objects if isinstance(name := mark.get("type"), str)}
    names.update(mark for mark in (marks if isinstance(marks, list) else []) if isinstance(mark, str))
    for mark in objects:
        if mark.get("type") == "link":
            text = f'<a href="{escape(_address_of(mark))}">{text}</a>'
    if node.get("bold") is True or names & {"bold", "strong"}:
        text = f"<strong>{text}</strong>"
    if node.get("italic") is True or names & {"italic", "em"}:
        text = f"<em>{text}</em>"
    return f"<code>{text}</code>" if node.get("code") is True or "code" in names else text
