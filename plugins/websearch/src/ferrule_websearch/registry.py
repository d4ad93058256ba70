"""Public through `ferrule_websearch`: the search providers that are installed, and asking one of them within a time.

Each attempt is a process of its own, which is ended when its time is over. Its circuit breaker is told what came of it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule import discovery
from ferrule.config import configuration
from ferrule.text import strict_json
from ferrule.text.redaction import redact, redact_json
from ferrule_websearch.circuit_breaker import LONGEST, Breaker
from ferrule_websearch.provider_process import ANSWERED, IDENTITY, Asked, attempt, breaker_identity
from ferrule_websearch.results import Result

if TYPE_CHECKING:
    from ferrule.supervision.channel import Channel
    from ferrule.supervision.supervisor import Outcome
    from ferrule_websearch.query_mapping import Wanted

GROUP = "ferrule.search_providers"
FAILED = "failed"
_SIZE = 1 << 20  # bytes of an answer between processes
_STATUS_SECONDS = 1.0
_FAIR = 1.0  # seconds
_MARGIN = 0.5  # seconds in which a provider that was too slow can say so, before it is ended

Event = Callable[[Mapping[str, object]], None]
Json = Mapping[str, Any]


class Attempt(NamedTuple):
    """What came of asking a provider.

    state: `answered`, `failed`, `unconfigured`, `disabled`, `unusable` or `resting`. label: the provider as people call
    it. error: facts as of `FerruleError.facts()`, empty where it answered. kind: of a failure, as `kind_of` says. wait:
    seconds after which it may be asked again, None where that is not known. results, ignored, emulated, incomplete:
    what an answer holds, see `Translation`; `incomplete` says why results may be missing. has_engine: whether it can be
    asked for an engine of its own. identity: a hash of its version, settings and keys,
    which `statuses` tells.
    """

    provider: str
    state: str
    label: str = ""
    error: Json = {}  # noqa: RUF012 - it is a default that nobody changes
    kind: str = ""
    wait: float | None = None
    results: Sequence[Result] = ()
    ignored: Sequence[tuple[str, str]] = ()
    emulated: Sequence[str] = ()
    incomplete: str = ""
    has_engine: bool = False
    identity: str = ""


class SearchProvider:
    """One entry point of the group `ferrule.search_providers`. name: what it is called in settings and calls."""

    def __init__(self, name: str, value: str, source: str, settings: configuration.Configuration) -> None:
        self.name = name
        self.source = source
        self._value = value
        self._settings = settings

    def search(self, wanted: Wanted, deadline: float, event: Event) -> Attempt:
        """Ask it. Never raises for anything that goes wrong, and never takes longer than until the deadline.

        deadline: an instant of `time.monotonic()`. event: takes what the provider has to say for stderr.
        """
        left = max(0.0, deadline - time.monotonic())
        asked = self.asked(wanted, deadline - min(_MARGIN, left / 10))
        outcome = _supervised([asked], deadline, self._settings.memory(self.name))
        identity, told = _sorted_out(outcome)
        for one in told:
            event(one)
        found = _documents(outcome)
        made = self.made(found[0], told) if found else self._failed(outcome.failure or {})
        # Nobody has failed who was not given the time in which to answer.
        had_time = left >= _FAIR or time.monotonic() < asked.deadline
        if made.state in (ANSWERED, FAILED) and had_time:
            _record(Breaker(*breaker_identity(self.name, identity), event=event), made)
        return made

    def asked(self, wanted: Wanted | None, deadline: float) -> Asked:
        """What an attempt is about. wanted: None where it is only asked whether the provider could be."""
        return Asked(self.name, self._value, self._settings, wanted, deadline)

    def made(self, facts: Json, events: Sequence[Json] = ()) -> Attempt:
        """The attempt of which a child said this."""
        if "failure" in facts:
            return self._failed(facts["failure"])
        incomplete = next((str(one.get("content")) for one in events if one.get("kind") == "search_incomplete"), "")
        return Attempt(
            self.name,
            facts["state"],
            facts.get("label", self.name),
            error=facts.get("error", {"message": facts.get("reason", "")}),
            wait=facts.get("wait"),
            results=[Result(*one) for one in facts.get("results", ())],
            ignored=[(name, why) for name, why in facts.get("ignored", ())],
            emulated=facts.get("emulated", ()),
            incomplete=facts.get("incomplete") or incomplete,
            has_engine=facts.get("has_engine", False),
            identity=facts.get("identity", ""),
        )

    def _failed(self, error: Json) -> Attempt:
        return Attempt(self.name, FAILED, self.name, error=error, kind=kind_of(error), wait=_wait(error))


def _wait(error: Json) -> float | None:
    """The seconds that a failure tells to wait, None where they are no time that anybody could mean."""
    wait = error.get("retry_after")
    if isinstance(wait, bool) or not isinstance(wait, int | float):
        return None
    return wait if 0 <= wait <= LONGEST else None


def statuses(providers: Sequence[SearchProvider], deadline: float) -> list[Attempt]:
    """Whether each could be asked now: `answered` where it could. None of them is asked.

    One that does not say so in time is `unusable` and of the kind `network`.
    """
    until = min(deadline, time.monotonic() + _STATUS_SECONDS)
    asked = [one.asked(None, until) for one in providers]
    if not asked:
        return []
    outcome = _supervised(asked, until, configuration.DEFAULT_MEMORY)
    found = _documents(outcome)
    if len(found) == len(asked):
        return [one.made(facts) for one, facts in zip(providers, found, strict=True)]
    if len(asked) == 1:
        kind = kind_of(outcome.failure or {})
        return [Attempt(providers[0].name, "unusable", error={"message": "It cannot be loaded."}, kind=kind)]
    return [statuses([one], deadline)[0] for one in providers]  # one of them ended the process for all


def _supervised(asked: Sequence[Asked], deadline: float, memory: int) -> Outcome:
    from ferrule.supervision.supervisor import supervise

    def work(channel: Channel) -> None:
        channel.result(
            {"attempts": [_caught(one, channel) if len(asked) > 1 else attempt(one, channel) for one in asked]}
        )

    outcome = supervise(work, deadline=deadline, memory=memory, size_limit=_SIZE)
    if outcome.text:
        sys.stderr.write(redact(outcome.text, outcome.secrets).decode(errors="replace"))
    return outcome


def _caught(asked: Asked, channel: Channel) -> dict[str, Any]:
    try:
        return attempt(asked, channel)
    except Exception as error:  # noqa: BLE001 - what one plugin raises is nothing that the others need to know
        return {"failure": {"code": "INTERNAL_ERROR", "message": type(error).__name__}}


def _documents(outcome: Outcome) -> list[Json]:
    facts: Any = strict_json.loads(outcome.result) if outcome.result else {}
    found: list[Json] = facts.get("attempts", [])
    return found


def installed() -> dict[str, SearchProvider]:
    """The installed search providers by name in small letters, in alphabetical order. Nothing of them is imported.

    Where two distributions claim a name, the first on the path has it. Raises ConfigurationMalformed.
    """
    settings = configuration.read()
    found: dict[str, SearchProvider] = {}
    for name, value, source in discovery.entry_points(GROUP):
        found.setdefault(name.lower(), SearchProvider(name.lower(), value, source, settings))
    return dict(sorted(found.items()))


def configuration_folder() -> str:
    """The folder of `config.toml`, in which a plugin may look for files of the admin."""
    return os.path.dirname(os.path.abspath(configuration.default_path()))


_KINDS = {
    "RATE_LIMIT": "rate_limited",
    "AUTH_INVALID": "auth_required",
    "AUTH_MISSING": "auth_required",
    "NETWORK_ERROR": "network",
    "TIMEOUT": "network",
    "INVALID_INPUT": "validation",
}


def kind_of(error: Json) -> str:
    """The kind of a failure, by its code alone: rate_limited, auth_required, network, validation or
    upstream_unavailable."""
    return _KINDS.get(str(error.get("code")), "upstream_unavailable")


def _record(breaker: Breaker, made: Attempt) -> None:
    if made.kind == "rate_limited":
        breaker.limited(made.wait)
    elif made.kind == "network" or (made.kind == "upstream_unavailable" and not _is_our_fault(made.error)):
        breaker.failed()
    elif made.kind != "validation":  # which is found out without asking it
        breaker.answered()


def _is_our_fault(error: Json) -> bool:
    """An error of HTTP that says that the request was wrong: the provider itself is well."""
    details = error.get("details")
    status = details.get("status") if isinstance(details, dict) else None
    return isinstance(status, int) and 400 <= status < 500


def _sorted_out(outcome: Outcome) -> tuple[str | None, list[Json]]:
    """The identity that was told, and all other events, without the keys that are in none of what goes on from here."""
    told: list[Json] = []
    identity = None
    for event in outcome.events:
        if event.get("kind") == IDENTITY:
            identity = str(event.get("name"))
        else:
            clean: Any = strict_json.loads(redact_json(strict_json.dumps(event), outcome.secrets))
            told.append(clean)
    return identity, told
