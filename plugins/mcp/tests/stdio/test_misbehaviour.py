"""What a server can do wrong: each is one error with the server's own words, and none is a call that does not end."""

import base64
import json
import time
from pathlib import Path
from typing import Any

import pytest

from ferrule import ToolError
from ferrule_mcp.stdio import connection, lines
from ferrule_mcp.stdio.eras import ENVELOPE
from ferrule_mcp.stdio.session import ServerError, Session
from ferrule_testkit.mcp_servers.scenario import FAR_SECONDS, notification, on_call, text_result, write_scenario
from ferrule_testkit.runs import wait_for

pytestmark = pytest.mark.process

HANG = {"hang": True}
SECRET = "sk-1234567890abcdef"


def start(folder: Path, **scenario: Any) -> Session:
    command = write_scenario(folder, **scenario)
    deadline = time.monotonic() + FAR_SECONDS
    return Session.start(command, {}, name="odd", deadline=deadline, secrets=lambda: [SECRET])


def call(folder: Path, *actions: dict[str, Any], **scenario: Any) -> Any:
    with start(folder, **on_call(*actions), **scenario) as session:
        session.initialize()
        return session.call("look", {})


def fail(folder: Path, *actions: dict[str, Any], **scenario: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        call(folder, *actions, **scenario)
    return caught.value


def read_text(result: dict[str, Any]) -> str:
    return str(result["content"][0]["text"])


def raw(data: bytes) -> dict[str, str]:
    return {"bytes": base64.b64encode(data).decode()}


def answer(text: str, number: object = 2) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": {"content": [{"type": "text", "text": text}]}}


@pytest.mark.parametrize(
    ("action", "words", "details"),
    [
        pytest.param({"exit": 3}, "ended with exit code 3", {"exitCode": 3}, id="code"),
        pytest.param({"signal": 11}, "ended with SIGSEGV", {"signal": 11}, id="signal"),
        pytest.param({"exit": 0}, "ended with exit code 0", {"exitCode": 0}, id="zero"),
    ],
)
def test_a_server_that_ends_in_a_call(tmp_path: Path, action: Any, words: str, details: Any) -> None:
    error = fail(tmp_path, {"stderr": "\x1b[31mboom\x1b[0m: no such thing\n"}, action)
    assert error.code == "SERVER_FAILED"
    assert f"{words} before it had answered tools/call" in error.message
    assert error.message.endswith("Its last words: boom: no such thing")
    assert error.details == details
    assert error.hint


def test_a_server_that_ends_before_it_begins(tmp_path: Path) -> None:
    error = fail(tmp_path, start=[{"stderr": "Traceback\nAttributeError: no list_tools\n"}, {"exit": 1}])
    assert "ended with exit code 1 before it had answered initialize" in error.message
    assert "AttributeError: no list_tools" in error.message


def test_a_server_that_says_nothing_and_ends(tmp_path: Path) -> None:
    assert fail(tmp_path, {"exit": 1}).message.endswith("It said nothing on stderr.")


def test_an_answer_just_before_the_end_counts(tmp_path: Path) -> None:
    assert read_text(call(tmp_path, text_result("last"), {"exit": 1})) == "last"


def test_an_answer_without_an_end_of_line_counts_once_the_server_has_ended(tmp_path: Path) -> None:
    assert read_text(call(tmp_path, raw(json.dumps(answer("cut")).encode()), {"exit": 0})) == "cut"


def test_half_an_answer_is_none(tmp_path: Path) -> None:
    error = fail(tmp_path, raw(b'{"jsonrpc": "2.0", "id": 2, "resu'), {"exit": 0})
    assert error.code == "SERVER_FAILED"
    assert 'What it wrote to stdout is no message: {"jsonrpc": "2.0", "id": 2, "resu' in error.message


def test_a_server_that_closes_its_stdout_and_goes_on(tmp_path: Path) -> None:
    error = fail(tmp_path, {"close": True}, HANG)
    assert "closed its stdout before it had answered tools/call" in error.message


def test_the_end_is_seen_though_another_process_holds_stdout_open(tmp_path: Path) -> None:
    assert "ended with exit code 4" in fail(tmp_path, {"fork": True}, {"exit": 4}).message


def test_a_server_that_never_answers_the_handshake(tmp_path: Path) -> None:
    with start(tmp_path, on={"initialize": [[{"stderr": "waiting for localhost:8888\n"}, HANG]]}) as session:
        with pytest.raises(ToolError):
            session.initialize(seconds=0)  # which sends it
        while not session.stderr_lines:
            session.await_messages(0.01)
        with pytest.raises(ToolError) as caught:
            session.initialize(seconds=0.01)
    assert caught.value.code == "TIMEOUT"
    assert (
        "has not answered initialize within 0.0 s. Its last words: waiting for localhost:8888" in caught.value.message
    )
    assert caught.value.hint is not None
    assert "first start" in caught.value.hint


def test_a_server_that_never_answers_a_call(tmp_path: Path) -> None:
    reached = tmp_path / "reached"
    command = write_scenario(tmp_path, **on_call({"stderr": "working\n"}, {"touch": str(reached)}, HANG))
    with Session.start(command, {}, name="odd", deadline=time.monotonic() + FAR_SECONDS) as session:
        session.initialize()
        session.deadline = time.monotonic()
        with pytest.raises(ToolError):
            session.call("look", {})
        wait_for(reached.exists)
        with pytest.raises(ToolError) as caught:
            session.call("look", {})
    assert caught.value.code == "TIMEOUT"
    assert "has not answered tools/call" in caught.value.message
    assert caught.value.message.endswith("Its last words: working")


def test_lines_that_are_no_messages_are_passed_over_and_counted(tmp_path: Path) -> None:
    garbage = [{"line": "Starting…"}, {"line": ""}, {"line": '{"level": "info"}'}, {"line": "[]"}, {"line": "7"}]
    with start(tmp_path, **on_call(*garbage, text_result("done"))) as session:
        session.initialize()
        assert read_text(session.call("look", {})) == "done"
        assert session.garbage == (4, ["Starting…", '{"level": "info"}', "[]"])


def test_a_flood_of_garbage_ends_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_MAX_GARBAGE_LINES", 20)
    error = fail(tmp_path, {"times": [50, {"line": "noise"}]}, HANG)
    assert error.code == "SERVER_FAILED"
    assert "more than 20 lines to stdout that are no messages" in error.message


def test_a_flood_of_messages_ends_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_MAX_MESSAGES", 20)
    error = fail(tmp_path, {"times": [50, notification("notifications/message", data="again")]}, HANG)
    assert "has sent more than 20 messages" in error.message


def test_a_flood_of_requests_whose_answers_nobody_reads_ends_the_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_MAX_MESSAGES", 3_000)  # whose answers are more than a pipe holds
    ping = {"send": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
    assert "has sent more than 3,000 messages" in fail(tmp_path, {"times": [3_100, ping]}, HANG).message


def test_a_line_without_an_end_ends_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1 << 20)
    error = fail(tmp_path, {"times": [40, raw(b"x" * 40_000)]}, HANG)
    assert "has written a line of more than 1 MiB to stdout" in error.message


def test_output_without_an_end_ends_the_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_OUTPUT_BYTES", 1 << 20)
    many = {"times": [40, notification("notifications/message", data="x" * 40_000)]}
    assert "has written more than 1 MiB to stdout" in fail(tmp_path, many, HANG).message


def test_a_flood_on_stderr_holds_no_call_up(tmp_path: Path) -> None:
    with start(tmp_path, **on_call({"times": [300, {"stderr": "x" * 9_999 + "\n"}]}, text_result("done"))) as session:
        session.initialize()
        assert read_text(session.call("look", {})) == "done"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        pytest.param(json.dumps(answer("a\0b")).encode(), "a\ufffdb", id="nul"),
        pytest.param(json.dumps(answer("a\ud800b")).encode(), "a\ufffdb", id="surrogate"),
        pytest.param(json.dumps(answer("aXb")).encode().replace(b"X", b"\xff"), "a\ufffdb", id="not utf-8"),
        pytest.param(
            b"\xef\xbb\xbf" + json.dumps(answer("ab")).encode(), "ab", id="byte order mark", marks=pytest.mark.slow
        ),
        pytest.param(json.dumps(answer("ab")).encode() + b"\r", "ab", id="carriage return", marks=pytest.mark.slow),
        pytest.param(json.dumps([notification("x")["send"], answer("ab")]).encode(), "ab", id="batch"),
        pytest.param(json.dumps(answer("ab", "2")).encode(), "ab", id="id as text", marks=pytest.mark.slow),
        pytest.param(
            json.dumps(answer("aTb")).encode().replace(b"T", b"\t"), "a\tb", id="raw tab", marks=pytest.mark.slow
        ),
    ],
)
def test_an_answer_that_is_not_quite_json_is_read_as_far_as_it_can_be(
    tmp_path: Path, written: bytes, text: str
) -> None:
    assert read_text(call(tmp_path, raw(written + b"\n"), HANG)) == text


def test_numbers_that_json_cannot_hold_become_null(tmp_path: Path) -> None:
    line = '{"jsonrpc":"2.0","id":2,"result":{"structuredContent":{"a":NaN,"b":-Infinity,"c":1e999,"d":1}}}'
    result = call(tmp_path, {"line": line.replace("1e999", "1" + "0" * 400)}, HANG)
    assert result["structuredContent"] == {"a": None, "b": None, "c": None, "d": 1}


def test_a_message_that_is_nested_too_deeply_is_garbage(tmp_path: Path) -> None:
    deep = '{"jsonrpc":"2.0","id":2,"result":' + '{"a":' * 100_000 + "1" + "}" * 100_001
    with start(tmp_path, **on_call({"line": deep}, text_result("done"))) as session:
        session.initialize()
        assert read_text(session.call("look", {})) == "done"
        assert session.garbage == (1, [f"({len(deep):,} characters)"])


@pytest.mark.parametrize("number", [1, 3, 0, -2, True, "two", 2**70, [2], {"id": 2}, None, "9" * 100_000])
def test_answers_to_nothing_are_passed_over(tmp_path: Path, number: object) -> None:
    assert read_text(call(tmp_path, {"send": answer("other", number)}, text_result("own"))) == "own"


def test_true_is_not_the_number_one(tmp_path: Path) -> None:
    """Though Python takes them for equal."""
    command = write_scenario(tmp_path, **on_call({"send": answer("other", True)}, text_result("own")))
    deadline = time.monotonic() + FAR_SECONDS
    with Session.start(command, {}, name="odd", deadline=deadline, era=ENVELOPE) as session:
        assert read_text(session.call("look", {})) == "own"


def test_the_first_of_two_answers_counts(tmp_path: Path) -> None:
    script = [text_result("first"), text_result("second")]
    with start(tmp_path, on={"tools/call": [script, [text_result("third")]]}) as session:
        session.initialize()
        assert read_text(session.call("look", {})) == "first"
        assert read_text(session.call("look", {})) == "third"


def test_an_answer_in_pieces_is_put_together(tmp_path: Path) -> None:
    data = json.dumps(answer("ab" * 1000)).encode() + b"\n"
    pieces = [raw(data[at : at + 7]) for at in range(0, len(data), 7)]
    assert read_text(call(tmp_path, *pieces)) == "ab" * 1000


@pytest.mark.parametrize("result", [None, "text", ["text"], 7])
def test_a_result_that_is_no_object_is_an_error(tmp_path: Path, result: object) -> None:
    error = fail(tmp_path, {"send": {"jsonrpc": "2.0", "id": 2, "result": result}}, HANG)
    assert error.message == "The MCP server odd has answered tools/call with no object."


def test_a_server_that_cannot_read_a_message_says_so_without_its_id(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match="cannot parse"):
        call(tmp_path, {"send": {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "cannot parse"}}})


def test_a_release_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    begun = {"protocolVersion": "1999-12-31", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}}
    with start(tmp_path, on={"initialize": [[{"result": begun}]]}) as session, pytest.raises(ToolError, match="'1999-"):
        session.initialize()


@pytest.mark.parametrize(
    ("command", "folder", "words"),
    [
        (["/nowhere/server"], "", "No such file or directory: /nowhere/server"),
        (["/etc"], "", "Permission denied: /etc"),
        (["no-such-program-at-all"], "", "No such file or directory: no-such-program-at-all"),
        (["/bin/true"], "/nowhere", "in the folder /nowhere: No such file or directory"),
    ],
)
def test_a_server_that_cannot_be_started(command: list[str], folder: str, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        Session.start(command, {"PATH": "/bin"}, folder, name="gone", deadline=time.monotonic() + FAR_SECONDS)
    assert caught.value.code == "SERVER_FAILED"
    assert words in caught.value.message
    assert "ferrule mcp refresh" in str(caught.value.hint)


def test_no_descriptor_is_left_by_a_start_that_fails() -> None:
    before = sorted(Path("/proc/self/fd").iterdir())
    for folder in ("", "/nowhere"):
        with pytest.raises(ToolError):
            Session.start(["/nowhere/x"], {}, folder, name="gone", deadline=time.monotonic() + FAR_SECONDS)
    assert sorted(Path("/proc/self/fd").iterdir()) == before


def test_no_part_of_a_credential_is_in_an_error(tmp_path: Path) -> None:
    """A line is cut once the credential is out of it, and the beginning of what was kept is left out."""
    long = "y" * (lines._MAX_LINE_CHARS - len(SECRET) // 2) + SECRET
    flood = {"times": [2, {"stderr": f"{SECRET}{'z' * 8_000}\n"}]}
    error = fail(tmp_path, flood, {"stderr": f"{long}\nkey {SECRET} refused\n"}, {"exit": 1})
    assert "key [redacted] refused" in error.message
    assert not any(SECRET[:size] in error.message for size in range(6, len(SECRET)))
    assert not any(SECRET[-size:] in error.message for size in range(6, len(SECRET)))
