"""A search that is cached: given again to the same call, and to no other that could have another answer."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from ferrule_dev.testing import Exchange
from ferrule_testkit.search.server import Brave, Google, some_hits
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


@pytest.mark.slow
def test_the_same_search_asks_nobody_a_second_time(web: Web) -> None:
    first = web.found(environment=CACHE)
    assert web.found(environment=CACHE)["results"] == first["results"]
    assert requests(web) == 1


@pytest.mark.slow
def test_blanks_around_texts_and_the_case_of_codes_make_no_other_search(web: Web) -> None:
    web.found("q", environment=CACHE, language="de", country="DE", provider="brave")
    again = web.found("  q \n", environment=CACHE, language="DE", country="de", provider=" Brave")
    assert again["_meta"]["cache"]["cached"]
    assert requests(web) == 1
    web.found("q q", environment=CACHE, language="de", country="DE", provider="brave")
    assert requests(web) == 2


@pytest.mark.slow
def test_a_failure_from_the_cache_says_that_it_is_and_how_old(web: Web) -> None:
    web.brave.route("*", lambda exchange: exchange.answer(b"{}", "application/json", status=429))
    first, second = (web.search(provider="brave", environment=CACHE).document for _ in range(2))
    assert requests(web) == 1
    assert "cache" not in first["error"]
    assert second["error"].startswith(first["error"])
    assert f"from the cache, {second['ageSeconds']} seconds old" in second["error"]
    assert second["cached"] is True


@pytest.mark.slow
def test_a_refused_key_and_a_search_that_found_nothing_are_kept_for_a_minute(web: Web) -> None:
    web.brave.route("*", lambda exchange: exchange.answer(b"{}", "application/json", status=401))
    refused = [web.search(provider="brave", environment=CACHE).document for _ in range(2)]
    assert [(one["error_code"], one.get("cached")) for one in refused] == [
        ("AUTH_INVALID", None),
        ("AUTH_INVALID", True),
    ]
    web.brave.route("*", Brave([]))
    empty = [web.found("other words", provider="brave", environment=CACHE)["_meta"]["cache"] for _ in range(2)]
    assert empty[1]["maxAgeSeconds"] == 60
    assert requests(web) == 2


@pytest.mark.slow
def test_the_language_and_the_time_zone_of_the_caller_make_no_other_search(web: Web) -> None:
    web.found(environment={**CACHE, "LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo"})
    assert web.found(environment={**CACHE, "LANG": "C.UTF-8", "TZ": "UTC"})["_meta"]["cache"]["cached"]
    assert requests(web) == 1


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: next(iter(mutation)))
def test_no_parameter_is_left_out_of_what_makes_two_searches_equal(web: Web, mutation: dict[str, str]) -> None:
    web.found(environment=CACHE, **BASE)
    before = requests(web)
    web.found(environment=CACHE, **{**BASE, **mutation})
    assert requests(web) > before


@pytest.mark.slow
def test_terms_are_not_joined_into_what_others_come_to_as_well(web: Web) -> None:
    web.found(environment=CACHE, exact_terms="a|b", exclude_terms="")
    web.found(environment=CACHE, exact_terms="a", exclude_terms="b|")
    assert requests(web) == 2


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_lens_that_was_changed_is_searched_anew(web: Web) -> None:
    web.lens("mine.json", '{"sites": ["brave.example"]}')
    for _ in range(2):
        web.found(environment=CACHE, lens="mine", num_results=1)
    before = requests(web)
    web.lens("mine.json", '{"sites": ["www.brave.example", "brave.example"]}')
    web.found(environment=CACHE, lens="mine", num_results=1)
    assert requests(web) > before


@pytest.mark.slow
def test_the_settings_of_a_providers_own_tool_count(web: Web) -> None:
    web.found(environment=CACHE)
    web.configure("[tools.web_search_brave]\nsomething = 5")
    web.found(environment=CACHE)
    assert requests(web) == 2


@pytest.mark.slow
def test_a_failure_is_not_given_again(web: Web) -> None:
    web.brave.route("*", lambda exchange: exchange.answer(b"{}", "application/json", status=503))
    web.search(provider="brave", environment=CACHE)
    web.brave.route("*", Brave(some_hits(3)))
    assert web.found(provider="brave", environment=CACHE)["resultCount"] == 3


@pytest.mark.slow
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


# ---- on by default


@pytest.mark.slow
def test_a_search_is_kept_by_default_for_half_an_hour(web: Web) -> None:
    del web.environment["FERRULE_WRAPPERS"]
    assert web.found()["_meta"]["cache"]["cached"] is False
    kept = web.found()["_meta"]["cache"]
    assert (kept["cached"], kept["maxAgeSeconds"]) == (True, 1800)
    assert requests(web) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["wrappers.cache.enabled = false", "wrappers.cache.tools.web_search.seconds = 0", "FERRULE_WRAPPERS"]
)
def test_one_line_switches_the_cache_off(web: Web, line: str) -> None:
    if line != "FERRULE_WRAPPERS":  # which is set, and empty
        del web.environment["FERRULE_WRAPPERS"]
        web.configure(line)
    for _ in range(2):
        assert "cache" not in web.found()["_meta"]
    assert requests(web) == 2


# ---- a Redis that says nothing


def connections(silent: socket.socket) -> int:
    """How many were made since the last time."""
    number = 0
    while True:
        try:
            silent.accept()[0].close()
        except BlockingIOError:
            return number
        number += 1


@pytest.mark.slow
@pytest.mark.parametrize("wrappers", ["", "cache"])
def test_a_redis_that_accepts_and_says_nothing_is_asked_once_in_a_call_then_files_are_used(
    web: Web, wrappers: str
) -> None:
    web.brave.route("*", lambda exchange: exchange.answer(b"{}", "application/json", status=500))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        environment = {"FERRULE_REDIS": f"redis://127.0.0.1:{silent.getsockname()[1]}/0", "FERRULE_WRAPPERS": wrappers}
        for call in range(4):
            done = web.search(environment=environment)
            assert connections(silent) == 1
            assert done.stderr.count(b"Redis cannot be used") == 1
            assert bool(done.document["_meta"].get("cache", {}).get("cached")) == (wrappers == "cache" and call > 0)
    # The breaker counts in files, too, so that the fourth search without a cache leaves Brave alone.
    assert len(web.asked_brave) == (1 if wrappers else 3)
