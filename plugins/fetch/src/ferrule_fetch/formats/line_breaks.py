"""JSON and XML that stand in one line, given back in many."""

from __future__ import annotations

import json
import re
from io import StringIO

_READABLE_LINE_CHARS = 200  # a shorter line is readable as it is
_MAX_CHARS = 4 << 20
_MAX_DEPTH = 8  # levels that are indented
_BREAKS = tuple("\n" + "  " * depth for depth in range(_MAX_DEPTH + 1))
_OPENING, _CLOSING = frozenset("[{"), frozenset("]}")

_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[^\s\[\]{},:"]++|[\[\]{},:]')
# Every construct that is left open goes on to the end, so that no place is looked at twice.
_XML_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:]]>|\Z)|<\?.*?(?:\?>|\Z)"
    r"|<(?:[^<>\"']++|\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z))*+(?:>|(?=<)|\Z)|[^<]++",
    re.S,
)


def readable_json(text: str) -> str:
    """Break a document of one line at its members and items. No number, string, name or order is changed.

    What is nested too deep stays in one line. What is no JSON, has line breaks of its own, or is too large comes back
    as it is.
    """
    if not _is_one_long_line(text):
        return text
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=str)
    except (ValueError, RecursionError):
        return text
    return _laid_out(text)


def _laid_out(text: str) -> str:
    written = StringIO()  # a list of the pieces would take many times their room
    write = written.write
    depth, before = 0, ""
    for found in _JSON_TOKEN.finditer(text):
        token = found[0]
        if token in _CLOSING:
            if before not in _OPENING and depth <= _MAX_DEPTH:
                write(_BREAKS[depth - 1])
            depth -= 1
        elif before == "," or before in _OPENING:
            write(_BREAKS[depth] if depth <= _MAX_DEPTH else " " if before == "," else "")
        write(": " if token == ":" else token)  # noqa: S105 - no password
        depth += token in _OPENING
        before = token
    return written.getvalue()


def readable_xml(text: str) -> str:
    """Break a document of one line between tags that nothing stands between; what is in tags and text stays.

    What has line breaks of its own, or is too large, comes back as it is. It need not be well-formed.
    """
    if not _is_one_long_line(text):
        return text
    written = StringIO()  # a list of the pieces would take many times their room
    depth, before = 0, ""
    for found in _XML_TOKEN.finditer(text):
        token = found[0]
        if token.isspace():
            continue
        kind = _kind(token)
        depth -= kind == "end" and depth > 0
        if before and before != "text" and kind != "text" and (before, kind) != ("start", "end"):
            written.write(_BREAKS[min(depth, _MAX_DEPTH)])
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


def _is_one_long_line(text: str) -> bool:
    return _READABLE_LINE_CHARS < len(text) < _MAX_CHARS and "\n" not in text.strip()
