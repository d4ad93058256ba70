"""The tool `web_search_almanac`: searches a provider that there is not, with all that search tools have in common."""

from collections.abc import Mapping

from ferrule import Context, Credential, JSONObject, hookimpl, static_schema
from ferrule_websearch import Plan, Provider, Query, Reply, Request, findings, pages_from, read_results, search

KEY = Credential("api_key", environment="ALMANAC_API_KEY", path="web_search.almanac.api_key")


class Almanac(Provider):
    name = "Almanac"
    endpoint = "https://almanac.example/search"
    endpoint_variable = "FERRULE_ALMANAC_ENDPOINT"
    credentials = (KEY,)

    def request(self, keys: Mapping[str, str]) -> Request:
        return Request(headers={"Authorization": f"Bearer {keys['api_key']}"})

    def plan(self, query: Query) -> Plan:
        pages = pages_from(0, 25, 100, lambda place, size: {"q": query.text, "from": place, "size": size})
        return Plan(pages, offset_counts_passing=True)

    def read(self, document: JSONObject) -> Reply:
        hits = document["hits"]
        return Reply(read_results(hits, "name", "link", "text"), has_more=len(hits) == 25)


@hookimpl
def schema() -> JSONObject:
    return static_schema(__file__)


@hookimpl
def credentials() -> list[Credential]:
    return [KEY]


@hookimpl
def validate(arguments: JSONObject) -> list[str]:
    return findings(arguments)


@hookimpl
def execute(arguments: JSONObject, context: Context) -> JSONObject:
    query = Query.of(arguments, offset=0, limit=arguments.get("count", 10))
    return search(Almanac(), query, context)
