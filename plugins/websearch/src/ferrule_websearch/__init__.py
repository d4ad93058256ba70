"""Public: what search tools have in common. A provider says what is its own, and the rest is here.

    from ferrule_websearch import Page, Plan, Provider, Query, Reply, findings, read_results, search

    class Almanac(Provider):
        name = "Almanac"
        endpoint = "https://almanac.example/search"
        endpoint_variable = "FERRULE_ALMANAC_ENDPOINT"

        def plan(self, query):
            return Plan([Page({"q": query.text}, first=0)])

        def read(self, document):
            return Reply(read_results(document["hits"], "name", "link", "text"), has_more=False)

    @hookimpl
    def validate(arguments):
        return findings(arguments)

    @hookimpl
    def execute(arguments, context):
        return search(Almanac(), Query.of(arguments, offset=0, limit=arguments.get("count", 10)), context)

For a provider: `Provider`, and what its methods take and return: `Request`, `Query`, `Plan` of `Page`s (`pages_from`,
`plan_without_pages`), `Reply` of `Result`s (`read_results`, `make_result`, `plain_text`, `parse_date`), `days_ago`,
`Response`, `Fault`, `Quota`, `error_object`; `Setup` and its `Step`s are the texts of a missing key. `search` and
`findings` are its tool's `execute` and `validate`; `count_of` and `range_findings` read `offset` and `count`.
`SearchManifest` is the data by which a general search uses it, described in `ferrule_websearch.manifest`.

For a general search: `installed_providers`, `find_unconfigured`, `probe_providers`, `SearchProvider.search`, which asks
one for a `SearchRequest` within a time, under a circuit breaker that all processes share, and returns an `Attempt`;
`is_client_error`, `format_seconds` and `fit_results` for its answer, `max_requests`, the bound on what one question
costs, and `configuration_folder` for files of the admin.

For whatever else keeps a pace that processes share: `RateLimiter` (raises `TurnTooLate`), `CircuitBreaker`.

For domains: `DomainFilter`, `normalise_domain` (raises `InvalidDomain`), `host_of`.

Needs the extra `ferrule[http]`. Import it inside `validate` and `execute`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.lazy import attach
from ferrule.text.plain_text import plain_text
from ferrule_websearch.domains import DomainFilter, InvalidDomain, host_of, normalise_domain
from ferrule_websearch.errors import format_seconds
from ferrule_websearch.pace.request_budget import max_requests
from ferrule_websearch.pagination import (
    Page,
    Plan,
    Query,
    Reply,
    count_of,
    findings,
    pages_from,
    plan_without_pages,
    range_findings,
)
from ferrule_websearch.pipeline import fit_results, search
from ferrule_websearch.provider import Fault, Provider, Quota, Request, Response, error_object
from ferrule_websearch.publication_date import days_ago, parse_date
from ferrule_websearch.results import Result, make_result, read_results
from ferrule_websearch.setup import Setup, Step

if TYPE_CHECKING:
    from ferrule_websearch.manifest import SearchManifest
    from ferrule_websearch.pace.circuit_breaker import CircuitBreaker
    from ferrule_websearch.pace.rate_limiter import RateLimiter, TurnTooLate
    from ferrule_websearch.query_mapping import SearchRequest
    from ferrule_websearch.registry import (
        Attempt,
        SearchProvider,
        configuration_folder,
        find_unconfigured,
        installed_providers,
        is_client_error,
        probe_providers,
    )

__all__ = [
    "Attempt",
    "CircuitBreaker",
    "DomainFilter",
    "Fault",
    "InvalidDomain",
    "Page",
    "Plan",
    "Provider",
    "Query",
    "Quota",
    "RateLimiter",
    "Reply",
    "Request",
    "Response",
    "Result",
    "SearchManifest",
    "SearchProvider",
    "SearchRequest",
    "Setup",
    "Step",
    "TurnTooLate",
    "configuration_folder",
    "count_of",
    "days_ago",
    "error_object",
    "find_unconfigured",
    "findings",
    "fit_results",
    "format_seconds",
    "host_of",
    "installed_providers",
    "is_client_error",
    "make_result",
    "max_requests",
    "normalise_domain",
    "pages_from",
    "parse_date",
    "plain_text",
    "plan_without_pages",
    "probe_providers",
    "range_findings",
    "read_results",
    "search",
]

_REGISTRY = (
    "Attempt SearchProvider configuration_folder find_unconfigured installed_providers is_client_error probe_providers"
)

__getattr__ = attach(
    __name__,
    {
        **dict.fromkeys(_REGISTRY.split(), "ferrule_websearch.registry"),
        **dict.fromkeys(("RateLimiter", "TurnTooLate"), "ferrule_websearch.pace.rate_limiter"),
        "CircuitBreaker": "ferrule_websearch.pace.circuit_breaker",
        "SearchManifest": "ferrule_websearch.manifest",
        "SearchRequest": "ferrule_websearch.query_mapping",
    },
)
