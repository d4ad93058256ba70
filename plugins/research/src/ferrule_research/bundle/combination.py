"""The texts of several pages as one, within a size."""

from __future__ import annotations

from collections.abc import Sequence

from ferrule_research.page.budget import truncate

SEPARATOR = "\n\n---\n\n"
_LEAST_BYTES = 80  # of a text that is worth its place


def combine(texts: Sequence[str], max_bytes: int) -> str:
    """The texts in their order, parted by a rule, `max_bytes` in UTF-8 at most, what parts them included.

    The last one that has room is cut as a page is: never within a character.
    """
    parts: list[str] = []
    room = max_bytes
    for text in texts:
        room -= len(SEPARATOR) if parts else 0
        if parts and room < min(_LEAST_BYTES, len(text.encode())):
            break
        parts.append(truncate(text, max(0, room)))
        room -= len(parts[-1].encode())
    return SEPARATOR.join(parts)
