"""A provider that is known to be down is not asked: one circuit breaker for each, shared by all processes of a user.

Three failures in a row open it for 30 seconds and up to a fifth more, so that calls do not come back all at once. Then
one call tries; the others wait for what comes of it. A provider that limits its rate is left alone for as long as it
says. State that is broken, too old or not to be had counts as closed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ferrule.text import strict_json
from ferrule_websearch.pace.shared_record import Event, SharedRecord

MAX_FAILURES = 3
REST_SECONDS = 30.0
JITTER_SHARE = 0.2  # of the time, drawn evenly
MAX_REST_SECONDS = 40 * 86_400.0  # no quota lasts longer than a month
_CLOCK_DRIFT_SECONDS = 2.0  # by which a clock may have been set back before what was written is dropped
_RECORD_BYTES = 256  # each state has the same size, so that a write replaces the whole of the one before

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
        self.cause = FAILING  # as of the last look
        self._record = SharedRecord("", *identity, event=event)

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

        def changed(data: bytes, now: float) -> bytes:
            before = parse_state(data, now)
            after = change(before, now)
            return data if after == before else format_state(after)

        self._record.update(changed, _kept_seconds)


def _kept_seconds(data: bytes, now: float) -> int:
    return int(max(parse_state(data, now).until - now, 0.0) + 3600)


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
