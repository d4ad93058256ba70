"""Glob patterns over the paths of notes: `*` and `?` within a folder, `**` across folders, `[abc]`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from functools import lru_cache

_ANY_DEPTH = None


def matches(path: str, pattern: str) -> bool:
    """Whether a relative path, with "/" between its parts, fits a pattern. `dir/` means everything in that folder."""
    return _fits(path.split("/"), _compile(pattern))


@lru_cache(maxsize=64)
def _compile(pattern: str) -> tuple[re.Pattern[str] | None, ...]:
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if pattern.endswith("/") or not parts:
        parts.append("**")
    return tuple(_ANY_DEPTH if part == "**" else re.compile(fnmatch.translate(part)) for part in parts)


def _fits(names: Sequence[str], pattern: Sequence[re.Pattern[str] | None]) -> bool:
    """Walk both at once; where it fails, let the last `**` take one folder more. No other retreat is ever needed."""
    name = part = 0
    retreat: tuple[int, int] | None = None
    while name < len(names):
        if part < len(pattern) and (wanted := pattern[part]) is _ANY_DEPTH:
            retreat, part = (name, part), part + 1
        elif part < len(pattern) and wanted is not None and wanted.match(names[name]):
            name, part = name + 1, part + 1
        elif retreat:
            name, part = retreat[0] + 1, retreat[1] + 1
            retreat = (name, retreat[1])
        else:
            return False
    return all(wanted is _ANY_DEPTH for wanted in pattern[part:])
