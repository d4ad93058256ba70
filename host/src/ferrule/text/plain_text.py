"""Foreign text on one line: without markup and without invisible characters."""

from __future__ import annotations

import re

_TAG = re.compile(r"</?([a-z][a-z0-9]*)\b[^<>]*>", re.I)
_EMPHASIS = re.compile(r"<(b|em|i|mark|strong)>([^<>]*)</\1>|<br ?/?>", re.I)
_APART = frozenset({"br", "dd", "div", "dt", "hr", "li", "ol", "p", "td", "th", "tr", "ul"})

# What JSON readers refuse, a terminal would act on, or no user sees and a model reads.
UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls, without those that are blanks
    "\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069"  # of no width, and those that turn the direction
    "\ud800-\udfff\U000e0000-\U000e007f]"  # halves of pairs, and tags
)


def plain_text(value: object, *, html: bool = True) -> str:
    """A text on one line, without markup, entities and invisible characters; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    text = _TAG.sub(_gap, value) if html else _EMPHASIS.sub(_inner, value)
    if "&" in text:
        from html import unescape

        text = unescape(text)
    return " ".join(UNSEEN.sub("", text).split())


def _gap(tag: re.Match[str]) -> str:
    return " " if tag[1].lower() in _APART else ""


def _inner(emphasis: re.Match[str]) -> str:
    return " " if emphasis[2] is None else emphasis[2]
