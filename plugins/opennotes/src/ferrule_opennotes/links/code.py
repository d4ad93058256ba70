"""Markdown without its code, in which nothing is a link."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict

# Possessive throughout: a note may hold a megabyte of anything, and no position may be looked at twice.
_FENCE = re.compile(r"^[ \t>]*+((?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*+)(`{3,}+|~{3,}+)([^\n]*+)", re.MULTILINE)
_RUN = re.compile(r"`++|\n[ \t\r]*+(?=\n)")


def remove_code(text: str) -> str:
    """The text with a blank in place of each code span, and an empty line in place of each fenced block."""
    if "```" in text or "~~~" in text:
        text = _replace_spans(text, _find_fences(text), "\n\n")
    return _replace_spans(text, _find_spans(text), " ") if "`" in text else text


def _replace_spans(text: str, spans: list[tuple[int, int]], instead: str) -> str:
    pieces, position = [], 0
    for start, end in spans:
        pieces += [text[position:start], instead]
        position = end
    return "".join([*pieces, text[position:]])


def _find_fences(text: str) -> list[tuple[int, int]]:
    """Where fenced blocks are; one that is never closed goes on to the end."""
    spans = []
    fence, start = "", 0
    for found in _FENCE.finditer(text):
        marker, rest = found[2], found[3]
        if not fence:
            if marker[0] == "~" or "`" not in rest:
                fence, start = marker, found.start()
        elif not found[1] and marker.startswith(fence) and not rest.strip():
            spans.append((start, found.end()))
            fence = ""
    return [*spans, (start, len(text))] if fence else spans


def _find_spans(text: str) -> list[tuple[int, int]]:
    """Where code spans are: from a run of backticks to the next one as long, within one paragraph."""
    runs: list[tuple[int, int, int]] = []  # start, length, paragraph
    alike: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    paragraph = 0
    for found in _RUN.finditer(text):
        if found[0][0] != "`":
            paragraph += 1
            continue
        length = found.end() - found.start()
        alike[length, paragraph].append(len(runs))
        runs.append((found.start(), length, paragraph))
    spans, number = [], 0
    while number < len(runs):
        start, length, paragraph = runs[number]
        others = alike[length, paragraph]
        place = bisect_right(others, number)
        if place < len(others) and not is_escaped(text, start):
            number = others[place]
            spans.append((start, runs[number][0] + length))
        number += 1
    return spans


def is_escaped(text: str, position: int) -> bool:
    """Whether an odd number of backslashes stands before a position."""
    start = position
    while start and text[start - 1] == "\\":
        start -= 1
    return (position - start) % 2 == 1
