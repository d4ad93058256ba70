"""Nothing of a tool runs between its calls, and no process says of itself whether it is copied or called again."""

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from ferrule.calls.fork_server.rest import children_of
from ferrule_serve.pool import Pool
from ferrule_testkit.machine import Machine
from ferrule_testkit.runs import SECONDS, wait_for
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served, install

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="processes that wait for a call are forked elsewhere"),
]
_COUNTS = "import threading\nthreading.Thread(target=lambda: [time.sleep(0.001) for _ in iter(int, 1)], daemon=True)"
# Each replaces what the process says of itself, as any plugin can that shares a process with it.
_SAYS_IT_IS_ALONE = """
import ferrule.calls.fork_server.child.plugin_process as told
told._can_be_copied = lambda known: True
told._shares_memory = lambda: False
"""
_SAYS_IT_IS_AS_BEFORE = """
import ferrule.calls.fork_server.child.plugin_process as told
import ferrule.calls.fork_server.child.state_check as check
told.has_children = lambda: False
check.StateCheck.find_changes = lambda self: []
"""


@pytest.fixture
def served(machine: Machine) -> Served:
    return Served(machine)


@pytest.mark.parametrize("is_reusable", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("top", ["", f"{_COUNTS}.start()"], ids=["alone", "with a thread of its import"])
def test_no_process_of_a_tool_runs_while_no_call_does(top: str, is_reusable: bool, served: Served) -> None:
    install(served, "return {'process': os.getpid()}", top=top, declared={"reusable": is_reusable})

    async def work(pool: Pool) -> None:
        for _ in range(3):
            answer = await pool.call("probe", NO_ARGUMENTS)
            assert not answer.is_error, answer.document
            limit = time.monotonic() + SECONDS
            while await _states(pool) != {"T"}:
                assert time.monotonic() < limit

    served.run(work)


async def _states(pool: Pool) -> set[str]:
    """Those of all threads of all processes that have loaded a tool, as letters of the kernel."""
    facts = (await pool.facts())["plugins"]
    return {state for one in facts for process in {one["process"], *one["copies"]} for state in _states_of(process)}


def _states_of(process: int) -> list[str]:
    try:
        stats = [file.read_text() for file in Path(f"/proc/{process}/task").glob("*/stat")]
    except OSError:
        return []
    return [stat.rpartition(")")[2].split()[0] for stat in stats]


@pytest.mark.parametrize(
    "top",
    [
        f"{_COUNTS}.start()",
        "KEPT = open('/dev/null')\nREAL = os.open(__file__, os.O_RDONLY)",
        "ENDS = os.pipe()",
        "import mmap\nKEPT = mmap.mmap(-1, 4096)",
        "import subprocess\nSTARTED = subprocess.Popen(['sleep', '1000'])",
    ],
    ids=["thread", "file", "pipe", "shared memory", "process"],
)
def test_a_process_that_calls_itself_alone_is_not_copied(top: str, served: Served) -> None:
    body = "return {'process': os.getpid(), 'loaded': LOADED}"
    install(served, body, top=f"{_SAYS_IT_IS_ALONE}\n{top}\nLOADED = os.getpid()", declared={"reusable": True})

    done = served.calls("probe", 3)

    assert all(one["process"] == one["loaded"] for one in done)
    assert len({one["process"] for one in done}) == 3


@pytest.mark.parametrize(
    "change",
    [
        "import threading; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)",
        "os.open(__file__, os.O_RDONLY)",
        "os.pipe()",
    ],
    ids=["thread", "process", "file", "pipe"],
)
def test_a_process_that_calls_itself_as_before_takes_no_other_call(change: str, served: Served) -> None:
    body = f"{change}\n    return {{'process': os.getpid()}}"
    install(served, body, top=_SAYS_IT_IS_AS_BEFORE, declared={"reusable": True})

    assert len({one["process"] for one in served.calls("probe", 3)}) == 3


def test_what_a_call_has_started_is_gone_before_its_answer_whatever_it_says(served: Served) -> None:
    child = served.machine.work / "child"
    body = (
        "import subprocess\n    left = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        f"    open({str(child)!r}, 'w').write(str(left.pid))\n    return {{}}"
    )
    install(served, body, top=_SAYS_IT_IS_AS_BEFORE, declared={"reusable": True})

    async def work(pool: Pool) -> bool:
        await pool.call("probe", NO_ARGUMENTS)
        return (Path("/proc") / child.read_text()).exists()

    assert not served.run(work)


def test_a_process_that_starts_others_where_it_is_to_make_a_copy_is_ended(served: Served) -> None:
    kept = served.machine.work / "kept"
    top = f"""
def also():
    import subprocess
    with open({str(kept)!r}, 'a') as file:
        file.write(f"{{subprocess.Popen(['sleep', '1000'], start_new_session=True).pid}} ")
os.register_at_fork(before=lambda: CALLS.append(1) or (len(CALLS) == 2 and also()))
CALLS = []
"""
    install(served, "return {}", top=top)

    async def work(pool: Pool) -> None:
        for _ in range(3):
            await pool.call("probe", NO_ARGUMENTS)
        wait_for(lambda: kept.exists() and kept.read_text())
        wait_for(lambda: not _running(kept))

    served.run(work)


def test_a_process_that_answers_no_order_any_more_is_ended(served: Served) -> None:
    top = "os.register_at_fork(before=lambda: LOADED.append(1) or (len(LOADED) == 2 and os._exit(3)))\nLOADED = []"
    install(served, "return {'process': os.getpid()}", top=top)

    assert len({one["process"] for one in served.calls("probe", 4)}) == 4


def test_processes_that_were_started_at_import_end_with_their_call(served: Served) -> None:
    kept = served.machine.work / "kept"
    top = (
        "import subprocess\nSTARTED = subprocess.Popen(['sleep', '1000'])\n"
        f"with open({str(kept)!r}, 'a') as file: file.write(f'{{STARTED.pid}} ')"
    )
    install(served, "return {'started': STARTED.pid}", top=top)

    async def work(pool: Pool) -> list[int]:
        pool.prepare("probe")
        started = []
        for _ in range(3):
            started.append(json.loads((await pool.call("probe", NO_ARGUMENTS)).document)["started"])
            wait_for(lambda: not _running(kept))
        return started

    assert len(set(served.run(work))) == 3


def _running(kept: Path) -> list[str]:
    return [one for one in kept.read_text().split() if Path("/proc", one).exists()]


@pytest.mark.parametrize("killed", ["the supervisor", "what it was started as"])
def test_what_a_call_has_started_ends_with_a_supervisor_that_is_killed(killed: str, served: Served) -> None:
    kept = served.machine.work / "kept"
    body = (
        "import subprocess\n    left = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        f"    open({str(kept)!r}, 'w').write(str(left.pid))\n    time.sleep(1000)"
    )
    install(served, body)

    async def work(pool: Pool) -> None:
        call = asyncio.create_task(pool.call("probe", NO_ARGUMENTS))
        await asyncio.to_thread(wait_for, lambda: kept.exists() and kept.read_text())
        started = pool.stats().supervisor or 0
        (supervisor,) = children_of(started)
        os.kill(supervisor if killed == "the supervisor" else started, signal.SIGKILL)
        await asyncio.to_thread(wait_for, lambda: not _running(kept))
        await call

    served.run(work)
