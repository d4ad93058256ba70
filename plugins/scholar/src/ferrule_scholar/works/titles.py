"""Titles of papers: whether two are the same, and how alike they are."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher

_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>")
_WORD = re.compile(r"[^\W_]+")
_LEAST_WORDS = 4  # of a title that tells one paper from another; "Editorial" does not


def plain_title(text: object) -> str:
    """A title on one line, without the elements that publishers leave in it; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    from html import unescape

    return " ".join(unescape(_TAG.sub("", text)).split())


def title_words(title: str) -> list[str]:
    """The words of a title, without accents, in small letters."""
    folded = "".join(one for one in unicodedata.normalize("NFKD", title.casefold()) if not unicodedata.combining(one))
    return _WORD.findall(folded)


def title_key(title: str) -> str:
    """What equal titles have in common: letters and digits alone; "" for a title that many papers may have."""
    words = title_words(title)
    key = "".join(words)
    is_telling = len(words) >= _LEAST_WORDS or len(key) >= 24 or (not key.isascii() and len(key) >= 8)
    return key if is_telling else ""


def title_likeness(one: str, other: str) -> float:
    """How alike two titles are by their words, in their order: 0 to 1. Subtitles that one lacks cost little."""
    left, right = title_words(one), title_words(other)
    if not left or not right:
        return 0.0
    if min(len(left), len(right)) >= _LEAST_WORDS:
        shorter, longer = sorted((left, right), key=len)
        if longer[: len(shorter)] == shorter:
            return 0.95 if len(shorter) < len(longer) else 1.0
    return SequenceMatcher(None, left, right, autojunk=False).ratio()
