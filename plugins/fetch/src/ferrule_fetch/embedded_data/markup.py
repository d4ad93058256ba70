"""Pieces of HTML that are made of data: text, paragraphs, headings, and the HTML that data contain."""

from __future__ import annotations

import re
from html import escape, unescape

from ferrule_fetch.tree import nodes

_TAG = re.compile(
    r"</?(?:p|div|h[1-6]|[uo]l|li|br|strong|em|[abi]|span|figure|img|table|section|article|pre)[\s/>]", re.I
)
_REFERENCE = re.compile(r"&(?:[a-zA-Z]{2,8}|#\d{1,6}|#x[\da-fA-F]{1,5});")
_MAX_HEADING = 6


def is_markup(text: str) -> bool:
    """Whether a text is HTML."""
    return "<" in text and bool(_TAG.search(text))


def write_text(text: str) -> str:
    """The paragraphs of a text, which may be HTML. What is left open in it is closed."""
    if "&lt;/" in text and not is_markup(text):
        text = unescape(text)
    if is_markup(text):
        return f"<div>{_close(text)}</div>"
    lines = (line.strip() for line in text.splitlines())
    return "".join(f"<p>{_write_words(line)}</p>" for line in lines if line)


def write_inline(text: str) -> str:
    """A text within a line, which may be HTML."""
    return _close(text) if is_markup(text) else _write_words(text)


def write_heading(text: str, level: int) -> str:
    """A heading; level: 1 is the highest."""
    name = f"h{min(max(level, 1), _MAX_HEADING)}"
    return f"<{name}>{_write_words(text)}</{name}>"


def write_link(text: str, href: str) -> str:
    """A link, or its words where it has no address."""
    words = _write_words(text)
    return f'<a href="{escape(href)}">{words}</a>' if href else words


def _write_words(text: str) -> str:
    """Words in which `&amp;` and the like are read, and nothing else is markup."""
    if "&" in text and _REFERENCE.search(text):
        return text.replace("<", "&lt;").replace(">", "&gt;")
    return escape(text, quote=False)


def _close(markup: str) -> str:
    return str(nodes.parse(markup, positions=False, allow_declarative_shadow_roots=False).select("body")[0].inner_html)
