"""The line of config.toml in which a key stands. For messages alone: it parses the file again and again."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

_MAX_LINES = 5000  # of a file that is looked through


def line_of(text: str, path: Sequence[str]) -> int | None:
    """The line, counted from 1, in which a key or table first appears; None where it is not found.

    text: TOML. path: the names of the tables around it, and its own. The line is that by which the text up to there
    has the key for the first time, as the parser sees it, so that no text or comment is taken for it.
    """
    lines = text.split("\n")
    if len(lines) > _MAX_LINES:
        return None
    for start, line in enumerate(lines, 1):
        if path[-1] in line and _appears(lines, start, path):
            return start
    return None


def _appears(lines: Sequence[str], start: int, path: Sequence[str]) -> bool:
    """Whether the key is there with this line, and those that its value goes on in."""
    for end in range(start, len(lines) + 1):
        try:
            content = tomllib.loads("\n".join(lines[:end]))
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        return _has(content, path)
    return False


def _has(content: JSONMapping, path: Sequence[str]) -> bool:
    place: object = content
    for name in path:
        if not isinstance(place, dict) or name not in place:
            return False
        place = place[name]
    return True
