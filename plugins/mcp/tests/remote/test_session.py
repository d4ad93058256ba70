"""A session with real servers of both eras: tools, calls, progress, and what a call cannot give."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ferrule import ToolError
from ferrule_testkit import PATIENCE_SECONDS
from ferrule_testkit.programs.mcp_servers import FIRST, SECOND, serve

if TYPE_CHECKING:
    from ferrule_mcp.remote.session import RemoteSession

pytestmark = pytest.mark.process

OLD, NEW = "2025-11-25", "2026-07-28"


@pytest.fixture(scope="module")
def first() -> Iterator[str]:
    with serve(FIRST) as url:
        yield url


@pytest.fixture(scope="module")
def first_by_json() -> Iterator[str]:
    with serve(FIRST, "json") as url:
        yield url


@pytest.fixture(scope="module")
def second() -> Iterator[str]:
    with serve(SECOND) as url:
        yield url


def session(url: str, seconds: float = PATIENCE_SECONDS) -> RemoteSession:
    from ferrule_mcp.remote.session import RemoteSession

    return RemoteSession.start(url, deadline=time.monotonic() + seconds)


@pytest.mark.parametrize(
    ("server", "era", "spoken"),
    [
        ("first", "", OLD),
        ("first", OLD, OLD),
        pytest.param("first_by_json", "", OLD, marks=pytest.mark.slow),
        ("second", "", NEW),
        ("second", NEW, NEW),
        ("second", OLD, OLD),
    ],
)
def test_a_tool_is_found_and_called(request: pytest.FixtureRequest, server: str, era: str, spoken: str) -> None:
    with session(request.getfixturevalue(server)) as one:
        met = one.initialize(era)
        names = [tool["name"] for tool in one.list_tools()]
        result = one.call("echo", {"text": "hi"})
    assert met["era"] == spoken
    assert met["offered"] == {}
    if era != NEW:  # a server that is known is not asked who it is
        assert met["server"]["name"] == server.partition("_")[0]
        assert "tools" in met["capabilities"]
    assert "echo" in names
    assert "hi" in str(result["structuredContent"])
    assert not result["isError"]


def test_an_interview_has_all_that_is_kept_of_a_server(first: str) -> None:
    from ferrule_mcp.remote.interview import interview

    found = interview(first)
    assert (found.era, found.server["name"], found.instructions) == (OLD, "first", "Be kind.")
    assert [tool["name"] for tool in found.tools] == ["echo", "slow", "ask", "sample", "fail"]
    assert found.findings == []
    assert found.offered == {}
    assert found.seconds > 0


@pytest.mark.slow
def test_all_pages_of_the_list_are_read_as_they_are(second: str) -> None:
    with session(second) as one:
        one.initialize()
        tools = one.list_tools()
    assert [tool["name"] for tool in tools] == ["ask", "echo", "large", "region", "slow"]
    assert tools[3]["inputSchema"]["properties"] == {"region": {"type": "string", "x-mcp-header": "Region"}}


@pytest.mark.parametrize(("server", "era"), [("first", OLD), ("second", NEW), ("second", OLD)])
def test_progress_is_reported_while_the_call_runs(request: pytest.FixtureRequest, server: str, era: str) -> None:
    reports: list[dict[str, Any]] = []
    logs: list[dict[str, Any]] = []
    with session(request.getfixturevalue(server)) as one:
        one.initialize(era)
        result = one.call("slow", {"steps": 2}, reports.append, logs.append)
    assert [(one["progress"], one["message"]) for one in reports] == [(1, "step 1"), (2, "step 2")]
    assert result["content"][0]["text"] == "done"
    if server == "first":
        assert [one["data"] for one in logs] == ["at 1", "at 2"]


def test_an_argument_that_belongs_into_a_header_is_sent_there(second: str) -> None:
    with session(second) as one:
        one.initialize(NEW)
        assert one.call("region", {"region": "north"})["structuredContent"] == {"echo": {"region": "north"}}


def test_what_a_new_server_asks_for_is_declined_and_said(second: str) -> None:
    with session(second) as one:
        one.initialize(NEW)
        with pytest.raises(ToolError) as caught:
            one.call("ask", {})
        assert one.call("echo", {"text": "on"})["isError"] is False
    assert caught.value.code == "INPUT_REQUIRED"
    assert "an answer of the user" in caught.value.message


@pytest.mark.parametrize("tool", ["ask", "sample"])
def test_what_an_old_server_asks_for_is_declined_and_said(first: str, tool: str) -> None:
    with session(first) as one:
        one.initialize(OLD)
        result = one.call(tool, {})
        assert one.call("echo", {"text": "on"})["isError"] is False
    assert result["isError"]
    assert "not supported" in result["content"][0]["text"]


def test_the_words_of_a_tool_that_fails_are_in_the_result(first: str) -> None:
    with session(first) as one:
        one.initialize(OLD)
        result = one.call("fail", {})
    assert result["isError"]
    assert "there is no such thing" in result["content"][0]["text"]


def test_an_unknown_tool_is_an_error_that_says_so(second: str) -> None:
    with session(second) as one:
        one.initialize(NEW)
        with pytest.raises(ToolError, match="Unknown tool: nope") as caught:
            one.call("nope", {})
    assert caught.value.code == "INVALID_INPUT"


@pytest.mark.slow
@pytest.mark.parametrize("era", [OLD, NEW])
def test_too_large_a_result_is_an_error_and_the_session_goes_on(second: str, era: str) -> None:
    with session(second) as one:
        one.initialize(era)
        with pytest.raises(ToolError, match="16,777,216 bytes") as caught:
            one.call("large", {"bytes": 17 << 20})
        assert one.call("echo", {"text": "on"})["isError"] is False
    assert caught.value.code == "RESULT_TOO_LARGE"


def test_a_deadline_ends_a_call(second: str) -> None:
    with session(second, seconds=0) as one, pytest.raises(ToolError) as caught:
        one.initialize()
    assert caught.value.code == "TIMEOUT"
