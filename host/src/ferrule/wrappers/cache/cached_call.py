"""One call that may be answered from the cache: what is asked, what is known, and what becomes of the answer."""

from __future__ import annotations

from ferrule.errors import WAIT_DETAIL, failure_in
from ferrule.storage.failures import StoreFailed
from ferrule.text import strict_json
from ferrule.tool.context import ANSWER_BYTES
from ferrule.wrappers.cache import entries, ttl
from ferrule.wrappers.cache.entries import Entry, Moment
from ferrule.wrappers.cache.keys import key_of, question, shown
from ferrule.wrappers.cache.single_flight import FOLLOWED, LEADS
from ferrule.wrappers.cache.store import SETTING, VARIABLE, store

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ferrule.errors import ToolError
    from ferrule.tool.context import Context
    from ferrule.wrappers.cache.redis_store import RedisFlight
    from ferrule.wrappers.cache.single_flight import Flight
    from ferrule.wrappers.cache.store import Store

NAME = "cache"


class CachedCall:
    """A call of a tool whose results are kept. found: what is known, None where the tool has to be asked."""

    def __init__(self, context: Context, seconds: float) -> None:
        self.found: Entry | None = None
        self._context = context
        self._seconds = seconds
        self._settings = context.wrapper(NAME)
        self._asked = asked_of(context)
        self._key = key_of(self._asked)
        self._store: Store | None = None
        self._flight: Flight | RedisFlight | None = None

    @classmethod
    def of(cls, context: Context) -> CachedCall | None:
        """The call, None where the tool's results are not kept. Raises ValueError for a setting that is none."""
        call = context.call
        seconds = ttl.of_result(call.tool, call.result_policy.cache_seconds, context.wrapper(NAME))
        return cls(context, seconds) if seconds > 0 else None

    def look_up(self) -> None:
        """Find what is known, or become the one who asks; wait where somebody else does so already."""
        try:
            redis = self._context.wrapper_setting(NAME, SETTING, VARIABLE)
            self._store = store(redis, self._settings)
            self.found = self._known(self._store) or self._after_flight(self._store)
        except StoreFailed as failure:
            self._tell(failure)
        self._note()

    def answered(self, result: Mapping[str, Any]) -> None:
        """Keep a result, or, where it tells a failure, that failure for its own time.

        A result in which `_meta.cacheable` is false says itself that the next call may have a better one.
        """
        if self._depends_on_more() or _is_for_now(result):
            return
        failure = failure_in(result)
        if failure is None:
            self._keep({"result": result}, self._seconds)
        elif self._keeps_failures:
            kind, seconds = ttl.of_failure(failure)
            if seconds:
                self._keep({"result": result, "kind": kind}, seconds)

    def failed(self, error: ToolError) -> None:
        """Keep a failure that the same call would meet again."""
        facts = error.facts()
        kind, seconds = ttl.of_failure(facts)
        if seconds and self._keeps_failures and not self._depends_on_more():
            self._keep({"error": facts, "kind": kind}, seconds)

    def end(self) -> None:
        """Let those who wait for this call go on, and let go of the store."""
        self._end_flight()
        if self._store is not None:
            self._store.close()
            self._store = None

    def _end_flight(self) -> None:
        flight, self._flight = self._flight, None
        if flight is not None:
            try:
                flight.end()
            except StoreFailed as failure:
                self._tell(failure)

    @property
    def _keeps_failures(self) -> bool:
        return self._settings.get("negative") is not False

    def _depends_on_more(self) -> bool:
        """Whether the tool has read variables that are not in the key; the person who runs it is told."""
        variables = self._context.call.unkeyed
        if variables:
            error = "the result depends on variables that its result policy does not name, so it is not kept"
            self._context.event({"event": "not_cached", "wrapper": NAME, "error": error, "variables": variables})
        return bool(variables)

    def _known(self, known: Store) -> Entry | None:
        """The entry that answers the call, None where there is none, or the settings have become stricter since."""
        entry = known.get(self._key)
        is_given = entry is not None and may_be_given(entry, entries.now(), self._seconds, self._settings)
        return entry if is_given else None

    def _after_flight(self, known: Store) -> Entry | None:
        """What another process has found, None where this one has to ask."""
        flight = known.flight(self._key)
        came = flight.join(self._context.remaining())
        if came == LEADS:
            self._flight = flight
        # Whoever leads looks again, too: the answer may have come between the first look and the lead.
        found = self._known(known) if came in (LEADS, FOLLOWED) else None
        if found:
            self._end_flight()
        return found

    def _keep(self, outcome: Mapping[str, Any], seconds: float) -> None:
        if self._store is None:
            return
        try:
            seen = self._store.disclose(self._asked)
            kept = _without_secrets({"question": seen, "outcome": outcome}, self._context)
            self._store.put(Entry(self._key, kept["question"], kept["outcome"], entries.now(), seconds))
        except (StoreFailed, strict_json.Unrepresentable) as failure:
            self._tell(failure)

    def _note(self) -> None:
        facts: dict[str, object] = {"cached": self.found is not None, "key": shown(self._key)}
        if self.found is not None:
            age = self.found.age(entries.now()) or 0.0
            facts["ageSeconds"] = int(age)
            longest = self.found.seconds if _is_failure(self.found) else min(self.found.seconds, self._seconds)
            facts["maxAgeSeconds"] = int(longest)
            facts["freshness"] = entries.freshness(age, longest)
        self._context.note(NAME, facts)

    def _tell(self, failure: Exception) -> None:
        """A store that fails is a miss for the rest of the call, and whoever runs the tool is told."""
        if self._store is not None:
            self._store.close()
            self._store = None
        tell(self._context, failure)


def asked_of(context: Context) -> dict[str, Any]:
    """All that decides the result of a call: its question, and the room that its answer has."""
    asked = question(context.call)
    if context.max_bytes != ANSWER_BYTES:  # more room, and the tool may say more
        asked["room"] = context.max_bytes
    return asked


def may_be_given(entry: Entry, moment: Moment, seconds: float, settings: Mapping[str, Any]) -> bool:
    """Whether what the admin has decided by now lets an entry be given, which may be older than the decision.

    seconds: how long a result of the tool may be given. settings: the table `[wrappers.cache]`.
    """
    if not seconds or not entry.is_live(moment):
        return False
    if _is_failure(entry):
        return settings.get("negative") is not False
    age = entry.age(moment)
    return age is not None and age < seconds


def tell(context: Context, failure: Exception) -> None:
    """Send the event of a wrapper that has failed."""
    error = str(failure) if isinstance(failure, StoreFailed | ValueError) else type(failure).__name__
    context.event({"event": "wrapper_failed", "wrapper": NAME, "error": error})


def raised_again(entry: Entry) -> ToolError | None:
    """The failure that an entry has kept, None for a result; what is left of the time to wait is said in it."""
    from ferrule.errors import ToolError

    facts = entry.outcome.get("error")
    if not isinstance(facts, dict):
        return None
    age = entry.age(entries.now()) or 0.0
    wait, details = facts.get("retry_after"), facts.get("details")
    if isinstance(wait, int | float):
        wait = _left(wait, age)
    if isinstance(details, dict) and isinstance(details.get(WAIT_DETAIL), int | float):
        details = {**details, WAIT_DETAIL: _left(details[WAIT_DETAIL], age)}
    return ToolError(
        facts["code"],
        facts["message"],
        hint=facts.get("hint"),
        details=details,
        retry_after=wait,
        event=facts.get("event"),
    )


def _is_failure(entry: Entry) -> bool:
    return "kind" in entry.outcome


def _left(wait: float, age: float) -> int:
    return max(1, round(wait - age))


def _is_for_now(result: Mapping[str, Any]) -> bool:
    meta = result.get("_meta")
    return isinstance(meta, dict) and meta.get("cacheable") is False


def _without_secrets(document: dict[str, Any], context: Context) -> dict[str, Any]:
    """The host keeps credentials out of every output when a call is over; what is kept here has to be without now."""
    from ferrule.text.redaction import redact_json

    clean = strict_json.loads(redact_json(strict_json.dumps(document), context.secrets()))
    return clean if isinstance(clean, dict) else document
