"""Which providers are asked, in which order, and which one next where one fails."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ferrule_research.search.cache_identity import known_states
from ferrule_research.search.errors import RATE_LIMITED, configuration_error, describe_rest, unknown_provider
from ferrule_websearch import (
    Attempt,
    SearchProvider,
    SearchRequest,
    find_unconfigured,
    installed_providers,
    probe_providers,
)
from ferrule_websearch.manifest import GROUPS, IMAGES, NEWS, PATENTS, WEB

if TYPE_CHECKING:
    from ferrule import Context, JSONObject

ANSWERED, FAILED, RESTING = "answered", "failed", "resting"
VARIABLES = ("FERRULE_SEARCH_ROUTING", "SEARCH_ROUTING")
PATIENCE_SECONDS = 9.0  # in which those that say nothing have given way, so that the whole is under ten
_LEAST_SHARE_SECONDS = 1.0
_UNASKED = ("unconfigured", "disabled")
_CATEGORIES = {  # of an order that is a JSON object, by the kind of search: the first that is there counts
    WEB: ("web_search", "web", "default"),
    NEWS: ("news_search", "news", "default", "web_search", "web"),
    IMAGES: ("image_search", "images", "default", "web_search", "web"),
    PATENTS: ("patent_search", "patents"),
}


class Route(NamedTuple):
    """What came of a search. attempts: in their order; the last one answered, where any did."""

    attempts: Sequence[Attempt]

    @property
    def answered(self) -> Attempt | None:
        """The attempt that answered."""
        last = self.attempts[-1] if self.attempts else None
        return last if last and last.state == ANSWERED else None

    @property
    def asked(self) -> list[str]:
        """The providers that were asked."""
        return [one.provider for one in self.attempts if one.state in (ANSWERED, FAILED)]

    def as_json(self) -> JSONObject:
        """What is told with a result: who answered, who was asked, and why it was not the first."""
        last, passed = self.attempts[-1], [one for one in self.attempts if one.state in (FAILED, RESTING)]
        told: JSONObject = {
            "provider_used": last.provider,
            "providers_attempted": self.asked,
            "requests": {one.provider: one.requests for one in self.attempts if one.requests},
            "fallback": bool(passed),
        }
        if passed:
            told["fallback_reason"] = "; ".join(f"{one.provider}: {_why(one)}" for one in passed)
        if last.emulated:
            told["emulated"] = list(last.emulated)
        if last.incomplete:
            told["incomplete"] = last.incomplete
        return told


def choose(
    installed: Mapping[str, SearchProvider], forced: str, context: Context, kind: str = WEB
) -> list[SearchProvider]:
    """The providers to ask, the first first: the one that the call names, else as the admin ordered them, else all.

    Args:
        installed: those of the kind.
        kind: of search. A provider in the admin's order that does not answer it is passed over.

    Raises:
        ToolError: INVALID_INPUT for a provider that there is not, CONFIG_ERROR for an order that cannot be read.
    """
    if forced:
        if forced.lower() not in installed:
            raise unknown_provider(forced, installed, kind=kind if forced.lower() in _all_names() else "")
        return [installed[forced.lower()]]
    names = _order(context, kind)
    if names is None:
        return list(installed.values())
    others = _all_names() if kind != WEB else set()
    if unknown := [name for name in names if name not in installed and name not in others]:
        content = f"The routing names what is not installed: {', '.join(unknown)}."
        context.event({"event": "search_routing", "content": content})
    known = [installed[name] for name in names if name in installed]
    if not names:
        raise configuration_error("The order of search providers names none.")
    if not known and kind == PATENTS:  # an order of search engines says nothing about offices
        return list(installed.values())
    if not known and kind != WEB:
        can = f"Those that do: {', '.join(installed) or 'none is installed'}."
        raise configuration_error(f"No search provider of the routing searches for {kind}: {', '.join(names)}.", can)
    if not known:
        raise configuration_error(f"None of the search providers of the routing is installed: {', '.join(names)}.")
    return known


def _all_names() -> set[str]:
    """The providers of any kind of search."""
    return {name for kind in GROUPS for name in installed_providers(kind=kind)}


def put_engines_first(providers: Sequence[SearchProvider], context: Context) -> list[SearchProvider]:
    """The providers that have engines of their own before those that have not."""
    if len(providers) < 2:
        return list(providers)
    unset = {one.provider for one in find_unconfigured(providers)}
    rest = [one for one in providers if one.name not in unset]
    with_engine = {one.provider for one in probe_providers(rest, context.deadline) if one.has_engine}
    return sorted(providers, key=lambda one: one.name not in with_engine)


def ask(providers: Sequence[SearchProvider], request: SearchRequest, context: Context, until: float = inf) -> Route:
    """Ask one after the other until one answers, by the instant `until` at the latest."""
    attempts = _ask_in_turn(providers, find_states(providers, context), request, context, until)
    if len(attempts) > 1 and all(one.state in _UNASKED for one in attempts):
        # Each says what it needs; one that lacks nothing after all is asked.
        known = {one.provider: one for one in probe_providers(providers, context.deadline, has_breakers=False)}
        attempts = _ask_in_turn(providers, known, request, context, until)
    return Route(attempts)


def _ask_in_turn(
    providers: Sequence[SearchProvider],
    states: Mapping[str, Attempt],
    request: SearchRequest,
    context: Context,
    until: float,
) -> list[Attempt]:
    attempts: list[Attempt] = []
    # One that had no time to say how it is may well answer.
    answerable = {name for name, one in states.items() if one.state == ANSWERED or one.kind == "network"}
    started = time.monotonic()
    for index, provider in enumerate(providers):
        known = states.get(provider.name)
        if known is not None and known.state in _UNASKED:  # a process of its own would only say so again
            attempts.append(known)
            continue
        others = sum(one.name in answerable for one in providers[index + 1 :])
        remaining = min(context.remaining(), max(0.0, until - time.monotonic()))
        share = share_of_time(remaining, time.monotonic() - started, others)
        attempt = provider.search(request, time.monotonic() + share, context.event)
        attempts.append(attempt)
        if attempt.state == ANSWERED:
            break
        if attempt.state not in _UNASKED:
            context.event({"event": "provider_failed", "provider": provider.name, "content": _sentence(attempt)})
    return attempts


def share_of_time(remaining: float, elapsed: float, others: int) -> float:
    """Seconds that a provider gets. elapsed: since the first was asked. others: that could be asked after it.

    One that says nothing has to leave time for the next, which the caller is waiting for.

    >>> share_of_time(23.0, 0.0, 0), share_of_time(23.0, 0.0, 1), share_of_time(4.0, 0.0, 1)
    (23.0, 4.5, 2.0)
    """
    if not others:
        return remaining
    return min(remaining / (others + 1), max(_LEAST_SHARE_SECONDS, (PATIENCE_SECONDS - elapsed) / 2))


def find_states(providers: Sequence[SearchProvider], context: Context) -> dict[str, Attempt]:
    """What is known of each provider before it is asked; nothing if there is one alone."""
    if len(providers) < 2:
        return {}
    known = known_states(context, providers[0].kind)
    if known is None:
        unset = find_unconfigured(providers)
        names = {one.provider for one in unset}
        rest = [one for one in providers if one.name not in names]
        # One alone is asked next: it says then what a look at it would say.
        known = [*unset, *(probe_providers(rest, context.deadline, has_breakers=False) if len(rest) > 1 else ())]
    return {one.provider: one for one in known}


def find_others(installed: Mapping[str, SearchProvider], route: Route, context: Context) -> list[str]:
    """The providers that could be asked instead: configured, healthy, and not asked yet."""
    tried = {one.provider for one in route.attempts}
    others = [one for name, one in installed.items() if name not in tried]
    unset = {one.provider for one in find_unconfigured(others)}
    rest = [one for one in others if one.name not in unset]
    return [one.provider for one in probe_providers(rest, context.deadline) if one.state == ANSWERED]


def _why(attempt: Attempt) -> str:
    if attempt.state == RESTING and attempt.kind != RATE_LIMITED:
        return "its circuit breaker is open"
    return "quota used up" if attempt.is_spent else attempt.kind


def _sentence(attempt: Attempt) -> str:
    if attempt.state == RESTING:
        return describe_rest(attempt)
    return str(attempt.error.get("message", ""))


def _order(context: Context, kind: str) -> list[str] | None:
    """The names in the order that the admin wants; None where nothing is said."""
    named = next(filter(None, (os.environ.get(name, "").strip() for name in VARIABLES)), None)
    value: object = named or context.setting("routing", VARIABLES[0])
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise configuration_error("The order of search providers is not valid JSON.") from None
    if isinstance(value, dict):
        lists = (part if isinstance(part, list) else [part] for part in value.values())
        value = next((value[name] for name in _CATEGORIES[kind] if name in value), [*chain.from_iterable(lists)])
    if isinstance(value, str):
        value = value.replace(",", " ").split()
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise configuration_error('Write the order of search providers as "brave,google", or as a list in JSON.')
    return list(dict.fromkeys(name.strip().lower() for name in value if name.strip()))
