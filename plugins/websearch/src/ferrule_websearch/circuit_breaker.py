"""Who is known to be down is not asked: one circuit breaker for each provider, shared by all processes of a user.

Three failures in a row open it for 30 seconds and up to a fifth more, so that not everybody comes back at once. Then
one call tries; the others wait for what comes of it. A provider that limits its rate is left alone for as long as it
says. State that is broken, too old or not to be had counts as closed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ferrule.storage.locked_files import contents, locked
from ferrule.storage.state import state_folder
from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex

if TYPE_CHECKING:
    from ferrule.storage.redis_connection import Connection

FAILURES = 3
SECONDS = 30.0
JITTER = 0.2  # of the time, drawn evenly
LONGEST = 40 * 86_400.0  # seconds; no quota lasts longer than a month
_CLOCK = 2.0  # seconds by which a clock may have been set back before what was written is dropped
_RECORD = 256  # bytes: each state has the same size, so that a write replaces the whole of the one before
_REDIS_SECONDS = 0.5

Event = Callable[[Mapping[str, object]], None]


class State(NamedTuple):
    """What is known of a provider. Instants are of the clock on the wall, since machines may share them.

    failures: in a row. until: the instant before which nobody asks, 0 where it is closed. trial: the instant by which
    the one call has ended that tries. written: when.
    """

    failures: int = 0
    until: float = 0.0
    trial: float = 0.0
    written: float = 0.0


class Store(Protocol):
    """Where states are kept. `update` applies a change to the state and the present instant; nobody comes between."""

    def update(self, change: Callable[[State, float], State]) -> None: ...


class Breaker:
    """The breaker of one provider. identity: what tells it from others, of which only a hash is kept."""

    def __init__(self, *identity: str, event: Event | None = None) -> None:
        name = sha256_hex(strict_json.dumps(list(identity)))[:32]
        self._event = event
        self._files = Files(os.path.join(state_folder(), "breakers", name))
        url = os.environ.get("FERRULE_REDIS", "").strip()
        self._store: Store = Redis(url, f"ferrule:breaker:{name}") if url else self._files

    def admit(self, patience: float) -> float:
        """0 where the provider may be asked now, else the seconds after which it may.

        patience: seconds that the call may take, which is how long others wait for it where it is the one that tries.
        """
        wait = 0.0

        def change(state: State, now: float) -> State:
            nonlocal wait
            wait = _rest(state, now)
            is_trial = state.until and not wait
            return state._replace(trial=now + patience, written=now) if is_trial else state

        self._update(change)
        return wait

    def wait(self) -> float:
        """Seconds after which the provider may be asked, without asking for admission."""
        waits = []

        def look(state: State, now: float) -> State:
            waits.append(_rest(state, now))
            return state

        self._update(look)
        return waits[-1] if waits else 0.0

    def answered(self) -> None:
        """The provider answered, if only to say that the key is wrong: it is not down.

        Where it rests, the request is older than what opened the breaker, and tells nothing of now.
        """
        self._update(lambda state, now: state if state == State() or state.until > now else State())

    def failed(self) -> None:
        """The provider did not answer, or with an error of its own."""
        import random  # which takes a while, and most calls need none of it

        jitter = SECONDS * JITTER * random.random()  # noqa: S311 - nothing is secret about it

        def change(state: State, now: float) -> State:
            failures = state.failures + 1
            is_open = bool(state.until) or failures >= FAILURES
            # A rate limit may keep it open for longer, whatever else fails meanwhile.
            return State(failures, max(state.until, now + SECONDS + jitter) if is_open else 0.0, 0.0, now)

        self._update(change)

    def limited(self, seconds: float | None) -> None:
        """The provider takes no more requests for so many seconds, 30 where it did not say how many."""
        length = min(SECONDS if seconds is None else seconds, LONGEST)
        self._update(lambda state, now: State(state.failures, max(state.until, now + length), 0.0, now))

    def _update(self, change: Callable[[State, float], State]) -> None:
        try:
            self._store.update(change)
        except Exception as error:  # noqa: BLE001 - a search must not fail for what is only a help
            if self._event:
                content = f"FERRULE_REDIS cannot be used ({type(error).__name__}); files are."
                self._event({"kind": "state_unavailable", "content": content})
            self._store = self._files
            self._files.update(change)


class Files:
    """One file for a provider."""

    def __init__(self, path: str) -> None:
        self._path = path

    def update(self, change: Callable[[State, float], State]) -> None:
        """Lock, read, change, write."""
        now = time.time()
        file = locked(self._path)
        if file is None:
            change(State(), now)
            return
        try:
            before = read(contents(file), now)
            after = change(before, now)
            if after != before:
                with suppress(OSError):
                    os.pwrite(file, written(after), 0)
        finally:
            os.close(file)


class Redis:
    """One key for a provider, by the clock of the server."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def update(self, change: Callable[[State, float], State]) -> None:
        """Read, change and write, again from the start where another process has written meanwhile."""
        from ferrule.storage.redis_connection import Connection

        connection = Connection(self._url, _REDIS_SECONDS)
        try:
            while not self._is_done(connection, change):
                pass  # the connection's time is bounded
        finally:
            connection.close()

    def _is_done(self, connection: Connection, change: Callable[[State, float], State]) -> bool:
        _, data, (seconds, microseconds) = connection.ask(("WATCH", self._key), ("GET", self._key), ("TIME",))
        now = int(seconds) + int(microseconds) / 1e6
        before = read(data or b"", now)
        after = change(before, now)
        if after == before:
            return True
        kept = int(max(after.until - now, 0.0) + 3600)
        *_, done = connection.ask(("MULTI",), ("SET", self._key, written(after), "EX", kept), ("EXEC",))
        return done is not None


def _rest(state: State, now: float) -> float:
    """Seconds for which nobody asks: until it is tried again, and while somebody tries."""
    return max(0.0, state.until - now, state.trial - now) if state.until else 0.0


def read(data: bytes, now: float) -> State:
    """The state that was written; a closed one where it is broken, or was written in what is now the future."""
    try:
        facts = strict_json.loads(data[:_RECORD].strip())
        state = State(*facts) if isinstance(facts, list) and len(facts) == len(State._fields) else State()
        latest = max(state.until, state.trial)
        is_sound = state.written <= now + _CLOCK and latest - now <= LONGEST and state.failures >= 0
        return State(int(state.failures), *map(float, state[1:])) if is_sound else State()
    except (ValueError, TypeError, ArithmeticError):
        return State()


def written(state: State) -> bytes:
    """The state as bytes, always as many."""
    return strict_json.dumps(list(state)).ljust(_RECORD)
