"""Emphasis that the writer has left as tags, because it could not tell whether delimiters would be read as such.

CommonMark reads `*` as the begin of emphasis by the characters on both sides of it. Where they forbid it, punctuation
at the edge of the emphasis moves out of it, and where that does not help, the words stand without emphasis.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.markdown.marks import TAG
from ferrule_fetch.patterns import compile_late

if TYPE_CHECKING:
    import re

_DELIMITERS = {"e": "*", "s": "**", "d": "~~"}
_KINDS = dict.fromkeys(["em", "i", "cite", "dfn", "var"], "e")
_KINDS |= dict.fromkeys(["strong", "b"], "s") | dict.fromkeys(["del", "s", "strike"], "d")
_END = "/"

_TAGS = compile_late(rf"<(/?)({'|'.join(_KINDS)})(?:\s[^<>]*)?>")
_SPAN = compile_late(f"{TAG}([{''.join(_DELIMITERS)}])([^{TAG}]*){TAG}{_END}")
_LEFT_OVER = compile_late(f"{TAG}.")
_MAX_DEPTH = 16  # of emphasis in emphasis
_MAX_TAIL_CHARS = 64  # of punctuation that moves out of emphasis
_PUNCTUATION = r"\\[^\w\s]|[^\w\s`*_~<>!\\\[\]()]"  # none of it belongs to markup
_LEADING = compile_late(rf"(?:{_PUNCTUATION}|\()+\s*")
_TRAILING = compile_late(rf"\s*(?:{_PUNCTUATION})+$")


def mark(text: str) -> str:
    """Put a mark instead of each tag of emphasis, so that other signs are not taken for one."""
    return _TAGS.sub(_marked, text)


def settle(text: str) -> str:
    """Write delimiters instead of the marks, the innermost first, or nothing."""
    for _ in range(_MAX_DEPTH):
        if TAG not in text:
            return text
        text = _SPAN.sub(_settled, text)
    return _LEFT_OVER.sub("", text) if TAG in text else text


def _marked(tag: re.Match[str]) -> str:
    return TAG + (_END if tag[1] else _KINDS[tag[2]])


def _settled(span: re.Match[str]) -> str:
    inner = span[2]
    words = inner.strip()
    if not words:
        return inner
    start = inner.index(words)
    blanks, more_blanks = inner[:start], inner[start + len(words) :]
    before = blanks or span.string[max(span.start() - 1, 0) : span.start()]
    after = more_blanks or span.string[span.end() : span.end() + 1]
    return f"{blanks}{_delimited(words, _DELIMITERS[span[1]], before[-1:], after[:1])}{more_blanks}"


def _delimited(words: str, delimiter: str, before: str, after: str) -> str:
    """Words between delimiters.

    Args:
        before, after: the characters around them, empty at the ends of the page.
    """
    head = _found(_LEADING.match(words)) if _is_letter(before) else ""
    words = words[len(head) :]
    tail = _found(_TRAILING.search(words, max(len(words) - _MAX_TAIL_CHARS, 0))) if _is_letter(after) else ""
    words = words[: len(words) - len(tail)]
    before, after = head.rstrip()[-1:] or before, tail.lstrip()[:1] or after
    opens = words and (_is_letter(words[0]) or not _is_letter(before))
    closes = words and (_is_letter(words[-1]) or not _is_letter(after))
    if opens and closes:
        delimiter = _apart(delimiter, words, before, after)
        words = f"{delimiter}{words}{delimiter}"
    return f"{head}{words}{tail}"


def _apart(delimiter: str, words: str, before: str, after: str) -> str:
    """A delimiter that does not run together with another one; empty if there is none."""
    sign = delimiter[0]
    is_free = sign not in (before, words[0]) and (words[-1] != sign or words.endswith(f"\\{sign}"))
    if is_free and (after != sign or delimiter == "**"):  # "***" is read as the ends of two
        return delimiter
    fits = sign == "*" and not _is_letter(before) and not _is_letter(after) and "_" not in (words[0], words[-1])
    return delimiter.replace("*", "_") if fits else ""


def _found(match: re.Match[str] | None) -> str:
    return match[0] if match else ""


def _is_letter(character: str) -> bool:
    """Whether CommonMark takes a character for neither white space nor punctuation."""
    if character.isascii():
        return character.isalnum()
    from unicodedata import category  # most pages need no word of it

    return not character.isspace() and category(character)[0] not in "PS"
