"""The web of a user who has every key: a page, and each provider of search, all of one server on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule_testkit.search.papers import PAPER_CALLS, PAPERS_PATH, answer_papers, paper_endpoints
from ferrule_testkit.search.posted import EXA_KEY, TAVILY_KEY, Exa, Tavily
from ferrule_testkit.search.searxng import SearXNG
from ferrule_testkit.search.server import BRAVE_PATH, GOOGLE_PATH, KEYS, Brave, Google, endpoints, some_hits

if TYPE_CHECKING:
    from ferrule_dev.testing import Server

TITLE = "Tea"
_PAGE = f"<title>{TITLE}</title><h1>{TITLE}</h1><p>A <b>strong</b> brew. {'It is served hot. ' * 20}</p>"
_HITS = 5
_LATER_KEYS = {"TAVILY_API_KEY": TAVILY_KEY, "EXA_API_KEY": EXA_KEY}


def put_up(server: Server) -> dict[str, str]:
    """Have the server answer as all of them; the variables by which tools ask it."""
    hits = some_hits(_HITS)
    server.page("/tea", _PAGE)
    server.route(BRAVE_PATH, Brave(hits))
    server.route(GOOGLE_PATH, Google(hits))
    server.route("/tavily", Tavily(hits))
    server.route("/exa", Exa(hits))
    server.route("/search", SearXNG(hits))
    for path in ("/works", "/works/W1"):
        server.route(f"{PAPERS_PATH}{path}", answer_papers)
    return {
        **KEYS,
        **_LATER_KEYS,
        **endpoints(server),
        **paper_endpoints(server),
        "FERRULE_TAVILY_ENDPOINT": f"{server.url}/tavily",
        "FERRULE_EXA_ENDPOINT": f"{server.url}/exa",
        "FERRULE_FETCH_ALLOW": "loopback",
    }


def arguments(tool: str, server: Server) -> dict[str, Any]:
    """Arguments with which a tool of the project succeeds."""
    if tool.startswith("web_search"):
        return {"query": "tea"}
    return {
        **PAPER_CALLS,
        "example": {"city": "Oslo"},
        "web_fetch": {"url": f"{server.url}/tea"},
        "scrape_page": {"url": f"{server.url}/tea"},
        "opennotes_get": {"path": "tea.md"},
        "opennotes_search": {"query": "tea"},
    }.get(tool, {})


def expected(tool: str) -> str:
    """A text that stands in the tool's answer."""
    if tool.startswith("web_search"):
        return "Title 0"
    return {"example": "Hello, Oslo!", "web_fetch": "strong", "scrape_page": "strong"}.get(tool, "")
