"""What the tags of a page mean, each looked at once however often it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.markdown.layout import Meaning

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST = 10_000  # tags that are kept; a page of nothing but different ones shall not fill the memory


class Vocabulary(dict[str, Meaning | None]):
    """By a tag, attributes and all, what it means; None where it means nothing.

    look_up: what says it of a tag that is met for the first time.
    """

    def __init__(self, look_up: Callable[[str], Meaning | None]) -> None:
        self._look_up = look_up

    def __missing__(self, tag: str) -> Meaning | None:
        """Called by `self[tag]` where the tag is not known."""
        meaning = self._look_up(tag)
        if len(self) < _MOST:
            self[tag] = meaning
        return meaning
