"""Public through `ferrule_websearch`: the search providers that are installed, and asking one of them within a time.

Each attempt is a process of its own, which is ended when its time is over. Its circuit breaker is told what came of it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ferrule import config
from ferrule.installed import entry_points, find_configured, supervise
from ferrule.text import strict_json
from ferrule.text.redaction import redact, redact_value
from ferrule_websearch.errors import QUOTA_SPENT
from ferrule_websearch.pace.circuit_breaker import MAX_REST_SECONDS, REST_SECONDS, CircuitBreaker, Event
from ferrule_websearch.provider_process import ANSWERED, IDENTITY, REQUESTS, UNCONFIGURED, AttemptRequest, attempt
from ferrule_websearch.results import Result

if TYPE_CHECKING:
    from ferrule.installed import Channel, Outcome
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_websearch.query_mapping import SearchRequest

GROUP = "ferrule.search_providers"
FAILED = "failed"
RATE_LIMITED = "rate_limited"
_MAX_ANSWER_BYTES = 1 << 20  # between processes
_PROBE_SECONDS, _PROBE_MEMORY_MIB = 2.0, 1024
_FAIR_SECONDS = 1.0  # that a provider needs to have had before it counts as one that failed
_MARGIN_SECONDS = 0.5  # in which a provider that was too slow can say so, before it is ended


class Attempt(NamedTuple):
    """What came of asking a provider.

    state: `answered`, `failed`, `unconfigured`, `disabled`, `unusable` or `resting`. label: the provider as people call
    it. error: facts as of `FerruleError.facts()`, empty where it answered. kind: of a failure, as `kind_of` says, or of
    why it rests. wait: seconds after which it may be asked again, None where that is not known. is_spent: the
    quota of its plan is used up. results, ignored, emulated, incomplete:
    what an answer holds, see `QueryMapping`; `incomplete` says why results may be missing. is_bounded: the bound on
    requests is why, so that the next call would miss the same. requests: how many were sent. has_engine: whether it can
    be asked for an engine of its own. identity: a hash of its version, settings and keys, from `probe_providers`.
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


class SearchProvider(NamedTuple):
    """One entry point of the group `ferrule.search_providers`.

    name: what it is called in settings and calls. value, source: of the entry point. call_variables: names of
    environment variables that belong to the call, such as the order of providers: two calls that differ in them ask one
    and the same provider.
    """

    name: str
    value: str
    source: str
    settings: config.Configuration
    call_variables: Collection[str] = ()

    def search(self, search: SearchRequest, deadline: float, event: Event) -> Attempt:
        """Ask it. Never raises for anything that goes wrong, and never takes longer than until the deadline.

        deadline: an instant of `time.monotonic()`. event: takes what the provider has to say for stderr.
        """
        left = max(0.0, deadline - time.monotonic())
        asked = self.attempt_request(search, deadline - min(_MARGIN_SECONDS, left / 10))

        def admit(question: JSONMapping) -> JSONObject:
            breaker = CircuitBreaker(self.name, str(question.get("identity")), event=event)
            return {"wait": breaker.admit(max(0.0, deadline - time.monotonic()) + 1), "cause": breaker.cause}

        memory = self.settings.memory(self.name)
        outcome = _supervised([asked], deadline, memory, self.tool, self.source, admit)
        identity, requests, events = _split_events(outcome)
        for one in events:
            event(one)
        found = _documents(outcome)
        made = self.read_attempt(found[0], events) if found else self._failed_attempt(outcome.failure or {})
        made = made._replace(requests=requests)
        # A provider that was not given the time in which to answer has not failed; nor has one whose process did not
        # come to ask it, on a machine that has too much to do.
        is_late = made.kind == "network" and not requests
        had_time = identity is not None and not is_late and (left >= _FAIR_SECONDS or time.monotonic() < asked.deadline)
        if made.state in (ANSWERED, FAILED) and had_time:
            _record(CircuitBreaker(self.name, str(identity), event=event), made)
            if made.kind == RATE_LIMITED and made.wait is None and not made.is_spent:
                made = made._replace(wait=REST_SECONDS)  # for which the breaker is open now
        return made

    @property
    def tool(self) -> str:
        """The tool of the provider, to whose permissions it is held; empty where its distribution offers several."""
        tools = [name for name, _, source in entry_points("ferrule.tools") if source == self.source]
        return tools[0] if len(tools) == 1 else ""

    def attempt_request(self, search: SearchRequest | None, deadline: float) -> AttemptRequest:
        """What an attempt is about. search: None where it is only asked whether the provider could be."""
        return AttemptRequest(self.name, self.value, search, deadline, self.call_variables)

    def read_attempt(self, facts: JSONMapping, events: Sequence[JSONMapping] = ()) -> Attempt:
        """The attempt that a child process reported."""
        if "failure" in facts:
            return self._failed_attempt(facts["failure"])
        incomplete = next((str(one.get("content")) for one in events if one.get("event") == "search_incomplete"), "")
        results = [Result(*one) for one in facts.get("results", ())]
        attempt = Attempt(self.name, **{"label": self.name, **facts, "results": results})
        return attempt._replace(incomplete=attempt.incomplete or incomplete)

    def _failed_attempt(self, error: JSONMapping) -> Attempt:
        return Attempt(
            self.name, FAILED, self.name, error=error, kind=kind_of(error), wait=_wait(error), is_spent=_is_spent(error)
        )


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
    until = min(deadline, time.monotonic() + _PROBE_SECONDS)
    asked = [one.attempt_request(None, until)._replace(has_breaker=has_breakers) for one in providers]
    if not asked:
        return []
    outcome = _supervised(asked, until, _PROBE_MEMORY_MIB)
    found = _documents(outcome)
    if len(found) == len(asked):
        return [one.read_attempt(facts) for one, facts in zip(providers, found, strict=True)]
    kind = kind_of(outcome.failure or {})
    if len(asked) == 1:
        return [Attempt(providers[0].name, "unusable", error={"message": "It cannot be loaded."}, kind=kind)]
    return [
        probe_providers([one], deadline, has_breakers=has_breakers)[0] for one in providers
    ]  # one of them ended the process for all


def find_unconfigured(providers: Sequence[SearchProvider]) -> list[Attempt]:
    """Those of which their tools say, as data, what they need, and for which that is not set.

    Nothing of them is run, so none has words of its own for what is missing: `probe_providers` gives those.
    """
    found = find_configured([one.tool for one in providers if one.tool])
    return [Attempt(one.name, UNCONFIGURED, one.name) for one in providers if found.get(one.tool) is False]


def _supervised(
    asked: Sequence[AttemptRequest],
    deadline: float,
    memory_mib: int,
    tool: str = "",
    source: str | None = None,
    answer: Callable[[JSONObject], JSONObject] | None = None,
) -> Outcome:
    """tool: to whose permissions it is held. source: whose credentials it needs, and not only whether they are set.

    answer: to what the attempt asks of the search.
    """
    ask = _attempt_or_failure if len(asked) > 1 else attempt

    def work(channel: Channel) -> JSONObject:
        return {"attempts": [ask(one, channel) for one in asked]}

    outcome = supervise(
        work,
        deadline=deadline,
        memory_mib=memory_mib,
        max_bytes=_MAX_ANSWER_BYTES,
        tool=tool,
        source=source,
        gives_credentials=source is not None,
        answer=answer,
    )
    if outcome.text:
        sys.stderr.write(redact(outcome.text, outcome.secrets).decode(errors="replace"))
    return outcome


def _attempt_or_failure(asked: AttemptRequest, channel: Channel) -> JSONMapping:
    try:
        return attempt(asked, channel)
    except Exception as error:  # noqa: BLE001 - what one plugin raises is nothing that the others need to know
        return {"failure": {"code": "INTERNAL_ERROR", "message": type(error).__name__}}


def _documents(outcome: Outcome) -> list[JSONMapping]:
    facts = strict_json.loads(outcome.result) if outcome.result else {}
    return facts.get("attempts", []) if isinstance(facts, dict) else []


def installed_providers(call_variables: Collection[str] = ()) -> dict[str, SearchProvider]:
    """The installed search providers by name in small letters, in alphabetical order. Nothing of them is imported.

    call_variables: see `SearchProvider`. Where two distributions claim a name, the first on the path has it. Raises
    ConfigurationMalformed.
    """
    settings = config.read()
    found: dict[str, SearchProvider] = {}
    for name, value, source in entry_points(GROUP):
        found.setdefault(name.lower(), SearchProvider(name.lower(), value, source, settings, call_variables))
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


def _record(breaker: CircuitBreaker, made: Attempt) -> None:
    if made.kind == RATE_LIMITED:
        breaker.record_rate_limit(made.wait, is_spent=made.is_spent)
    elif made.kind == "network" or (made.kind == "upstream_unavailable" and not is_client_error(made.error)):
        breaker.record_failure()
    elif made.kind != "validation":  # which is found out without asking it
        breaker.record_answer()


def is_client_error(error: JSONMapping) -> bool:
    """An error of HTTP that says that the request was wrong, and will be next time: the provider itself is well."""
    details = error.get("details")
    status = details.get("status") if isinstance(details, dict) else None
    return isinstance(status, int) and 400 <= status < 500


def _split_events(outcome: Outcome) -> tuple[str | None, int, list[JSONMapping]]:
    """The identity that was reported, the number of requests, and all other events without the keys."""
    events: list[JSONMapping] = []
    identity, requests = None, 0
    for event in outcome.events:
        if event.get("event") == IDENTITY:
            identity = str(event.get("name"))
        elif event.get("event") == REQUESTS:
            requests = int(event.get("count", 0))
        else:
            events.append(redact_value(event, outcome.secrets))
    return identity, requests, events
