"""XHTML, spelt so that a parser of HTML reads the same elements in it."""

from __future__ import annotations

import re
from html import escape

from ferrule_fetch.tree.elements import VOID

# Comments and instructions come first, so that nothing is changed within them. What is left open goes on to the end.
_PIECE = re.compile(
    r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!\[CDATA\[(?P<text>.*?)(?:]]>|\Z)"
    r"|<(?P<name>[A-Za-z][^\s<>/\"']*+)(?P<rest>(?:[^<>\"'/]++|/(?!>)|\"[^\"]*+\"|'[^']*+')*+)/>",
    re.S,
)


def as_html(text: str) -> str:
    """Give every empty element an end tag, without which HTML would go on with it, and make text of CDATA."""
    return _PIECE.sub(_in_html, text)


def _in_html(piece: re.Match[str]) -> str:
    if piece["text"] is not None:
        return escape(piece["text"], quote=False)
    name = piece["name"]
    return piece[0] if name is None or name.lower() in VOID else f"<{name}{piece['rest']}></{name}>"
