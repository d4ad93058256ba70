"""web_search with a SearXNG instance of the user among its providers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule_dev.testing import Server, refused_port
from ferrule_testkit.search.searxng import Instance, SearXNG, engine, find_pages
from ferrule_testkit.search.server import asked, some_hits
from ferrule_testkit.web.research_web import Web, research_web

pytestmark = pytest.mark.process
FIRST = {"FERRULE_SEARCH_ROUTING": "searxng,brave"}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with research_web(tmp_path) as web:
        yield web


@pytest.mark.slow
def test_without_an_instance_it_is_left_out_and_alone_it_says_how_to_name_one(web: Web) -> None:
    assert web.found(environment=FIRST)["_meta"]["routing"]["providers_attempted"] == ["brave"]
    told = web.search(provider="searxng").document
    assert (told["error_code"], told["kind"], told["retryable"]) == ("CONFIG_ERROR", "config", False)
    assert told["error"] == (
        "SearXNG is a server of your own, and its URL is not set. Set FERRULE_SEARXNG_URL, or url in "
        "[tools.web_search_searxng] of config.toml, to the URL of your server."
    )


def test_the_admin_names_it_in_a_table(web: Web) -> None:
    with Server() as server:
        server.route("*", SearXNG(some_hits(30, "searxng.example")))
        web.configure(f'[tools.web_search_searxng]\nurl = "{server.url}"')
        found = web.found(num_results=10, environment=FIRST)
        assert found["urls"] == [f"https://searxng.example/{n}" for n in range(10)]
        assert found["results"][0]["published"] == "2026-01-02T03:04:05"
        assert found["_meta"]["routing"]["requests"] == {"searxng": 1}
        assert [one["pageno"] for one in asked(server)] == ["1"]


@pytest.mark.slow
def test_another_provider_is_asked_where_the_instance_does_not_run_or_its_engines_do_not_answer(web: Web) -> None:
    with Server() as server:
        server.route("*", SearXNG(unresponsive=[["bing", "timeout"]]))
        for url in (server.url, f"http://127.0.0.1:{refused_port()}"):
            routing = web.found(environment={**FIRST, "FERRULE_SEARXNG_URL": url})["_meta"]["routing"]
            assert (routing["provider_used"], routing["providers_attempted"]) == ("brave", ["searxng", "brave"])


@pytest.mark.slow
def test_a_real_instance_is_asked_in_its_own_words(web: Web, tmp_path: Path) -> None:
    with Server() as engines, Instance(tmp_path, [engine("web", engines)]) as instance:
        engines.route("*", find_pages(25))
        environment = {**FIRST, "FERRULE_SEARXNG_URL": instance.url}
        wanted = {"time_range": "week", "safe": "high", "language": "de", "site": "example.org"}
        found = web.found("rain", num_results=2, environment=environment, **wanted)
        assert found["urls"] == ["https://docs.example.org/0", "https://docs.example.org/2"]
        assert found["_meta"]["routing"]["requests"] == {"searxng": 1}
        assert asked(engines) == [
            {"q": "rain site:example.org", "page": "1", "lang": "de", "hours": "168", "filter": "strict"}
        ]
