"""A page of a text: from a character on, as many as were asked for and as fit into an answer."""

from __future__ import annotations

from bisect import bisect_left

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from ferrule import Context


def page(head: dict[str, Any], text: str, offset: int, limit: int | None, context: Context) -> dict[str, Any]:
    """The answer that begins with character `offset`, which is at most the length of the text.

    It has `next_offset` where something follows. Characters are counted, so no page can begin or end within one.
    """

    def until(end: int) -> dict[str, Any]:
        further = {"next_offset": end} if end < len(text) else {}
        return {**head, "content": text[offset:end], "offset": offset, **further, "total": len(text)}

    def is_too_large(end: int) -> bool:
        return context.size(until(end)) > context.max_bytes

    # A character takes a byte or more.
    last = min(len(text), offset + min(limit or context.max_bytes, context.max_bytes))
    if not is_too_large(last):
        return until(last)
    ends = range(offset + 1, last)
    return until(offset + bisect_left(ends, True, key=is_too_large))
