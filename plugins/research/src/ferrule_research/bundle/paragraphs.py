"""Paragraphs that stand twice, on one page or on two: only the first one is kept."""

from __future__ import annotations

import re

LEAST_CHARS = 60  # of a paragraph that is compared: short ones, such as headings, may well stand on two pages
_FENCE = re.compile(r"[ >]*(`{3,}|~{3,})")


class SeenParagraphs:
    """The paragraphs of the pages so far."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self.repeated = 0

    def drop_repeats(self, text: str) -> str:
        """The text without those of its paragraphs that were there before. A block of code is one paragraph."""
        kept = []
        for paragraph in split_paragraphs(text):
            key = "".join(paragraph.split()).casefold()
            if len(key) >= LEAST_CHARS and key in self._seen:
                self.repeated += 1
                continue
            self._seen.add(key)
            kept.append(paragraph)
        return "\n\n".join(kept)


def split_paragraphs(text: str) -> list[str]:
    """The paragraphs of markdown: what blank lines part, but those in a block of code."""
    paragraphs: list[list[str]] = [[]]
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            fence = "" if found and found[1].startswith(fence) else fence
        elif found:
            fence = found[1]
        elif not line.strip():
            paragraphs.append([])
            continue
        paragraphs[-1].append(line)
    return ["\n".join(lines) for lines in paragraphs if lines]
