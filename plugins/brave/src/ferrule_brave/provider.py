"""The Brave Search API: what it serves, how it is asked, what it answers, and how it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import ferrule_websearch as web
from ferrule_brave import CREDENTIALS

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

# Pages are numbered from 0.
MAX_PAGE_RESULTS = 20
PAGES = 10
MAX_RESULTS = MAX_PAGE_RESULTS * PAGES
DEFAULT_RESULTS = 10
MAX_QUERY_CHARS, MAX_QUERY_WORDS = 400, 50
_QUOTA_LIMITED = "QUOTA_LIMITED"  # of the month, where RATE_LIMITED may be of the second
_FREE_REQUESTS = 2000  # of a month, in the text for a spent quota
_RATE_SECONDS = 1.0  # that "rate_limit" in a refusal is about


class Brave(web.Provider):
    """Brave Search, as its documentation describes it. page_results: the most that a request returns."""

    page_results = MAX_PAGE_RESULTS
    name = "Brave Search"
    endpoint = "https://api.search.brave.com/res/v1/web/search"
    endpoint_variable = "FERRULE_BRAVE_ENDPOINT"
    credentials = CREDENTIALS
    setup = web.Setup(
        "web_search_brave",
        "an API key",
        "Brave Search offers 2,000 free searches/month.",
        [web.Step("Get your key", "your-api-key-here")],
    )
    extra_snippets: ClassVar[Mapping[str, object]] = {"extra_snippets": "true"}
    quota_spent = "Rate limit exceeded. You've used your free search quota (2,000/month)."
    codes: ClassVar[Mapping[str, str]] = {
        "SUBSCRIPTION_TOKEN_INVALID": "AUTH_INVALID",
        "RATE_LIMITED": "RATE_LIMIT",
        _QUOTA_LIMITED: "RATE_LIMIT",
        "OPTION_NOT_IN_PLAN": "API_ERROR",
        "VALIDATION": "API_ERROR",
        "API_VERSION_NOT_FOUND": "API_ERROR",
    }

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """Brave takes the key in a header."""
        return web.Request(headers={"X-Subscription-Token": keys["api_key"]})

    def plan(self, query: web.Query) -> web.Plan:
        """As few requests as the results take; with a filter, as many more as it needs."""
        domains, most = query.domains, self.page_results
        if not domains.is_active:
            return web.Plan(_requests(query.text, pages(query.offset, query.limit, most)))
        text = f"{query.text} {domains.operators(blocked=False)}"
        if not domains.allowed or not fits(text):
            return web.Plan(_requests(query.text, all_pages(0, most)), offset_counts_passing=True)
        if not domains.is_allowed_alone:
            return web.Plan(_requests(text, all_pages(0, most)), offset_counts_passing=True)
        asked_for = pages(query.offset, query.limit, most)
        rest = all_pages(query.offset + query.limit, most)  # for results that are elsewhere in spite of the operators
        return web.Plan(_requests(text, chain(asked_for, rest)))

    def read(self, document: JSONMapping) -> web.Reply:
        """`web.results[]` has title, url and description, page_age or age, and extra_snippets where they are asked for.

        There is no `web` where nothing was found.
        """
        results = web.read_results(
            (document.get("web") or {}).get("results") or [],
            snippet="description",
            published=("page_age", "age"),
            extra_snippets="extra_snippets",
        )
        has_more = (document.get("query") or {}).get("more_results_available")
        return web.Reply(results, has_more=bool(results) and has_more is not False)

    def fault(self, document: JSONMapping) -> web.Fault:
        """`error` has code, detail and meta. A missing token comes as a VALIDATION of the header."""
        error = web.error_object(document)
        if not error:
            return super().fault(document)
        names = [str(error.get("code") or "")]
        meta = _meta(document)
        problems = [problem for problem in meta.get("errors") or [] if isinstance(problem, dict)]
        if any("subscription-token" in str(problem.get("loc")).lower() for problem in problems):
            names.append("SUBSCRIPTION_TOKEN_INVALID")
        details = [str(error.get("detail") or ""), *map(_format_problem, problems[:3]), _format_usage(meta)]
        return web.Fault(tuple(names), " ".join(filter(None, details)))

    def describe_spent(self, quota: web.Quota) -> str:
        """With the number of the plan, where Brave told another one than that of the plan without a price."""
        if quota.limit in (None, _FREE_REQUESTS):
            return self.quota_spent
        return f"Rate limit exceeded. You've used your search quota ({quota.limit:,}/month)."

    def quota(self, response: web.Response, fault: web.Fault) -> web.Quota:
        """`meta` counts the requests of the month, and says how many a second there may be."""
        meta = _meta(response.document or {})
        quota = super().quota(response, fault)
        limit = _number(meta, "quota_limit")
        is_spent = 0 < limit <= _number(meta, "quota_current")
        if quota.is_spent or is_spent or _QUOTA_LIMITED in fault.names:
            spent = web.Quota.of_spent_plan(response)
            return spent._replace(limit=limit) if is_spent else spent
        rate = _number(meta, "rate_limit")
        if rate <= 0 or response.windows:
            return quota
        return web.Quota.of_short_limit(response, _RATE_SECONDS)._replace(pace=(rate, _RATE_SECONDS))


def fits(text: str) -> bool:
    """Whether Brave takes a query of this length."""
    return len(text) <= MAX_QUERY_CHARS and len(text.split()) <= MAX_QUERY_WORDS


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call that the schema cannot say."""
    query, offset, count = arguments["query"], arguments.get("offset", 0), count_of(arguments)
    found = web.findings(arguments)
    if not fits(query):
        found.append(f"query: Brave Search takes {MAX_QUERY_CHARS} characters and {MAX_QUERY_WORDS} words at most")
    if offset + count > MAX_RESULTS:
        found.append(
            f"offset: Brave Search serves the first {MAX_RESULTS} results, and "
            + (f"offset + count is {offset + count:,}" if "count" in arguments else f"offset is {offset:,}")
        )
    return found


def count_of(arguments: JSONMapping) -> int:
    """How many results to return: those that are asked for, else ten, or as many as Brave still serves there."""
    count: int = arguments.get("count") or min(DEFAULT_RESULTS, MAX_RESULTS - arguments.get("offset", 0))
    return max(1, count)


def pages(offset: int, count: int, most: int = MAX_PAGE_RESULTS) -> list[tuple[int, int]]:
    """The fewest pages that hold the results from `offset` on, as (results of a page, number of the page).

    most: results of a page.

    >>> pages(10, 10), pages(5, 10), pages(19, 20)
    ([(10, 1)], [(15, 0)], [(20, 0), (20, 1)])
    """
    last = offset + count - 1
    for size in range(count, most + 1):
        if offset // size == last // size < PAGES:
            return [(size, offset // size)]
    return [(most, number) for number in range(offset // most, last // most + 1)]


def all_pages(place: int = 0, most: int = MAX_PAGE_RESULTS) -> list[tuple[int, int]]:
    """The largest pages, of `most` results, from the one on that holds the result at a place."""
    return [(most, number) for number in range(place // most, PAGES)]


def _requests(text: str, numbered: Iterable[tuple[int, int]]) -> Iterator[web.Page]:
    for size, number in numbered:
        yield web.Page({"q": text, "count": size, "offset": number}, first=size * number)


def _meta(document: JSONMapping) -> JSONMapping:
    meta = web.error_object(document).get("meta")
    return meta if isinstance(meta, dict) else {}


def _format_problem(problem: JSONMapping) -> str:
    place = problem.get("loc")
    where = ".".join(map(str, place)) if isinstance(place, list) else ""
    return f"{where}: {problem.get('msg')}."


def _format_usage(meta: JSONMapping) -> str:
    rate, used, quota = (_number(meta, name) for name in ("rate_limit", "quota_current", "quota_limit"))
    if quota <= 0:
        return ""
    return f"({meta.get('plan') or 'this'} plan: {rate:,} a second, {used:,} of {quota:,} used)"


def _number(meta: JSONMapping, name: str) -> int:
    value = meta.get(name)
    return value if isinstance(value, int) else 0
