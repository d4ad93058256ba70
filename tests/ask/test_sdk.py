"""The official SDK as a judge: of our requests, of the server that the tests use, of what variables mean."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter, ValidationError

from ferrule_ask import Client
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools
from ferrule_testkit.model.server import MODEL_KEY, ModelServer, Reply, after, calls, failure, message, says, tool_use
from ferrule_testkit.runs import wait_for

if TYPE_CHECKING:
    import anthropic  # which takes a second, in each process of a run: it is imported where it is used

MODEL = "claude-sonnet-5-5"
QUERY = {"query": "BTC"}
HI = [{"role": "user", "content": "Hi."}]
TOOLS = [{"name": SEARCH, "description": "Searches.", "input_schema": {"type": "object", "properties": {}}}]
TEXT = {"type": "text", "text": "I look."}
THINKING = [
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "redacted_thinking", "data": "c2VjcmV0"},
]
SERVER_TOOL = [
    {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": QUERY, "caller": {"type": "direct"}},
    {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [], "caller": {"type": "direct"}},
]
Make = Callable[..., Client]


def wanting(*content: Mapping[str, Any]) -> Reply:
    return message(*content, stop_reason="tool_use")


SCENARIOS = {
    "plain": [says("Yes.")],
    "one-call": [calls(SEARCH, QUERY, text="I look."), says("Yes.")],
    "two-calls": [wanting(tool_use(SEARCH, QUERY), tool_use(SEARCH, {"query": "ETH"})), says("Yes.")],
    "unknown-tool": [calls("launch_rocket", {"to": "Mars"}), says("No.")],
    "thinking": [wanting(*THINKING, TEXT, tool_use(SEARCH, QUERY)), says("Yes.")],
    "a-tool-of-the-server": [wanting(*SERVER_TOOL, tool_use(SEARCH, QUERY)), says("Yes.")],
    "a-retry": [failure(529, retry_after_ms=1), calls(SEARCH, QUERY), failure(500, retry_after_ms=1), says("Yes.")],
}
pytestmark = [pytest.mark.process, pytest.mark.usefixtures("ask_environment")]


@pytest.fixture(scope="module")
def judge() -> "TypeAdapter[Any]":
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    return TypeAdapter(MessageCreateParamsNonStreaming)


@pytest.fixture
def sdk(ask_environment: None) -> "Iterator[anthropic.Anthropic]":
    """The official client, with the variables of the test."""
    import anthropic

    with anthropic.Anthropic() as sdk:
        yield sdk


def read_by(judge: "TypeAdapter[Any]", body: Any) -> Any:
    """A body as the SDK's types read it: what they do not know is gone, and what is wrong raises ValidationError."""
    return whole(judge.validate_python(body))


def whole(value: Any) -> Any:
    """The types check an iterable only where it is walked through."""
    if isinstance(value, dict):
        return {name: whole(one) for name, one in value.items()}
    if hasattr(value, "__iter__") and not isinstance(value, str):
        return [whole(one) for one in value]
    return value


# ---- the requests


@pytest.mark.parametrize("context", ["The\ud800 context.\n\n\U0001f375", None])
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_sdks_types_know_all_that_is_sent(
    client: Make,
    judge: "TypeAdapter[Any]",
    model_server: ModelServer,
    name: str,
    context: str | None,
) -> None:
    model_server.script(*SCENARIOS[name])
    assert client(toolbox=MemoryTools(SEARCH, "web_fetch")).ask(context, "Is it?").code is None
    assert len(model_server.requests) == len(SCENARIOS[name])
    assert not model_server.refused
    for body in model_server.bodies:
        sendable = json.loads(json.dumps(body).replace("\\ud800", "?"))  # the types take no lone surrogate
        assert read_by(judge, sendable) == sendable


def test_the_tools_that_are_installed_are_tools_to_the_sdks_types(
    judge: "TypeAdapter[Any]", model_server: ModelServer, tmp_path: Path
) -> None:
    model_server.script(says("Yes."))
    with Client(tools=["web_fetch", "artifact_read"]) as one:
        assert one.ask(None, "Is it?").code is None
    [body] = model_server.bodies
    assert [tool["name"] for tool in body["tools"]] == ["web_fetch", "artifact_read"]
    assert read_by(judge, body) == body


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": 0.7},
        {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]},
        {"messages": [{"role": "tool", "content": "x"}]},
        {"tools": [{"name": "x", "parameters": {}}]},
        {"tool_choice": {"type": "nothing"}},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_the_judge_can_find_something(judge: "TypeAdapter[Any]", wrong: dict[str, Any]) -> None:
    body = {"model": MODEL, "max_tokens": 5, "messages": HI, **wrong}
    try:
        assert read_by(judge, body) != body
    except ValidationError:
        pass


@pytest.mark.parametrize(
    "schema",
    [
        {
            "type": "object",
            "properties": {
                "n": {"type": "integer", "minimum": 1, "default": 2},
                "d": {"type": "string", "format": "date"},
            },
        },
        {"type": "array", "minItems": 2, "items": {"oneOf": [{"type": "string", "pattern": "^a"}, {"const": 3}]}},
        {"$defs": {"a": {"type": "object", "properties": {}}}, "type": "string", "enum": ["x"]},
    ],
)
def test_the_sdk_finds_nothing_to_change_in_the_schema_of_an_answer(
    client: Make, judge: "TypeAdapter[Any]", model_server: ModelServer, schema: dict[str, Any]
) -> None:
    model_server.script(says("{}"))
    client(toolbox=MemoryTools()).ask(None, "Is it?", schema=schema)
    [body] = model_server.bodies
    assert read_by(judge, body) == body
    sent = body["output_config"]["format"]["schema"]
    assert sent["type"] == "object"
    import anthropic

    theirs = anthropic.transform_schema(sent)
    assert accepted(theirs) == accepted(sent)


def accepted(schema: Any) -> Any:
    """A schema without what is only told to the model."""
    if isinstance(schema, dict):
        told = {"description", "default"} | ({"type"} if "enum" in schema else set())
        return {name: accepted(one) for name, one in schema.items() if name not in told}
    return [accepted(one) for one in schema] if isinstance(schema, list) else schema


# ---- the server


def test_the_official_client_believes_our_server(sdk: "anthropic.Anthropic", model_server: ModelServer) -> None:
    model_server.script(wanting(*THINKING, TEXT, tool_use(SEARCH, QUERY)), says("Yes.", input_tokens=7))
    options: Any = {"model": MODEL, "max_tokens": 50, "tools": TOOLS}
    first = sdk.messages.create(messages=HI, **options)  # type: ignore[arg-type] # the SDK's types know no plain data
    assert (first.stop_reason, first.content[-1].type) == ("tool_use", "tool_use")
    result = {"type": "tool_result", "tool_use_id": first.content[-1].id, "content": "95,234"}  # type: ignore[union-attr] # the SDK's types know no plain data
    turn: Any = [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    second = sdk.messages.create(messages=[*HI, *turn], **options)  # type: ignore[list-item] # the SDK's types know no plain data
    assert (second.content[0].type, second.usage.input_tokens) == ("text", 7)
    assert second._request_id == "req_000000000000000000000001"
    assert not model_server.refused


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (failure(400), "BadRequestError"),
        (failure(401), "AuthenticationError"),
        (failure(403), "PermissionDeniedError"),
        (failure(404), "NotFoundError"),
        (failure(413), "RequestTooLargeError"),
        (failure(429, should_retry=False), "RateLimitError"),
        (failure(500, should_retry=False), "InternalServerError"),
        (failure(529, should_retry=False), "OverloadedError"),
    ],
    ids=lambda value: str(value.status) if isinstance(value, Reply) else "",
)
def test_the_official_client_tells_our_servers_errors_apart(
    sdk: "anthropic.Anthropic", model_server: ModelServer, reply: Reply, error: str
) -> None:
    import anthropic

    model_server.script(reply)
    with pytest.raises(getattr(anthropic, error)) as raised:
        sdk.messages.create(model=MODEL, max_tokens=5, messages=HI)  # type: ignore[arg-type] # the SDK's types know no plain data
    assert raised.value.message
    assert raised.value.request_id
    assert len(model_server.requests) == 1


@pytest.mark.slow
def test_the_official_client_and_we_repeat_the_same_failures(
    sdk: "anthropic.Anthropic",
    client: Make,
    model_server: ModelServer,
) -> None:
    fast: Any = {"retry_after_ms": 1}
    cases = [
        *(failure(status, **fast) for status in (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 504, 529)),
        *(failure(status, should_retry=wish, **fast) for status in (400, 429, 500, 529) for wish in (True, False)),
    ]
    one = client(toolbox=MemoryTools())
    for case in cases:
        counts = []
        for ask in (lambda: create(sdk), lambda: one.ask(None, "Hi.")):
            before = len(model_server.requests)
            model_server.always(case)
            ask()
            counts.append(len(model_server.requests) - before)
        assert counts[0] == counts[1], (case.status, case.headers, counts)


def create(sdk: "anthropic.Anthropic") -> None:
    import anthropic

    with pytest.raises(anthropic.APIStatusError):
        sdk.messages.create(model=MODEL, max_tokens=5, messages=HI)  # type: ignore[arg-type] # the SDK's types know no plain data


def test_our_server_notes_how_many_it_answers_at_one_time(client: Make, model_server: ModelServer) -> None:
    model_server.always(after(0.2, says("Yes.")))
    one = client(toolbox=MemoryTools(), concurrency=4)
    assert {future.result().text for future in [one.start(None, "?") for _ in range(12)]} == {"Yes."}
    assert model_server.peak == 4
    wait_for(lambda: all(request.ended for request in model_server.requests))  # which it notes after an answer


# ---- the variables


@pytest.mark.parametrize("path", ["", "/", "/gateway", "/gateway/", "/two/parts/"])
@pytest.mark.parametrize(
    "keys",
    [
        {"ANTHROPIC_API_KEY": MODEL_KEY},
        {"ANTHROPIC_AUTH_TOKEN": "token"},
        {"ANTHROPIC_API_KEY": MODEL_KEY, "ANTHROPIC_AUTH_TOKEN": "token"},
        {"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "token"},
        {"ANTHROPIC_API_KEY": MODEL_KEY, "ANTHROPIC_AUTH_TOKEN": ""},
        {"ANTHROPIC_API_KEY": ""},
        {},
    ],
    ids=lambda keys: "-".join(f"{name[10:]}{'' if value else '-blank'}" for name, value in keys.items()) or "none",
)
def test_the_variables_mean_what_they_mean_to_the_sdk(
    client: Make,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    keys: dict[str, str],
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in keys.items():
        monkeypatch.setenv(name, value)
    with ModelServer(keys=(MODEL_KEY, "token"), prefix=path.rstrip("/")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url.removesuffix(path.rstrip("/")) + path)
        server.always(says("Yes."))
        answer = client(toolbox=MemoryTools()).ask(None, "Hi.")
        ours = [arrival(request) for request in server.requests]
        theirs = what_the_sdk_sends(server)
    assert ours == theirs
    assert answer.code == (None if any(keys.values()) else "AUTH_MISSING")


def what_the_sdk_sends(server: ModelServer) -> list[dict[str, Any]]:
    import anthropic

    before = len(server.requests)
    with suppress(TypeError), anthropic.Anthropic(max_retries=0) as sdk:  # TypeError is what it says without a key
        sdk.messages.create(model=MODEL, max_tokens=5, messages=HI)  # type: ignore[arg-type] # the SDK's types know no plain data
    return [arrival(request) for request in server.requests[before:]]


def arrival(request: Any) -> dict[str, Any]:
    names = ("authorization", "x-api-key", "anthropic-version", "content-type", "accept")
    return {"target": request.target, **{name: request.headers.get(name) for name in names}}
