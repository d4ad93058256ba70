"""A provider that is known to be down is not asked: one circuit breaker for each, shared by all processes of a user.

Three failures in a row open it for 30 seconds and up to a fifth more, so that calls do not come back all at once. Then
one call tries; the others wait for what comes of it. A provider that limits its rate is left alone for as long as it
says. State that is broken, too old or not to be had counts as closed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ferrule.storage import StorageError, known_outage, record_outage, state_folder, update_locked
from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from ferrule.storage import RedisConnection

MAX_FAILURES = 3
REST_SECONDS = 30.0
JITTER_SHARE = 0.2  # of the time, drawn evenly
MAX_REST_SECONDS = 40 * 86_400.0  # no quota lasts longer than a month
_CLOCK_DRIFT_SECONDS = 2.0  # by which a clock may have been set back before what was written is dropped
_RECORD_BYTES = 256  # each state has the same size, so that a write replaces the whole of the one before
_REDIS_SECONDS = 0.25
OUTAGE = "state_unavailable"  # the event of a process that has found the server not to answer
_LOCK_SECONDS = 1.0

Event = Callable[[Mapping[str, object]], None]


FAILING, RATE_LIMITED, SPENT = range(3)
"""Why a provider rests: it failed, it takes no more requests for a while, or the quota of its plan is used up."""


class State(NamedTuple):
    """What is known of a provider. Instants are of the clock on the wall, since machines may share them.

    failures: in a row. until: the instant before which no call asks, 0 where it is closed. trial: the instant by which
    the one call has ended that tries. written: when. cause: why it rests, as `FAILING`, `RATE_LIMITED` or `SPENT`.
    """

    failures: int = 0
    until: float = 0.0
    trial: float = 0.0
    written: float = 0.0
    cause: int = FAILING


Change = Callable[[State, float], State]


class CircuitBreaker:
    """The breaker of one provider. identity: what tells it from others, of which only a hash is kept."""

    def __init__(self, *identity: str, event: Event | None = None) -> None:
        name = sha256_hex(strict_json.dumps(list(identity)))[:32]
        self.cause = FAILING  # as of the last look
        self._event = event
        self._path = os.path.join(state_folder(), "breakers", name)
        self._key = f"ferrule:breaker:{name}"
        url = redis_url()
        self._url = "" if known_outage(url) else url  # "" once it has failed: files are used then

    def admit(self, trial_seconds: float) -> float:
        """0 where the provider may be asked now, else the seconds after which it may.

        trial_seconds: that the call may take, which is how long others wait for it where it is the one that tries.
        """
        wait = 0.0

        def change(state: State, now: float) -> State:
            nonlocal wait
            wait, self.cause = _seconds_to_rest(state, now), state.cause
            is_trial = state.until and not wait
            return state._replace(trial=now + trial_seconds, written=now) if is_trial else state

        self._update(change)
        return wait

    def seconds_until_trial(self) -> float:
        """Seconds after which the provider may be asked, without asking for admission."""
        waits = []

        def look(state: State, now: float) -> State:
            waits.append(_seconds_to_rest(state, now))
            self.cause = state.cause
            return state

        self._update(look)
        return waits[-1] if waits else 0.0

    def record_answer(self) -> None:
        """The provider answered, if only to say that the key is wrong: it is not down.

        Where it rests, the request is older than what opened the breaker, and tells nothing of now.
        """
        self._update(lambda state, now: state if state == State() or state.until > now else State())

    def record_failure(self) -> None:
        """The provider did not answer, or with an error of its own."""
        import random  # which takes a while, and most calls need none of it

        jitter = REST_SECONDS * JITTER_SHARE * random.random()  # noqa: S311 - nothing is secret about it

        def change(state: State, now: float) -> State:
            failures = state.failures + 1
            is_open = bool(state.until) or failures >= MAX_FAILURES
            # A rate limit may keep it open for longer, even if something else fails meanwhile.
            until = now + REST_SECONDS + jitter if is_open else 0.0
            return State(failures, max(state.until, until), 0.0, now, _cause(state, until, FAILING))

        self._update(change)

    def record_rate_limit(self, seconds: float | None, *, is_spent: bool = False) -> None:
        """The provider takes no more requests for so many seconds, 30 where it did not say how many.

        is_spent: since the quota of its plan is used up.
        """
        length = min(REST_SECONDS if seconds is None else seconds, MAX_REST_SECONDS)
        cause = SPENT if is_spent else RATE_LIMITED

        def change(state: State, now: float) -> State:
            until = now + length
            return State(state.failures, max(state.until, until), 0.0, now, _cause(state, until, cause))

        self._update(change)

    def _update(self, change: Change) -> None:
        """Apply a change to the state and the present instant, while no other process does."""
        try:
            if self._url:
                self._update_in_redis(change)
                return
        except Exception as error:  # noqa: BLE001 - a search must not fail for what is only a help
            reason = error.reason if isinstance(error, StorageError) else type(error).__name__
            if record_outage(self._url, reason) and self._event:
                content = f"FERRULE_REDIS cannot be used ({reason}); files are."
                self._event({"event": OUTAGE, "content": content})
            self._url = ""
        self._update_in_file(change)

    def _update_in_file(self, change: Change) -> None:
        now = time.time()

        def changed(data: bytes) -> bytes:
            before = parse_state(data, now)
            after = change(before, now)
            return data if after == before else format_state(after)

        update_locked(self._path, _LOCK_SECONDS, changed)

    def _update_in_redis(self, change: Change) -> None:
        """By the clock of the server; again from the start where another process has written meanwhile."""
        from ferrule.storage import RedisConnection

        connection = RedisConnection(self._url, _REDIS_SECONDS)
        try:
            while not self._is_done(connection, change):
                pass  # the connection's time is bounded
        finally:
            connection.close()

    def _is_done(self, connection: RedisConnection, change: Change) -> bool:
        _, data, clock = connection.ask(("WATCH", self._key), ("GET", self._key), ("TIME",))
        now = _instant(clock)
        before = parse_state(data if isinstance(data, bytes) else b"", now)
        after = change(before, now)
        if after == before:
            return True
        kept = int(max(after.until - now, 0.0) + 3600)
        *_, done = connection.ask(("MULTI",), ("SET", self._key, format_state(after), "EX", kept), ("EXEC",))
        return done is not None


def redis_url() -> str:
    """The server that keeps the breakers, "" where files do."""
    return os.environ.get("FERRULE_REDIS", "").strip()


def _instant(clock: object) -> float:
    """What the server answers to TIME, in seconds since 1970. Raises ValueError for anything else."""
    if isinstance(clock, list) and len(clock) == 2:
        seconds, microseconds = clock
        if isinstance(seconds, bytes) and isinstance(microseconds, bytes):
            return int(seconds) + int(microseconds) / 1e6
    raise ValueError("it is no answer of Redis")


def _cause(state: State, until: float, cause: int) -> int:
    """What is told of a provider that rests: what keeps it longest."""
    return state.cause if state.until > until else cause


def _seconds_to_rest(state: State, now: float) -> float:
    """Seconds for which no call asks: until it is tried again, and while another call tries."""
    return max(0.0, state.until - now, state.trial - now) if state.until else 0.0


def parse_state(data: bytes, now: float) -> State:
    """The state that was written; a closed one where it is broken, or was written in what is now the future."""
    try:
        facts = strict_json.loads(data[:_RECORD_BYTES].strip())
        state = State(*facts) if isinstance(facts, list) and len(facts) == len(State._fields) else State()
        latest = max(state.until, state.trial)
        is_of_now = state.written <= now + _CLOCK_DRIFT_SECONDS and latest - now <= MAX_REST_SECONDS
        until, trial, written = map(float, (state.until, state.trial, state.written))
        is_ours = is_of_now and state.failures >= 0 and state.cause in (FAILING, RATE_LIMITED, SPENT)
        return State(int(state.failures), until, trial, written, int(state.cause)) if is_ours else State()
    except (ValueError, TypeError, ArithmeticError):
        return State()


def format_state(state: State) -> bytes:
    """The state as bytes, always as many."""
    return strict_json.dumps(list(state)).ljust(_RECORD_BYTES)
