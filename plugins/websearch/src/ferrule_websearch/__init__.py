"""Public: what search tools have in common. A tool says what is its provider's own, and the rest is here.

    from ferrule_websearch import Page, Plan, Provider, Query, Reply, findings, result, search

    class Almanac(Provider):
        name = "Almanac"
        endpoint = "https://almanac.example/search"
        endpoint_variable = "FERRULE_ALMANAC_ENDPOINT"

        def plan(self, query):
            return Plan([Page({"q": query.text}, first=0)])

        def read(self, document):
            return Reply([result(hit["name"], hit["link"], hit["text"]) for hit in document["hits"]], more=False)

    @hookimpl
    def validate(arguments):
        return findings(arguments)

    @hookimpl
    def execute(arguments, context):
        return search(Almanac(), Query.of(arguments, offset=0, limit=arguments.get("count", 10)), context)

`Provider` says what else there is to say: credentials, quotas, names of errors. `search` gives it

- domain filters, in the way that people write domains, with further pages where they leave too few results;
- plain text where the provider sends markup;
- calls that take turns at the pace that the provider's answers teach, across processes;
- errors with the codes and texts of the web tools, and without keys.

A general search uses whatever providers are installed: `installed` lists them, and `SearchProvider.search` asks one for
what a `Wanted` says, within a time, under a circuit breaker that all processes share. How a provider declares itself is
in `ferrule_websearch.manifest`.

Needs the extra `ferrule[http]`. No other module of the host imports it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.lazy import attach
from ferrule.text.plain_text import plain_text
from ferrule_websearch.domains import DomainFilter, NotADomain, findings, host_of, normalise
from ferrule_websearch.pagination import Page, Plan, Query, Reply, pages_from
from ferrule_websearch.pipeline import search
from ferrule_websearch.provider import Answer, Fault, Provider, Quota, Request
from ferrule_websearch.results import Result, result

if TYPE_CHECKING:
    from ferrule_websearch.query_mapping import Wanted
    from ferrule_websearch.registry import Attempt, SearchProvider, configuration_folder, installed, statuses

__all__ = [
    "Answer",
    "Attempt",
    "DomainFilter",
    "Fault",
    "NotADomain",
    "Page",
    "Plan",
    "Provider",
    "Query",
    "Quota",
    "Reply",
    "Request",
    "Result",
    "SearchProvider",
    "Wanted",
    "configuration_folder",
    "findings",
    "host_of",
    "installed",
    "normalise",
    "pages_from",
    "plain_text",
    "result",
    "search",
    "statuses",
]

__getattr__ = attach(
    __name__,
    {
        "Attempt": "ferrule_websearch.registry",
        "SearchProvider": "ferrule_websearch.registry",
        "configuration_folder": "ferrule_websearch.registry",
        "installed": "ferrule_websearch.registry",
        "statuses": "ferrule_websearch.registry",
        "Wanted": "ferrule_websearch.query_mapping",
    },
)
