"""XML that stands in one line, given back in many."""

from __future__ import annotations

import re
from io import StringIO

_LONGEST_LINE = 200  # characters; a shorter line is readable as it is
_LARGEST = 4 << 20  # characters
_DEEPEST = 8  # levels that are indented
_BREAKS = tuple("\n" + "  " * depth for depth in range(_DEEPEST + 1))

# Every construct that is left open goes on to the end, so that no place is looked at twice.
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:]]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<(?:[^<>\"']++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*+(?:>|(?=<)|\Z)|[^<]++",
    re.S,
)


def readable_xml(text: str) -> str:
    """Break a document of one line between tags that nothing stands between; what is in tags and text stays.

    What has line breaks of its own, or is too large, comes back as it is. It need not be well-formed.
    """
    if not _LONGEST_LINE < len(text) < _LARGEST or "\n" in text.strip():
        return text
    written = StringIO()  # a list of the pieces would take many times their room
    depth, before = 0, ""
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token.isspace():
            continue
        kind = _kind(token)
        depth -= kind == "end" and depth > 0
        if before and before != "text" and kind != "text" and (before, kind) != ("start", "end"):
            written.write(_BREAKS[min(depth, _DEEPEST)])
        written.write(token)
        depth += kind == "start"
        before = kind
    return written.getvalue()


def _kind(token: str) -> str:
    if len(token) < 3 or token[0] != "<" or token.startswith("<![CDATA["):
        return "text"
    if token.startswith("</"):
        return "end"
    return "whole" if token.startswith(("<!", "<?")) or token.endswith("/>") else "start"
