"""CommonMark's rule of where a run of delimiters opens or closes emphasis: by the characters on its two sides."""

from __future__ import annotations

# Punctuation that stands between letters without blanks.
EAST_ASIAN = "、。，．：；！？「」『』（）【】《》〈〉〔〕“”‘’…—・～"
SPACE, PUNCTUATION, LETTER = range(3)  # LETTER is what is neither of the others

_ASCII = {chr(code): PUNCTUATION for code in (*range(33, 48), *range(58, 65), *range(91, 97), *range(123, 127))}
_KINDS = {**dict.fromkeys(" \t\n\f\r\xa0", SPACE), **_ASCII}


def kind(character: str) -> int:
    """What a character is in the eyes of CommonMark; the empty string, the end of a line, is space."""
    if character not in _KINDS:
        _KINDS[character] = _kind(character)
    return _KINDS[character]


def _kind(character: str) -> int:
    if not character:
        return SPACE
    if character.isascii():
        return LETTER
    from unicodedata import category

    group = category(character)
    if group == "Zs":
        return SPACE
    return PUNCTUATION if group[0] in "PS" else LETTER


def entity(character: str) -> str:
    """A character as an entity, whose ends are punctuation whatever it stands for."""
    return "&nbsp;" if character == "\xa0" else f"&#{ord(character)};"
