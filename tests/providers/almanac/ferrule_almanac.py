"""The tool `web_search_almanac`: searches a provider that there is not, with all that search tools have in common."""

from collections.abc import Mapping
from typing import Any

from ferrule import Context, Credential, hookimpl, static_schema
from ferrule_websearch import Plan, Provider, Query, Reply, Request, findings, pages_from, result, search

KEY = Credential("api_key", environment="ALMANAC_API_KEY", path="web_search.almanac.api_key")


class Almanac(Provider):
    name = "Almanac"
    endpoint = "https://almanac.example/search"
    endpoint_variable = "FERRULE_ALMANAC_ENDPOINT"
    credentials = (KEY,)

    def request(self, keys: Mapping[str, str]) -> Request:
        return Request(headers={"Authorization": f"Bearer {keys['api_key']}"})

    def plan(self, query: Query) -> Plan:
        pages = pages_from(0, 25, 100, lambda place, size: {"q": query.text, "from": str(place), "size": str(size)})
        return Plan(pages, offset_of_passing=True)

    def read(self, document: Mapping[str, Any]) -> Reply:
        hits = document["hits"]
        return Reply([result(hit["name"], hit["link"], hit["text"]) for hit in hits], more=len(hits) == 25)


@hookimpl
def schema() -> dict[str, Any]:
    return static_schema(__file__)


@hookimpl
def credentials() -> list[Credential]:
    return [KEY]


@hookimpl
def validate(arguments: dict[str, Any]) -> list[str]:
    return findings(arguments)


@hookimpl
def execute(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    query = Query.of(arguments, offset=0, limit=arguments.get("count", 10))
    return search(Almanac(), query, context)
