"""One call of a server's tool, by its record and the context of the call."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from ferrule import Context, Credential, ToolError
from ferrule_mcp.stdio.lines import shorten_line
from ferrule_mcp.stdio_call import build_environment, call_tool
from ferrule_testkit.mcp_servers.scenario import FAR_SECONDS, on_call, request, text_result, write_scenario

KEY = Credential("key", environment="SCRIPTED_KEY", path="scripted.key")
SECRET = "sk-1234567890abcdef"


def call(place: Path, *actions: dict[str, Any], events: list[Any] | None = None, **record: Any) -> Any:
    command = write_scenario(place, modern="era" in record, **on_call(*actions))
    deadline = time.monotonic() + FAR_SECONDS
    context = Context("look", deadline, credentials=[KEY], send_event=[].append if events is None else events.append)
    return call_tool({"name": "scripted", "command": command, **record}, "look", {"at": "it"}, context, {})


@pytest.mark.process
def test_the_record_says_the_folder_the_release_and_the_roots(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    (folder / "here").write_text("in its folder")
    assert call(tmp_path, {"file": "here"}, folder=str(folder)) == '"in its folder"'
    roots = json.loads(call(tmp_path, request("roots/list"), {"answered": True}, roots=["/srv"]))
    assert roots["result"] == {"roots": [{"uri": "file:///srv"}]}
    meta = json.loads(call(tmp_path, {"echo": True}, era="2026-07-28"))["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"


@pytest.mark.process
def test_no_part_of_a_credential_of_the_tool_is_in_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCRIPTED_KEY", SECRET)
    kept = len(shorten_line("x" * 9_999)) - 1
    line = "y" * (kept - len(SECRET) // 2) + SECRET  # which is cut within the credential
    with pytest.raises(ToolError) as caught:
        call(tmp_path, {"stderr": f"{line}\n"}, {"exit": 1})
    assert caught.value.message.endswith("…")
    assert SECRET[:4] not in caught.value.message


@pytest.mark.process
@pytest.mark.parametrize(
    "ending",
    [
        {"error": {"code": -32603, "message": "no model"}},
        {"result": {"content": [{"type": "text", "text": "no model"}], "isError": True}},
    ],
)
def test_a_failure_says_what_was_declined_before_it(tmp_path: Path, ending: dict[str, Any]) -> None:
    events: list[Any] = []
    with pytest.raises(ToolError, match="no model") as caught:
        call(tmp_path, request("sampling/createMessage"), ending, events=events)
    assert caught.value.code == "TOOL_ERROR"
    assert "The server asked for sampling/createMessage, which was declined." in str(caught.value.hint)
    assert [event["event"] for event in events] == ["declined"]


@pytest.mark.process
def test_what_was_odd_is_an_event_also_where_the_call_succeeds(tmp_path: Path) -> None:
    events: list[Any] = []
    assert call(tmp_path, {"line": "Ready"}, text_result("Error: nothing"), events=events) == "Error: nothing"
    assert [event["event"] for event in events] == ["not_a_message", "reads_like_error"]


def test_a_server_sees_what_the_call_sees_but_for_the_host_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FERRULE_DEADLINE", "IKIGAI_AGENT_ID", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "KEPT"):
        monkeypatch.setenv(name, "outer")
    monkeypatch.setenv("TERM", "xterm")
    environment = build_environment({"FIXED": "1", "PYTHONUTF8": "1", "KEPT": "inner"})
    assert {name for name in environment if name.startswith(("FERRULE", "IKIGAI", "PYTHON", "VIRTUAL"))} == {
        "PYTHONUTF8",
        "PYTHONDONTWRITEBYTECODE",
    }
    assert (environment["FIXED"], environment["KEPT"]) == ("1", "inner")
    assert environment["PATH"]
    assert (environment["NO_COLOR"], environment["TERM"]) == ("1", "dumb")
