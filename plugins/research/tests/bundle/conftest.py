"""A search that finds pages of a server on loopback, and the executable of search_and_scrape."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Server, refused_port
from ferrule_testkit.search.server import Brave, Hit
from ferrule_testkit.web.research_web import Web, research_web

Bundle = Callable[..., dict[str, Any]]


@pytest.fixture
def web(tmp_path: Path) -> Iterator[Web]:
    with research_web(tmp_path) as web:
        nobody = f"http://127.0.0.1:{refused_port()}"
        own = {"FERRULE_FETCH_ALLOW": "loopback", "FERRULE_CROSSREF_ENDPOINT": nobody, "FERRULE_HN_ENDPOINT": nobody}
        web.environment.update(own)
        yield web


@pytest.fixture
def find(web: Web, server: Server) -> Callable[..., list[str]]:
    """Have the search find these pages of the server, by path, in this order; the URLs."""

    def find(*paths: str) -> list[str]:
        urls = [server.url + path for path in paths]
        web.brave.route("*", Brave([Hit(f"Title of {url}", url, f"Text of {url}") for url in urls]))
        return urls

    return find


@pytest.fixture
def bundle(web: Web) -> Bundle:
    """Call the executable for a query; the document of a call that succeeds."""

    def bundle(query: str = "umbrella history", **arguments: Any) -> dict[str, Any]:
        return web.answer("search_and_scrape", {"query": query, **arguments})

    return bundle
