"""Where in a value stands what strict JSON cannot hold. Slow, and only asked once something is known to be wrong."""

from __future__ import annotations

import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    _Place: TypeAlias = "tuple[_Place, object] | None"  # the way to a value: what it stands in, and its key there
    _Test: TypeAlias = Callable[[object], bool]

LARGEST = sys.float_info.max
_INFINITE = (float("inf"), float("-inf"))


def diagnose(value: object) -> str | None:
    """The place of the first thing that JSON or the client cannot hold, and what it is; None if there is none.

    A circle, and nesting too deep to write, are not found.
    """
    for fault, is_wrong, key_is_wrong in _FAULTS:
        place = find_fault(value, is_wrong, key_is_wrong)
        if place is not None:
            return f"{place or 'the top'}: {fault}"
    return None


def find_fault(value: object, is_wrong: _Test, key_is_wrong: _Test | None = None) -> str | None:
    """The JSON pointer of the first value (or key) that is wrong, in the order of the text; None if there is none."""
    key_is_wrong = key_is_wrong or is_wrong
    waiting: list[tuple[_Place, object]] = [(None, value)]
    seen: set[int] = set()
    while waiting:
        place, item = waiting.pop()
        if is_wrong(item):
            return _pointer(place)
        if not isinstance(item, dict | list | tuple) or id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, dict):
            wrong = [key for key in item if key_is_wrong(key)]
            if wrong:
                return _pointer((place, f"{wrong[0]!r:.60}"))
        members = list(item.items() if isinstance(item, dict) else enumerate(item))
        waiting.extend(((place, key), inner) for key, inner in reversed(members))
    return None


def is_surrogate(leaf: object) -> bool:
    """True for text with half of a surrogate pair in it, which UTF-8 cannot hold."""
    if not isinstance(leaf, str):
        return False
    try:
        leaf.encode()
    except UnicodeEncodeError:
        return True
    return False


def _pointer(place: _Place) -> str:
    parts: list[str] = []
    while place is not None:
        place, key = place
        parts.append("/" + str(key).replace("~", "~0").replace("/", "~1"))
    whole = "".join(reversed(parts))
    if not whole.isprintable():
        whole = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in whole)
    return whole if len(whole) <= 200 else f"{whole[:100]}…{whole[-100:]}"


def has_nul(leaf: object) -> bool:
    """True for text with the character NUL in it."""
    return isinstance(leaf, str) and "\0" in leaf


def _never(_: object) -> bool:
    return False


_JSON_TYPES = (dict, list, tuple, str, int, float, type(None))
_FAULTS: tuple[tuple[str, _Test, _Test], ...] = (
    ("a key that is not a string", _never, lambda key: not isinstance(key, str)),
    ("NaN, which JSON does not have", lambda leaf: isinstance(leaf, float) and leaf != leaf, _never),
    ("an infinity, which JSON does not have", lambda leaf: isinstance(leaf, float) and leaf in _INFINITE, _never),
    ("an integer that is out of range", lambda leaf: isinstance(leaf, int) and not -LARGEST <= leaf <= LARGEST, _never),
    ("a lone surrogate, which UTF-8 cannot hold", is_surrogate, is_surrogate),
    ("a NUL character, which the client cannot store", has_nul, has_nul),
    ("a value of a type that JSON does not have", lambda leaf: not isinstance(leaf, _JSON_TYPES), _never),
)
