"""The executables with one session: the tools that find something record it, and others import nothing of sessions."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule_dev.testing import Server, refused_port
from ferrule_testkit.search.server import Brave, Hit
from ferrule_testkit.web.research_web import Web, research_web

pytestmark = pytest.mark.process

TEXT = "<p>" + "The umbrella has a long history, and it was first made against the sun. " * 9 + "</p>"
STEP = {"searchStep": "Look for umbrellas.", "stepNumber": 1, "nextStepNeeded": True}


@pytest.fixture
def web(tmp_path: Path, server: Server) -> Iterator[Web]:
    """A search that finds two pages of the server, of which one is missing."""
    with research_web(tmp_path) as web:
        web.environment |= {
            "FERRULE_FETCH_ALLOW": "loopback",
            "FERRULE_CROSSREF_ENDPOINT": f"http://127.0.0.1:{refused_port()}",
        }
        head = '<title>Umbrellas</title><meta name="author" content="Ann Lee"><meta name="date" content="2020-03-04">'
        server.page("/umbrella", f"<!DOCTYPE html>{head}<main><h1>Umbrellas</h1>{TEXT}</main>")
        server.route("/missing", lambda exchange: exchange.answer(b"", status=404))
        hits = [Hit(path, f"{server.url}/{path}", "Text") for path in ("umbrella", "missing")]
        web.brave.route("*", Brave(hits))
        yield web


def sources(web: Web, session: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = web.answer("get_research_session", {"sessionId": session})["sources"]
    return found


@pytest.mark.slow
def test_the_tools_record_in_a_session_what_they_find(web: Web, server: Server) -> None:
    session = web.answer("sequential_search", STEP)["sessionId"]
    assert "ignoredParameters" not in web.answer("web_search", {"query": "umbrella", "sessionId": session})
    assert [(one["url"], one["relevance"], one["foundInStep"]) for one in sources(web, session)] == [
        (f"{server.url}/umbrella", "found", 1),
        (f"{server.url}/missing", "found", 1),
    ]
    bundle = web.answer("search_and_scrape", {"query": "umbrella history", "sessionId": session})
    assert "ignoredParameters" not in bundle
    (page, missing) = sources(web, session)
    assert (page["relevance"], page["title"], page["author"]) == ("scraped", "umbrella", "Ann Lee")
    assert missing["relevance"] == "found"
    for _ in range(2):
        web.call("scrape_page", {"url": f"{server.url}/missing?key=secret", "sessionId": session})
    overview = web.answer("get_research_session", {"sessionId": session})
    (pattern,) = overview["errorPatterns"]
    assert (pattern["kind"], pattern["count"]) == ("not_found", 3)
    assert "secret" not in str(overview)
    assert overview["providerStats"] == {"brave": {"attempts": 1, "successes": 1}}


def test_a_page_that_is_read_is_a_source(web: Web, server: Server) -> None:
    session = web.answer("sequential_search", STEP)["sessionId"]
    answer = web.answer("scrape_page", {"url": f"{server.url}/umbrella", "sessionId": session})
    assert "ignoredParameters" not in answer
    (source,) = sources(web, session)
    assert (source["title"], source["author"], source["date"]) == ("Umbrellas", "Ann Lee", "2020-03-04")
    document = web.answer("research_export", {"sessionId": session, "format": "bibtex"})["document"]
    assert "author = {Lee, Ann}" in document


@pytest.mark.slow
def test_a_session_that_is_not_there_costs_no_result(web: Web, server: Server) -> None:
    for tool, arguments in (
        ("web_search", {"query": "umbrella"}),
        ("search_and_scrape", {"query": "umbrella"}),
        ("scrape_page", {"url": f"{server.url}/umbrella"}),
        ("scrape_page", {"url": f"{server.url}/umbrella", "mode": "raw"}),
    ):
        (ignored,) = web.answer(tool, {**arguments, "sessionId": "nonsense"})["ignoredParameters"]
        assert (ignored["name"], "no such research session" in ignored["why"]) == ("sessionId", True)


@pytest.mark.slow
def test_a_thorough_step_searches_for_what_is_missing(web: Web) -> None:
    answer = web.answer("sequential_search", {**STEP, "knowledgeGap": "Who made it in 2019?", "depth": "thorough"})
    (result,) = answer["refinementResults"]
    assert result["query"] == answer["refinementQueries"][0]
    assert (result["resultCount"], len(result["results"])) == (2, 2)
    web.brave.route("*", lambda exchange: exchange.answer(b"{}", "application/json", status=503))
    web.google.route("*", lambda exchange: exchange.answer(b"{}", "application/json", status=503))
    answer = web.answer("sequential_search", {**STEP, "knowledgeGap": "Who?", "depth": "thorough"})
    assert answer["refinementResults"][0]["error"]
    assert answer["refinementWarning"] == "1 of 1 searches failed."


def test_an_error_of_a_session_says_how_to_go_on(web: Web) -> None:
    done = web.call("sequential_search", {**STEP, "stepNumber": 4, "sessionId": "nonsense"})
    assert done.exit_code == 1
    document = done.document
    assert (document["error_code"], document["kind"], document["retryable"]) == (
        "SESSION_NOT_FOUND",
        "session_not_found",
        False,
    )
    assert document["recoveryHint"] == {"lastKnownStep": 3, "canResume": False}
    assert web.call("research_export", {"sessionId": "nonsense"}).document["error_code"] == "SESSION_NOT_FOUND"
    refused = web.call("research_export", {"sessionId": "nonsense", "format": "pdf"}).document
    assert (refused["error_code"], "markdown" in refused["error"]) == ("INVALID_INPUT", True)


def test_without_a_session_nothing_of_sessions_is_imported() -> None:
    code = (
        "import sys\n"
        "import ferrule_research.search.call, ferrule_research.page.call, ferrule_research.bundle.call\n"
        "import ferrule_research.bundle.answer, ferrule_research.page.answer\n"
        "print([name for name in sys.modules if 'research.sessions' in name or 'session_record' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
