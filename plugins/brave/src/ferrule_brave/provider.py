"""The Brave Search API: how it is asked, what it answers, and how it refuses."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from ferrule_brave import CREDENTIALS
from ferrule_brave.limits import all_pages, fits, pages
from ferrule_websearch import Answer, Fault, Page, Plan, Provider, Query, Quota, Reply, Request, Result, result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_SIGN_UP = "https://brave.com/search/api/"
_RATE_WINDOW = 1.0  # seconds that "rate_limit" in a refusal is about

SETUP = (
    "Web search requires API key configuration.\n\nBrave Search offers 2,000 free searches/month.\n"
    f"Get your key: {_SIGN_UP}\n"
    "Add to: ~/.config/ikigai/credentials.json as 'web_search.brave.api_key'"
)
SETUP_EVENT = {
    "kind": "config_required",
    "content": (
        "⚠ Configuration Required\n\nWeb search needs an API key. Brave Search offers 2,000 free searches/month.\n\n"
        f"Get your key: {_SIGN_UP}\n"
        "Add to: ~/.config/ikigai/credentials.json\n\n"
        'Example:\n{\n  "web_search": {\n    "brave": {\n      "api_key": "your-api-key-here"\n    }\n  }\n}'
    ),
    "data_json": f'{{"tool": "web_search_brave", "credential": "api_key", "signup_url": "{_SIGN_UP}"}}',
}

_CODES = {
    "SUBSCRIPTION_TOKEN_INVALID": "AUTH_INVALID",
    "RATE_LIMITED": "RATE_LIMIT",
    "OPTION_NOT_IN_PLAN": "API_ERROR",
    "VALIDATION": "API_ERROR",
    "API_VERSION_NOT_FOUND": "API_ERROR",
}


class Brave(Provider):
    """Brave Search, as its documentation describes it."""

    name = "Brave Search"
    endpoint = "https://api.search.brave.com/res/v1/web/search"
    endpoint_variable = "FERRULE_BRAVE_ENDPOINT"
    credentials = CREDENTIALS
    setup = SETUP
    setup_event = SETUP_EVENT
    quota_spent = "Rate limit exceeded. You've used your free search quota (2,000/month)."
    codes = _CODES

    def request(self, keys: Mapping[str, str]) -> Request:
        """Brave takes the key in a header."""
        return Request(headers={"X-Subscription-Token": keys["api_key"]})

    def plan(self, query: Query) -> Plan:
        """As few requests as the results take; with a filter, as many more as it needs."""
        domains = query.domains
        if not domains.is_active:
            return Plan(_requests(query.text, pages(query.offset, query.limit)))
        text = f"{query.text} {domains.operators(blocked=False)}"
        if not domains.allowed or not fits(text):
            return Plan(_requests(query.text, all_pages()), offset_of_passing=True)
        if not domains.is_allowed_alone:
            return Plan(_requests(text, all_pages()), offset_of_passing=True)
        asked_for = pages(query.offset, query.limit)
        rest = all_pages(query.offset + query.limit)  # for the results that are elsewhere in spite of the operators
        return Plan(_requests(text, chain(asked_for, rest)))

    def read(self, document: Mapping[str, Any]) -> Reply:
        """`web.results[]` has title, url and description; there is no `web` where nothing was found."""
        hits = (document.get("web") or {}).get("results") or []
        results = [_result(hit) for hit in hits]
        more = (document.get("query") or {}).get("more_results_available")
        return Reply(results, more=bool(results) and more is not False)

    def fault(self, document: Mapping[str, Any]) -> Fault:
        """`error` has code, detail and meta. A missing token comes as a VALIDATION of the header."""
        error = document.get("error")
        if not isinstance(error, dict):
            return super().fault(document)
        names = [str(error.get("code") or "")]
        meta = _meta(document)
        problems = [problem for problem in meta.get("errors") or [] if isinstance(problem, dict)]
        if any("subscription-token" in str(problem.get("loc")).lower() for problem in problems):
            names.append("SUBSCRIPTION_TOKEN_INVALID")
        details = [str(error.get("detail") or ""), *map(_in_words, problems[:3]), _counts(meta)]
        return Fault(tuple(names), " ".join(filter(None, details)))

    def quota(self, answer: Answer, fault: Fault) -> Quota:
        """`meta` counts the requests of the month, and says how many a second there may be."""
        meta = _meta(answer.document or {})
        quota = super().quota(answer, fault)
        if quota.is_spent or 0 < _number(meta, "quota_limit") <= _number(meta, "quota_current"):
            return Quota.spent(answer)
        rate = _number(meta, "rate_limit")
        if rate <= 0 or answer.windows:
            return quota
        return Quota.passing(answer, _RATE_WINDOW)._replace(pace=(rate, _RATE_WINDOW))


def _requests(text: str, numbered: Iterable[tuple[int, int]]) -> Iterator[Page]:
    for size, number in numbered:
        yield Page({"q": text, "count": str(size), "offset": str(number)}, first=size * number)


def _result(hit: Any) -> Result | None:
    return result(hit.get("title"), hit.get("url"), hit.get("description")) if isinstance(hit, dict) else None


def _meta(document: Mapping[str, Any]) -> Mapping[str, Any]:
    error = document.get("error")
    meta = error.get("meta") if isinstance(error, dict) else None
    return meta if isinstance(meta, dict) else {}


def _in_words(problem: Mapping[str, Any]) -> str:
    place = problem.get("loc")
    where = ".".join(map(str, place)) if isinstance(place, list) else ""
    return f"{where}: {problem.get('msg')}."


def _counts(meta: Mapping[str, Any]) -> str:
    rate, used, quota = (_number(meta, name) for name in ("rate_limit", "quota_current", "quota_limit"))
    if quota <= 0:
        return ""
    return f"({meta.get('plan') or 'this'} plan: {rate:,} a second, {used:,} of {quota:,} used)"


def _number(meta: Mapping[str, Any], name: str) -> int:
    value = meta.get(name)
    return value if isinstance(value, int) else 0
