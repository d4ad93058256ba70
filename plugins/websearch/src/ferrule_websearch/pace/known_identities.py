"""Which identities of a provider have a circuit breaker: a search looks at these before it knows which one it asks.

A provider's process finds out by its keys and its settings which of them it is. What the breakers are is no business of
it, so it is told of those that rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.text import strict_json
from ferrule_websearch.pace.circuit_breaker import CircuitBreaker
from ferrule_websearch.pace.shared_record import SharedRecord

if TYPE_CHECKING:
    from ferrule_websearch.pace.shared_record import Event

MAX_IDENTITIES = 8
_RECORD_BYTES = 1024  # each has the same size, so that a write replaces the whole of the one before
_KEPT_SECONDS = 45 * 86_400  # on a Redis server: longer than any breaker is open
_MAX_CHARS = 80

Resting = dict[str, tuple[float, int]]
"""For identities that rest: the seconds for which they are not asked, and why, as in `circuit_breaker`."""


class KnownIdentities:
    """Those of one provider, the one that was asked last first."""

    def __init__(self, provider: str, *, event: Event | None = None) -> None:
        self._provider = provider
        self._event = event
        self._record = SharedRecord("identities", provider, event=event)

    def add(self, identity: str) -> None:
        """Keep an identity for which a breaker is about to be told something."""

        def change(data: bytes, now: float) -> bytes:
            known = _parse(data)
            if known[:1] == [identity]:
                return data
            kept = [identity, *(one for one in known if one != identity)][:MAX_IDENTITIES]
            return strict_json.dumps(kept).ljust(_RECORD_BYTES)

        self._record.update(change, lambda data, now: _KEPT_SECONDS)

    def admit(self, trial_seconds: float) -> Resting:
        """Those that may not be asked now. trial_seconds: see `CircuitBreaker.admit`, which those are told that may
        be tried.
        """
        breakers = {one: CircuitBreaker(self._provider, one, event=self._event) for one in self._read()}
        waits = {one: breaker.admit(trial_seconds) for one, breaker in breakers.items()}
        return {one: (wait, breakers[one].cause) for one, wait in waits.items() if wait}

    def find_resting(self) -> Resting:
        """Those that may not be asked now, for a look that asks none."""
        breakers = {one: CircuitBreaker(self._provider, one, event=self._event) for one in self._read()}
        waits = {one: breaker.seconds_until_trial() for one, breaker in breakers.items()}
        return {one: (wait, breakers[one].cause) for one, wait in waits.items() if wait}

    def _read(self) -> list[str]:
        found: list[str] = []

        def look(data: bytes, now: float) -> bytes:
            found[:] = _parse(data)
            return data

        self._record.update(look, lambda data, now: _KEPT_SECONDS)
        return found


def _parse(data: bytes) -> list[str]:
    """The identities; none where the record is broken."""
    try:
        found = strict_json.loads(data[:_RECORD_BYTES].strip())
    except ValueError:
        return []
    listed = found if isinstance(found, list) else []
    return [one for one in listed if isinstance(one, str) and len(one) <= _MAX_CHARS][:MAX_IDENTITIES]
