"""A session with a server that behaves as the protocol has it, in each of its releases."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from ferrule import ToolError
from ferrule_mcp.stdio import session as module
from ferrule_mcp.stdio.eras import ENVELOPE, HANDSHAKES
from ferrule_mcp.stdio.session import ServerError, Session
from ferrule_testkit.mcp_servers.scenario import (
    FAR_SECONDS,
    notification,
    on_call,
    request,
    text_result,
    write_scenario,
)

pytestmark = pytest.mark.process


def start(folder: Path, *, era: str = "", roots: tuple[str, ...] = (), **scenario: Any) -> Session:
    command = write_scenario(folder, **scenario)
    deadline = time.monotonic() + FAR_SECONDS
    return Session.start(command, {"MARK": "seen"}, name="scripted", deadline=deadline, era=era, roots=roots)


def read_text(result: dict[str, Any]) -> Any:
    return json.loads(result["content"][0]["text"])


def call(folder: Path, *actions: dict[str, Any], **options: Any) -> dict[str, Any]:
    with start(folder, **on_call(*actions), **options) as session:
        session.initialize()
        return session.call("look", {"at": "it"})


@pytest.fixture
def ask(tmp_path: Path) -> Any:
    return lambda *actions, **options: call(tmp_path, *actions, **options)


def test_a_call_carries_the_name_the_arguments_and_a_token_for_progress(ask: Any) -> None:
    params = read_text(ask({"echo": True}))
    assert params == {"name": "look", "arguments": {"at": "it"}, "_meta": {"progressToken": 2}}


@pytest.mark.parametrize("version", HANDSHAKES)
def test_each_release_with_a_handshake_is_spoken(tmp_path: Path, version: str) -> None:
    answer = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "old", "version": "0"}}
    script = {"initialize": [[{"result": answer}]], "tools/call": [[text_result("done")]]}
    with start(tmp_path, on=script) as session:
        assert session.initialize() == answer
        assert session.era == version
        assert session.call("look", {})["content"][0]["text"] == "done"


def test_without_a_handshake_each_request_carries_who_asks(tmp_path: Path) -> None:
    with start(tmp_path, era=ENVELOPE, modern=True, **on_call({"echo": True})) as session:
        assert session.initialize() == {}
        meta = read_text(session.call("look", {}))["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "ferrule"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
    assert meta["progressToken"] == 1


def test_the_handshake_offers_nothing_and_ends_with_initialized(tmp_path: Path) -> None:
    script = {"notifications/initialized": [[{"stderr": "initialized\n"}]], "tools/call": [[text_result("done")]]}
    with start(tmp_path, on=script) as session:
        session.initialize()
        session.call("look", {})
        assert session.offered == {}
        assert session.stderr_lines == ["initialized"]


def test_roots_are_offered_where_they_are_named_alone(tmp_path: Path) -> None:
    script = [request("roots/list"), {"answered": True}]
    assert read_text(call(tmp_path, *script))["error"]["code"] == -32601
    named = read_text(call(tmp_path, *script, roots=("/srv/a b", "/srv/plain")))
    assert named["result"] == {"roots": [{"uri": "file:///srv/a%20b"}, {"uri": "file:///srv/plain"}]}


@pytest.mark.parametrize("number", [7, "seven", 2**60, None, "x" * 5_000])
def test_a_ping_is_answered_under_its_own_id(ask: Any, number: object) -> None:
    assert read_text(ask(request("ping", number), {"answered": True})) == {"jsonrpc": "2.0", "id": number, "result": {}}


def test_sampling_is_declined_and_the_call_goes_on(tmp_path: Path) -> None:
    actions = [request("sampling/createMessage", messages=[]), {"answered": True}]
    with start(tmp_path, **on_call(*actions)) as session:
        session.initialize()
        assert read_text(session.call("look", {}))["error"]["code"] == -32601
        assert session.declined == ["sampling/createMessage"]


@pytest.mark.parametrize(("version", "answer"), [("2025-06-18", "result"), ("2025-03-26", "error")])
def test_a_question_to_a_person_is_declined_as_the_release_has_it(tmp_path: Path, version: str, answer: str) -> None:
    begun = {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "asking", "version": "1"}}
    actions = [request("elicitation/create", message="Which one?"), {"answered": True}]
    with start(tmp_path, on={"initialize": [[{"result": begun}]], "tools/call": [actions]}) as session:
        session.initialize()
        given = read_text(session.call("look", {}))
        assert answer in given
        assert answer != "result" or given["result"] == {"action": "decline"}
        assert session.declined == ["elicitation/create (Which one?)"]


def test_an_unknown_request_of_the_server_is_refused(ask: Any) -> None:
    assert read_text(ask(request("tasks/guess"), {"answered": True}))["error"]["code"] == -32601


def test_progress_and_logs_are_handed_on_as_they_come(tmp_path: Path) -> None:
    actions = [
        notification("notifications/progress", progressToken=2, progress=1, total=2),
        notification("notifications/message", level="info", data="half"),
        notification("notifications/unheard/of"),
        text_result("done"),
    ]
    seen: list[Any] = []
    with start(tmp_path, **on_call(*actions)) as session:
        session.initialize()
        session.call("look", {}, seen.append, seen.append)
    assert seen == [{"progressToken": 2, "progress": 1, "total": 2}, {"level": "info", "data": "half"}]


def test_an_error_of_the_protocol_comes_with_its_code_and_data(tmp_path: Path) -> None:
    error = {"code": -32602, "message": "no such tool", "data": {"tool": "look"}}
    with pytest.raises(ServerError) as caught:
        call(tmp_path, {"error": error})
    assert (caught.value.code, caught.value.message, caught.value.data) == (-32602, "no such tool", {"tool": "look"})


def test_large_arguments_reach_a_server_that_writes_before_it_reads(tmp_path: Path) -> None:
    """Both pipes are full at once, and neither side waits for the other for ever."""
    filler = {"times": [2_000, notification("notifications/message", level="debug", data="x" * 500)]}
    with start(tmp_path, on={"notifications/initialized": [[filler]], "tools/call": [[{"echo": True}]]}) as session:
        session.initialize()
        assert len(read_text(session.call("look", {"at": "y" * 1_000_000}))["arguments"]["at"]) == 1_000_000


def test_an_answer_of_several_mebibytes_is_whole(ask: Any) -> None:
    assert len(ask(text_result("z" * 8_000_000))["content"][0]["text"]) == 8_000_000


def test_the_server_sees_its_own_variables_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THIS_PROCESS", "1")
    command = ["/bin/sh", "-c", "env >&2; exec cat"]
    with Session.start(command, {"ONE": "1", "TWO": "2"}, name="bare", deadline=time.monotonic() + FAR_SECONDS) as bare:
        while not {"ONE=1", "TWO=2"} <= set(bare.stderr_lines):
            bare.await_messages(0.01)
        assert "OF_THIS_PROCESS=1" not in bare.stderr_lines


def test_the_server_works_in_its_folder_and_this_process_stays_in_its_own(tmp_path: Path) -> None:
    here = Path.cwd()
    folder = tmp_path / "state"
    folder.mkdir()
    command = ["/bin/sh", "-c", "pwd -P >&2; exec cat"]
    with Session.start(command, {}, str(folder), name="bare", deadline=time.monotonic() + FAR_SECONDS) as bare:
        while not bare.stderr_lines:
            bare.await_messages(0.01)
        assert bare.stderr_lines == [os.path.realpath(folder)]
    assert Path.cwd() == here


def test_a_person_s_answer_is_declined_by_a_second_try(tmp_path: Path) -> None:
    wanted = {"name": {"method": "elicitation/create", "params": {"message": "Your name?", "mode": "form"}}}
    first = {"result": {"resultType": "input_required", "inputRequests": wanted, "requestState": "opaque=="}}
    script = {"tools/call": [[first], [{"echo": True}]]}
    with start(tmp_path, era=ENVELOPE, modern=True, on=script) as session:
        params = read_text(session.call("look", {"at": "it"}))
        assert session.declined == ["elicitation/create (Your name?)"]
    assert params["inputResponses"] == {"name": {"action": "decline"}}
    assert params["requestState"] == "opaque=="
    assert (params["name"], params["arguments"]) == ("look", {"at": "it"})


def test_a_server_that_wants_another_try_alone_gets_it_with_its_state(tmp_path: Path) -> None:
    first = {"result": {"resultType": "input_required", "requestState": "later"}}
    with start(tmp_path, era=ENVELOPE, modern=True, on={"tools/call": [[first], [{"echo": True}]]}) as session:
        params = read_text(session.call("look", {}))
    assert params["requestState"] == "later"
    assert "inputResponses" not in params


def test_roots_that_are_named_are_given_in_a_second_try(tmp_path: Path) -> None:
    first = {"result": {"resultType": "input_required", "inputRequests": {"r": {"method": "roots/list"}}}}
    script = {"tools/call": [[first], [{"echo": True}]]}
    with start(tmp_path, era=ENVELOPE, modern=True, roots=("/srv",), on=script) as session:
        params = read_text(session.call("look", {}))
        assert session.declined == []
    assert params["inputResponses"] == {"r": {"roots": [{"uri": "file:///srv"}]}}
    assert params["_meta"]["io.modelcontextprotocol/clientCapabilities"] == {"roots": {}}


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ({"s": {"method": "sampling/createMessage", "params": {}}}, "cannot give: sampling/createMessage."),
        ({"r": {"method": "roots/list"}}, "cannot give: roots/list."),
        ({"e": {"method": "elicitation/create", "params": {"message": "Who?"}}, "s": {"method": "sampling/x"}},
         "cannot give: elicitation/create (Who?); sampling/x."),
        ({"s": "nothing"}, "cannot give: another try."),
        (["nothing"], "cannot give: another try."),
    ],
)  # fmt: skip
def test_what_cannot_be_declined_is_an_error_that_says_what_was_asked(
    tmp_path: Path, requests: Any, words: str
) -> None:
    first = {"result": {"resultType": "input_required", "inputRequests": requests}}
    with start(tmp_path, era=ENVELOPE, modern=True, **on_call(first)) as session, pytest.raises(ToolError) as caught:
        session.call("look", {})
    assert caught.value.code == "INPUT_REQUIRED"
    assert caught.value.message.endswith(words)


def test_a_server_that_asks_again_and_again_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PAUSES_SECONDS", (0.0, 0.0))
    again = {"result": {"resultType": "input_required", "requestState": "x"}}
    with start(tmp_path, era=ENVELOPE, modern=True, **on_call({"stderr": "asked\n"}, again)) as session:
        with pytest.raises(ToolError, match="cannot give: another try"):
            session.call("look", {})
        assert session.stderr_lines == ["asked"] * 3


def test_several_calls_can_be_made_in_one_session(tmp_path: Path) -> None:
    with start(tmp_path, **on_call({"echo": True})) as session:
        session.initialize()
        assert [read_text(session.call("look", {"n": n}))["arguments"] for n in range(3)] == [
            {"n": n} for n in range(3)
        ]
