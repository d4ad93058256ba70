"""An MCP server that is kept: one process makes the calls of all its tools, and nothing of it outlives the keeper."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule.links import keeper_frames as frames
from ferrule_testkit.keeper import KeptMachine, Refused
from ferrule_testkit.processes.kept_server import Count, KeptServer, await_end, open_children, read_count
from ferrule_testkit.serve.service import MODERN, connected, on_stdio, text_of

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel holds less"),
]

_LAUNCHER = shutil.which("ferrule-launcher", path=str(Path(sys.executable).parent))
_SHORT = {"FERRULE_DEADLINE": "4"}  # of which the server has half
_EXECUTE = """\
import asyncio, os, sys
from ferrule.installed import execute
print(asyncio.run(execute("talk_say", b"{}", 30.0, dict(os.environ))).stdout.decode())
"""


@pytest.fixture
def server(kept: KeptMachine, tmp_path: Path) -> KeptServer:
    kept.configure("")
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    made = KeptServer(kept, folder)
    made.add()
    kept.start()
    return made


def on_calls(*actions: list[dict[str, Any]]) -> dict[str, Any]:
    """What the server does at its calls, one after the other; it answers pings."""
    return {"tools/call": list(actions), "ping": [[{"result": {}}]]}


def test_calls_of_all_its_tools_are_made_by_one_process_that_remembers(server: KeptServer) -> None:
    found = [server.count(tool) for tool in ("talk_say", "talk_ask", "talk_say")]
    assert [one.calls for one in found] == [1, 2, 3]
    assert len({one.process for one in found}) == 1
    assert server.count(umask=0o077).calls == 1  # what it writes would have another mode
    handle = os.pidfd_open(found[0].process)
    server.kept.stop()
    await_end(handle)


@pytest.mark.slow
def test_executables_ask_and_serve_share_it(server: KeptServer) -> None:
    machine = server.kept.machine
    first = server.count()
    command = [sys.executable, "-c", _EXECUTE]
    done = subprocess.run(command, env=machine.environment, cwd=machine.work, capture_output=True, check=True)
    assert read_count(json.loads(done.stdout)) == (2, first.process)

    async def serve() -> dict[str, int]:
        async with connected(on_stdio(machine.environment), MODERN) as client:
            said: dict[str, int] = json.loads(text_of(await client.call_tool("talk_ask", {})))
            return said

    assert asyncio.run(serve()) == {"count": 3, "process": first.process}
    server.kept.stop()
    assert asyncio.run(serve())["count"] == 1  # by a server of its own


@pytest.mark.slow
@pytest.mark.skipif(_LAUNCHER is None, reason="no launcher is installed")
def test_it_is_started_by_one_executable_and_used_by_another(server: KeptServer) -> None:
    kept = server.kept
    kept.stop()
    folder = kept.machine.work / "bin"
    assert kept.machine.ferrule("link", "talk_say", "talk_ask", "--to", str(folder), close_fds=True).code == 0

    def call(name: str) -> Count:
        command, environ = [folder / f"talk-{name}-tool"], kept.machine.environment
        done = subprocess.run(command, input=b"{}", env=environ, cwd=kept.machine.work, capture_output=True)
        return read_count(json.loads(done.stdout))

    cold = call("say")  # which leaves a keeper behind
    kept.start()
    found = [call(name) for name in ("ask", "say", "ask")]
    assert [one.calls for one in found] == [1, 2, 3]
    assert {one.process for one in found}.isdisjoint({cold.process})


@pytest.mark.slow
def test_what_has_died_or_answers_nonsense_is_started_again(server: KeptServer) -> None:
    server.tell(on_calls([{"count": True}], [{"fork": True}, {"leave": True}, {"exit": 3}]))
    first = server.count()
    handles = [os.pidfd_open(first.process)]
    failed = server.call().document
    assert failed["error_code"] == "SERVER_FAILED"
    assert "exit code 3" in failed["error"]
    await_end(*handles)
    server.tell(on_calls([{"count": True}], [{"line": "no message"}, {"close": True}, {"hang": True}]))
    second = server.count()
    assert second.calls == 1
    assert second.process != first.process
    handles = [os.pidfd_open(second.process)]
    os.kill(second.process, signal.SIGKILL)
    await_end(*handles)
    third = server.count()
    assert third.calls == 1
    assert server.call().document["error_code"] == "SERVER_FAILED"
    assert server.count().calls == 1


@pytest.mark.slow
def test_a_late_answer_is_nobodys(server: KeptServer) -> None:
    gate = server.scenario.with_name("gate")
    late = {"result": {"content": [{"type": "text", "text": "late"}]}}
    server.tell(on_calls([{"count": True}], [{"wait": str(gate)}, late], [{"count": True}]))
    first = server.count()
    assert server.call(environ=_SHORT).document["error_code"] == "TIMEOUT"
    gate.touch()
    assert server.count() == (3, first.process)


@pytest.mark.slow
def test_one_that_answers_nothing_any_more_is_ended(server: KeptServer) -> None:
    server.tell(on_calls([{"count": True}], [{"hang": True}]))
    first = server.count()
    handle = os.pidfd_open(first.process)
    assert server.call(environ=_SHORT).document["error_code"] == "TIMEOUT"
    assert server.count().calls == 1
    await_end(handle)


@pytest.mark.slow
@pytest.mark.parametrize("who", ["caller", "keeper", "both"])
def test_nothing_is_left_where_a_caller_or_the_keeper_is_killed(who: str, server: KeptServer) -> None:
    server.tell(on_calls([{"leave": True}, {"fork": True}, {"count": True}], [{"stderr": "here"}, {"hang": True}]))
    process = server.count().process
    handles = [os.pidfd_open(process), *open_children(process)]
    assert len(handles) == 3
    keeper = server.kept.ferrule_keep("status")["keepers"][0]["process"]
    with server.kept.begun("talk_say") as caller:
        caller.send(frames.frame(frames.INPUT, b"{}") + frames.frame(frames.INPUT_END))
        caller.expect(frames.BEGUN)
        if who in ("caller", "both"):
            caller.line.close()
        if who in ("keeper", "both"):
            os.kill(keeper, signal.SIGKILL)
        await_end(*handles)


@pytest.mark.slow
def test_another_server_is_started_where_its_start_is_another_one(server: KeptServer) -> None:
    first = server.count()
    handle = os.pidfd_open(first.process)
    granted = server.mcp("grant", "talk", f"read={server.scenario.parent}")
    assert granted.code == 0, granted.err
    second = server.count()
    assert second.calls == 1
    await_end(handle)
    assert server.mcp("show", "talk", "--json").document["keep"] is True
    assert server.mcp("keep", "talk", "off").code == 0
    with pytest.raises(Refused, match="is not kept"):
        server.call()
    assert server.mcp("show", "talk", "--json").document["keep"] is False
