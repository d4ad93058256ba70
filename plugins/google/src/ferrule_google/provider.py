"""The Google Custom Search JSON API: what it serves, how it is asked, what it answers, and how it refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

import ferrule_websearch as web
from ferrule_google import CREDENTIALS

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_PAGE_RESULTS = 10
# Of start and num. The API's reference says 100, and yet the page of ten that begins at 91 is served.
MAX_SUM = 101
LAST_PLACE = MAX_SUM - 1  # counted from 0, the place behind the last result that is served
_MAX_QUERY_CHARS = 2048  # operators that do not fit are left to the filter

_QUOTA_NAMES = (
    "dailyLimitExceeded dailyLimitExceededUnreg quotaExceeded rateLimitExceeded rateLimitExceededUnreg "
    "userRateLimitExceeded userRateLimitExceededUnreg RATE_LIMIT_EXCEEDED RESOURCE_EXHAUSTED"
)
_AUTH_NAMES = (
    "API_KEY_INVALID API_KEY_EXPIRED keyInvalid keyExpired accessNotConfigured SERVICE_DISABLED forbidden "
    "PERMISSION_DENIED UNAUTHENTICATED"
)
# Quotas come first: a project whose quota is used up is denied permission as well.
_CODES = {**dict.fromkeys(_QUOTA_NAMES.split(), "RATE_LIMIT"), **dict.fromkeys(_AUTH_NAMES.split(), "AUTH_INVALID")}
_BRIEF = ("userRateLimitExceeded", "userRateLimitExceededUnreg")
_DAILY = ("dailyLimitExceeded", "dailyLimitExceededUnreg")
# In a sentence "limit 'Queries per day'", in the details "DefaultPerDayPerProject" or "queries_per_100_seconds".
_PERIOD = re.compile(r"per[ _]?(day|hour|minute|(?:(\d+)[ _]?)?seconds?)", re.I)
_DATE = re.compile(
    r"(\w{3,9} \d{1,2}, \d{4}|\d{1,2} \w{3,9} \d{4}|\d{1,2} (?:minute|hour|day|week|month|year)s? ago) "
    r"(?:\.\.\.|…) "
)
_SECONDS = {"day": 86_400.0, "hour": 3_600.0, "minute": 60.0}


class Google(web.Provider):
    """Google Custom Search, as its reference describes it."""

    name = "Google Custom Search"
    endpoint = "https://www.googleapis.com/customsearch/v1"
    endpoint_variable = "FERRULE_GOOGLE_ENDPOINT"
    credentials = CREDENTIALS
    setup = web.Setup(
        "web_search_google",
        "an API key and Search Engine ID",
        "Google Custom Search offers 100 free searches/day.",
        [web.Step("Get API key", "your-api-key-here"), web.Step("Get Search Engine ID", "your-search-engine-id")],
    )
    quota_spent = "Rate limit exceeded. You've used your free search quota (100/day)."
    codes = _CODES

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """Google takes the key and the engine's id in the URL."""
        return web.Request(params={"key": keys["api_key"], "cx": keys["engine_id"]})

    def plan(self, query: web.Query) -> web.Plan:
        """The page that is asked for, and with a filter as many more as it needs."""
        filtering = _filtering(query)
        end = query.offset + query.limit

        def pages(first: int, end: int) -> Iterator[web.Page]:
            return web.pages_from(
                first, MAX_PAGE_RESULTS, end, lambda place, size: {**filtering, "num": size, "start": place + 1}
            )

        if not query.domains.is_active:
            return web.Plan(pages(query.offset, end))
        if filtering["q"] == query.text and "siteSearch" not in filtering:
            return web.Plan(pages(0, LAST_PLACE), offset_counts_passing=True)
        return web.Plan(chain(pages(query.offset, end), pages(end, LAST_PLACE)))

    def read(self, document: JSONMapping) -> web.Reply:
        """`items[]` has title, link and snippet, which are text; there is none where nothing was found."""
        results = [_result(item) for item in document.get("items") or []]
        queries = document.get("queries")
        is_last = isinstance(queries, dict) and not queries.get("nextPage")
        return web.Reply(results, has_more=bool(results) and not is_last)

    def fault(self, document: JSONMapping) -> web.Fault:
        """`error` has a status, a message, `errors` with reasons, and `details` with the newer names of them."""
        error = web.error_object(document)
        if not error:
            return super().fault(document)
        message = str(error.get("message") or "")
        reasons = [*(error.get("errors") or []), *(error.get("details") or []), {"reason": error.get("status")}]
        names = [str(one["reason"]) for one in reasons if isinstance(one, dict) and one.get("reason")]
        if "api key not valid" in message.lower():
            names.append("keyInvalid")
        return web.Fault(tuple(names), message)

    def quota(self, response: web.Response, fault: web.Fault) -> web.Quota:
        """The limit's name tells a day from a minute; `RetryInfo` says how long to wait, where it is there."""
        details = _details(response)
        period = _period(" ".join([fault.text, *(str(one.get("metadata")) for one in details)]))
        if period == _SECONDS["day"] or any(name in _DAILY for name in fault.names):
            return web.Quota(True, _until_midnight())
        quota = web.Quota.of_short_limit(response, _delay(details))._replace(is_guess=False)  # it is Google's own word
        if quota.wait is not None or (period is None and not any(name in _BRIEF for name in fault.names)):
            return quota
        # Without a word about when, the next period is the first that is sure to have room.
        return web.Quota(False, period)


def findings(arguments: JSONObject) -> list[str]:
    """What is wrong with the arguments of a call that the schema cannot say."""
    start, num = arguments.get("start", 1), arguments.get("num", 10)
    found = web.findings(arguments)
    if len(arguments["query"].strip()) > _MAX_QUERY_CHARS:
        found.append(f"query: Google Custom Search takes {_MAX_QUERY_CHARS:,} characters at most")
    if start + num > MAX_SUM:
        found.append(
            f"start: Google serves no results where start + num is more than {MAX_SUM}, and it is {start + num}; "
            f"with start {start}, num can be {MAX_SUM - start} at most"
        )
    return found


def _result(item: object) -> web.Result | None:
    """A result; Google puts its date in front of the snippet, as in `Jan 2, 2026 ... text`."""
    if not isinstance(item, dict):
        return None
    snippet = item.get("snippet")
    found = _DATE.match(snippet) if isinstance(snippet, str) else None
    date = web.parse_date(found[1]) if found else _metatag(item, "article:published_time")
    return web.make_result(item.get("title"), item.get("link"), snippet, html=False, published=date)


def _metatag(item: JSONMapping, name: str) -> object:
    """What the page says of itself, as Google hands it on in `pagemap`."""
    pagemap = item.get("pagemap")
    metatags = pagemap.get("metatags") if isinstance(pagemap, dict) else None
    first = metatags[0] if isinstance(metatags, list) and metatags else None
    return first.get(name) if isinstance(first, dict) else None


def _filtering(query: web.Query) -> dict[str, str]:
    """The parameters with which Google filters by itself: it takes one site, all else goes into the query."""
    domains = query.domains
    if len(domains.allowed) == 1:
        others = web.DomainFilter(blocked=domains.blocked).operators()
        return {**_fitting(query.text, others), "siteSearch": domains.allowed[0], "siteSearchFilter": "i"}
    if len(domains.blocked) == 1 and not domains.allowed:
        return {"q": query.text, "siteSearch": domains.blocked[0], "siteSearchFilter": "e"}
    return _fitting(query.text, domains.operators())


def _fitting(text: str, operators: str) -> dict[str, str]:
    whole = f"{text} {operators}".rstrip() if operators else text
    return {"q": whole if len(whole) <= _MAX_QUERY_CHARS else text}


def _details(response: web.Response) -> list[JSONObject]:
    details = web.error_object(response.document or {}).get("details")
    return [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []


def _period(text: str) -> float | None:
    found = _PERIOD.search(text)
    if not found:
        return None
    return _SECONDS.get(found[1].lower()) or float(found[2] or 1)


def _delay(details: list[JSONObject]) -> float | None:
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
