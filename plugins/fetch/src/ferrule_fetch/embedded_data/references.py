"""Data whose values name each other: the flat lists of devalue and turbo-stream, and the entries of Apollo's cache.

Each value is made once, however often it is named, so nothing grows; what is made may contain itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

_ROOT = "ROOT_QUERY"


def link_values(values: list[object], roots: Sequence[int] = (0,)) -> list[object]:
    """The values at some places of a flat list in which numbers are places, and `{"_1": 2}` names its keys so, too.

    `["Date", "2024-03-05"]` and the like are what they hold.
    """
    made = [_make_empty(value) for value in values]
    for value, whole in zip(values, made, strict=True):
        if isinstance(whole, dict) and isinstance(value, dict):
            whole.update((_name_key(key, values), _find_value(place, made)) for key, place in value.items())
        elif isinstance(whole, list) and isinstance(value, list):
            places = value[1:] if value and isinstance(value[0], str) else value
            whole.extend(_find_value(place, made) for place in places)
    return [made[root] for root in roots if root < len(made)]


def _make_empty(value: object) -> object:
    return {} if isinstance(value, dict) else [] if isinstance(value, list) else value


def _name_key(key: str, values: list[object]) -> str:
    if key.startswith("_") and key[1:6].isdecimal() and int(key[1:10]) < len(values):
        return str(values[int(key[1:10])])
    return key


def _find_value(place: object, made: list[object]) -> object:
    if isinstance(place, int) and not isinstance(place, bool):
        return made[place] if 0 <= place < len(made) else None
    return place if isinstance(place, str) else None


def is_cache(value: dict[str, object]) -> bool:
    """Whether it is the cache of an Apollo client."""
    return isinstance(value.get(_ROOT), dict)


def link_cache(cache: dict[str, object]) -> list[object]:
    """The answers in a cache of Apollo, then its other entries, with the entries in the places that name them."""
    waiting: list[object] = [cache]
    seen: set[int] = set()
    for at in count():
        if at >= len(waiting):
            break
        holder = waiting[at]
        for key, value in _pairs_of(holder):
            named = _find_named(value, cache)
            if named is not None:
                holder[key] = named  # type: ignore[index] # it is what `_pairs_of` reads
            elif isinstance(value, dict | list) and id(value) not in seen:
                seen.add(id(value))
                waiting.append(value)
    return [cache[_ROOT], *(value for key, value in cache.items() if key != _ROOT)]


def _pairs_of(holder: object) -> Iterator[tuple[object, object]]:
    if isinstance(holder, dict):
        yield from list(holder.items())
    elif isinstance(holder, list):
        yield from list(enumerate(holder))


def _find_named(value: object, cache: dict[str, object]) -> object:
    if not isinstance(value, dict):
        return None
    name = value.get("__ref") or (value.get("id") if value.get("type") == "id" else None)
    return cache.get(name) if isinstance(name, str) else None
