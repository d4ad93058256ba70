"""The Google Custom Search JSON API: how it is asked, what it answers, and how it refuses."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from ferrule_google import CREDENTIALS
from ferrule_google.limits import LARGEST_PAGE, LAST_PLACE
from ferrule_websearch import (
    Answer,
    DomainFilter,
    Fault,
    Page,
    Plan,
    Provider,
    Query,
    Quota,
    Reply,
    Request,
    Result,
    pages_from,
    result,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_KEY, _ENGINE = (credential.url for credential in CREDENTIALS)

SETUP = (
    "Web search requires API key configuration.\n\nGoogle Custom Search offers 100 free searches/day.\n"
    f"Get API key: {_KEY}\n"
    f"Get Search Engine ID: {_ENGINE}\n"
    "Add to: ~/.config/ikigai/credentials.json as 'web_search.google.api_key' and 'web_search.google.engine_id'"
)
SETUP_EVENT = {
    "kind": "config_required",
    "content": (
        "⚠ Configuration Required\n\nWeb search needs an API key and Search Engine ID. Google Custom Search offers "
        "100 free searches/day.\n\n"
        f"Get API key: {_KEY}\n"
        f"Get Search Engine ID: {_ENGINE}\n"
        "Add to: ~/.config/ikigai/credentials.json\n\n"
        'Example:\n{\n  "web_search": {\n    "google": {\n      "api_key": "your-api-key-here",\n'
        '      "engine_id": "your-search-engine-id"\n    }\n  }\n}'
    ),
    "data_json": '{"tool": "web_search_google", "credentials": ["api_key", "engine_id"]}',
}

_LONGEST_QUERY = 2048  # characters; operators that do not fit are left to the filter

_RATE = "RATE_LIMIT"
_AUTH = "AUTH_INVALID"

# Quotas come first: a project whose quota is used up is denied permission as well.
_CODES = {
    "dailyLimitExceeded": _RATE,
    "dailyLimitExceededUnreg": _RATE,
    "quotaExceeded": _RATE,
    "rateLimitExceeded": _RATE,
    "rateLimitExceededUnreg": _RATE,
    "userRateLimitExceeded": _RATE,
    "userRateLimitExceededUnreg": _RATE,
    "RATE_LIMIT_EXCEEDED": _RATE,
    "RESOURCE_EXHAUSTED": _RATE,
    "API_KEY_INVALID": _AUTH,
    "API_KEY_EXPIRED": _AUTH,
    "keyInvalid": _AUTH,
    "keyExpired": _AUTH,
    "accessNotConfigured": _AUTH,
    "SERVICE_DISABLED": _AUTH,
    "forbidden": _AUTH,
    "PERMISSION_DENIED": _AUTH,
    "UNAUTHENTICATED": _AUTH,
}
_BRIEF = ("userRateLimitExceeded", "userRateLimitExceededUnreg")
_DAILY = ("dailyLimitExceeded", "dailyLimitExceededUnreg")
# In a sentence "limit 'Queries per day'", in the details "DefaultPerDayPerProject" or "queries_per_100_seconds".
_PERIOD = re.compile(r"per[ _]?(day|hour|minute|(?:(\d+)[ _]?)?seconds?)", re.I)
_SECONDS = {"day": 86_400.0, "hour": 3_600.0, "minute": 60.0}


class Google(Provider):
    """Google Custom Search, as its reference describes it."""

    name = "Google Custom Search"
    endpoint = "https://www.googleapis.com/customsearch/v1"
    endpoint_variable = "FERRULE_GOOGLE_ENDPOINT"
    credentials = CREDENTIALS
    setup = SETUP
    setup_event = SETUP_EVENT
    quota_spent = "Rate limit exceeded. You've used your free search quota (100/day)."
    codes = _CODES

    def request(self, keys: Mapping[str, str]) -> Request:
        """Google takes the key and the engine's id in the URL."""
        return Request(params={"key": keys["api_key"], "cx": keys["engine_id"]})

    def plan(self, query: Query) -> Plan:
        """The page that is asked for, and with a filter as many more as it needs."""
        filtering = _filtering(query)
        end = query.offset + query.limit

        def pages(first: int, end: int) -> Iterator[Page]:
            return pages_from(first, LARGEST_PAGE, end, lambda place, size: _params(filtering, place, size))

        if not query.domains.is_active:
            return Plan(pages(query.offset, end))
        if filtering["q"] == query.text and "siteSearch" not in filtering:
            return Plan(pages(0, LAST_PLACE), offset_of_passing=True)
        return Plan(chain(pages(query.offset, end), pages(end, LAST_PLACE)))

    def read(self, document: Mapping[str, Any]) -> Reply:
        """`items[]` has title, link and snippet, which are text; there is none where nothing was found."""
        results = [_result(item) for item in document.get("items") or []]
        queries = document.get("queries")
        is_last = isinstance(queries, dict) and not queries.get("nextPage")
        return Reply(results, more=bool(results) and not is_last)

    def fault(self, document: Mapping[str, Any]) -> Fault:
        """`error` has a status, a message, `errors` with reasons, and `details` with the newer names of them."""
        error = document.get("error")
        if not isinstance(error, dict):
            return super().fault(document)
        message = str(error.get("message") or "")
        told = [*(error.get("errors") or []), *(error.get("details") or []), {"reason": error.get("status")}]
        names = [str(one["reason"]) for one in told if isinstance(one, dict) and one.get("reason")]
        if "api key not valid" in message.lower():
            names.append("keyInvalid")
        return Fault(tuple(names), message)

    def quota(self, answer: Answer, fault: Fault) -> Quota:
        """The limit's name tells a day from a minute; `RetryInfo` says how long to wait, where it is there."""
        details = _details(answer)
        period = _period(" ".join([fault.text, *(str(one.get("metadata")) for one in details)]))
        if period == _SECONDS["day"] or any(name in _DAILY for name in fault.names):
            return Quota(True, _until_midnight())
        told = Quota.passing(answer, _delay(details))
        if told.wait is not None or (period is None and not any(name in _BRIEF for name in fault.names)):
            return told
        return Quota(False, period)  # without a word about when, the next period is the first that is sure to have room


def _filtering(query: Query) -> dict[str, str]:
    """The parameters with which Google filters by itself: it takes one site, all else goes into the query."""
    domains = query.domains
    if len(domains.allowed) == 1:
        others = DomainFilter(blocked=domains.blocked).operators()
        return {**_fitting(query.text, others), "siteSearch": domains.allowed[0], "siteSearchFilter": "i"}
    if len(domains.blocked) == 1 and not domains.allowed:
        return {"q": query.text, "siteSearch": domains.blocked[0], "siteSearchFilter": "e"}
    return _fitting(query.text, domains.operators())


def _fitting(text: str, operators: str) -> dict[str, str]:
    whole = f"{text} {operators}".rstrip() if operators else text
    return {"q": whole if len(whole) <= _LONGEST_QUERY else text}


def _params(filtering: Mapping[str, str], place: int, size: int) -> dict[str, str]:
    return {**filtering, "num": str(size), "start": str(place + 1)}


def _result(item: Any) -> Result | None:
    if not isinstance(item, dict):
        return None
    return result(item.get("title"), item.get("link"), item.get("snippet"), html=False)


def _details(answer: Answer) -> list[Mapping[str, Any]]:
    error = (answer.document or {}).get("error")
    details = error.get("details") if isinstance(error, dict) else None
    return [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []


def _period(text: str) -> float | None:
    found = _PERIOD.search(text)
    if not found:
        return None
    return _SECONDS.get(found[1].lower()) or float(found[2] or 1)


def _delay(details: list[Mapping[str, Any]]) -> float | None:
    """The seconds of `{"@type": "…RetryInfo", "retryDelay": "12.5s"}`."""
    for one in details:
        delay = str(one.get("retryDelay", "")).removesuffix("s")
        if delay.replace(".", "", 1).isdecimal():
            return float(delay)
    return None


def _until_midnight() -> float | None:
    """Seconds until a day's quota is there again, at midnight in California; None where the time zone is not known."""
    from datetime import datetime, timedelta
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        zone = ZoneInfo("America/Los_Angeles")
    except ZoneInfoNotFoundError:
        return None
    now = datetime.now(zone)
    midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight.timestamp() - now.timestamp()
