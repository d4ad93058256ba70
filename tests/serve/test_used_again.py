"""The shipped tools that declare that their processes may be used again: a call leaves nothing changed in them."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Environment, Exchange, Server
from ferrule_serve.pool import Pool
from ferrule_testkit.search.kinds import (
    BRAVE_IMAGES_PATH,
    BRAVE_NEWS_PATH,
    brave_images,
    brave_news,
    gdelt_articles,
    sends,
)
from ferrule_testkit.search.papers import PAPER_CALLS, PAPERS_PATH, answer_papers, paper_endpoints
from ferrule_testkit.search.patents import KEYS as OFFICE_KEYS
from ferrule_testkit.search.patents import put_up_offices
from ferrule_testkit.search.posted import EXA_KEY, TAVILY_KEY, Exa, Tavily
from ferrule_testkit.search.searxng import SearXNG
from ferrule_testkit.search.server import BRAVE_PATH, GOOGLE_PATH, KEYS, Brave, Google, Hit
from ferrule_testkit.serve.pool import assert_used_again

pytestmark = pytest.mark.process
ROOT = Path(__file__).parents[2]
KEYS_OF_ALL = {**KEYS, **OFFICE_KEYS, "TAVILY_API_KEY": TAVILY_KEY, "EXA_API_KEY": EXA_KEY}
SEARCH = {"query": "some words"}
PAGE = "<!DOCTYPE html><title>Weather</title><main><h1>Oslo</h1><p>Rain, says the page, and more of it.</p></main>"
CALLS: dict[str, dict[str, Any]] = {
    "example": {"city": "Oslo"},
    "web_search_brave": SEARCH,
    "web_search_google": SEARCH,
    "web_search_tavily": SEARCH,
    "web_search_exa": SEARCH,
    "web_search_searxng": SEARCH,
    "web_search": SEARCH,
    "search_and_scrape": SEARCH,
    "sequential_search": {"searchStep": "Look around.", "stepNumber": 1, "nextStepNeeded": False},
    "news_search": SEARCH,
    "news_search_gdelt": SEARCH,
    "image_search": SEARCH,
    "patent_search": SEARCH,
    "patent_search_epo": SEARCH,
    "patent_search_uspto": SEARCH,
    "web_fetch": {},
    "scrape_page": {},
    **PAPER_CALLS,
}


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers as each provider does, by pages of its own, and with a page."""
    with Server() as server:
        hits = [Hit(f"Title {number}", f"{server.url}/oslo/{number}", "Text") for number in range(7)]
        routes: dict[str, Callable[[Exchange], None]] = {
            BRAVE_PATH: Brave(hits),
            GOOGLE_PATH: Google(hits),
            "/tavily": Tavily(hits),
            "/exa": Exa(hits),
            "/search": SearXNG(hits),
            "/gdelt": sends(gdelt_articles(hits)),
            BRAVE_NEWS_PATH: sends(brave_news(hits)),
            BRAVE_IMAGES_PATH: sends(brave_images(hits)),
            PAPERS_PATH: answer_papers,
        }

        def answer(exchange: Exchange) -> None:
            found = [route for path, route in routes.items() if exchange.path.startswith(path)]
            found[0](exchange) if found else exchange.answer(PAGE.encode(), "text/html")

        server.route("*", answer)
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("tool", CALLS)
def test_a_process_of_the_tool_takes_one_call_after_the_other(
    tool: str, server: Server, ferrule_environment: Environment, tmp_path: Path
) -> None:
    endpoints = {"BRAVE": BRAVE_PATH, "GOOGLE": GOOGLE_PATH, "TAVILY": "/tavily", "EXA": "/exa", "GDELT": "/gdelt"}
    offices = put_up_offices(server)
    environment = {
        **ferrule_environment.variables,
        **KEYS_OF_ALL,
        **{f"FERRULE_{name}_ENDPOINT": server.url + path for name, path in endpoints.items()},
        **offices,
        **paper_endpoints(server),
        "FERRULE_SEARXNG_URL": server.url,
        "FERRULE_FETCH_ALLOW": "loopback",
        "FERRULE_WRAPPERS": "artifacts",  # the cache would answer
        "FERRULE_STATE": str(tmp_path),
    }

    async def call() -> None:
        async with Pool(environment=environment) as pool:
            await assert_used_again(pool, tool, CALLS[tool] or {"url": server.url + "/oslo"})

    asyncio.run(call())


def test_each_tool_that_declares_it_is_called_here_or_with_its_own_tests() -> None:
    declared = [
        path for path in (ROOT / "plugins").glob("*/src/**/tool.json") if json.loads(path.read_text()).get("reusable")
    ]
    elsewhere = {path.parent.name for path in declared if path.parents[1].name == "ferrule_opennotes"}
    assert len(declared) - len(elsewhere) == len(CALLS)
    assert elsewhere == {"create", "get", "list", "notebooks", "search", "views"}
