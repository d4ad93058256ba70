"""What the text of a note says of the note without frontmatter: its first heading, and its inline tags."""

from __future__ import annotations

import re

_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*(?:\n(?:.*?^ {0,3}\1[`~]*[ \t\r]*$|.*)|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(?<!`)(`{1,2})(?!`)[^`\n]+\1(?!`)")
_ATX = re.compile(r"^ {0,3}#{1,6}[ \t]+(?P<text>\S[^\n]*)$", re.MULTILINE)
_SETEXT = re.compile(r"^ {0,3}(?P<text>[^\s#>`~|=+*-][^\n]*)\n {0,3}(?:=+|-{2,})[ \t\r]*$", re.MULTILINE)
_MARKS = re.compile(r"(?<=\S)[*`]{1,3}|[*`]{1,3}(?=\S)|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
_CLOSING = re.compile(r"[ \t]#+\Z")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)|\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]")
_TAG = re.compile(r"(?<!\S)#(?=[\w/-]*[^\W\d])([\w/-]+)")
_MAX_LINE_CHARS, _MAX_TITLE_CHARS = 2_000, 300  # of a heading's line that are looked at, and of what it says
_MAX_TAGS = 200


def find_title(body: str) -> str | None:
    """The text of the first heading, without its marks; None if there is none. What stands in code is no heading."""
    if "#" not in body and "\n=" not in body and "\n-" not in body and "\n " not in body:
        return None
    text = _drop_fences(body)
    found = [heading for heading in (_ATX.search(text), _SETEXT.search(text)) if heading]
    first = min(found, key=lambda heading: heading.start(), default=None)
    return (_plain(first["text"]) or None) if first else None


def find_tags(body: str) -> list[str]:
    """The tags `#name` that stand between words, each once. What stands in code is none, nor is a number."""
    if "#" not in body:
        return []
    text = _CODE.sub("", _drop_fences(body))
    tags = dict.fromkeys(found.strip("/-") for found in _TAG.findall(text))
    return list(tags)[:_MAX_TAGS]


def _drop_fences(body: str) -> str:
    return _FENCED.sub("", body) if "```" in body or "~~~" in body else body


def _plain(text: str) -> str:
    bare = _CLOSING.sub("", text[:_MAX_LINE_CHARS].strip())
    linked = _LINK.sub(lambda found: found[1] or found[2] or "", bare)
    return _MARKS.sub("", linked).strip()[:_MAX_TITLE_CHARS].strip()
