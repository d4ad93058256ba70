"""JSON that stands in one line, given back in many."""

from __future__ import annotations

import json
import re
from io import StringIO

_LONGEST_LINE = 200  # characters; a shorter line is readable as it is
_LARGEST = 4 << 20  # characters
_DEEPEST = 8  # levels that are indented; what is nested deeper stays in one line
_BREAKS = tuple("\n" + "  " * depth for depth in range(_DEEPEST + 1))
_OPENING, _CLOSING = frozenset("[{"), frozenset("]}")

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[^\s\[\]{},:"]++|[\[\]{},:]')


def readable_json(text: str) -> str:
    """Break a document of one line at its members and items. No number, string, name or order is changed.

    What is no JSON, has line breaks of its own, or is too large comes back as it is.
    """
    if not _LONGEST_LINE < len(text) < _LARGEST or "\n" in text.strip():
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
    for found in _TOKEN.finditer(text):
        token = found[0]
        if token in _CLOSING:
            if before not in _OPENING and depth <= _DEEPEST:
                write(_BREAKS[depth - 1])
            depth -= 1
        elif before == "," or before in _OPENING:
            write(_BREAKS[depth] if depth <= _DEEPEST else " " if before == "," else "")
        write(": " if token == ":" else token)  # noqa: S105 - no password
        depth += token in _OPENING
        before = token
    return written.getvalue()
