"""Pages of results: three quarters of 50 KB at most, and how to get the next."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_opennotes.answers.types import Answer, Pagination

_Answer = TypeVar("_Answer", bound="Answer")
_Item = TypeVar("_Item")

MAX_BYTES = 50 * 1024 * 3 // 4
_DEFAULT_LIMIT = 50
_MAX_LIMIT = 1000
_MIN_KEPT_CHARS = 2000  # characters of a text in a row that would not fit, at the least


class Page(NamedTuple):
    """What of the results is answered with.

    pagination: as the answer carries it. guidance: what to do next, None if there is nothing.
    """

    items: list[JSONMapping]
    pagination: Pagination
    guidance: str | None


def find_problems(arguments: JSONObject) -> list[str]:
    """What is wrong with `limit` and `offset` that their schema cannot say."""
    given = [(name, arguments.get(name)) for name in ("limit", "offset")]
    fractions = [(name, value) for name, value in given if isinstance(value, float) and not value.is_integer()]
    return [f"{name}: {value} is no whole number" for name, value in fractions]


def read_bounds(arguments: JSONObject) -> tuple[int, int]:
    """`offset` and `limit` of a call, whole and with their defaults."""
    limit = min(_MAX_LIMIT, max(1, int(arguments.get("limit") or _DEFAULT_LIMIT)))
    return max(0, int(arguments.get("offset") or 0)), limit


def cut(items: Sequence[Mapping[str, object]], total: int, offset: int, limit: int) -> Page:
    """The page of results that begins at `offset`.

    Args:
        items: the results from `offset` on, `limit` of them or as many as there are.
        total: of all. Results that would exceed the budget are left to the next page; one that exceeds it by itself is
            shortened, and the guidance says so.
    """
    items = items[:limit]
    taken: list[JSONMapping] = [*take_fitting(items)]
    shortened: list[str] = []
    if items and not taken:
        first, shortened = _shorten(items[0])
        taken = [first]
    has_more = bool(taken) and offset + len(taken) < total
    pagination = paginate(total, len(taken), offset, limit, has_more=has_more)
    return Page(taken, pagination, _guide(pagination, offset, shortened))


def paginate(total: int, returned: int, offset: int, limit: int, *, has_more: bool) -> Pagination:
    """The `pagination` of an answer with `returned` of the results, from `offset` on."""
    page = offset // limit + 1
    facts: Pagination = {"total": total, "returned": returned, "page": page, "pageSize": limit, "hasMore": has_more}
    if has_more:
        facts["nextOffset"] = offset + returned
    return facts


def _guide(pagination: Pagination, offset: int, shortened: Sequence[str]) -> str | None:
    parts = []
    if pagination["hasMore"]:
        parts.append(f"More results available. To fetch next page: {{ offset: {pagination['nextOffset']} }}")
    elif not pagination["returned"] and offset and pagination["total"]:
        parts.append(f"There are {pagination['total']} results, and none from offset {offset} on.")
    if shortened:
        names = ", ".join(shortened)
        parts.append(f"A result was too large for one answer: {names} shortened. Select less of it, or part by part.")
    return " ".join(parts) or None


def take_fitting(items: Iterable[_Item], most: int = MAX_BYTES, between: int = 0) -> list[_Item]:
    """The first of the items, as many as one answer holds, or as take `most` bytes with `between` for each comma."""
    taken: list[_Item] = []
    size = 0
    for item in items:
        size += count_bytes(item) + between
        if size > most:
            break
        taken.append(item)
    return taken


def add_guidance(answer: _Answer, guidance: str | None) -> _Answer:
    """The answer, with `_guidance` if there is any."""
    if guidance:
        answer["_guidance"] = guidance
    return answer


def count_bytes(value: object) -> int:
    """Bytes that a value takes in an answer, with what JSON has to escape in it."""
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))


def _shorten(item: JSONMapping) -> tuple[JSONMapping, list[str]]:
    """The result with its longest values cut until it fits, and their names: of a list its first items, else text."""
    cut_down, names = dict(item), []
    for name in sorted(item, key=lambda each: -count_bytes(item[each])):
        if count_bytes(cut_down) <= MAX_BYTES:
            break
        room = max(_MIN_KEPT_CHARS, MAX_BYTES - count_bytes(cut_down | {name: ""}))
        if isinstance(item[name], list):
            cut_down[name] = _take_first(item[name], room)
        else:
            text = item[name] if isinstance(item[name], str) else json.dumps(item[name], ensure_ascii=False)
            cut_down[name] = cut_text(text, room)
        names.append(name)
    return cut_down, names


def _take_first(items: list[object], size: int) -> list[object]:
    """The items that take no more than so many bytes, at least the beginning of the first."""
    taken = take_fitting(items, size, between=len(", "))
    return taken or [cut_text(item, size - len('[""]')) for item in items[:1] if isinstance(item, str)]


def cut_text(text: str, most: int) -> str:
    """As much of a text from its beginning as takes `most` bytes in an answer."""
    kept = text[:most]
    while (over := count_bytes(kept) - 2 - most) > 0:
        kept = kept[: max(0, len(kept) - max(1, over // 6))]
    return kept
