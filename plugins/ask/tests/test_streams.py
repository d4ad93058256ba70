"""Answers that come in pieces: the events that each maker of models documents, from real servers on loopback."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ferrule_ask import Answer, Client
from ferrule_ask.models import registry
from ferrule_dev.testing import Server
from ferrule_dev.testing.http_server import Exchange
from ferrule_testkit.model.event_streams import EVENTS, frame
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools

STREAMS = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((Path(__file__).parent / "streams").glob("*.json"))
}
KEY = "a-key-of-the-tests-0123"
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]
Step = Callable[[Exchange], None]


def pieces(events: Sequence[Any]) -> Step:
    """Send these events, and end the connection."""

    def send(exchange: Exchange) -> None:
        exchange.answer(b"", EVENTS, headers={"Content-Length": "", "Connection": "close"})
        exchange.close_connection = True
        for event in events:
            exchange.send(frame(event))

    return send


class Service:
    """A maker's server, which does one step after the other. told: the events of the client."""

    def __init__(self, name: str, web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = name
        self.facts: dict[str, Any] = STREAMS[name]
        self.told: list[tuple[str, Any]] = []
        self._web = web
        monkeypatch.setenv(self.facts["variable"], web.url)
        monkeypatch.setenv(self.facts["key"], KEY)

    def ask(self, *steps: Step, **settings: Any) -> Answer:
        left = iter(steps)

        def reply(exchange: Exchange) -> None:
            exchange.read_body()
            next(left)(exchange)

        self._web.route(self.facts["path"], reply)
        options = {"toolbox": MemoryTools(), "model": f"{self.name}/some-model", "stream": True, **settings}
        with Client(**options, event=lambda *event: self.told.append(event)) as client:
            answer = client.ask(None, "How much?")
        assert next(left, None) is None
        return answer

    @property
    def text(self) -> str:
        """All text that was told, as it came."""
        return "|".join(facts["text"] for kind, facts in self.told if kind == "text")

    @property
    def bodies(self) -> list[str]:
        """What was sent."""
        return [request.body.decode() for request in self._web.requests]


@pytest.fixture
def web() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture(params=sorted(STREAMS))
def service(request: pytest.FixtureRequest, web: Server, monkeypatch: pytest.MonkeyPatch) -> Service:
    return Service(request.param, web, monkeypatch)


def test_the_text_is_told_as_it_comes_and_the_answer_is_whole(service: Service) -> None:
    answer = service.ask(pieces(service.facts["says"]))

    assert (answer.text, answer.code) == ("Ninety-five.", None)
    assert service.text == "Ninety|-five."
    assert (answer.input_tokens, answer.output_tokens) == (19, 10)
    (source,) = answer.sources
    assert (source["url"], source["title"], source["cited"]) == ("https://www.example.com/0", "Title 0", True)


def test_a_tool_is_called_and_what_the_model_has_thought_goes_back(service: Service) -> None:
    answer = service.ask(pieces(service.facts["calls"]), pieces(service.facts["says"]))

    assert (answer.text, answer.tool, answer.tool_input) == ("Ninety-five.", SEARCH, {"query": "price"})
    assert (answer.input_tokens, answer.output_tokens) == (82 + 19, 17 + 10)
    assert service.facts["signature"] in service.bodies[1]
    assert {facts["reply"] for kind, facts in service.told if kind == "text"} == {2}


def piece_of_call(query: str, **facts: Any) -> dict[str, Any]:
    """A piece of a call: a whole one, where it has an id."""
    whole = {"name": SEARCH, "arguments": json.dumps({"query": query})} if "id" in facts else {"arguments": query}
    return {"type": "function", "function": whole, **facts}


@pytest.mark.parametrize(
    "sent",
    [
        [[piece_of_call("a", id="1"), piece_of_call("b", id="2")]],
        [[piece_of_call("a", id="1")], [piece_of_call("b", id="2")], [piece_of_call(" ")]],
        [[piece_of_call("a", id="1", index=0)], [piece_of_call("b", id="2", index=0)]],
        [[piece_of_call("b", id="2", index=1)], [piece_of_call("a", id="1", index=0)]],
        [[piece_of_call("a", id="1", index=0)], [piece_of_call("b", id="2", index=1)], [piece_of_call(" ", index=0)]],
    ],
)
def test_calls_are_told_apart_by_their_ids_where_the_index_does_not(
    sent: list[Any], web: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = Service("openai-chat", web, monkeypatch)
    ends = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    events = [{"choices": [{"index": 0, "delta": {"tool_calls": calls}}]} for calls in sent]

    answer = service.ask(pieces([*events, ends]), pieces(service.facts["says"]))

    assert answer.text == "Ninety-five."
    (asked,) = [one for one in json.loads(service.bodies[1])["messages"] if one.get("tool_calls")]
    calls = [(one["id"], json.loads(one["function"]["arguments"])) for one in asked["tool_calls"]]
    assert calls == [("1", {"query": "a"}), ("2", {"query": "b"})]


def begin_call(arguments: object = "", tool: str = SEARCH) -> dict[str, Any]:
    """A piece of a call as servers send it that give neither index nor id: with its name."""
    return {"function": {"name": tool, "arguments": arguments}}


@pytest.mark.parametrize(
    "sent",
    [
        [[begin_call('{"query": "a"}'), begin_call('{"query": "b"}')]],
        [[begin_call('{"query": "a"}')], [begin_call('{"query": "b"}')]],
        [[begin_call({"query": "a"})], [begin_call({"query": "b"})]],
        [[{**begin_call('{"query": "a"}'), "index": 0}], [{**begin_call('{"query": "b"}'), "index": 0}]],
        [[begin_call()], [piece_of_call('{"query": "a"}')], [begin_call('{"query": ')], [piece_of_call('"b"}')]],
        [[begin_call('{"query": ')], [begin_call('"a"}')], [begin_call('{"query": ')], [begin_call('"b"}')]],
        [
            [{**begin_call('{"query": "a"}'), "index": 0}],
            [{**begin_call(), "index": 1}],
            [piece_of_call('{"query": "b"}')],
        ],
        [
            [{**begin_call('{"query": "a"}'), "index": 0}],
            [{**begin_call(), "index": 0}],
            [{**begin_call('{"query": "b"}'), "index": 1}],
            [{**begin_call(), "index": 1}],
        ],
        [
            [{**begin_call(), "index": 0, "id": "1"}],
            [{**begin_call('{"query": "a"}'), "index": 0}],
            [{**begin_call(None), "index": 0}],
            [{**begin_call('{"query": "b"}'), "index": 1, "id": "2"}],
        ],
        [[begin_call()], [piece_of_call('{"query": "a"}')], [begin_call()], [piece_of_call('{"query": "b"}')]],
    ],
    ids=[
        "one event",
        "two events",
        "objects",
        "one index",
        "in pieces",
        "name in each piece",
        "index at the beginning",
        "name in a last piece without arguments",
        "id in the first piece alone",
        "name before all arguments",
    ],
)
def test_calls_without_index_and_id_begin_with_their_names(
    sent: list[Any], web: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, tools = Service("openai-chat", web, monkeypatch), MemoryTools()
    ends = {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}
    events = [{"choices": [{"index": 0, "delta": {"tool_calls": calls}}]} for calls in sent]

    answer = service.ask(pieces([*events, ends]), pieces(service.facts["says"]), toolbox=tools, max_calls=3)

    assert answer.text == "Ninety-five."
    assert tools.executed == [(SEARCH, {"query": "a"}), (SEARCH, {"query": "b"})]
    messages = json.loads(service.bodies[1])["messages"]
    called = [call["id"] for one in messages for call in one.get("tool_calls") or ()]
    assert [one["tool_call_id"] for one in messages if one["role"] == "tool"] == called
    assert len(set(called)) == 2


def test_a_call_of_another_tool_begins_with_its_name(web: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    service, tools = Service("openai-chat", web, monkeypatch), MemoryTools()
    calls = [begin_call(tool="clock"), begin_call('{"query": "b"}')]
    event = {"choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}

    answer = service.ask(pieces([event]), pieces(service.facts["says"]), toolbox=tools, max_calls=3)

    assert answer.text == "Ninety-five."
    assert tools.executed == [(SEARCH, {"query": "b"})]
    assert [one["tool"] for one in answer.tool_calls or ()] == ["clock", SEARCH]


def test_a_stream_that_ends_before_its_first_event_is_asked_for_again(service: Service) -> None:
    answer = service.ask(pieces([]), pieces(service.facts["says"]))

    assert answer.text == "Ninety-five."
    assert next((kind, facts.get("code")) for kind, facts in service.told) == ("retry", "NETWORK_ERROR")


def test_an_answer_that_breaks_off_is_asked_for_again(service: Service) -> None:
    events = service.facts["says"]
    begun = next(n for n, event in enumerate(events, 1) if "Ninety" in json.dumps(event))

    answer = service.ask(pieces(events[:begun]), pieces(events))

    assert answer.text == "Ninety-five."
    assert [kind for kind, _ in service.told] == ["text", "retry", "text", "text"]
    assert service.told[1][1]["code"] == "NETWORK_ERROR"


def test_no_beginning_of_an_answer_counts_as_one(service: Service) -> None:
    provider = registry.find(service.name, {})
    assert provider is not None
    assert provider.streaming is not None
    for name in ("says", "calls"):
        assembly, is_whole = provider.streaming.assembly(), []
        for event in service.facts[name]:
            assembly.take(event if isinstance(event, str) else json.dumps(event))
            is_whole.append(assembly.document() is not None)
        assert is_whole == sorted(is_whole)
        assert not is_whole[-4 if service.name == "openai-chat" else -2]
        assert is_whole[-1]


@pytest.mark.slow
def test_an_error_in_the_middle_has_its_code_and_what_came_before_is_no_answer(service: Service) -> None:
    broken = pieces([*service.facts["says"][:2], service.facts["fails"]])

    answer = service.ask(broken, broken, broken)

    assert (answer.text, answer.code) == (None, service.facts["code"])
    assert answer.error is not None
    assert service.facts["fails"].get("error", service.facts["fails"])["message"].rstrip(".") in answer.error


def test_a_server_that_answers_at_once_is_understood(service: Service) -> None:
    recorded = Path(__file__).parent / "replies" / f"{service.name}.json"
    if not recorded.exists():
        usage = {"input_tokens": 19, "output_tokens": 10}
        whole = {"content": [{"type": "text", "text": "Ninety-five."}], "stop_reason": "end_turn", "usage": usage}
    else:
        whole = json.loads(recorded.read_text())["says"]

    answer = service.ask(lambda exchange: exchange.answer(json.dumps(whole).encode(), "application/json"))

    assert (answer.text, answer.output_tokens, service.text) == ("Ninety-five.", 10, "")


@pytest.mark.parametrize("data", ["no JSON", "[1]"])
def test_what_is_no_event_of_the_api_names_the_setting(data: str, service: Service) -> None:
    answer = service.ask(pieces([data]))

    assert answer.code == "API_ERROR"
    assert service.facts["variable"] in str(answer.error)


def test_only_who_wants_pieces_asks_for_them(service: Service) -> None:
    def refuse(exchange: Exchange) -> None:
        exchange.answer(b"{}", "application/json", status=400)

    service.ask(refuse)
    assert ('"stream":true' in service.bodies[0]) is (service.name != "gemini")
    if service.name == "openai-chat":
        assert '"include_usage":true' in service.bodies[0]


def test_the_end_of_a_stream_is_waited_for_no_longer_than_its_step(service: Service) -> None:
    def hang(exchange: Exchange) -> None:
        pieces(service.facts["says"][:2])(exchange)
        exchange.hang()

    answer = service.ask(hang, budgets=(0.5, 1, 1))
    assert answer.code == "TIMEOUT"
