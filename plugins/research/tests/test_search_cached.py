"""A search that is cached: given again to the same call, and to no other that could have another answer."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from ferrule_testkit.search.server import Brave, Google, some_hits
from ferrule_testkit.web.loopback import Exchange
from ferrule_testkit.web.research_web import Web, research_web

pytestmark = pytest.mark.process


CACHE = {"FERRULE_WRAPPERS": "cache"}
BASE = {"num_results": 3, "time_range": "day", "safe": "high", "language": "de", "site": "brave.example"}
MUTATIONS = [
    {"num_results": 4},
    {"time_range": "week"},
    {"safe": "off"},
    {"language": "en"},
    {"site": "www.brave.example"},
    {"exact_terms": "a b"},
    {"exclude_terms": "a b"},
    {"country": "DE"},
    {"lens": "docs"},
    {"provider": "brave"},
    {"sessionId": "s"},
    {"claim": "c"},
]


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with research_web(tmp_path) as web:
        web.brave.route("*", Brave(some_hits(3, "brave.example")))
        yield web


def requests(web: Web) -> int:
    return len(web.asked_brave) + len(web.asked_google)


def test_the_same_search_asks_nobody_a_second_time(web: Web) -> None:
    first = web.found(environment=CACHE)
    assert web.found(environment=CACHE)["results"] == first["results"]
    assert requests(web) == 1


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: next(iter(mutation)))
def test_no_parameter_is_left_out_of_what_makes_two_searches_equal(web: Web, mutation: dict[str, str]) -> None:
    web.found(environment=CACHE, **BASE)
    before = requests(web)
    web.found(environment=CACHE, **{**BASE, **mutation})
    assert requests(web) > before


def test_terms_are_not_joined_into_what_others_come_to_as_well(web: Web) -> None:
    web.found(environment=CACHE, exact_terms="a|b", exclude_terms="")
    web.found(environment=CACHE, exact_terms="a", exclude_terms="b|")
    assert requests(web) == 2


@pytest.mark.parametrize(
    "setting",
    [
        {"SEARCH_ROUTING": "google"},
        {"FERRULE_SEARCH_ROUTING": "google"},
        {"BRAVE_API_KEY": ""},
        {"FERRULE_DISABLE": "web_search_brave"},
        {"GOOGLE_SEARCH_ENGINE_ID": "another-engine"},
    ],
    ids=lambda setting: next(iter(setting)),
)
def test_other_providers_or_keys_make_another_search(web: Web, setting: dict[str, str]) -> None:
    web.found(environment=CACHE)
    before = requests(web)
    web.found(environment={**CACHE, **setting})
    assert requests(web) == before + 1
    web.found(environment=CACHE)
    assert requests(web) == before + 1


def test_a_lens_that_was_changed_is_searched_anew(web: Web) -> None:
    web.lens("mine.json", '{"sites": ["brave.example"]}')
    for _ in range(2):
        web.found(environment=CACHE, lens="mine", num_results=1)
    before = requests(web)
    web.lens("mine.json", '{"sites": ["www.brave.example", "brave.example"]}')
    web.found(environment=CACHE, lens="mine", num_results=1)
    assert requests(web) > before


def test_the_settings_of_a_providers_own_tool_count(web: Web) -> None:
    web.found(environment=CACHE)
    web.configure("[tools.web_search_brave]\nsomething = 5")
    web.found(environment=CACHE)
    assert requests(web) == 2


def test_a_failure_is_not_given_again(web: Web) -> None:
    web.brave.route("*", lambda exchange: exchange.answer(b"{}", "application/json", status=503))
    web.search(provider="brave", environment=CACHE)
    web.brave.route("*", Brave(some_hits(3)))
    assert web.found(provider="brave", environment=CACHE)["resultCount"] == 3


def test_a_result_from_which_sites_are_missing_is_not_given_again(web: Web) -> None:
    sites = [f"s{number:02}.example" for number in range(12)]
    web.lens("mine.json", json.dumps({"sites": sites}))
    google = Google(some_hits(5, "s00.example") + some_hits(5, "s11.example"), heeds_sites=True)

    def half(exchange: Exchange) -> None:
        if "s11.example" in unquote(exchange.path):
            exchange.answer(b"{}", "application/json", status=500)
        else:
            google(exchange)

    web.google.route("*", half)
    search = {"lens": "mine", "provider": "google", "environment": CACHE}
    first = web.found(**search)
    assert first["_meta"]["routing"]["incomplete"]
    web.google.route("*", google)
    assert "incomplete" not in web.found(**search)["_meta"]["routing"]
    before = requests(web)
    assert "https://s11.example/0" in web.found(**search)["urls"]
    assert requests(web) == before
