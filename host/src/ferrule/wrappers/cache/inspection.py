"""What `ferrule cache` finds out: what is kept, and why a call would be answered from it or not."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule.wrappers.cache import entries, ttl
from ferrule.wrappers.cache.cached_call import NAME, asked_of, may_be_given
from ferrule.wrappers.cache.keys import differences, key_of
from ferrule.wrappers.cache.store import SETTING, VARIABLE, store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrule.config.configuration import Configuration
    from ferrule.tool.context import Context
    from ferrule.wrappers.cache.entries import Entry, Moment
    from ferrule.wrappers.cache.store import Store

_SECONDS = 5.0  # that a server may take to list what it has
_LISTED = 3  # entries that differ the least


class Kept(NamedTuple):
    """An entry, its size in bytes, and the instant at which it was looked at."""

    entry: Entry
    bytes: int
    moment: Moment

    @property
    def kind(self) -> str:
        """`result`, or what kind of failure it is."""
        return str(self.entry.outcome.get("kind") or "result")

    @property
    def age(self) -> float | None:
        """Seconds; None where the clock was set back."""
        return self.entry.age(self.moment)

    @property
    def freshness(self) -> str:
        """How much of its time is left, `expired` where none is."""
        if self.age is None or self.age >= self.entry.seconds:
            return "expired"
        return entries.freshness(self.age, self.entry.seconds)

    def as_dict(self) -> dict[str, Any]:
        """The entry without its outcome, as JSON."""
        return {
            "key": self.entry.key,
            "tool": self.entry.tool,
            "version": self.entry.question.get("version"),
            "kind": self.kind,
            "freshness": self.freshness,
            "ageSeconds": None if self.age is None else int(self.age),
            "maxAgeSeconds": int(self.entry.seconds),
            "bytes": self.bytes,
            "arguments": self.entry.question.get("arguments"),
        }


def opened(settings: Configuration) -> Store:
    """The store that the calls of this user use. Raises StoreFailed where its settings cannot be used."""
    table = table_of(settings)
    return store(os.environ.get(VARIABLE, "").strip() or table.get(SETTING), table, seconds=_SECONDS)


def table_of(settings: Configuration) -> Mapping[str, Any]:
    """The table `[wrappers.cache]`, empty where there is none."""
    wrappers = settings.content.get("wrappers", {})
    table = wrappers.get(NAME, {}) if isinstance(wrappers, dict) else {}
    return table if isinstance(table, dict) else {}


def kept(known: Store, tool: str | None = None) -> Iterator[Kept]:
    """What is in a store, of one tool or of all. Raises StoreFailed."""
    for entry, size in known.all():
        if tool in (None, entry.tool):
            yield Kept(entry, size, entries.now())  # to list them all takes a while, in which others are stored


def clear(known: Store, tool: str | None, *, expired: bool) -> tuple[int, int]:
    """Remove the entries of one tool or of all, or the expired ones of them; how many, and their bytes.

    Of a file that is no whole entry nobody knows the tool: it goes where all are meant. Raises StoreFailed.
    """
    number, size = known.remove_unreadable() if tool is None else (0, 0)
    for one in list(kept(known, tool)):
        if (not expired or one.freshness == "expired") and known.remove(one.entry.key):
            number, size = number + 1, size + one.bytes
    return number, size


def explain(context: Context, known: Store, *, is_on: bool) -> dict[str, Any]:
    """Whether a call would be answered from a store, what its key is made of, and what the nearest entries differ in.

    Runs where the call would run, with the context that it would have. is_on: whether the wrapper is. Raises
    StoreFailed.
    """
    call, settings = context.call, context.wrapper(NAME)
    asked = asked_of(context)
    key, seen = key_of(asked), known.disclose(asked)
    mine = list(kept(known, call.tool))
    found = next((one for one in mine if one.entry.key == key and one.freshness != "expired"), None)
    others = [_compared(seen, one) for one in mine if one.entry.key != key]
    seconds = ttl.of_result(call.tool, call.result_policy.cache_seconds, settings)
    is_given = found is not None and may_be_given(found.entry, found.moment, seconds, settings)
    return {
        "tool": call.tool,
        "cached": is_on and is_given,
        "on": is_on,
        "key": key,
        "keptSeconds": seconds,
        "entry": found.as_dict() if found else None,
        "parts": seen,
        "nearest": sorted(others, key=lambda other: len(other["differences"]))[:_LISTED],
    }


def _compared(seen: Mapping[str, Any], other: Kept) -> dict[str, Any]:
    differing = differences(dict(seen), dict(other.entry.question))
    return {
        **other.as_dict(),
        "differences": [{"part": place, "asked": ours, "kept": theirs} for place, ours, theirs in differing],
    }
