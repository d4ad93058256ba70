"""One call that may be answered from the cache: what is asked, what is known, and what becomes of the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.errors import WAIT_DETAIL, failure_in
from ferrule.plugin.hooks.context import ANSWER_BYTES
from ferrule.storage.errors import StorageError
from ferrule.storage.redis_outage import known_outage, record_outage
from ferrule.text import strict_json
from ferrule.wrappers.cache import entries, ttl
from ferrule.wrappers.cache.entries import Entry, Moment
from ferrule.wrappers.cache.keys import key_of, question, short_key
from ferrule.wrappers.cache.settings import NAME, SETTING, VARIABLE, open_store

if TYPE_CHECKING:
    from ferrule.errors import ToolError
    from ferrule.plugin.wrapper_context import WrapperContext
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule.wrappers.cache.redis_store import RedisSingleFlight
    from ferrule.wrappers.cache.settings import AnyStore
    from ferrule.wrappers.cache.single_flight import SingleFlight


class CachedCall:
    """A call of a tool whose results are kept. found: what is known, None where the tool has to be asked."""

    def __init__(self, context: WrapperContext, seconds: float) -> None:
        self.found: Entry | None = None
        self._context = context
        self._seconds = seconds
        self._settings = context.wrapper(NAME)
        self._question = full_question(context)
        self._key = key_of(self._question)
        self._store: AnyStore | None = None
        self._flight: SingleFlight | RedisSingleFlight | None = None

    @classmethod
    def of(cls, context: WrapperContext) -> CachedCall | None:
        """The call, None where the tool's results are not kept. Raises ValueError for a setting that is none."""
        call = context.call
        seconds = ttl.of_result(call.tool, call.result_policy.cache_seconds, context.wrapper(NAME))
        return cls(context, seconds) if seconds > 0 else None

    def look_up(self) -> None:
        """Find what is known, or become the process that asks; wait where another one asks already."""
        redis = self._context.wrapper_setting(NAME, SETTING, VARIABLE)
        redis = None if isinstance(redis, str) and known_outage(redis) else redis
        try:
            self._look_into(redis)
        except StorageError as failure:
            self._give_up_store(failure)
            if isinstance(redis, str) and redis:
                record_outage(redis, failure.reason)
                self._look_into_files()
        self._note()

    def keep_result(self, result: JSONMapping) -> None:
        """Keep a result, or, where it tells a failure, that failure for its own time.

        A result in which `_meta.cacheable` is false says itself that the next call may have a better one. One that
        names artifacts would outlive them.
        """
        if self._depends_on_more() or _is_not_cacheable(result):
            return
        failure = failure_in(result)
        if failure is None:
            self._keep({"result": result}, self._seconds_of(result))
        elif self._keeps_failures:
            kind, seconds = ttl.of_failure(failure)
            if seconds:
                self._keep({"result": result, "kind": kind}, seconds)

    def _seconds_of(self, result: JSONMapping) -> float:
        """How long a result may be given: shorter where the tool says that it may soon be another one."""
        is_fleeting = self._context.call.result_policy.fleeting
        return min(self._seconds, ttl.FLEETING_SECONDS) if is_fleeting and is_fleeting(dict(result)) else self._seconds

    def keep_failure(self, error: ToolError) -> None:
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

    def _look_into(self, redis: object) -> None:
        self._store = open_store(redis, self._settings, tool=self._context.call.tool)
        self.found = self._known(self._store) or self._after_flight(self._store)

    def _look_into_files(self) -> None:
        """Use the files of this machine instead of a server that does not answer."""
        try:
            self._look_into(None)
        except StorageError as failure:
            self._give_up_store(failure)

    def _end_flight(self) -> None:
        flight, self._flight = self._flight, None
        if flight is not None:
            try:
                flight.end()
            except StorageError as failure:
                self._give_up_store(failure)

    @property
    def _keeps_failures(self) -> bool:
        return self._settings.get("negative") is not False

    def _depends_on_more(self) -> bool:
        """Whether the tool has read variables that are not in the key; an event names them."""
        variables = self._context.call.untracked_variables
        if variables:
            error = "the result depends on variables that its result policy does not name, so it is not kept"
            self._context.event({"event": "not_cached", "wrapper": NAME, "error": error, "variables": variables})
        return bool(variables)

    def _known(self, known: AnyStore) -> Entry | None:
        """The entry that answers the call, None if there is none, or the settings have become stricter since."""
        entry = known.get(self._key)
        return entry if entry and is_usable(entry, entries.now(), self._seconds, self._settings) else None

    def _after_flight(self, known: AnyStore) -> Entry | None:
        """What another process has found, None where this one has to ask."""
        from ferrule.wrappers.cache.single_flight import LEADER, TIMEOUT

        flight = known.flight(self._key)
        role = flight.join(self._context.remaining())
        if role == LEADER:
            self._flight = flight
        # The leader looks again, too: the answer may have come between the first look and the lead.
        found = self._known(known) if role != TIMEOUT else None
        if found:
            self._end_flight()
        return found

    def _keep(self, outcome: JSONMapping, seconds: float) -> None:
        if self._store is None:
            return
        from ferrule.text.redaction import redact_value

        try:
            asked = self._store.redacted_question(self._question)
            # The host takes credentials out when a call is over, and this is kept before.
            kept = redact_value({"question": asked, "outcome": outcome}, self._context.secrets())
            self._store.put(Entry(self._key, kept["question"], kept["outcome"], entries.now(), seconds))
        except (StorageError, strict_json.Unrepresentable) as failure:
            self._give_up_store(failure)

    def _note(self) -> None:
        facts: dict[str, object] = {"cached": self.found is not None, "key": short_key(self._key)}
        if self.found is not None:
            age = self.found.age(entries.now()) or 0.0
            facts["ageSeconds"] = int(age)
            longest = self.found.seconds if _is_failure(self.found) else min(self.found.seconds, self._seconds)
            facts["maxAgeSeconds"] = int(longest)
            facts["freshness"] = entries.freshness(age, longest)
        self._context.note(NAME, facts)

    def _give_up_store(self, failure: Exception) -> None:
        """A store that fails is a miss for the rest of the call, and an event says so."""
        if self._store is not None:
            self._store.close()
            self._store = None
        report(self._context, failure)


def full_question(context: WrapperContext) -> JSONObject:
    """All that decides the result of a call: its question, and the room that its answer has."""
    full = question(context.call)
    if context.max_bytes != ANSWER_BYTES:  # more room, and the tool may say more
        full["room"] = context.max_bytes
    return full


def is_usable(entry: Entry, moment: Moment, seconds: float, settings: JSONMapping) -> bool:
    """Whether what the admin has decided by now lets an entry be given, which may be older than the decision.

    Args:
        seconds: how long a result of the tool may be given.
        settings: the table `[wrappers.cache]`.
    """
    if not seconds or not entry.is_live(moment):
        return False
    if _is_failure(entry):
        return settings.get("negative") is not False
    age = entry.age(moment)
    return age is not None and age < seconds


def report(context: WrapperContext, failure: Exception) -> None:
    """Send the event of a wrapper that has failed."""
    error = str(failure) if isinstance(failure, StorageError | ValueError) else type(failure).__name__
    context.event({"event": "wrapper_failed", "wrapper": NAME, "error": error})


def stored_failure(entry: Entry) -> ToolError | None:
    """The failure that an entry has kept, with its age and what is left of the time to wait; None for a result."""
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
    old = f"This failure is from the cache, {int(age)} seconds old: nothing was asked for again."
    hint, event = " ".join(filter(None, [facts.get("hint"), old])), facts.get("event")
    details = {**(details if isinstance(details, dict) else {}), "cached": True, "ageSeconds": int(age)}
    return ToolError(facts["code"], facts["message"], hint=hint, details=details, retry_after=wait, event=event)


def _is_failure(entry: Entry) -> bool:
    return "kind" in entry.outcome


def _left(wait: float, age: float) -> int:
    return max(1, round(wait - age))


def _is_not_cacheable(result: JSONMapping) -> bool:
    meta = result.get("_meta")
    if isinstance(meta, dict) and meta.get("cacheable") is False:
        return True
    from ferrule.content.items import has_stored

    return has_stored(result)
