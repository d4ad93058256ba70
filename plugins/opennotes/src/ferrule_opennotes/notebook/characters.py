"""Text as an answer can hold it: the client stores neither NUL nor half of a surrogate pair."""

from __future__ import annotations

import re

_NOT_STORED = re.compile("[\0\ud800-\udfff]")


def make_storable(text: str) -> str:
    """The text with U+FFFD in place of each character that the client cannot store."""
    return text if text.isascii() and "\0" not in text else _NOT_STORED.sub("\ufffd", text)
