"""The Tavily Search API: what it serves, how it is asked, what it answers, and how it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import ferrule_websearch as web
from ferrule_tavily import CREDENTIALS

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 20  # there are no pages
MAX_QUERY_CHARS = 400
MAX_ALLOWED, MAX_BLOCKED = 300, 150  # domains
_SPENT = (432, 433)  # the credits of the plan or the key; what may be paid beyond the plan
_DASHBOARD = "Wait for the next month's credits, or raise the limit at https://app.tavily.com/."


class Tavily(web.Provider):
    """Tavily Search, as its reference describes it."""

    name = "Tavily"
    endpoint = "https://api.tavily.com/search"
    endpoint_variable = "FERRULE_TAVILY_ENDPOINT"
    method = "POST"
    credentials = CREDENTIALS
    setup = web.Setup(
        "web_search_tavily",
        "an API key",
        "Tavily offers 1,000 free searches/month.",
        [web.Step("Get your key", "your-api-key-here")],
    )
    quota_spent = "Rate limit exceeded. The credits of your Tavily plan or key are used up."
    statuses: ClassVar[Mapping[int, str]] = {**web.Provider.statuses, **dict.fromkeys(_SPENT, "RATE_LIMIT")}
    hints: ClassVar[Mapping[int, str]] = dict.fromkeys(_SPENT, _DASHBOARD)

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """Tavily takes the key as a bearer. A basic search costs one credit; dates have to be asked for."""
        parameters = {"search_depth": "basic", "include_published_date": True}
        return web.Request(parameters, {"Authorization": f"Bearer {keys['api_key']}"})

    def plan(self, query: web.Query) -> web.Plan:
        """One request: Tavily filters domains itself, and has no pages."""
        filtering: JSONObject = {}
        if query.domains.allowed:
            filtering = {"include_domains": _patterns(query.domains.allowed), "include_domains_mode": "restrict"}
        if query.domains.blocked:
            filtering["exclude_domains"] = _patterns(query.domains.blocked[:MAX_BLOCKED])
        return web.plan_without_pages(
            query, MAX_RESULTS, lambda number: {"query": query.text, "max_results": number, **filtering}
        )

    def read(self, document: JSONMapping) -> web.Reply:
        """`results[]` has title, url, content and published_date, which are text."""
        results = web.read_results(document["results"], snippet="content", html=False, published="published_date")
        return web.Reply(results, has_more=bool(results))

    def fault(self, document: JSONMapping) -> web.Fault:
        """`detail.error` is a sentence; a parameter of a wrong kind comes as a list of `msg`."""
        detail = document.get("detail")
        if isinstance(detail, list):
            detail = {"error": " ".join(f"{one['msg']}." for one in detail if isinstance(one, dict) and "msg" in one)}
        text = detail.get("error") if isinstance(detail, dict) else detail
        return web.Fault((), text) if isinstance(text, str) else super().fault(document)

    def quota(self, response: web.Response, fault: web.Fault) -> web.Quota:
        """Its statuses tell spent credits from too many requests in a minute."""
        if response.status in _SPENT:
            return web.Quota.of_spent_plan(response)
        return web.Quota.of_short_limit(response)._replace(is_spent=False)


class TavilyNews(Tavily):
    """Tavily's topic of news: what journalists wrote, with dates."""

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """As on the web, with the topic."""
        whole = super().request(keys)
        return whole._replace(params={**whole.params, "topic": "news"})


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call that the schema cannot say."""
    found = [*web.findings(arguments), *web.range_findings(Tavily.name, arguments, MAX_RESULTS)]
    if len(arguments["query"]) > MAX_QUERY_CHARS:
        found.append(f"query: Tavily takes {MAX_QUERY_CHARS} characters at most")
    if len(arguments.get("allowed_domains") or []) > MAX_ALLOWED:
        found.append(f"allowed_domains: Tavily takes {MAX_ALLOWED} domains at most")
    return found


def parameters_of(arguments: JSONMapping) -> JSONObject:
    """What a request has besides the query, its number of results and the domains."""
    return {"time_range": arguments["time_range"]} if arguments.get("time_range") else {}


def _patterns(domains: tuple[str, ...]) -> list[str]:
    """The domains in Tavily's words, which include subdomains; a top-level domain is `*.edu`."""
    return [domain if "." in domain else f"*.{domain}" for domain in domains]
