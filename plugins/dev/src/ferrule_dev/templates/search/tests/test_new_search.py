"""The tool as a client sees it, with a server in the provider's place."""

import json
from collections.abc import Callable

import pytest
from ferrule_dev.testing import Exchange, Run, Server, Tool

TOOL = "web_search_new_search"
ENDPOINT_VARIABLE = "FERRULE_NEW_SEARCH_ENDPOINT"
HIT = {"name": "Eddystone", "link": "https://example.com/eddystone", "text": "Off Plymouth."}
UNKNOWN = 401, {"error": {"code": "key_unknown", "text": "There is no such key."}}
# What the server answers to each key.
ANSWERS = {
    "Bearer a-key-of-the-tests": (200, {"hits": [HIT]}),
    "Bearer a-busy-key": (429, {"error": {"code": "too_fast", "text": "Ask less often."}}),
}
Tools = Callable[[str], Tool]
Search = Callable[[str], Run]


def answer(exchange: Exchange) -> None:
    """Answer as the provider does."""
    status, document = ANSWERS.get(exchange.headers["Authorization"], UNKNOWN)
    headers = {"Retry-After": "60"} if status == 429 else {}
    exchange.answer(json.dumps(document).encode(), "application/json", status=status, headers=headers)


@pytest.fixture
def search(ferrule_tool: Tools, ferrule_credentials: Callable[..., dict[str, str]], ferrule_server: Server) -> Search:
    """Searches with a key."""

    def search(key: str) -> Run:
        ferrule_credentials(TOOL, api_key=key)
        endpoint = ferrule_server.route("/search", answer)
        tool = ferrule_tool(TOOL)
        return tool.run(tool.examples[0], environ={ENDPOINT_VARIABLE: endpoint})

    return search


def test_it_passes_the_check(ferrule_tool: Tools) -> None:
    """This follows schema.json; it stays as it is."""
    ferrule_tool(TOOL).check()


# ---- what this provider does: write your own


def test_a_search_has_titles_urls_and_snippets(search: Search) -> None:
    run = search("a-key-of-the-tests")
    result = {"title": "Eddystone", "url": "https://example.com/eddystone", "snippet": "Off Plymouth."}
    assert run.document == {"success": True, "results": [result], "count": 1}


def test_a_refused_key_is_an_error_that_does_not_show_it(search: Search) -> None:
    run = search("another-key")
    assert run.document["error_code"] == "AUTH_INVALID"
    assert "refused the credentials: There is no such key (key_unknown)." in run.document["error"]
    assert "another-key" not in json.dumps(run.document)


def test_a_limited_rate_says_when_to_ask_again(search: Search) -> None:
    run = search("a-busy-key")
    assert run.document["error_code"] == "RATE_LIMIT"
    assert run.document["retry_after"] == 60
    assert "says: Ask less often (too_fast)." in run.document["error"]
