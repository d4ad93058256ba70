"""A call of a server's tool by `ferrule`, in the supervised child that the kernel holds."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule_testkit import PROJECT
from ferrule_testkit.machine import Machine
from ferrule_testkit.mcp_servers import scripted_server
from ferrule_testkit.mcp_servers.scenario import notification, on_call, request, text_result, write_scenario
from ferrule_testkit.runs import mark, wait_until_gone

pytestmark = pytest.mark.process

HELD = pytest.mark.skipif(bool(confinement.support().missing), reason="elsewhere: this kernel holds less")
PACKAGE = PROJECT / "plugins/mcp/src"
EXECUTE = """\
from ferrule_mcp.stdio_call import build_environment, call_tool
    server = {{"name": "scripted", "command": {command!r}}}
    return call_tool(server, "look", arguments, context, build_environment({{"FIXED": "1"}}))"""


class Caller:
    """Calls a tool whose server does what a scenario says."""

    def __init__(self, machine: Machine, folder: Path) -> None:
        self._machine = machine
        self._folder = folder
        machine.environment["PYTHONPATH"] += f":{PACKAGE}"
        self.mark, machine.environment = mark(machine.environment)

    def call(self, *, environment: dict[str, str] | None = None, **scenario: Any) -> Any:
        """How the call ended."""
        command = write_scenario(self._folder, **scenario)
        permissions = {
            "network": [],
            "programs": [sys.executable],
            "read": [str(self._folder), str(Path(scripted_server.__file__).parent)],
        }
        self._machine.install("look", execute=EXECUTE.format(command=command), permissions=permissions)
        return self._machine.ferrule("run", "look", '{"city": "Oslo"}', environment=environment)


@pytest.fixture
def caller(machine: Machine, tmp_path: Path) -> Caller:
    folder = tmp_path / "scenarios"
    folder.mkdir()
    return Caller(machine, folder)


def test_the_arguments_reach_the_server_and_its_answer_comes_back(caller: Caller) -> None:
    document = caller.call(**on_call({"echo": True})).document
    assert document["success"] is True
    assert json.loads(document["content"][0]["text"])["arguments"] == {"city": "Oslo"}


def test_a_picture_is_stored_and_named(caller: Caller) -> None:
    picture = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
    document = caller.call(**on_call({"result": {"content": [picture]}})).document
    assert document["content"][0]["mimeType"] == "image/png"
    assert Path(document["content"][0]["path"]).read_bytes() == b"\x89PNG\r\n\x1a\n"


def test_what_the_server_says_meanwhile_is_on_stderr(caller: Caller) -> None:
    actions = [
        {"line": "Ready"},
        notification("notifications/progress", progressToken=2, progress=1, total=2),
        notification("notifications/message", level="notice", data="half"),
        request("sampling/createMessage", messages=[]),
        text_result("Error: nothing"),
    ]
    ended = caller.call(**on_call(*actions))
    events = [json.loads(line) for line in ended.err.splitlines()]
    assert [event["event"] for event in events] == ["progress", "log", "declined", "not_a_message", "reads_like_error"]
    assert ended.document["success"] is True


@pytest.mark.parametrize(
    ("actions", "code", "words"),
    [
        ([{"stderr": "boom\n"}, {"exit": 3}], "SERVER_FAILED", "ended with exit code 3 before it had answered"),
        ([{"error": {"code": -32602, "message": "no city"}}], "INVALID_INPUT", "no city (-32602)"),
        ([{"result": {"content": [{"type": "text", "text": "denied"}], "isError": True}}], "TOOL_ERROR", "denied"),
    ],
)  # fmt: skip
def test_a_failure_is_one_document(caller: Caller, actions: list[Any], code: str, words: str) -> None:
    ended = caller.call(**on_call(*actions))
    assert ended.code == 1
    assert ended.document["success"] is False
    assert ended.document["error_code"] == code
    assert words in ended.document["error"]


@pytest.mark.slow
def test_a_server_that_hangs_ends_with_the_deadline_of_the_call(caller: Caller) -> None:
    ended = caller.call(**on_call({"stderr": "working\n"}, {"fork": True}, {"leave": True}, {"hang": True}),
                        environment={"FERRULE_DEADLINE": "3"})  # fmt: skip
    assert ended.document["error_code"] == "TIMEOUT"
    assert "The MCP server scripted has not answered" in ended.document["error"]
    wait_until_gone(caller.mark)


def test_a_process_that_leaves_the_server_s_group_is_ended_by_the_host(caller: Caller) -> None:
    assert caller.call(**on_call({"leave": True}, {"fork": True}, text_result("done"))).document["success"] is True
    wait_until_gone(caller.mark)


@HELD
def test_a_server_that_may_not_be_run_is_named(caller: Caller, machine: Machine) -> None:
    caller.call(**on_call(text_result("done")))
    machine.install("look", execute=EXECUTE.format(command=["/bin/echo"]), permissions={"network": [], "programs": []})
    document = machine.ferrule("run", "look", '{"city": "Oslo"}').document
    assert document["error_code"] == "PERMISSION_DENIED"
    assert "/bin/echo" in document["error"]


@HELD
def test_the_server_is_held_to_what_the_tool_may_read(caller: Caller, tmp_path: Path) -> None:
    private, public = tmp_path / "private", tmp_path / "scenarios/public"
    for file in (private, public):
        file.write_text("content")
    assert caller.call(**on_call({"file": str(public)})).document["content"][0]["text"] == '"content"'
    refused = caller.call(**on_call({"file": str(private)})).document
    assert refused["content"][0]["text"] == '"Permission denied"'
