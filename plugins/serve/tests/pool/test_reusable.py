"""Copies that take more calls than one, of tools that say that they may, and what of a call ends them."""

import asyncio
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ferrule.calls.fork_server.child.plugin_process import AS_BEFORE
from ferrule.calls.fork_server.forks.copies import Copy
from ferrule.calls.fork_server.poll_loop import PollLoop
from ferrule_serve.pool import CallAnswer, Pool
from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served, assert_used_again, install

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="processes that wait for a call are forked elsewhere"),
]
REUSABLE = {"reusable": True}
RETURNS_ITS_PROCESS = "return {'process': os.getpid()}"


@pytest.fixture
def served(machine: Machine) -> Served:
    return Served(machine)


def test_calls_of_a_reusable_tool_share_a_process_and_what_its_module_keeps(served: Served) -> None:
    body = "CACHE.append(1)\n    import colorsys\n    return {'process': os.getpid(), 'kept': len(CACHE)}"
    install(served, body, top="CACHE = []", declared=REUSABLE)

    first, *others = served.calls("probe", 6)

    assert first["kept"] == 1
    assert len({one["process"] for one in others[1:]}) == 1  # the first has imported something, which renews the plugin
    assert [one["kept"] for one in others[1:]] == [2, 3, 4, 5]


@pytest.mark.slow
def test_a_process_in_which_a_call_has_changed_something_takes_no_other(served: Served) -> None:
    changes = (
        "import threading; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
        "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)",
        "os.open('/dev/null', os.O_RDONLY)",
        "os.dup2(0, 2)",
        "os.chdir('/')",
        "os.environ['PROBE_CALLED'] = 'yes'",
        "import signal; signal.signal(signal.SIGUSR1, signal.SIG_IGN)",
        "import signal; signal.setitimer(signal.ITIMER_REAL, 500)",
        "os.umask(0o027)",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))",
        "KEPT.append(bytearray(b'x' * (100 << 20)))",
        "global COUNT; COUNT = object()",
        "global ADDED; ADDED = 1",
        "time.time = lambda: 0.0",
        "import builtins; builtins.print = None",
        "import sys; sys.stdout = open('/dev/null', 'w')",
        "import sys; sys.path.append('/nowhere')",
        "import sys; sys.setrecursionlimit(3000)",
        "import socket; socket.setdefaulttimeout(1)",
    )
    change = served.machine.work / "change.py"
    execute = f"with open({str(change)!r}) as file: exec(file.read(), globals(), {{}})\n    {RETURNS_ITS_PROCESS}"
    install(served, execute, top="KEPT = []\nCOUNT = None", declared=REUSABLE)

    async def work(pool: Pool) -> dict[str, int]:
        change.write_text("")
        await assert_used_again(pool, "probe", NO_ARGUMENTS)
        return {text: await count_processes(pool, text) for text in changes}

    async def count_processes(pool: Pool, text: str) -> int:
        change.write_text(text)
        answers = [await pool.call("probe", NO_ARGUMENTS) for _ in range(4)]
        return len({one.document for one in answers[1:]})  # the first may have the process of the change before

    assert served.run(work) == dict.fromkeys(changes, 3)


@pytest.mark.slow
def test_a_failure_the_number_of_calls_and_the_admin_each_end_a_process(served: Served) -> None:
    flag = served.machine.work / "fails"
    body = f"if os.path.exists({str(flag)!r}): raise ValueError('no such almanac')\n    {RETURNS_ITS_PROCESS}"
    install(served, body, declared=REUSABLE)
    served.environment["FERRULE_CONFIG"] = str(served.machine.home / "config.toml")

    async def work(pool: Pool) -> list[CallAnswer]:
        first = await pool.call("probe", NO_ARGUMENTS)
        flag.touch()
        failed = await pool.call("probe", NO_ARGUMENTS)
        flag.unlink()
        return [first, failed, await pool.call("probe", NO_ARGUMENTS)]

    first, failed, last = served.run(work)
    assert failed.is_error
    assert first.document != last.document
    assert len({one["process"] for one in served.calls("probe", 4, calls=2)}) == 2
    (served.machine.home / "config.toml").write_text("[tools.probe]\nreusable = false\n")
    assert len({one["process"] for one in served.calls("probe", 3)}) == 3


def test_events_secrets_and_printed_text_are_those_of_their_own_call(served: Served) -> None:
    body = (
        "context.event({'event': 'log', 'number': len(CACHE)}); CACHE.append(1); print('printed', len(CACHE))\n"
        "    return {'process': os.getpid()}"
    )
    install(served, body, top="CACHE = []", declared=REUSABLE)

    async def work(pool: Pool) -> list[tuple[list[object], str]]:
        told = []
        for _ in range(3):
            events: list[object] = []
            answer = await pool.call("probe", NO_ARGUMENTS, on_event=lambda event, events=events: events.append(event))
            told.append((events, answer.text))
        return told

    told = served.run(work)
    assert [text for _, text in told] == ["printed 1\n", "printed 2\n", "printed 3\n"]
    assert [events for events, _ in told] == [[{"event": "log", "number": number}] for number in range(3)]


@pytest.mark.parametrize(
    ("sent", "late", "stays"),
    [
        (AS_BEFORE, None, True),
        (b"-", None, False),
        (AS_BEFORE, 1, False),  # of a thread that has ended since: it would be the next call's
        (AS_BEFORE, 2, False),
        (None, None, False),
    ],
)
def test_a_copy_stays_where_it_says_so_and_nothing_came_after_the_result(
    sent: bytes | None, late: int | None, stays: bool
) -> None:
    loop, told, ends = PollLoop(), [], []
    copy = Copy(cast("Any", SimpleNamespace(loop=loop)), cast("Any", None))
    copy.hand_over(lambda files: ends.extend(map(os.dup, files)))
    if late is not None:
        os.write(ends[late], b"late")
    if sent is None:
        os.close(ends.pop(0))
    else:
        os.write(ends[0], sent)

    def tell(is_as_before: bool) -> None:
        told.append(is_as_before)
        loop.stop()

    copy.await_check(tell)
    loop.run()
    copy.close()

    assert told == [stays]
    for file in ends:
        os.close(file)


def test_what_a_call_leaves_behind_ends_before_its_answer(served: Served) -> None:
    child = served.machine.work / "child"
    body = (
        "import subprocess\n    left = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n"
        f"    open({str(child)!r}, 'w').write(str(left.pid))\n    return {{}}"
    )
    install(served, body, declared=REUSABLE)

    async def work(pool: Pool) -> bool:
        await pool.call("probe", NO_ARGUMENTS)
        return (Path("/proc") / child.read_text()).exists()

    assert served.run(work) is False


@pytest.mark.slow
@pytest.mark.parametrize("is_reusable", [False, True])
def test_forty_calls_that_wait_for_each_other_are_all_answered(is_reusable: bool, served: Served) -> None:
    """Each waits until all forty have begun, so they are answered only where they all run at once."""
    body = (
        f"open(os.path.join({str(served.machine.work)!r}, f'began-{{os.getpid()}}'), 'w').close()\n"
        f"    while sum(name.startswith('began') for name in os.listdir({str(served.machine.work)!r})) < 40:\n"
        "        time.sleep(0.02)\n    return {'process': os.getpid()}"
    )
    install(served, body, declared={"reusable": is_reusable})

    async def work(pool: Pool) -> list[CallAnswer]:
        return await asyncio.gather(*(pool.call("probe", NO_ARGUMENTS) for _ in range(40)))

    answers = served.run(work)
    assert not any(one.is_error for one in answers), answers[0]
    assert len({json.loads(one.document)["process"] for one in answers}) == 40


def test_a_tool_that_has_all_it_may_have_holds_up_no_other_and_its_calls_are_told_that_they_wait(
    served: Served,
) -> None:
    gate = served.machine.work / "gate"
    install(served, f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n    return {{}}")
    install(served, "return {'well': True}", name="other")
    events: list[dict[str, object]] = []

    async def work(pool: Pool) -> list[CallAnswer]:
        running = asyncio.create_task(pool.call("probe", NO_ARGUMENTS))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(pool.call("probe", NO_ARGUMENTS, on_event=events.append))
        await asyncio.sleep(0)
        other = await pool.call("other", NO_ARGUMENTS)
        gate.touch()
        return [other, await running, await waiting]

    other, *both = served.run(work, per_tool=1)
    assert other.document == b'{"well":true}'
    assert not any(one.is_error for one in both)
    assert [(event["event"], event["ahead"]) for event in events] == [("queued", 0)]


@pytest.mark.slow
def test_tools_that_are_called_in_turn_are_loaded_once(served: Served) -> None:
    names = [f"probe_{letter}" for letter in "abcdefghijkl"]
    for name in names:
        install(served, "return {'loaded': LOADED}", top="LOADED = os.getpid()", name=name)

    async def work(pool: Pool) -> list[bytes]:
        return [(await pool.call(name, NO_ARGUMENTS)).document for _ in range(3) for name in names]

    loaded = served.run(work)
    assert len(set(loaded)) == 12
    assert loaded[:12] == loaded[12:24] == loaded[24:]
