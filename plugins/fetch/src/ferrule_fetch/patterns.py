"""Regular expressions that are compiled when they are first used: a call reads one page, which needs few of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def compile_late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression as `re.compile` makes it, once something is asked of it."""
    late: re.Pattern[str] = _Late(pattern, flags)  # type: ignore[assignment] # it has all that the expression has
    return late


class _Late:
    """What stands for a regular expression. A method that was asked for once is an attribute of its own."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._given = (pattern, flags)

    def __getattr__(self, name: str) -> Callable[..., object]:
        value: Callable[..., object] = getattr(re.compile(*self._given), name)
        self.__dict__[name] = value
        return value
