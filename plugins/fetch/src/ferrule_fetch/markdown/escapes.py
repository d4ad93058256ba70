"""Backslashes of the writer, which are more than CommonMark needs: those that change nothing are taken away again."""

from __future__ import annotations

import re
from collections.abc import Callable

from ferrule_fetch.markdown.marks import LESS_THAN
from ferrule_fetch.patterns import compile_late

# A pair of brackets around plain words, or any other escaped sign. Behind a pair, a parenthesis would make a link of
# it, and a colon at the beginning of a line the definition of one.
_ESCAPED = compile_late(r"\\(?:\[([^\[\]\\\n<]*)\\\](?![(\[:])|.)", re.S)
# An underscore within a word, as most of what is escaped is one: it needs no look at what stands around it.
_WITHIN_WORD = compile_late(r"\\_(?<=\w\\_)(?=[^\W_])")
_MARKER_ENDS = tuple("-*+.)")
_BOXES = frozenset({" ", "x", "X"})  # in brackets they are the box of a task


def thin_out(text: str) -> str:
    """Take away the backslashes that change nothing, and put a mark instead of `\\<`. The text holds no code."""
    if "\\_" in text:
        text = _WITHIN_WORD.sub("_", text)
    return _ESCAPED.sub(_needed, text) if "\\" in text else text


def _needed(escaped: re.Match[str]) -> str:
    """What is left of a backslash and its sign."""
    words = escaped[1]
    if words is not None:
        is_box = words in _BOXES and _stands_behind_marker(escaped.string, escaped.start())
        return escaped[0] if is_box else f"[{words}]"
    sign = escaped[0][1:]
    if sign == "<":
        return LESS_THAN
    is_plain = _PLAIN.get(sign)
    return sign if is_plain and is_plain(escaped.string, escaped.start(), escaped.end()) else escaped[0]


def _stands_behind_marker(text: str, start: int) -> bool:
    """Whether nothing but the marker of an item stands before a place on its line."""
    before = text[text.rfind("\n", 0, start) + 1 : start].rstrip()
    return before[-1:] in _MARKER_ENDS and not before.strip(" >0123456789")[1:]


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether a star stands between blanks, and is no item's."""
    return start > 1 and text[start - 1] == " " == text[end : end + 1] and text[start - 2].isalnum()


def _begins_no_block(text: str, start: int, end: int) -> bool:
    """Whether a sign begins a line, but neither a heading, an item nor a rule."""
    begin = text[text.rfind("\n", 0, start) + 1 : start].strip(" >")
    after = text[end : end + 1]
    return (not begin or begin.isdecimal()) and after.isalnum()


def _is_before_word(text: str, _: int, end: int) -> bool:
    """Whether a letter, a digit or a blank follows a backslash, as in TeX, which is none of an escaped sign then."""
    after = text[end : end + 1]
    return after.isalnum() or after == " "


_PLAIN: dict[str, Callable[[str, int, int], bool]] = {
    "*": _is_alone,
    "\\": _is_before_word,
    **dict.fromkeys("#+-.)", _begins_no_block),
}
