"""What `ferrule cache` finds out: what is kept, and why a call would be answered from it or not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ferrule.wrappers.cache import entries, ttl
from ferrule.wrappers.cache.cached_call import full_question, is_usable
from ferrule.wrappers.cache.keys import differences, key_of
from ferrule.wrappers.cache.settings import NAME, SETTING, VARIABLE, open_store

if TYPE_CHECKING:
    from ferrule.config.configuration import Configuration
    from ferrule.plugin.wrapper_context import WrapperContext
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule.wrappers.cache.entries import Entry, Moment
    from ferrule.wrappers.cache.settings import AnyStore

_REDIS_SECONDS = 5.0  # to list what a server has
_MAX_NEAREST = 3


class CacheRecord(NamedTuple):
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

    def as_dict(self) -> JSONObject:
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


def open_configured(settings: Configuration, tool: str = "") -> AnyStore:
    """The store that the calls of this user use, of one tool or of all.

    Raises StorageError where its settings cannot be used.
    """
    table = settings.wrapper(NAME)
    redis = os.environ.get(VARIABLE, "").strip() or table.get(SETTING)
    return open_store(redis, table, tool=tool, seconds=_REDIS_SECONDS)


def records(store: AnyStore, tool: str | None = None) -> Iterator[CacheRecord]:
    """What is in a store, of one tool or of all. Raises StorageError."""
    for entry, size in store.all():
        if tool in (None, entry.tool):
            yield CacheRecord(entry, size, entries.now())  # to list them all takes a while, in which others are stored


def clear(store: AnyStore, tool: str | None, *, expired: bool) -> tuple[int, int]:
    """Remove the entries of one tool or of all, or the expired ones of them; how many, and their bytes.

    A file that is no whole entry is of an unknown tool: it goes where all are meant. Raises StorageError.
    """
    number, size = store.remove_unreadable() if tool is None else (0, 0)
    for one in list(records(store, tool)):
        if (not expired or one.freshness == "expired") and store.remove(one.entry.key):
            number, size = number + 1, size + one.bytes
    return number, size


def explain(context: WrapperContext, store: AnyStore, *, is_on: bool) -> JSONObject:
    """Whether a call would be answered from a store, what its key is made of, and what the nearest entries differ in.

    Runs where the call would run, with the context that it would have. is_on: whether the wrapper is. Raises
    StorageError.
    """
    call, settings = context.call, context.wrapper(NAME)
    question = full_question(context)
    key, redacted = key_of(question), store.redacted_question(question)
    mine = list(records(store, call.tool))
    found = next((one for one in mine if one.entry.key == key and one.freshness != "expired"), None)
    others = [_compared(redacted, one) for one in mine if one.entry.key != key]
    seconds = ttl.of_result(call.tool, call.result_policy.cache_seconds, settings)
    is_given = found is not None and is_usable(found.entry, found.moment, seconds, settings)
    return {
        "tool": call.tool,
        "cached": is_on and is_given,
        "on": is_on,
        "key": key,
        "keptSeconds": seconds,
        "entry": found.as_dict() if found else None,
        "parts": redacted,
        "nearest": sorted(others, key=lambda other: len(other["differences"]))[:_MAX_NEAREST],
    }


def _compared(question: JSONMapping, other: CacheRecord) -> JSONObject:
    differing = differences(dict(question), dict(other.entry.question))
    parts = [{"part": place, "asked": ours, "kept": theirs} for place, ours, theirs in differing]
    return {**other.as_dict(), "differences": parts}
