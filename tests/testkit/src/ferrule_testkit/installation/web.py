"""The web of a user who has every key: a page, and each provider of search, all of one server on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule_testkit.search import kinds, patents
from ferrule_testkit.search.papers import PAPER_CALLS, PAPERS_PATH, answer_papers, paper_endpoints
from ferrule_testkit.search.posted import EXA_KEY, TAVILY_KEY, Exa, Tavily
from ferrule_testkit.search.searxng import SearXNG
from ferrule_testkit.search.server import BRAVE_PATH, GOOGLE_PATH, KEYS, Brave, Google, Hit, endpoints

if TYPE_CHECKING:
    from ferrule_dev.testing import Server

TITLE = "Tea"
SESSION = "7b5f2f0e-5f0d-4c43-9d53-0c8f0a1b2c3d"  # of a research that was not begun
_PAGE = f"<title>{TITLE}</title><h1>{TITLE}</h1><p>A <b>strong</b> brew. {'It is served hot. ' * 20}</p>"
_HITS = 5
_SEARCHES = ("web_search", "news_search", "image_search", "patent_search")
_LATER_KEYS = {"TAVILY_API_KEY": TAVILY_KEY, "EXA_API_KEY": EXA_KEY}


def put_up(server: Server) -> dict[str, str]:
    """Have the server answer as all of them; the variables by which tools ask it."""
    hits = [Hit(f"Title {number}", f"{server.url}/tea/{number}", "Text") for number in range(_HITS)]
    for path in ("/tea", *(f"/tea/{number}" for number in range(_HITS))):
        server.page(path, _PAGE)
    server.route(BRAVE_PATH, Brave(hits))
    server.route(GOOGLE_PATH, Google(hits))
    server.route("/tavily", Tavily(hits))
    server.route("/exa", Exa(hits))
    server.route("/search", SearXNG(hits))
    server.route("/gdelt", kinds.sends(kinds.gdelt_articles(hits)))
    server.route(kinds.BRAVE_NEWS_PATH, kinds.sends(kinds.brave_news(hits)))
    server.route(kinds.BRAVE_IMAGES_PATH, kinds.sends(kinds.brave_images(hits)))
    for path in ("/works", "/works/W1"):
        server.route(f"{PAPERS_PATH}{path}", answer_papers)
    return {
        **patents.KEYS,
        **patents.put_up_offices(server),
        **KEYS,
        **_LATER_KEYS,
        **endpoints(server),
        **paper_endpoints(server),
        "FERRULE_TAVILY_ENDPOINT": f"{server.url}/tavily",
        "FERRULE_EXA_ENDPOINT": f"{server.url}/exa",
        "FERRULE_GDELT_ENDPOINT": f"{server.url}/gdelt",
        "FERRULE_FETCH_ALLOW": "loopback",
    }


def arguments(tool: str, server: Server) -> dict[str, Any]:
    """Arguments with which a tool of the project succeeds."""
    if tool.startswith((*_SEARCHES, "search_and_scrape")):
        return {"query": "tea"}
    known: dict[str, dict[str, Any]] = {
        **PAPER_CALLS,
        "example": {"city": "Oslo"},
        "web_fetch": {"url": f"{server.url}/tea"},
        "scrape_page": {"url": f"{server.url}/tea"},
        "sequential_search": {"searchStep": "Find tea.", "stepNumber": 1, "nextStepNeeded": False},
        "get_research_session": {"sessionId": SESSION},
        "research_export": {"sessionId": SESSION},
        "opennotes_get": {"path": "tea.md"},
        "opennotes_search": {"query": "tea"},
    }
    return known.get(tool, {})


def expected(tool: str) -> str:
    """A text that stands in the tool's answer."""
    if tool.startswith("patent_search"):
        return "Umbrella frame"
    if tool.startswith(_SEARCHES):
        return "Title 0"
    pages = dict.fromkeys(("web_fetch", "scrape_page", "search_and_scrape"), "strong")
    return {"example": "Hello, Oslo!", "sequential_search": "Find tea.", **pages}.get(tool, "")
