"""The server in the Messages API's place refuses what the API refuses, and misbehaves as it is told to."""

import time
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from ferrule_testkit.model.server import (
    MODEL_KEY,
    PATH,
    ModelServer,
    Reply,
    after,
    calls,
    dripping,
    failure,
    message,
    page,
    reset,
    says,
    silent,
    zipped,
)

pytestmark = pytest.mark.process


HEADERS = {"x-api-key": MODEL_KEY, "anthropic-version": "2026-10-21"}
USER = {"role": "user", "content": "Hi."}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}
CALLED = {"role": "assistant", "content": [CALL]}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ten"}
TOOL = {"name": "search", "description": "Searches.", "input_schema": {"type": "object"}}
BODY = {"model": "claude-sonnet-5-5", "max_tokens": 5, "messages": [USER], "tools": [TOOL]}


def turns(*blocks: Mapping[str, Any]) -> dict[str, Any]:
    return {"messages": [USER, CALLED, {"role": "user", "content": list(blocks)}]}


def post(server: ModelServer, change: Mapping[str, Any], headers: Mapping[str, str] = HEADERS) -> httpx.Response:
    """Send a request that is sound but for the change; a value of None leaves a key out."""
    body = {name: value for name, value in {**BODY, **change}.items() if value is not None}
    with httpx.Client(trust_env=False, verify=False) as client:
        return client.post(server.url + PATH, json=body, headers=dict(headers), timeout=1.0)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"tools": None},
        {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
        {"tool_choice": {"type": "none"}, **turns(RESULT)},
        turns(RESULT, {"type": "text", "text": "So?"}),
    ],
)
def test_sound_requests_are_answered(model_server: ModelServer, change: dict[str, Any]) -> None:
    model_server.script(says("Yes."))
    assert post(model_server, change).json()["content"] == [{"type": "text", "text": "Yes."}]
    assert not model_server.refused


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"model": None}, "model: Field required"),
        ({"max_tokens": None}, "max_tokens: Field required"),
        ({"messages": None}, "messages: Field required"),
        ({"max_tokens": 0}, "greater than or equal to 1"),
        ({"temperature": 0.7}, "`temperature` is deprecated for this model."),
        ({"max_output": 5}, "max_output: Extra inputs are not permitted"),
        ({"messages": []}, "at least one message is required"),
        ({"messages": [None]}, "messages.0"),
        ({"messages": [USER, {"role": "assistant", "content": "Well"}]}, "does not support assistant message prefill"),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": " "}]}]}, "non-whitespace text"),
        ({"tools": [{**TOOL, "name": "a b"}]}, "tools.0.custom.name: String should match pattern"),
        ({"tools": [{**TOOL, "input_schema": {"type": "object", "anyOf": []}}]}, "does not support oneOf, allOf, or"),
        ({"tools": [{**TOOL, "parameters": {}}]}, "tools.0.custom.parameters: Extra inputs"),
        ({"tools": [TOOL, TOOL]}, "Tool names must be unique."),
        ({"tools": None, "tool_choice": {"type": "auto"}}, "tool_choice may only be specified while providing tools"),
        ({"tool_choice": {"type": "none", "disable_parallel_tool_use": True}}, "Extra inputs are not permitted"),
        ({"tools": None, **turns(RESULT)}, "must define tools."),
        (turns({"type": "text", "text": "So?"}), "`tool_use` ids were found without `tool_result` blocks immediately"),
        (turns({**RESULT, "tool_use_id": "toolu_2"}), "messages.2.content.0: unexpected `tool_use_id` found in"),
        (turns(RESULT, RESULT), "each tool_use must have a single result"),
        (turns({"type": "text", "text": "So?"}, RESULT), "must come before all other content"),
        (turns({**RESULT, "content": "", "is_error": True}), "content cannot be empty if `is_error` is true"),
        ({"messages": [USER, {**CALLED, "content": [{"type": "thinking"}]}, USER]}, "cannot be modified"),
    ],
)
def test_what_the_api_refuses_is_refused_and_uses_up_nothing(
    model_server: ModelServer, change: dict[str, Any], sentence: str
) -> None:
    model_server.script(says("Yes."))
    response = post(model_server, change)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert sentence in response.json()["error"]["message"]
    assert model_server.refused == [response.json()["error"]["message"]]
    assert model_server.left == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"anthropic-version": "2026-10-21"}, 401),
        ({**HEADERS, "x-api-key": "another"}, 401),
        ({"authorization": f"Bearer {MODEL_KEY}", "anthropic-version": "2026-10-21"}, 200),
        ({"x-api-key": MODEL_KEY}, 400),
        ({**HEADERS, "anthropic-version": "2030-01-01"}, 400),
        ({**HEADERS, "content-type": "text/plain"}, 400),
    ],
)
def test_headers_are_looked_at(model_server: ModelServer, headers: dict[str, str], status: int) -> None:
    model_server.script(says("Yes."))
    assert post(model_server, {}, headers).status_code == status


def test_a_script_goes_step_by_step_and_says_where_it_ends(model_server: ModelServer) -> None:
    model_server.script(calls("search", {"query": "tea"}, text="I look."), lambda request: says(request.question))
    assert [block["type"] for block in post(model_server, {}).json()["content"]] == ["text", "tool_use"]
    assert post(model_server, {}).json()["content"][0]["text"] == "Hi."
    assert "come to its end" in post(model_server, {}).json()["error"]["message"]
    assert [request.is_second for request in model_server.requests] == [False] * 3


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (reset(), httpx.ReadError),
        (reset(where="body"), httpx.ReadError),
        (silent("start"), httpx.ReadTimeout),
        (silent("head"), httpx.ReadTimeout),
        (silent("body"), httpx.ReadTimeout),
    ],
)
def test_connections_end_or_stand_still(model_server: ModelServer, reply: Reply, error: type[Exception]) -> None:
    model_server.script(reply)
    with pytest.raises(error):
        post(model_server, {})


@pytest.mark.slow
def test_a_reply_drips_for_longer_than_any_pause_in_it(model_server: ModelServer) -> None:
    model_server.script(dripping(says("Yes."), 0.001))
    started = time.monotonic()
    with (
        httpx.Client(trust_env=False, verify=False) as client,
        client.stream("POST", model_server.url + PATH, json=BODY, headers=HEADERS, timeout=1.0) as response,
    ):
        for _ in response.iter_raw():
            if time.monotonic() - started > 1.2:
                break
    assert response.status_code == 200


def test_replies_are_late_compressed_refused_or_no_api_at_all(model_server: ModelServer) -> None:
    model_server.script(
        after(0.1, zipped(says("Yes."))), failure(429, retry_after=3, should_retry=False), page("<p>", 502)
    )
    late, limited, odd = (post(model_server, {}) for _ in range(3))
    assert (late.headers["content-encoding"], late.json()["stop_reason"]) == ("gzip", "end_turn")
    assert late.elapsed.total_seconds() >= 0.1
    assert (limited.headers["retry-after"], limited.headers["x-should-retry"]) == ("3", "false")
    assert limited.json()["error"]["type"] == "rate_limit_error"
    assert (odd.status_code, odd.text) == (502, "<p>")


def test_only_the_thinking_that_was_sent_is_taken_back(model_server: ModelServer) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    model_server.always(message(thought, CALL, stop_reason="tool_use"))
    post(model_server, {})
    back = turns(RESULT)
    back["messages"][1] = {"role": "assistant", "content": [thought, CALL]}
    assert post(model_server, back).status_code == 200
    back["messages"][1] = {"role": "assistant", "content": [{**thought, "thinking": "Hm!"}, CALL]}
    assert "cannot be modified" in post(model_server, back).json()["error"]["message"]
