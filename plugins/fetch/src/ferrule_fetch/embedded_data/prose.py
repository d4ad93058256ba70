"""What a text in data is: words for readers, or something for programs."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W\d_]{2,}")
_END = re.compile(r"[.!?…。！？:][\"'”’)\]]?(?:\s|$)")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PROGRAM = re.compile(
    r"^(?:https?:|data:|[./{@]|#(?!#{0,5} )|\((?:max|min)-|M\d|Mozilla/"
    r"|(?:function|import|var|const)\b|window\.)"
)
_LOOKED_AT_CHARS = 2_000
_MIN_WORDS, _MIN_WIDE = 4, 8
_MIN_SHARE = 0.55


def is_prose(text: str) -> bool:
    """Whether a text is a sentence or more, as far as its beginning says."""
    text = text[:_LOOKED_AT_CHARS].strip()
    if len(text) < _MIN_WIDE or _PROGRAM.match(text):
        return False
    if len(_WIDE.findall(text)) >= _MIN_WIDE:
        return True
    words = _WORD.findall(text)
    if len(words) < _MIN_WORDS or text.count(" ") < _MIN_WORDS - 1:
        return False
    letters = sum(map(str.isalpha, text))
    return letters >= _MIN_SHARE * len(text) and bool(_END.search(text) or text[0].isupper())


def is_title(text: object) -> bool:
    """Whether it can be the name of something."""
    return (
        isinstance(text, str)
        and 1 < len(text.strip()) <= 200
        and not _PROGRAM.match(text)
        and any(map(str.isalpha, text))
        and ("_" not in text or " " in text)
    )


def count_words(text: str) -> int:
    """How many words a text has; of signs that are written without blanks, two are one."""
    return len(_WORD.findall(text)) + len(_WIDE.findall(text)) // 2
