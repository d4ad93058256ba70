"""What a server is asked when it is added."""

import json
from pathlib import Path
from typing import Any

import pytest

from ferrule import ToolError
from ferrule_mcp.stdio.interview import interview
from ferrule_testkit.mcp_servers.scenario import request, write_scenario

pytestmark = pytest.mark.process

REFUSED = {"error": {"code": -32022, "message": "Unsupported protocol version"}}
TOOL = {"name": "look", "description": "Look.", "inputSchema": {"type": "object"}}
DISCOVERED = {
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "instructions": "Look first.",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "2"}},
}


def ask(folder: Path, *, secrets: tuple[str, ...] = (), roots: tuple[str, ...] = (), **scenario: Any) -> Any:
    command = write_scenario(folder, **scenario)
    return interview(command, {}, name="asked", seconds=1e6, secrets=secrets, roots=roots)


def test_a_server_with_a_handshake_says_what_it_is(tmp_path: Path) -> None:
    begun = {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "old", "version": "1"},
        "instructions": "Look first.",
    }
    script = {"initialize": [[{"stderr": "\x1b[1mbanner\x1b[0m\n"}, {"result": begun}]],
              "tools/list": [[{"result": {"tools": [TOOL]}}]]}  # fmt: skip
    found = ask(tmp_path, on=script)
    assert found.era == "2025-06-18"
    assert found.server == begun["serverInfo"]
    assert found.capabilities == begun["capabilities"]
    assert found.instructions == "Look first."
    assert found.tools == [TOOL]
    assert found.stderr == ["banner"]
    assert found.offered == {}
    assert found.findings == []
    assert found.seconds > 0


def test_a_server_without_one_is_asked_in_a_fresh_process(tmp_path: Path) -> None:
    """Once it has refused `initialize`, this one ends at the next message."""
    script = {
        "initialize": [[REFUSED, {"stderr": "refused\n"}, {"read": True}, {"exit": 1}]],
        "server/discover": [[{"result": DISCOVERED}]],
        "tools/list": [[{"result": {"tools": [TOOL]}}]],
    }
    found = ask(tmp_path, on=script, modern=True)
    assert found.era == "2026-07-28"
    assert found.server == {"name": "new", "version": "2"}
    assert found.instructions == "Look first."
    assert found.tools == [TOOL]
    assert found.stderr == []


def test_one_that_refuses_both_is_told_of_in_its_own_words(tmp_path: Path) -> None:
    script = {"initialize": [[REFUSED]], "server/discover": [[{"error": {"code": -32601, "message": "what?"}}]]}
    with pytest.raises(ToolError, match=r"asked refuses to begin: Unsupported protocol version \(-32022\)\."):
        ask(tmp_path, on=script)


def test_one_that_discovers_another_release_alone_is_refused(tmp_path: Path) -> None:
    other = {"result": {**DISCOVERED, "supportedVersions": ["2030-01-01"]}}
    with pytest.raises(ToolError, match="does not speak the release 2026-07-28"):
        ask(tmp_path, on={"initialize": [[REFUSED]], "server/discover": [[other]]})


@pytest.mark.parametrize(
    ("capabilities", "words"),
    [
        ({"resources": {}}, "It has no tools: it offers resources or prompts alone."),
        ({"tools": {}}, "It refuses to list its tools: no (-32601)."),
    ],
)
def test_a_server_without_tools_has_none(tmp_path: Path, capabilities: Any, words: str) -> None:
    begun = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "x", "version": "1"}}
    refused = {"error": {"code": -32601, "message": "no"}}
    found = ask(tmp_path, on={"initialize": [[{"result": begun}]], "tools/list": [[refused]]})
    assert found.tools == []
    assert found.findings == [words]


def test_what_was_odd_is_said(tmp_path: Path) -> None:
    asked = [request("sampling/createMessage", messages=[])]
    script = {"notifications/initialized": [[{"line": "Ready on stdio"}, *asked]]}
    assert ask(tmp_path, on=script).findings == [
        "It wrote 1 lines to stdout that are no messages, such as: Ready on stdio",
        "It asked for what it was not offered, and was declined: sampling/createMessage.",
    ]


def test_credentials_are_in_nothing_that_is_shown(tmp_path: Path) -> None:
    script = {"notifications/initialized": [[{"line": "key sk-abcdef123"}, {"stderr": "key sk-abcdef123\n"}]]}
    found = ask(tmp_path, on=script, secrets=("sk-abcdef123",))
    assert found.stderr == ["key [redacted]"]
    assert "sk-abcdef123" not in json.dumps(found)
    with pytest.raises(ToolError) as caught:
        ask(tmp_path, start=[{"stderr": "key sk-abcdef123\n"}, {"exit": 1}], secrets=("sk-abcdef123",))
    assert "key [redacted]" in caught.value.message


def test_roots_that_are_named_are_offered(tmp_path: Path) -> None:
    assert ask(tmp_path, roots=("/srv",)).offered == {"roots": {}}
