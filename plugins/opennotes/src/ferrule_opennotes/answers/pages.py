"""Pages of results: three quarters of 50 KB and of 2,000 lines at most, and how to get the next."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

BYTES = 50 * 1024 * 3 // 4
LINES = 2000 * 3 // 4
_LIMIT = 50
_LONGEST = 1000
_KEPT = 2000  # characters of a text in a row that would not fit, at the least


class Page(NamedTuple):
    """What of the results is answered with.

    pagination: as the answer carries it. guidance: what to do next, None where there is nothing.
    """

    items: list[dict[str, Any]]
    pagination: dict[str, Any]
    guidance: str | None


def findings(arguments: dict[str, Any]) -> list[str]:
    """What is wrong with `limit` and `offset` that their schema cannot say."""
    found = []
    for name in ("limit", "offset"):
        value = arguments.get(name)
        if isinstance(value, float) and not value.is_integer():
            found.append(f"{name}: {value} is no whole number")
    return found


def bounds(arguments: dict[str, Any]) -> tuple[int, int]:
    """`offset` and `limit` of a call, whole and with their defaults."""
    return max(0, int(arguments.get("offset") or 0)), min(_LONGEST, max(1, int(arguments.get("limit") or _LIMIT)))


def cut(items: Sequence[dict[str, Any]], total: int, offset: int, limit: int) -> Page:
    """The page of results that begins at `offset`.

    items: the results from `offset` on, `limit` of them or as many as there are. total: of all. Results that would
    exceed the budget are left to the next page; one that exceeds it by itself is shortened, and the guidance says so.
    """
    taken, shortened = _fitting(items[:limit])
    left = total - offset - len(taken)
    pagination: dict[str, Any] = {
        "total": total,
        "returned": len(taken),
        "page": offset // limit + 1,
        "pageSize": limit,
        "hasMore": left > 0 and bool(taken),
    }
    if pagination["hasMore"]:
        pagination["nextOffset"] = offset + len(taken)
    return Page(taken, pagination, _guidance(pagination, offset, shortened))


def _guidance(pagination: dict[str, Any], offset: int, shortened: Sequence[str]) -> str | None:
    parts = []
    if pagination["hasMore"]:
        parts.append(f"More results available. To fetch next page: {{ offset: {pagination['nextOffset']} }}")
    elif not pagination["returned"] and offset and pagination["total"]:
        parts.append(f"There are {pagination['total']} results, and none from offset {offset} on.")
    if shortened:
        names = ", ".join(shortened)
        parts.append(f"A result was too large for one answer: {names} shortened. Select less of it, or part by part.")
    return " ".join(parts) or None


def _fitting(items: Sequence[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    taken: list[dict[str, Any]] = []
    size = lines = 0
    for item in items:
        size += size_of(item)
        lines += _lines_of(item)
        if size > BYTES or lines > LINES:
            return (taken, []) if taken else _shortened(item)
        taken.append(item)
    return taken, []


def size_of(value: Any) -> int:
    """Bytes that a value takes in an answer, with what JSON has to escape in it."""
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))


def _shortened(item: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The one result with its longest values cut until it fits: of a list its first items, else text."""
    cut_down, names = dict(item), []
    for name in sorted(item, key=lambda each: -size_of(item[each])):
        if size_of(cut_down) <= BYTES and _lines_of(cut_down) <= LINES:
            break
        others = cut_down | {name: ""}
        room = max(_KEPT, BYTES - size_of(others))
        if isinstance(item[name], list):
            cut_down[name] = _first(item[name], room, LINES - _lines_of(others))
        else:
            text = item[name] if isinstance(item[name], str) else json.dumps(item[name], ensure_ascii=False)
            cut_down[name] = prefix(text, room)
        names.append(name)
    return [cut_down], names


def _first(items: list[Any], size: int, lines: int) -> list[Any]:
    """The items that take no more than so many bytes and lines, at least the beginning of the first."""
    taken: list[Any] = []
    left = size
    for item in items:
        left -= size_of(item) + len(", ")
        lines -= _lines_of(item)
        if left < 0 or lines < 1:
            break
        taken.append(item)
    return taken or [prefix(item, size - len('[""]')) for item in items[:1] if isinstance(item, str)]


def _lines_of(value: Any) -> int:
    return json.dumps(value, indent=2).count("\n") + 1


def prefix(text: str, most: int) -> str:
    """As much of a text from its beginning as takes `most` bytes in an answer."""
    kept = text[:most]
    while (over := size_of(kept) - 2 - most) > 0:
        kept = kept[: max(0, len(kept) - max(1, over // 6))]
    return kept
