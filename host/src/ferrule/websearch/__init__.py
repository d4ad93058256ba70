"""Public: what search tools have in common. A tool says what is its provider's own, and the rest is here.

    from ferrule.websearch import Page, Plan, Provider, Query, Reply, findings, result, search

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

Needs the extra `ferrule[http]`. No other module of the host imports it.
"""

from ferrule.websearch.domains import DomainFilter, findings
from ferrule.websearch.paging import Page, Plan, Query, Reply, pages_from
from ferrule.websearch.provider import Answer, Fault, Provider, Quota, Request
from ferrule.websearch.results import Result, plain_text, result
from ferrule.websearch.searching import search

__all__ = [
    "Answer",
    "DomainFilter",
    "Fault",
    "Page",
    "Plan",
    "Provider",
    "Query",
    "Quota",
    "Reply",
    "Request",
    "Result",
    "findings",
    "pages_from",
    "plain_text",
    "result",
    "search",
]
