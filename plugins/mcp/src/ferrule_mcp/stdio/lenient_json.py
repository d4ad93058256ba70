"""JSON that is not strict, as servers write it: NaN, NUL, lone surrogates, a byte order mark, bytes that are no UTF-8.

What no JSON document of ferrule can hold becomes null or the replacement character, so that an answer is not lost for
one character of it.
"""

from __future__ import annotations

import json

_MAX_NUMBER = 1.7976931348623157e308
_REPLACEMENT = "\ufffd"


def read_leniently(line: bytes) -> object:
    """The value of a line. Raises ValueError for what is no JSON at all, or nested too deeply."""
    text = line.decode(errors="replace").removeprefix("\ufeff")
    if not text.startswith(("{", "[")):
        raise ValueError("neither an object nor a list")
    try:
        return _clean(json.loads(text, strict=False))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _clean(value: object) -> object:
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, dict):
        return {_clean_text(key): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    if isinstance(value, int | float) and not -_MAX_NUMBER <= value <= _MAX_NUMBER:
        return None  # NaN fits no bounds either
    return value


def _clean_text(text: str) -> str:
    if "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    return "".join(_REPLACEMENT if letter == "\0" or "\ud800" <= letter <= "\udfff" else letter for letter in text)
