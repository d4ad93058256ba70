"""What a model gets of a text that is longer than it should be."""

from __future__ import annotations

MAX_RESULT_BYTES = 24_000  # of what a search says to the model
MAX_BYTES_A_TOKEN = 4  # as `cut_to_tokens` counts them
_CUT = "… [cut]"


def cut_to_tokens(text: str, most: int) -> str:
    """A text of so many tokens at the most, with a mark where it is cut.

    Counted are four characters of ASCII as one token, and any other character as one, which is about what models count.
    """
    if len(text) <= most:
        return text
    quarters = 0
    for place, letter in enumerate(text):
        quarters += 1 if letter.isascii() else MAX_BYTES_A_TOKEN
        if quarters > most * MAX_BYTES_A_TOKEN:
            return f"{text[:place]}… [cut: the first {place:,} of {len(text):,} characters]"
    return text


def cut_to_bytes(content: str) -> str:
    """A text of MAX_RESULT_BYTES at the most, with a mark where it is cut."""
    data = content.encode("utf-8", "replace")
    if len(data) <= MAX_RESULT_BYTES:
        return data.decode()
    return data[: MAX_RESULT_BYTES - len(_CUT.encode())].decode(errors="ignore") + _CUT
