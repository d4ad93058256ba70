"""A text cut to a number of bytes, in a good place, with a mark at its end."""

from __future__ import annotations

import re

MARK = "\n\n[content truncated]"
_BREAKS = ("\n\n", ". ", "\n", " ")
_JOINER = "\u200d"
_FENCE = re.compile(r"^((?:[ >]|[-*+] |\d{1,9}[.)] ){0,40})(`{3,}|~{3,})([^\n]*)", re.M)
_ITEM = re.compile(r"[^ >]")
_ESCAPE = re.compile(r"\\+$")


def truncated(text: str, most: int, *, marked: bool = True) -> str:
    """The text, or where it has more than `most` bytes in UTF-8, its beginning and the mark, together no more.

    It ends after a paragraph, sentence, line or word where one ends in the second half, and never within a character,
    nor between a backslash and what that escapes. A block of code that is left open is closed. marked: False leaves
    the mark out, as does a `most` that has hardly room for it.
    """
    if len(text.encode()) <= most:
        return text
    mark = MARK if marked and most >= 2 * len(MARK) else ""
    beginning = _cut(text, most - len(mark))
    room = most - len(mark)
    while mark and (fence := _open_fence(beginning)):
        closed = f"{beginning}\n{fence}{mark}"
        if len(closed.encode()) <= most:
            return closed
        room -= len(fence) + 1  # a shorter beginning may end in another block, of which the fence is longer
        beginning = _cut(text, room)
    return beginning + mark


def _cut(text: str, most: int) -> str:
    beginning = text.encode()[: max(0, most)].decode(errors="ignore")
    for ending in _BREAKS:
        at = beginning.rfind(ending)
        if at > len(beginning) / 2:
            return beginning[: at + (ending == ". ")]
    return _whole_characters(beginning, text)


def _whole_characters(beginning: str, text: str) -> str:
    """Without what belongs to a letter that was left out, or a letter without what belongs to it."""
    end = len(beginning)
    while 0 < end < len(text) and end > len(beginning) - 32 and _belongs(text, end):
        end -= 1
    beginning = text[:end]
    escaping = _ESCAPE.search(beginning)
    return beginning[:-1] if escaping and len(escaping[0]) % 2 else beginning


def _belongs(text: str, at: int) -> bool:
    """Whether the character at this place goes on with the one before it."""
    letter, before = text[at], text[at - 1]
    if letter.isascii() and before != _JOINER:
        return False
    import unicodedata

    return bool(
        unicodedata.combining(letter)
        or letter == _JOINER
        or before == _JOINER
        or "\ufe00" <= letter <= "\ufe0f"
        or "\U0001f3fb" <= letter <= "\U0001f3ff"
    )


def _open_fence(text: str) -> str:
    """The line that closes the last block of code, as deep in lists and quotations as it; "" where none is open."""
    fence = before = ""
    for found in _FENCE.finditer(text):
        if not fence:
            before, fence = _ITEM.sub(" ", found[1]), found[2]
        elif found[2].startswith(fence) and not found[3].strip():
            fence = ""
    return before + fence if fence else ""
