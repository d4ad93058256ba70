"""The stream in which React sends what a server has rendered, as Next.js writes it into pages: rows of values."""

from __future__ import annotations

import json
import re

_ROW = re.compile(rb"([\da-f]{1,8}):")
_TEXT = re.compile(rb"T([\da-f]{1,8}),")
_NAMED = re.compile(r"\$[A-Za-z@]?([\da-f]{1,8})(?::.*)?")
_NO_VALUE = "$S"  # symbols, such as that of a fragment


def read_rows(stream: str) -> dict[str, object]:
    """The values of a stream by their numbers. Imports, hints and errors are none."""
    rows: dict[str, object] = {}
    data = stream.encode(errors="replace")
    at = 0
    while at < len(data):
        found = _ROW.match(data, at)
        begin = found.end() if found else at
        if found and (text := _TEXT.match(data, begin)):
            at = text.end() + int(text[1], 16)
            rows[found[1].decode()] = data[text.end() : at].decode(errors="replace")
            continue
        end = data.find(b"\n", begin)
        end = len(data) if end < 0 else end
        if found and data[begin : begin + 1] in b'[{"':
            try:
                rows[found[1].decode()] = json.loads(data[begin:end])
            except (ValueError, RecursionError):
                pass
        at = end + 1
    return rows


def find_row(text: str, rows: dict[str, object]) -> object:
    """What a text of a stream stands for: a row that it names, itself, or None where it is no text.

    A row is taken out, so that each is read once.
    """
    if not text.startswith("$"):
        return text
    if text.startswith("$$"):
        return text[1:]
    named = None if text.startswith(_NO_VALUE) else _NAMED.fullmatch(text)
    return rows.pop(named[1], None) if named else None
