"""Servers that others wrote, of both SDKs and both eras: interviewed, and called with good and bad arguments."""

import gzip
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule import Context, File, Image, ToolError
from ferrule_mcp.interview import Interview
from ferrule_mcp.stdio.eras import ENVELOPE
from ferrule_mcp.stdio.interview import interview, keeps_state
from ferrule_mcp.stdio.session import ServerError, Session
from ferrule_mcp.stdio.tool_list import read_tools
from ferrule_mcp.stdio_call import call_tool
from ferrule_testkit.mcp_servers.real_servers import node_server, python_server, sqlite_server
from ferrule_testkit.mcp_servers.scenario import FAR_SECONDS

pytestmark = [pytest.mark.slow, pytest.mark.process]


class Asker:
    """Calls servers in a folder of their own, which is their home."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.events: list[Any] = []
        self._variables = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "MEMORY_FILE_PATH": str(folder / "memory.jsonl"),
        }  # fmt: skip

    def interview(self, command: list[str]) -> Interview:
        return interview(command, self._variables, str(self.folder), FAR_SECONDS, name="real")

    def call(self, command: list[str], tool: str, arguments: dict[str, Any], *, era: str = "") -> Any:
        server = {"name": "real", "command": command, "folder": str(self.folder), "era": era}
        context = Context("real", time.monotonic() + FAR_SECONDS, send_event=self.events.append)
        return call_tool(server, tool, arguments, context, self._variables)

    def fail(self, command: list[str], tool: str, arguments: dict[str, Any], *, era: str = "") -> ToolError:
        with pytest.raises(ToolError) as caught:
            self.call(command, tool, arguments, era=era)
        return caught.value


@pytest.fixture
def asker(tmp_path: Path) -> Asker:
    folder = tmp_path.resolve() / "home"
    folder.mkdir()
    return Asker(folder)


def find_everything(_asker: Asker) -> list[str]:
    return node_server("everything")


def find_filesystem(asker: Asker) -> list[str]:
    return node_server("filesystem", str(asker.folder))


def find_memory(_asker: Asker) -> list[str]:
    return node_server("memory")


def find_time(_asker: Asker) -> list[str]:
    return python_server("time")


def find_git(_asker: Asker) -> list[str]:
    return python_server("git")


def find_sqlite(asker: Asker) -> list[str]:
    return sqlite_server(asker.folder / "data.db")


@pytest.mark.parametrize(
    ("find", "tools", "some"),
    [
        (find_everything, 13, "echo"),
        (find_filesystem, 14, "read_text_file"),
        (find_memory, 9, "create_entities"),
        (find_time, 2, "get_current_time"),
        (find_git, 12, "git_status"),
        (find_sqlite, 6, "read_query"),
    ],
)
def test_a_server_says_what_it_is(asker: Asker, find: Callable[[Asker], list[str]], tools: int, some: str) -> None:
    found = asker.interview(find(asker))
    assert found.era == "2025-11-25"
    assert found.server["name"]
    assert "tools" in found.capabilities
    assert len(found.tools) == tools
    assert some in [tool["name"] for tool in found.tools]
    assert found.findings == []


def test_what_a_process_remembers_is_seen_in_the_real_list(asker: Asker) -> None:
    remembering = keeps_state(asker.interview(find_everything(asker)).tools)
    assert {"toggle-simulated-logging", "toggle-subscriber-updates"} <= set(remembering)
    assert "echo" not in remembering
    assert keeps_state(asker.interview(find_filesystem(asker)).tools) == []


def test_each_kind_of_content_of_the_typescript_sdk(asker: Asker) -> None:
    server = find_everything(asker)
    assert asker.call(server, "echo", {"message": "hi"}) == "Echo: hi"
    before, picture, after = asker.call(server, "get-tiny-image", {})
    assert (type(picture), picture.media_type, type(before), type(after)) == (Image, "image/png", str, str)
    assert picture.read().startswith(b"\x89PNG")
    structured = asker.call(server, "get-structured-content", {"location": "Chicago"})
    assert set(structured) == {"temperature", "conditions", "humidity"}
    _, *links = asker.call(server, "get-resource-links", {"count": 2})
    assert [link["type"] for link in links] == ["resource_link", "resource_link"]
    _, resource, _ = asker.call(server, "get-resource-reference", {"resourceType": "Text", "resourceId": 1})
    assert resource["uri"] == "demo://resource/dynamic/text/1"
    asked = {"name": "z", "data": "data:text/plain,hello", "outputType": "resource"}
    (packed,) = asker.call(server, "gzip-file-as-resource", asked)
    assert (type(packed), packed.name) == (File, "z")
    assert gzip.decompress(packed.read()) == b"hello"
    assert asker.events == []


def test_progress_of_the_typescript_sdk(asker: Asker) -> None:
    asker.call(find_everything(asker), "trigger-long-running-operation", {"duration": 0.03, "steps": 3})
    assert [event["progress"] for event in asker.events] == [1, 2, 3]


@pytest.mark.parametrize(("tool", "words"), [("nothing", "not found"), ("echo", "message")])
def test_refusals_of_the_typescript_sdk(asker: Asker, tool: str, words: str) -> None:
    error = asker.fail(find_everything(asker), tool, {})
    assert error.code == "TOOL_ERROR"
    assert words in error.message


def test_a_folder_that_is_not_given_stays_closed(asker: Asker) -> None:
    """Roots that are offered would replace the folders of the command line."""
    (asker.folder / "a.txt").write_text("text of a")
    server = find_filesystem(asker)
    assert asker.call(server, "read_text_file", {"path": str(asker.folder / "a.txt")}) == {"content": "text of a"}
    assert "Access denied" in asker.fail(server, "read_text_file", {"path": "/etc/hostname"}).message


def test_what_is_kept_in_a_file_is_there_in_the_next_call(asker: Asker) -> None:
    entities = [{"name": "tea", "entityType": "drink", "observations": ["hot"]}]
    server = find_memory(asker)
    asker.call(server, "create_entities", {"entities": entities})
    assert asker.call(server, "read_graph", {}) == {"entities": entities, "relations": []}


@pytest.mark.parametrize("era", ["", "2025-11-25", ENVELOPE])
def test_the_python_sdk_in_both_eras(asker: Asker, era: str) -> None:
    server = find_time(asker)
    answer = asker.call(server, "get_current_time", {"timezone": "Europe/Oslo"}, era=era)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT.*", answer["datetime"])
    assert "Invalid timezone" in asker.fail(server, "get_current_time", {"timezone": "No/Where"}, era=era).message
    unknown = asker.fail(server, "nothing", {}, era=era)
    assert (unknown.code, unknown.message.endswith("(-32602)")) == ("INVALID_INPUT", True)


def test_after_a_discovery_the_python_sdk_refuses_the_handshake(asker: Asker) -> None:
    """Why the interview takes another process for the second question."""
    deadline = time.monotonic() + FAR_SECONDS
    with Session.start(find_time(asker), {}, name="real", deadline=deadline) as session:
        assert ENVELOPE in session.discover()["supportedVersions"]
        assert len(read_tools(session)[0]) == 2
        session.era = ""
        with pytest.raises(ServerError) as caught:
            session.initialize()
    assert caught.value.code == -32022


@pytest.mark.parametrize(("era", "state"), [("", "None"), (ENVELOPE, "asked")])
def test_a_question_of_the_official_sdk_is_declined_in_both_eras(asker: Asker, era: str, state: str) -> None:
    command = [sys.executable, "-m", "ferrule_testkit.mcp_servers.asking_server"]
    assert asker.call(command, "greet", {}, era=era) == f"decline, {state}"
    assert [event["event"] for event in asker.events] == ["declined"]
    assert "Your name?" in asker.events[0]["content"]


def test_a_server_works_on_a_repository(asker: Asker) -> None:
    subprocess.run(["git", "init", "-q", str(asker.folder)], check=True)
    server = find_git(asker)
    assert "No commits yet" in asker.call(server, "git_status", {"repo_path": str(asker.folder)})
    assert "/nowhere" in asker.fail(server, "git_status", {"repo_path": "/nowhere"}).message


def test_a_database_is_written_to_the_end(asker: Asker) -> None:
    server = find_sqlite(asker)
    asker.call(server, "create_table", {"query": "create table tea (name text)"})
    asker.call(server, "write_query", {"query": "insert into tea values ('green')"})
    assert asker.call(server, "read_query", {"query": "select * from tea"}) == "[{'name': 'green'}]"


def test_a_success_that_is_an_error_is_marked(asker: Asker) -> None:
    assert asker.call(find_sqlite(asker), "nothing", {}) == "Error: Missing arguments"
    assert [event["event"] for event in asker.events] == ["reads_like_error"]


def test_a_picture_of_a_file_is_one(asker: Asker) -> None:
    body = b"\x89PNG\r\n\x1a\n" + b"\0" * 16
    (asker.folder / "p.png").write_bytes(body)
    (picture,) = asker.call(find_filesystem(asker), "read_media_file", {"path": str(asker.folder / "p.png")})
    assert picture.read() == body
