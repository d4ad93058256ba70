"""Running text that is simple enough to be settled at once, as most of it is.

What it comes to is what `inline` makes of it; it only takes a tenth of the time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule_fetch.markdown import sentinels

if TYPE_CHECKING:
    from collections import deque

    from ferrule_fetch.markdown.links import Target

# Text, code and links without blanks at their ends, links without brackets in their text, emphasis beside nothing
# that could undo it. Links may hold code and emphasis, emphasis code and links, and that is all.
_TEXT = "[^\x01-\x08\x0e-\x11]"
_IN_CODE = "[^\x01-\x08\x0e-\x11`]"
_IN_LINK = "[^\x01-\x08\x0e-\x11\\[\\]]"
_CODE = f"\x07(?! ){_IN_CODE}++(?<! )\x08(?!\x07)"


def _emphasis_pattern(begin: str, inside: str, end: str) -> str:
    opens = f"(?<![^ \xa0\n(\x0e]){begin}(?=[A-Za-z0-9\x07\x0e])"
    closes = f"(?<=[A-Za-z0-9\x08\x0f]){end}(?![^ \xa0\n.,;:)?\x0f])"
    return opens + inside + closes


_PLAIN_LINK = f"(?<!!)\x0e(?! )(?:{_IN_LINK}++|{_CODE})++(?<! )\x0f"
_INSIDE = f"(?:{_TEXT}++|{_CODE}|{_PLAIN_LINK})++"
_INSIDE_LINK = f"(?:{_IN_LINK}++|{_CODE})++"
_BOTH = ((sentinels.EMPHASIS, sentinels.END_EMPHASIS), (sentinels.STRONG, sentinels.END_STRONG))
_IN_LINKS = "|".join(_emphasis_pattern(begin, _INSIDE_LINK, end) for begin, end in _BOTH)
_LINK = f"(?<!!)\x0e(?! )(?:{_IN_LINK}++|{_CODE}|{_IN_LINKS})++(?<! )\x0f"
_AROUND = "|".join(_emphasis_pattern(begin, _INSIDE, end) for begin, end in _BOTH)
_SIMPLE = re.compile(f"(?:{_TEXT}++|\x10|{_CODE}|{_LINK}|{_AROUND})*+")
_INSET = re.compile("\x10|\x0e([^\x0f]*)\x0f")
_WRITTEN = (
    (sentinels.CODE, sentinels.END_CODE, "`"),
    (sentinels.STRONG, sentinels.END_STRONG, "**"),
    (sentinels.EMPHASIS, sentinels.END_EMPHASIS, "*"),
)


def is_simple(text: str) -> bool:
    """Whether text with marks is simple. All its white space is single blanks, and it is escaped outside of code."""
    return bool(_SIMPLE.fullmatch(text))


def settle(text: str, insets: deque[Target | str]) -> str:
    """Simple text as markdown. Takes the insets that its marks stand for."""
    for begin, end, written in _WRITTEN:
        if begin in text:
            text = text.replace(begin, written).replace(end, written)
    if not insets:
        return text

    def inset(found: re.Match[str]) -> str:
        stands_for = insets.popleft()
        return stands_for if isinstance(stands_for, str) else stands_for.around(found[1])

    return _INSET.sub(inset, text)
