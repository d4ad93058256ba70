"""The list of a server's tools: its pages, what is wrong with it, and a list that changes."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from ferrule_mcp.stdio import tool_list
from ferrule_mcp.stdio.session import Session
from ferrule_mcp.stdio.tool_list import read_tools
from ferrule_testkit.mcp_servers.scenario import FAR_SECONDS, notification, write_scenario

pytestmark = pytest.mark.process

CHANGED = notification("notifications/tools/list_changed")


def page(*names: object, **others: Any) -> dict[str, Any]:
    tools = [{"name": name, "inputSchema": {"type": "object"}} if isinstance(name, str) else name for name in names]
    return {"result": {"tools": tools, **others}}


def start(folder: Path, *pages: list[dict[str, Any]]) -> Session:
    command = write_scenario(folder, on={"tools/list": list(pages)})
    session = Session.start(command, {}, name="listing", deadline=time.monotonic() + FAR_SECONDS)
    session.initialize()
    return session


def read(folder: Path, *pages: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    with start(folder, *pages) as session:
        tools, findings = tool_list.read_tools(session)
    return [tool["name"] for tool in tools], findings


def test_all_pages_are_read_in_their_order(tmp_path: Path) -> None:
    with start(tmp_path, [page("a", nextCursor="p2")], [page("b", nextCursor="p3")], [page("c")]) as session:
        assert [tool["name"] for tool in read_tools(session)[0]] == ["a", "b", "c"]


def test_the_cursor_is_sent_back_as_it_came(tmp_path: Path) -> None:
    with start(tmp_path, [page("a", nextCursor="Ü==")], [{"echo": True}]) as session:
        session.list_page(None)
        assert json.loads(session.list_page("Ü==")["content"][0]["text"]) == {"cursor": "Ü=="}


def test_a_cursor_that_comes_again_ends_the_list(tmp_path: Path) -> None:
    names, findings = read(tmp_path, [page("a", nextCursor="x")], [page("b", nextCursor="x")])
    assert names == ["a", "b"]
    assert findings == ["Its list begins again before it has ended: a page names one that was read already."]


def test_a_list_without_an_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_list, "_MAX_PAGES", 3)
    pages = [[page(f"t{number}", nextCursor=str(number))] for number in range(20)]
    names, findings = read(tmp_path, *pages)
    assert names == ["t0", "t1", "t2"]
    assert findings == ["Its list goes on after 3 tools on 3 pages; the rest is left out."]


def test_too_many_tools_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_list, "_MAX_TOOLS", 3)
    names, findings = read(tmp_path, [page(*"abcdef", nextCursor="more")])
    assert names == ["a", "b", "c"]
    assert len(findings) == 1


def test_what_is_no_tool_is_left_out_and_said(tmp_path: Path) -> None:
    names, findings = read(tmp_path, [page("a", 7, {"title": "no name"}, {"name": ""}, {"name": 3}, "a")])
    assert names == ["a"]
    assert findings == [
        "A page of its list has entries that are no tools; they are left out.",
        "It lists 1 tools twice; the first of each name counts.",
    ]


def test_a_list_that_is_none_has_no_tools(tmp_path: Path) -> None:
    assert read(tmp_path, [{"result": {"tools": "none"}}])[0] == []


def test_a_list_that_has_changed_meanwhile_is_read_again(tmp_path: Path) -> None:
    names, findings = read(tmp_path, [page("a"), CHANGED], [page("a", "b")], [page("a", "b")])
    assert names == ["a", "b"]
    assert findings == []


def test_a_list_that_changes_each_time_is_taken_as_it_is(tmp_path: Path) -> None:
    names, findings = read(tmp_path, [page("a"), CHANGED])
    assert names == ["a"]
    assert findings == ["It says that its tools have changed whenever they are listed (4 times)."]
