"""Calls of one key take turns, across the processes of a user.

A file in the user's state folder says what the last answer taught about the pace, and when requests were or will be
sent. It is locked for the moment in which a call takes its turn, never while it waits or asks. Nothing is known at
first, so nothing is waited for; a file that cannot be read, written or locked counts as one that says nothing.

Limiters such as pyrate-limiter want to be told the pace before.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING

from ferrule.storage.locked_files import contents, locked, replace
from ferrule.storage.state import state_folder
from ferrule.text import strict_json
from ferrule_websearch.rate_limit_headers import SHORT, next_turn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KEPT = 1000  # requests
_HORIZON = 600.0  # seconds ahead; nobody waits for a turn that long
_CLOCK = 2.0  # seconds by which the clocks may drift apart before what they said is dropped


class TooLate(Exception):
    """The turn would come after the deadline. `seconds` from now is when. `limits`: the pace, as `learn` got it."""

    def __init__(self, seconds: float, limits: Sequence[tuple[int, float]]) -> None:
        super().__init__(f"{seconds:.0f} seconds")
        self.seconds = seconds
        self.limits = limits


class Turns:
    """The turns of one key. identity: what tells it from others, of which only a hash is kept."""

    def __init__(self, *identity: str, folder: str | None = None) -> None:
        name = sha256("\0".join(identity).encode()).hexdigest()[:32]
        self._path = os.path.join(folder or state_folder(), "turns", name)
        self._blocked = 0.0  # also kept here, for where there is no file

    def take(self, latest: float) -> float:
        """Take the next turn, and return the seconds until it. Raises TooLate where it comes after `latest`.

        latest: an instant of `time.monotonic()`.
        """
        with _opened(self._path) as state:
            now = time.monotonic()
            turn = next_turn(now, state.taken, state.limits, max(self._blocked, state.blocked))
            if turn > latest:
                raise TooLate(turn - now, state.limits)
            state.take(turn, now)
        return turn - now

    def learn(self, limits: Sequence[tuple[int, float]] | None, until: float = 0.0) -> None:
        """Keep what an answer taught: the limits, None where it told none; and until when no request is taken."""
        self._blocked = max(self._blocked, until)
        if limits is not None or until:
            with _opened(self._path) as state:
                state.limits = state.limits if limits is None else list(limits)
                state.blocked = max(state.blocked, until)


class _State:
    """What the file says. Instants are of `time.monotonic()`, which the processes of a machine have in common."""

    def __init__(self, data: bytes = b"") -> None:
        self.limits: list[tuple[int, float]] = []
        self.taken: list[float] = []
        self.blocked = 0.0
        try:
            self._read(strict_json.loads(data))
        except (ValueError, TypeError, KeyError, ArithmeticError):
            self.limits, self.taken, self.blocked = [], [], 0.0

    def take(self, turn: float, now: float) -> None:
        self.taken = sorted([*(one for one in self.taken if one > now - 2 * SHORT), turn])[-_KEPT:]

    def write(self) -> bytes:
        facts = {"boot": _boot(), "limits": self.limits, "taken": self.taken, "blocked": self.blocked}
        return strict_json.dumps(facts)

    def _read(self, facts: object) -> None:
        if not isinstance(facts, dict) or abs(facts["boot"] - _boot()) > _CLOCK:
            return  # the machine was started anew or slept, or its clock was set: no instant means anything now
        horizon = time.monotonic() + _HORIZON
        self.limits = [(int(limit), float(seconds)) for limit, seconds in facts["limits"] if seconds <= SHORT]
        self.taken = sorted(instant for instant in map(float, facts["taken"]) if instant < horizon)
        self.blocked = float(facts["blocked"]) if facts["blocked"] < horizon else 0.0


def _boot() -> float:
    return time.time() - time.monotonic()


@contextmanager
def _opened(path: str) -> Iterator[_State]:
    """The state, which is written back when the block ends without an exception."""
    file = locked(path)
    if file is None:
        yield _State()
        return
    try:
        before = contents(file)
        state = _State(before)
        yield state
        after = state.write()
        if after != before:
            replace(file, after)
    finally:
        os.close(file)
