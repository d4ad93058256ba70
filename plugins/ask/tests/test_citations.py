"""What an answer of Anthropic's rests on: results of tools in parts that the model can cite."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ferrule_ask import Answer, Client
from ferrule_ask.tools import tool_results
from ferrule_ask.tools.protocols import ToolResult
from ferrule_ask.tools.result_lengths import shorten
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools
from ferrule_testkit.model.server import ModelServer, calls, message, says

Make = Callable[..., Client]
HITS = [
    {"title": f"Title {n}", "url": f"https://e.example/{n}", "snippet": f"Text {n}", "published": "2026-01-02"}
    for n in range(7)
]
FOUND = {"success": True, "results": HITS}
URLS = [f"https://e.example/{n}" for n in range(5)]


class ResultTools(MemoryTools):
    """Tools that answer a document."""

    def __init__(self, *names: str, document: Mapping[str, Any]) -> None:
        super().__init__(*names)
        self._document = document

    async def execute(self, name: str, arguments: Mapping[str, Any], seconds: float) -> ToolResult:
        return tool_results.content(name, self._document, failed=False)


def cites(number: int) -> dict[str, Any]:
    """A block of text that rests on a result."""
    place = {"search_result_index": number, "start_block_index": 0, "end_block_index": 1}
    citation = {"type": "search_result_location", "cited_text": "Text", "source": URLS[number], "title": "Title"}
    return {"type": "text", "text": "It is 95.", "citations": [{**citation, **place}]}


@pytest.fixture
def ask(client: Make, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    monkeypatch.setenv("FERRULE_ASK_CITATIONS", "true")

    def ask(document: Mapping[str, Any], tool: str = SEARCH, *, answer: Any = None, **settings: Any) -> Answer:
        model_server.script(calls(tool, {"query": "a"}), answer or says("Fine."))
        schema = settings.pop("schema", None)
        found = client(toolbox=ResultTools(tool, document=document), **settings).ask(None, "How much?", schema=schema)
        assert not model_server.refused
        return found

    return ask


Ask = Callable[..., Answer]
process = pytest.mark.process


def blocks(model_server: ModelServer) -> Any:
    """The content of the result that the model got."""
    return model_server.bodies[-1]["messages"][2]["content"][0]["content"]


@process
def test_what_is_cited_and_what_was_only_found_are_told_apart(ask: Ask) -> None:
    plain = {"type": "text", "text": "So: "}
    answer = ask(FOUND, answer=message(plain, cites(1), cites(3)))
    assert answer.text == "So: It is 95.It is 95."
    assert [(one["url"], one["cited"]) for one in answer.sources] == [
        (url, place in (1, 3)) for place, url in enumerate(URLS)
    ]
    assert {one["tool"] for one in answer.sources} == {SEARCH}


@process
def test_each_result_of_a_search_is_a_part_with_its_place_and_date(ask: Ask, model_server: ModelServer) -> None:
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming  # takes a second
    from pydantic import TypeAdapter

    ask(FOUND)
    found = blocks(model_server)
    assert [(one["type"], one["source"], one["title"]) for one in found] == [
        ("search_result", url, f"Title {place}") for place, url in enumerate(URLS)
    ]
    assert found[2]["content"] == [{"type": "text", "text": "Text 2\nPublished: 2026-01-02"}]
    assert all(one["citations"] == {"enabled": True} for one in found)
    TypeAdapter(MessageCreateParamsNonStreaming).validate_python(model_server.bodies[-1])


@process
def test_a_result_without_a_text_has_its_title_for_one(ask: Ask, model_server: ModelServer) -> None:
    ask({"success": True, "results": [{"url": "https://e.example/0"}]})
    (one,) = blocks(model_server)
    assert one["title"] == one["content"][0]["text"] == "https://e.example/0"


@process
def test_a_page_is_one_part_and_a_list_has_one_for_each_place(ask: Ask, model_server: ModelServer) -> None:
    page = {"success": True, "url": URLS[0], "title": "A page", "content": "Long ago."}
    ask(page, "web_fetch")
    (one,) = blocks(model_server)
    assert (one["source"], one["title"], json.loads(one["content"][0]["text"])) == (URLS[0], "A page", page)

    ask({"success": True, "count": 3, "results": [{"url": URLS[1], "year": 1899}, {"year": 1900}]}, "papers")
    entry, rest = blocks(model_server)
    assert (entry["source"], json.loads(entry["content"][0]["text"])["year"]) == (URLS[1], 1899)
    assert json.loads(rest["text"]) == {"success": True, "count": 3, "results": [{"year": 1900}]}


@process
@pytest.mark.parametrize("document", [{"success": True, "results": []}, {"success": False, "error": "away"}])
def test_what_has_no_source_stays_a_text(document: Any, ask: Ask, model_server: ModelServer) -> None:
    ask(document)
    assert isinstance(blocks(model_server), str)


@process
def test_an_answer_of_a_type_has_no_citations(ask: Ask, model_server: ModelServer) -> None:
    answer = ask(FOUND, answer=says('{"value": 95}'), schema={"type": "integer"})
    assert answer.value == 95
    assert isinstance(blocks(model_server), str)


@process
def test_a_gateway_gets_a_text(client: Make, model_server: ModelServer) -> None:
    model_server.script(calls(SEARCH, {"query": "a"}), says("Fine."))
    assert client(toolbox=ResultTools(document=FOUND)).ask(None, "?").text == "Fine."
    assert blocks(model_server).startswith("Search Results:\n\n1. Title 0")


def test_parts_are_cut_together_to_what_a_model_gets() -> None:
    entries = [{"url": f"https://e.example/{n}", "text": "x" * 1_000} for n in range(9)]
    result = tool_results.content("papers", {"success": True, "results": entries}, failed=False)
    parts = shorten("papers", result, 1_500).passages
    assert [one.url for one in parts] == [*(f"https://e.example/{n}" for n in range(5)), ""]
    assert parts[-1].text == "… [cut: the first 5 of 10]"
    assert sum(len(one.text) for one in parts) < 1_500 * 4


def test_no_secret_is_left_in_a_part() -> None:
    result = tool_results.content(SEARCH, FOUND, failed=False).with_texts(lambda text: text.replace("Text", "[…]"))
    assert {one.text[:3] for one in result.passages} == {"[…]"}
