"""Public through `ferrule_websearch`: the search providers that are installed, and asking one of them within a time.

Each attempt is a process of its own, which is ended when its time is over. Its circuit breaker is told what came of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule import config
from ferrule.installed import entry_points, find_configured, has_operation, run_tool
from ferrule.text import strict_json
from ferrule_websearch.errors import QUOTA_SPENT
from ferrule_websearch.manifest import GROUPS, WEB
from ferrule_websearch.pace.circuit_breaker import MAX_REST_SECONDS, REST_SECONDS, CircuitBreaker
from ferrule_websearch.pace.known_identities import KnownIdentities
from ferrule_websearch.provider_process import (
    ANSWERED,
    IDENTITY,
    OPERATION,
    REQUESTS,
    UNCONFIGURED,
    UNUSABLE,
    AttemptRequest,
)
from ferrule_websearch.results import Result

if TYPE_CHECKING:
    from ferrule.installed import Outcome
    from ferrule.text.json_types import JSONMapping
    from ferrule_websearch.pace.known_identities import Resting
    from ferrule_websearch.pace.shared_record import Event
    from ferrule_websearch.query_mapping import SearchRequest

FAILED, DISABLED = "failed", "disabled"
RATE_LIMITED = "rate_limited"
_MAX_ANSWER_BYTES = 1 << 20  # between processes
_PROBE_SECONDS, _ALL_PROBES_SECONDS = 2.0, 4.0
_FAIR_SECONDS = 1.0  # that a provider needs to have had before it counts as one that failed


class Attempt(NamedTuple):
    """What came of asking a provider.

    state: `answered`, `failed`, `unconfigured`, `disabled`, `unusable` or `resting`. label: the provider as people call
    it. error: facts see `FerruleError.facts()`, empty where it answered. kind: of a failure, as `kind_of` says, or of
    why it rests. wait: seconds after which it may be asked again, None where that is not known. is_spent: the
    quota of its plan is used up. results, ignored, emulated, incomplete:
    what an answer holds, see `QueryMapping`; `incomplete` says why results may be missing. is_bounded: the bound on
    requests is why, so that the next call would miss the same. requests: how many were sent. has_engine: whether it can
    be asked for an engine of its own. identity: a hash of its version, settings and keys, from `probe_providers`.
    warning: what its manifest says with each answer.
    """

    provider: str
    state: str
    label: str = ""
    error: JSONMapping = {}  # noqa: RUF012 - a default that is never changed
    kind: str = ""
    wait: float | None = None
    is_spent: bool = False
    results: Sequence[Result] = ()
    ignored: Sequence[tuple[str, str]] = ()
    emulated: Sequence[str] = ()
    incomplete: str = ""
    is_bounded: bool = False
    requests: int = 0
    has_engine: bool = False
    identity: str = ""
    warning: str = ""


class SearchProvider(NamedTuple):
    """One entry point of a group of search providers.

    name: what it is called in settings and calls. value, source: of the entry point. call_variables: names of
    environment variables that belong to the call, such as the order of providers: two calls that differ in them ask one
    and the same provider. kind: of search, one of `GROUPS`. tools: the names of all that its distribution offers.
    """

    name: str
    value: str
    source: str
    settings: config.Configuration
    call_variables: Collection[str] = ()
    kind: str = WEB
    tools: Sequence[str] = ()

    def search(self, search: SearchRequest, deadline: float, event: Event) -> Attempt:
        """Ask it. Never raises for anything that goes wrong, and never takes longer than until the deadline.

        deadline: an instant of `time.monotonic()`. event: takes what the provider has to say for stderr.
        """
        left = max(0.0, deadline - time.monotonic())
        known = KnownIdentities(self.name, event=event)
        outcome = self._run(search, deadline, known.admit(left + 1))
        identity, requests, events = _split_events(outcome)
        for one in events:
            event(one)
        made = self._read_outcome(outcome, events)._replace(requests=requests)
        # A provider that was not given the time in which to answer has not failed; nor has one whose process did not
        # come to ask it, on a machine that has too much to do.
        is_late = made.kind == "network" and not requests
        had_time = identity is not None and not is_late and (left >= _FAIR_SECONDS or time.monotonic() < deadline)
        if made.state in (ANSWERED, FAILED) and had_time:
            _record(known, CircuitBreaker(self.name, str(identity), event=event), str(identity), made)
            if made.kind == RATE_LIMITED and made.wait is None and not made.is_spent:
                made = made._replace(wait=REST_SECONDS)  # for which the breaker is open now
        return made

    def probe(self, deadline: float, *, has_breaker: bool) -> Attempt:
        """Whether it could be asked now, see `probe_providers`."""
        resting = KnownIdentities(self.name).find_resting() if has_breaker else {}
        made = self._read_outcome(self._run(None, deadline, resting))
        return made._replace(state=UNUSABLE) if made.state == FAILED else made

    @property
    def tool(self) -> str:
        """The tool of the provider: of its distribution's tools the only one, or the one that ends with the provider's
        name, or the one that has the operation `search`. Empty where nothing is to be said.
        """
        named = [name for name in self.tools if name.endswith(f"_{self.name}")]
        if len(self.tools) > 1 and len(named) == 1:
            return named[0]
        is_one = len(self.tools) == 1
        searching = self.tools if is_one else [name for name in self.tools if has_operation(name, OPERATION)]
        return searching[0] if len(searching) == 1 else ""

    def _run(self, search: SearchRequest | None, deadline: float, resting: Resting) -> Outcome:
        request = AttemptRequest(self.name, search, self.call_variables, resting, self.kind)
        return run_tool(
            self.tool, request.as_json(), operation=OPERATION, deadline=deadline, max_bytes=_MAX_ANSWER_BYTES
        )

    def _read_outcome(self, outcome: Outcome, events: Sequence[JSONMapping] = ()) -> Attempt:
        """The attempt that the process of the provider's tool reports. events: what it has sent."""
        if outcome.result is None:
            return self._failed_attempt(outcome.failure or {})
        facts = strict_json.loads_object(outcome.result)
        incomplete = next((str(one.get("content")) for one in events if one.get("event") == "search_incomplete"), "")
        results = [Result(*one) for one in facts.get("results", ())]
        attempt = Attempt(self.name, **{"label": self.name, **facts, "results": results})
        return attempt._replace(incomplete=attempt.incomplete or incomplete)

    def _failed_attempt(self, error: JSONMapping) -> Attempt:
        state = _STATES.get(str(error.get("code")), FAILED)
        if state != FAILED:
            return Attempt(self.name, state, self.name, error={"message": error.get("message", "")})
        return Attempt(
            self.name, FAILED, self.name, error=error, kind=kind_of(error), wait=_wait(error), is_spent=_is_spent(error)
        )


_STATES = {
    "TOOL_DISABLED": DISABLED,
    **dict.fromkeys(
        ("OPERATION_UNKNOWN", "TOOL_BROKEN", "TOOL_NAME_CLASH", "TOOL_UNAVAILABLE", "TOOL_UNKNOWN", "TOOL_LOCKED_OUT"),
        UNUSABLE,
    ),
}  # by the code of a failure for which the provider's own code was not run


def _is_spent(error: JSONMapping) -> bool:
    details = error.get("details")
    return isinstance(details, dict) and details.get(QUOTA_SPENT) is True


def _wait(error: JSONMapping) -> float | None:
    """The seconds that a failure tells to wait, None where they are no time that can be meant."""
    wait = error.get("retry_after")
    if isinstance(wait, bool) or not isinstance(wait, int | float):
        return None
    return wait if 0 <= wait <= MAX_REST_SECONDS else None


def probe_providers(
    providers: Sequence[SearchProvider], deadline: float, *, has_breakers: bool = True
) -> list[Attempt]:
    """Whether each could be asked now: `answered` where it could. None of them is asked.

    One that does not say so in time is `unusable` and of the kind `network`. has_breakers: whether one that rests is
    told as such, which a look at its circuit breaker takes.
    """
    last = min(deadline, time.monotonic() + _ALL_PROBES_SECONDS)
    return [one.probe(min(last, time.monotonic() + _PROBE_SECONDS), has_breaker=has_breakers) for one in providers]


def find_unconfigured(providers: Sequence[SearchProvider]) -> list[Attempt]:
    """Those of which their tools say, as data, what they need, and for which that is not set.

    Nothing of them is run, so none has words of its own for what is missing: `probe_providers` gives those.
    """
    tools = [one.tool for one in providers]
    found = find_configured([tool for tool in tools if tool])
    return [
        Attempt(one.name, UNCONFIGURED, one.name)
        for one, tool in zip(providers, tools, strict=True)
        if found.get(tool) is False
    ]


def installed_providers(call_variables: Collection[str] = (), kind: str = WEB) -> dict[str, SearchProvider]:
    """The installed providers of a kind of search, by name in small letters, in alphabetical order.

    call_variables, kind: see `SearchProvider`. Nothing of them is imported. Where two distributions claim a name, the
    first on the path has it. Raises ConfigurationMalformed.
    """
    settings = config.read()
    tools: dict[str, list[str]] = {}
    for name, _, source in entry_points("ferrule.tools"):
        tools.setdefault(source, []).append(name)
    found: dict[str, SearchProvider] = {}
    for name, value, source in entry_points(GROUPS[kind]):
        one = SearchProvider(name.lower(), value, source, settings, call_variables, kind, tools.get(source, ()))
        found.setdefault(one.name, one)
    return dict(sorted(found.items()))


def configuration_folder() -> str:
    """The folder of `config.toml`, in which a plugin may look for files of the admin."""
    return os.path.dirname(os.path.abspath(config.default_path()))


_KINDS = {
    "RATE_LIMIT": RATE_LIMITED,
    "AUTH_INVALID": "auth_required",
    "AUTH_MISSING": "auth_required",
    "NETWORK_ERROR": "network",
    "TIMEOUT": "network",
    "INVALID_INPUT": "validation",
}


def kind_of(error: JSONMapping) -> str:
    """The kind of a failure, by its code alone: rate_limited, auth_required, network, validation or
    upstream_unavailable."""
    return _KINDS.get(str(error.get("code")), "upstream_unavailable")


def _record(known: KnownIdentities, breaker: CircuitBreaker, identity: str, made: Attempt) -> None:
    is_outage = made.kind == "network" or (made.kind == "upstream_unavailable" and not is_client_error(made.error))
    if made.kind == RATE_LIMITED or is_outage:
        known.add(identity)
    if made.kind == RATE_LIMITED:
        breaker.record_rate_limit(made.wait, is_spent=made.is_spent)
    elif is_outage:
        breaker.record_failure()
    elif made.kind != "validation":  # which is found out without asking it
        breaker.record_answer()


def is_client_error(error: JSONMapping) -> bool:
    """An error of HTTP that says that the request was wrong, and will be next time: the provider itself is well."""
    details = error.get("details")
    status = details.get("status") if isinstance(details, dict) else None
    return isinstance(status, int) and 400 <= status < 500


def _split_events(outcome: Outcome) -> tuple[str | None, int, list[JSONMapping]]:
    """The identity that was reported, the number of requests, and all other events."""
    events: list[JSONMapping] = []
    identity, requests = None, 0
    for event in outcome.events:
        if event.get("event") == IDENTITY:
            identity = str(event.get("name"))
        elif event.get("event") == REQUESTS:
            requests = int(event.get("count", 0))
        else:
            events.append(event)
    return identity, requests, events
