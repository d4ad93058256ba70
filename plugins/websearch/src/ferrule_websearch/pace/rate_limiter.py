"""Calls of one key take turns, across the processes of a user.

A file in the user's state folder says what the last answer taught about the pace, and when requests were or will be
sent. It is locked for the moment in which a call takes its turn, never while it waits or asks. Nothing is known at
first, so nothing is waited for; a file that cannot be read, written or locked counts as one that says nothing.

Limiters such as pyrate-limiter want to be told the pace before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from ferrule.storage import state_folder, update_locked
from ferrule.text import strict_json
from ferrule.text.sha256 import sha256_hex
from ferrule_websearch.pace.rate_limit_headers import MAX_WAIT_SECONDS, next_turn

_LOCK_SECONDS = 1.0
_MAX_REQUESTS = 1000
_HORIZON_SECONDS = 600.0  # no call waits for a turn that long
_CLOCK_DRIFT_SECONDS = 2.0  # by which the clocks may drift apart before what they said is dropped


class TurnTooLate(Exception):
    """The turn would come after the deadline. `seconds` from now is when. `limits`: the pace, as `learn` got it."""

    def __init__(self, seconds: float, limits: Sequence[tuple[int, float]]) -> None:
        super().__init__(f"{seconds:.0f} seconds")
        self.seconds = seconds
        self.limits = limits


class RateLimiter:
    """The turns of one key. identity: what tells the key from others, of which only a hash is kept."""

    def __init__(self, *identity: str, folder: str | None = None) -> None:
        name = sha256_hex("\0".join(identity).encode())[:32]
        self._path = os.path.join(folder or state_folder(), "turns", name)
        self._blocked = 0.0  # also kept here, for if there is no file

    def acquire(self, latest: float) -> float:
        """Take the next turn, and return the seconds until it. Raises TurnTooLate where it comes after `latest`.

        latest: an instant of `time.monotonic()`.
        """
        wait = 0.0

        def change(data: bytes) -> bytes:
            nonlocal wait
            state, now = _State(data), time.monotonic()
            turn = next_turn(now, state.taken, state.limits, max(self._blocked, state.blocked))
            if turn > latest:
                raise TurnTooLate(turn - now, state.limits)
            state.add(turn, now)
            wait = turn - now
            return state.write()

        update_locked(self._path, _LOCK_SECONDS, change)
        return wait

    def learn(self, limits: Sequence[tuple[int, float]] | None, until: float = 0.0) -> None:
        """Keep what an answer taught: the limits, None where it told none; and until when no request is taken."""
        self._blocked = max(self._blocked, until)

        def change(data: bytes) -> bytes:
            state = _State(data)
            state.limits = state.limits if limits is None else list(limits)
            state.blocked = max(state.blocked, until)
            return state.write()

        if limits is not None or until:
            update_locked(self._path, _LOCK_SECONDS, change)


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

    def add(self, turn: float, now: float) -> None:
        self.taken = sorted([*(one for one in self.taken if one > now - 2 * MAX_WAIT_SECONDS), turn])[-_MAX_REQUESTS:]

    def write(self) -> bytes:
        facts = {"boot": _boot(), "limits": self.limits, "taken": self.taken, "blocked": self.blocked}
        return strict_json.dumps(facts)

    def _read(self, facts: object) -> None:
        if not isinstance(facts, dict) or abs(facts["boot"] - _boot()) > _CLOCK_DRIFT_SECONDS:
            return  # the machine was started anew or slept, or its clock was set: no instant means anything now
        horizon = time.monotonic() + _HORIZON_SECONDS
        self.limits = [
            (int(limit), float(seconds)) for limit, seconds in facts["limits"] if seconds <= MAX_WAIT_SECONDS
        ]
        self.taken = sorted(instant for instant in map(float, facts["taken"]) if instant < horizon)
        self.blocked = float(facts["blocked"]) if facts["blocked"] < horizon else 0.0


def _boot() -> float:
    return time.time() - time.monotonic()
