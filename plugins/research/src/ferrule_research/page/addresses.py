"""Markdown without the addresses of its links and images."""

from __future__ import annotations

import re

# Code, in which nothing is a link, and links, whose text is kept. Each part is possessive, so that no text takes long.
_BLOCK = r"^(?P<fence>[ >]*+(?:`{3,}+|~{3,}+))[^\n]*+\n(?:(?!(?P=fence))[^\n]*+\n)*+(?P=fence)?+[^\n]*+"
_CODE = rf"(?P<code>{_BLOCK}|`(?<!\\`)[^`\n]++`)"
_TEXT = r"(?P<text>(?:[^\[\]\n\\]|\\.)*+)"
_ADDRESS = r"(?:[^()\s\\]|\\.|\((?:[^()\s\\]|\\.)*+\))*+"
_TITLE = r"(?: \"(?:[^\"\n\\]|\\.)*+\")?+"
_LINK = re.compile(rf"{_CODE}|(?<!\\)!?\[{_TEXT}\]\({_ADDRESS}{_TITLE}\)", re.MULTILINE)
_DEPTH = 2  # an image may stand in a link


def remove_addresses(text: str) -> str:
    """The markdown with the words of its links, and the descriptions of its images, alone. Its lines stay lines."""
    for _ in range(_DEPTH):
        text = _LINK.sub(lambda found: found["text"] if found["code"] is None else found[0], text)
    return text
