"""Whether a text may hide something, and how it looks when nothing is hidden. Light: it is on the path of a call.

`ferrule.text.invisible` has the table of what is invisible, and decides what writing needs; it compiles expressions,
which most texts do not need. What may be hidden here is a little more than what is hidden there.
"""

from __future__ import annotations

_PRINTABLE = frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")  # invisible, and letters to Python
_HIDING_ESCAPES = (b"\\u", b"\\r", b"\\b", b"\\f")
_SELECTORS = ("\ufe00", "\ufe0f", "\U000e0100", "\U000e01ef")
_SPACES = frozenset("\n\t\xa0\u1680\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))))


def may_hide(text: str) -> bool:
    """Whether a text has characters that may be invisible, among them those that writing needs."""
    if text.isascii():
        return not (text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable())
    return any(map(_may_be_hidden, set(text)))


def may_json_hide(data: bytes) -> bool:
    """The same for all texts in a JSON document, by a look at its bytes; true where an escape might stand for such one.

    Of what JSON lets stand as it is in ASCII, nobody sees DEL alone.
    """
    return not data.isascii() or b"\x7f" in data or any(escape in data for escape in _HIDING_ESCAPES)


def make_visible(text: str) -> str:
    """The text with `<U+202E>` instead of each character that may be invisible. Line ends and tabs stay."""
    if not may_hide(text):
        return text
    return "".join(f"<U+{ord(letter):04X}>" if _may_be_hidden(letter) else letter for letter in text)


def _may_be_hidden(letter: str) -> bool:
    if not letter.isprintable():
        return letter not in _SPACES
    first, last, first_further, last_further = _SELECTORS
    return letter in _PRINTABLE or first <= letter <= last or first_further <= letter <= last_further
