"""The Exa Search API: what it serves, how it is asked, what it answers, and how it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import ferrule_websearch as web
from ferrule_exa import CREDENTIALS

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 100  # there are no pages
PRICED_RESULTS = 10  # as many as the price of a request includes
MAX_DOMAINS = 600  # Exa takes 1,200 patterns, and a domain is two
DAYS: dict[str, int] = {"day": 1, "week": 7, "month": 31, "year": 365}
_PACE = re.compile(r"(\d{1,4}) requests per second")
_SPENT = 402
_NO_FAULTS_OF_THE_KEY = "ACCESS_DENIED FEATURE_DISABLED PROHIBITED_CONTENT CONTENT_FILTER_ERROR ROBOTS_FILTER_FAILED"


class Exa(web.Provider):
    """Exa Search, as its reference describes it."""

    name = "Exa"
    endpoint = "https://api.exa.ai/search"
    endpoint_variable = "FERRULE_EXA_ENDPOINT"
    method = "POST"
    credentials = CREDENTIALS
    setup = web.Setup(
        "web_search_exa",
        "an API key",
        "Exa offers $10 of free credits/month, which are 1,400 searches.",
        [web.Step("Get your key", "your-api-key-here")],
    )
    quota_spent = "Rate limit exceeded. The credits of your Exa account, or the budget of your key, are used up."
    codes: ClassVar[Mapping[str, str]] = dict.fromkeys(_NO_FAULTS_OF_THE_KEY.split(), "API_ERROR")
    statuses: ClassVar[Mapping[int, str]] = {**web.Provider.statuses, _SPENT: "RATE_LIMIT"}
    hints: ClassVar[Mapping[int, str]] = {
        _SPENT: "Add credits at https://dashboard.exa.ai/, or raise the key's budget."
    }

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """Exa takes the key in a header. Its excerpts of the pages, the highlights, cost nothing."""
        return web.Request({"type": "auto", "contents": {"highlights": True}}, {"x-api-key": keys["api_key"]})

    def plan(self, query: web.Query) -> web.Plan:
        """One request: Exa filters domains itself, by one of two lists, and has no pages."""
        filtering: JSONObject = {}
        if query.domains.allowed:
            filtering = {"includeDomains": _patterns(query.domains.allowed)}
        elif query.domains.blocked:
            filtering = {"excludeDomains": _patterns(query.domains.blocked[:MAX_DOMAINS])}
        return web.plan_without_pages(
            query, MAX_RESULTS, lambda number: {"query": query.text, "numResults": number, **filtering}
        )

    def read(self, document: JSONMapping) -> web.Reply:
        """`results[]` has title, url, publishedDate and highlights, a list of texts."""
        results = [_read_result(hit) for hit in document["results"]]
        return web.Reply(results, has_more=bool(results))

    def fault(self, document: JSONMapping) -> web.Fault:
        """`error` is a sentence, `tag` its name, which is missing where requests came too fast."""
        tag = document.get("tag")
        return super().fault(document)._replace(names=(tag,) if isinstance(tag, str) else ())

    def quota(self, response: web.Response, fault: web.Fault) -> web.Quota:
        """Status 402 is about money, 429 about the requests in a second, whose number its sentence tells."""
        if response.status == _SPENT:
            return web.Quota.of_spent_plan(response)
        pace = _PACE.search(fault.text)
        quota = web.Quota.of_short_limit(response, 1.0 if pace else None)._replace(is_spent=False)
        return quota._replace(pace=(int(pace[1]), 1.0)) if pace and int(pace[1]) else quota


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call that the schema cannot say."""
    found = [*web.findings(arguments), *web.range_findings(Exa.name, arguments, MAX_RESULTS)]
    if len(arguments.get("allowed_domains") or []) > MAX_DOMAINS:
        found.append(f"allowed_domains: Exa takes {MAX_DOMAINS} domains at most")
    return found


def parameters_of(arguments: JSONMapping) -> JSONObject:
    """What a request has besides the query, its number of results and the domains."""
    if not arguments.get("time_range"):
        return {}
    return {"startPublishedDate": web.days_ago(DAYS[arguments["time_range"]])}


def _read_result(hit: object) -> web.Result | None:
    """A result, whose first highlight is the snippet, and the others are more text of the page."""
    if not isinstance(hit, dict):
        return None
    highlights = hit.get("highlights")
    first, *more = highlights if isinstance(highlights, list) and highlights else [highlights]
    return web.make_result(
        hit.get("title"), hit.get("url"), first, html=False, published=hit.get("publishedDate"), extra_snippets=more
    )


def _patterns(domains: tuple[str, ...]) -> list[str]:
    """The domains in Exa's words: `example.com` itself, and `*.example.com` beneath it, except for an address."""
    own = [domain for domain in domains if "." in domain]
    return own + [f"*.{domain}" for domain in domains if not domain[-1].isdigit()]
