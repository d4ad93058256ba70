"""What a page has for readers without scripts: `<noscript>` elements, and the description for those that link to it."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule_fetch.tree.nodes import Document

_PICTURE = re.compile(r"<(?:img|iframe|source)\b[^>]*+>", re.IGNORECASE)
_DESCRIPTIONS = ("og:description", "description", "twitter:description")
_MAX_CHARS = 2_000
_MAX_WISH_CHARS = 600  # of the wish that scripts may run: a sentence or three


def find_shown(tree: Document) -> str:
    """The HTML that is shown where no scripts run, without pictures: those are mostly copies, or count visits."""
    return "".join(map(_read_markup, (str(each.inner_html) for each in tree.select("noscript"))))


def _read_markup(markup: str) -> str:
    """What an element holds; as text where it stands in the head, which has to be read as HTML."""
    if "&lt;" in markup and "<" not in markup:
        markup = markup.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    is_wish = "script" in markup.lower() and len(markup) < _MAX_WISH_CHARS
    return "" if is_wish else f"<div>{_PICTURE.sub('', markup)}</div>"


def find_description(tree: Document) -> str:
    """The title and the description of a page as HTML; empty without a description."""
    found = next(filter(None, (_find_meta(tree, name) for name in _DESCRIPTIONS)), "")
    title = _find_meta(tree, "og:title")
    return "".join(f"<p>{escape(text)}</p>" for text in (title, found) if text) if found else ""


def _find_meta(tree: Document, name: str) -> str:
    meta = tree.select_one(f'meta[property="{name}"],meta[name="{name}"]')
    return " ".join((meta.attr("content") or "").split())[:_MAX_CHARS] if meta else ""
