"""Whatever a tool does that a model has called, it ends, and so does all that it has started."""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

import pytest

from ferrule_ask.keys import Keys
from ferrule_ask.tools.toolbox import Toolbox, ToolResult
from ferrule_testkit.corpus import Site
from ferrule_testkit.model.offered_tools import OSLO, SECONDS, names
from ferrule_testkit.runs import marked, wait_for, wait_until_gone

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("keyless")]

HANGING = ("hangs_in_sleep", "ignores_sigterm", "stops_itself", "loops_in_c", "waits_for_a_child", "prints_forever")
LEAVING = ("leaves_a_daemon", "leaves_a_chain", "kills_its_group", "kills_its_parent", "segfaults")


def all_at_once(tools: Sequence[str], seconds: float) -> list[ToolResult]:
    """Execute them side by side."""
    box = Toolbox.load(tools, Keys())
    assert names(box) == list(tools)

    async def executions() -> list[ToolResult]:
        return await asyncio.gather(*(box.execute(tool, {}, seconds) for tool in tools))

    return asyncio.run(executions())


@pytest.mark.usefixtures("hostile")
def test_tools_that_do_not_end_are_ended_with_all_that_they_have_started(left: str) -> None:
    started = time.monotonic()
    for tool, result in zip(HANGING, all_at_once(HANGING, 1.5), strict=True):
        assert result.is_error, tool
        assert "had not answered" in result.content, (tool, result)
    assert time.monotonic() - started < SECONDS
    assert marked(left) == []


@pytest.mark.usefixtures("hostile")
def test_tools_that_end_leave_nothing_and_there_is_an_answer(left: str) -> None:
    for tool, result in zip(LEAVING, all_at_once(LEAVING, SECONDS), strict=True):
        assert result.content, tool
        assert result.is_error == (tool not in ("leaves_a_daemon", "leaves_a_chain")), (tool, result)
    wait_until_gone(left)


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("tool", ["ignores_sigterm", "waits_for_a_child"])
def test_a_question_that_is_cancelled_ends_its_tool(tool: str, left: str) -> None:
    box = Toolbox.load([tool], Keys())

    async def cancelled() -> None:
        task = asyncio.create_task(box.execute(tool, {}, 60))
        while len(marked(left)) < (3 if tool == "waits_for_a_child" else 2):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert marked(left) == []


@pytest.mark.usefixtures("hostile")
def test_a_callers_process_that_is_killed_takes_the_tool_with_it(left: str, corpus: Site) -> None:
    code = """
import asyncio
from ferrule_ask.keys import Keys
from ferrule_ask.tools.toolbox import Toolbox
box = Toolbox.load(["waits_for_a_child"], Keys())
print("loaded", flush=True)
asyncio.run(box.execute("waits_for_a_child", {}, 100))
"""
    search = [str(corpus.path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, search))}
    caller = subprocess.Popen([sys.executable, "-c", code], env=environ, stdout=subprocess.PIPE)
    with caller:
        assert caller.stdout
        assert caller.stdout.readline() == b"loaded\n"
        wait_for(lambda: len(marked(left)) >= 3)
        caller.kill()
    wait_until_gone(left)


def test_many_executions_at_once_in_a_loop_of_another_thread() -> None:
    box = Toolbox.load(["example"], Keys())
    results: list[Sequence[ToolResult]] = []

    async def all_of_them() -> None:
        results.append(await asyncio.gather(*(box.execute("example", OSLO, SECONDS) for _ in range(6))))

    thread = threading.Thread(target=lambda: asyncio.run(all_of_them()))
    thread.start()
    thread.join(60)
    assert [one.content for one in results[0] if one.is_error] == []


def test_a_host_program_that_reaps_all_children_does_not_disturb() -> None:
    """As an embedding program may, which has its own handler for SIGCHLD."""
    code = """
import asyncio, os, signal, sys
from ferrule_ask.keys import Keys
from ferrule_ask.tools.toolbox import Toolbox
box = Toolbox.load(["example"], Keys())
def reap(*_):
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
signal.signal(signal.SIGCHLD, reap)
for city in ("Oslo", "4711"):
    print(asyncio.run(box.execute("example", {"city": city}, 20)).is_error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "False\nTrue\n", done.stderr
