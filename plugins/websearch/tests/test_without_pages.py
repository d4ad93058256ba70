"""Providers that have no pages, take instants, and have domains of their own means: what a plan and a manifest say."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ferrule_websearch import (
    DomainFilter,
    Page,
    Query,
    Reply,
    Result,
    SearchRequest,
    count_of,
    days_ago,
    plan_without_pages,
    range_findings,
)
from ferrule_websearch.manifest import InvalidManifest, read_manifest
from ferrule_websearch.pagination import collect
from ferrule_websearch.query_mapping import map_query


def found(query: Query, hosts: list[str], most: int = 100) -> tuple[list[str], list[int]]:
    """The URLs that a provider with results on these hosts comes to, and the numbers it is asked for."""
    numbers: list[int] = []

    def ask(page: Page) -> Reply:
        number = page.params["number"]
        assert isinstance(number, int)
        numbers.append(number)
        return Reply([Result("", f"https://{host}/{place}", "") for place, host in enumerate(hosts[:number])])

    results = collect(plan_without_pages(query, most, lambda number: {"number": number}), query, ask).results
    return [result.url for result in results], numbers


BLOCKED = DomainFilter(blocked=("b.example",))


@pytest.mark.parametrize(
    ("offset", "limit", "domains", "hosts", "places", "numbers"),
    [
        pytest.param(0, 3, DomainFilter(), ["a.example"] * 50, [0, 1, 2], [3], id="the-first"),
        pytest.param(4, 3, DomainFilter(), ["a.example"] * 50, [4, 5, 6], [7], id="those-from-an-offset-on"),
        pytest.param(95, 9, DomainFilter(), ["a.example"] * 200, [95, 96, 97, 98, 99], [100], id="at-the-end"),
        pytest.param(0, 3, BLOCKED, ["a.example"] * 50, [0, 1, 2], [3], id="the-provider-filters"),
        pytest.param(0, 3, BLOCKED, ["a.example", "b.example"] * 50, [0, 2, 4], [3, 23], id="it-does-not"),
        pytest.param(
            2, 3, BLOCKED, ["a.example", "b.example"] * 50, [4, 6, 8], [5, 25], id="the-offset-counts-passing"
        ),
        pytest.param(0, 5, BLOCKED, ["a.example", "b.example"], [0], [5], id="fewer-came-than-were-asked-for"),
        pytest.param(90, 10, BLOCKED, ["b.example"] * 200, [], [100], id="no-more-are-served"),
    ],
)
def test_what_is_asked_for_where_there_are_no_pages(
    offset: int, limit: int, domains: DomainFilter, hosts: list[str], places: list[int], numbers: list[int]
) -> None:
    urls, asked = found(Query("q", offset, limit, domains), hosts)
    assert [int(url.rpartition("/")[2]) for url in urls] == places
    assert asked == numbers


@pytest.mark.parametrize(
    ("arguments", "count", "findings"),
    [
        ({}, 10, []),
        ({"count": 3, "offset": 17}, 3, []),
        ({"offset": 15}, 5, []),
        ({"offset": 20}, 1, ["offset: X serves the first 20 results, and offset + count is 21"]),
        ({"count": 6, "offset": 15}, 6, ["offset: X serves the first 20 results, and offset + count is 21"]),
    ],
)
def test_where_only_the_default_does_not_fit_less_is_asked_for(
    arguments: dict[str, Any], count: int, findings: list[str]
) -> None:
    assert count_of(arguments, 20) == count
    assert range_findings("X", arguments, 20) == findings


def test_an_instant_some_days_ago_is_in_iso_8601() -> None:
    text = days_ago(7)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text)
    assert timedelta(0) <= datetime.now(UTC) - timedelta(days=7) - datetime.fromisoformat(text) < timedelta(minutes=5)


PROVIDER: dict[str, Any] = {"tool": "web_search_x", "provider": "x:X", "operators": False}


def test_a_provider_gets_the_instant_and_the_sites_outside_of_the_query() -> None:
    age = {"as": "since", "values": {"week": 7}, "days_ago": True}
    limits = {"sites": 50, "characters": 40}
    manifest = read_manifest(
        {**PROVIDER, "limits": limits, "parameters": {"time_range": age, "site": {"as": "domains", "list": True}}}
    )
    sites = [f"a-domain-with-a-long-name-{n}.example" for n in range(60)]
    mapping = map_query(manifest, SearchRequest("some words", 5, sites, time_range="week"))
    assert [len(query.domains.allowed) for query in mapping.queries] == [50, 10]
    assert {query.text for query in mapping.queries} == {"some words"}
    since = datetime.fromisoformat(str(mapping.queries[0].parameters["since"]))
    assert timedelta(0) <= datetime.now(UTC) - timedelta(days=7) - since < timedelta(minutes=5)
    assert [name for name, _ in map_query(manifest, SearchRequest("q", 5, time_range="year")).ignored] == ["time_range"]


@pytest.mark.parametrize("rule", [{"values": {"day": "24h"}}, {}])
def test_days_ago_without_numbers_of_days_is_no_manifest(rule: dict[str, Any]) -> None:
    parameters = {"time_range": {"as": "since", "days_ago": True, **rule}}
    with pytest.raises(InvalidManifest, match="needs numbers of days"):
        read_manifest({**PROVIDER, "parameters": parameters})
