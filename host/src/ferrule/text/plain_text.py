"""Foreign text on one line: without markup and without invisible characters."""

from __future__ import annotations

import re

from ferrule.text.invisible import without_invisible

_TAG = re.compile(r"</?([a-z][a-z0-9]*)\b[^<>]*>", re.I)
_EMPHASIS = re.compile(r"<(b|em|i|mark|strong)>([^<>]*)</\1>|<br ?/?>", re.I)
_APART = frozenset({"br", "dd", "div", "dt", "hr", "li", "ol", "p", "td", "th", "tr", "ul"})


def plain_text(value: object, *, html: bool = True) -> str:
    """A text on one line, without markup, entities and invisible characters; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    text = _TAG.sub(_gap, value) if html else _EMPHASIS.sub(_inner, value)
    if "&" in text:
        from html import unescape

        text = unescape(text)
    return " ".join(without_invisible(text).split())


def _gap(tag: re.Match[str]) -> str:
    return " " if tag[1].lower() in _APART else ""


def _inner(emphasis: re.Match[str]) -> str:
    return " " if emphasis[2] is None else emphasis[2]
