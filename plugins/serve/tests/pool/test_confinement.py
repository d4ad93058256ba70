"""What served calls are held to, beside what every call is: they share processes, and must not touch each other."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferrule import confinement
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served, install

if TYPE_CHECKING:
    from ferrule_serve.pool import CallAnswer, Pool
    from ferrule_testkit.machine import Machine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="this kernel cannot hold a call"),
]

NOTHING: dict[str, Any] = {"permissions": {"network": []}}
REFUSED = "PERMISSION_DENIED"


@pytest.fixture
def served(machine: Machine) -> Served:
    return Served(machine)


def code(answer: CallAnswer) -> str:
    return str(json.loads(answer.document).get("error_code", ""))


@pytest.mark.parametrize("is_reusable", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "attempt",
    [
        "os.kill(os.getppid(), 9)",
        "os.fork() or os._exit(0)",
        "open('/etc/passwd').read()",
        "open(f'/proc/{os.getppid()}/cmdline').read()",
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "import subprocess; subprocess.run(['true'])",
    ],
)
def test_what_a_tool_does_not_declare_is_refused_to_its_served_call(
    attempt: str, is_reusable: bool, served: Served
) -> None:
    install(served, f"{attempt}\n    return {{}}", declared={**NOTHING, "reusable": is_reusable})

    async def work(pool: Pool) -> list[CallAnswer]:
        return [await pool.call("probe", NO_ARGUMENTS) for _ in range(2)]

    assert [code(answer) for answer in served.run(work)] == [REFUSED] * 2


def test_a_refused_connection_is_told_to_the_call_that_tried_it_and_to_no_other(served: Served) -> None:
    body = (
        "import socket, time\n    time.sleep(0.2)\n    number = int.from_bytes(os.urandom(1), 'big')\n"
        "    if number % 2:\n        return {'well': True}\n"
        "    socket.create_connection(('127.0.0.1', 9), timeout=5)\n    return {}"
    )
    install(served, body, declared={"permissions": {"network": ["public"]}})

    async def work(pool: Pool) -> list[CallAnswer]:
        return await asyncio.gather(*(pool.call("probe", NO_ARGUMENTS) for _ in range(16)))

    answers = served.run(work)
    assert {code(answer) for answer in answers} == {"", REFUSED}
    assert all(json.loads(one.document).get("well") or "127.0.0.1" in one.document.decode() for one in answers)


def test_a_connection_that_a_cancelled_call_waited_for_is_let_go(served: Served) -> None:
    with ExitStack() as stack:
        silent = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):  # after which none is made any more, because so many wait already
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(silent.getsockname())
        body = f"import socket\n    socket.create_connection({silent.getsockname()!r}, None)"
        install(served, body, declared={"permissions": {"network": ["loopback"]}})

        async def work(pool: Pool) -> None:
            async def wait_until(is_open: bool) -> None:
                while bool(_to(silent.getsockname()[1], pool.stats().supervisor)) != is_open:
                    await asyncio.sleep(0.01)

            call = asyncio.create_task(pool.call("probe", NO_ARGUMENTS))
            await asyncio.wait_for(wait_until(is_open=True), 30)
            call.cancel()
            await asyncio.wait_for(wait_until(is_open=False), 30)

        served.run(work)


def _to(port: int, process: int | None) -> list[str]:
    """The sockets of a process and its children that are connected, or are to be, to a port of this machine."""
    children = Path(f"/proc/{process}/task/{process}/children")
    processes = [str(process), *(children.read_text().split() if children.exists() else [])]
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    there = {f"socket:[{line[9]}]" for line in lines if line[2].endswith(f":{port:04X}")}
    files = [file for one in processes for file in Path(f"/proc/{one}/fd").glob("*")]
    return [name for file in files if (name := _target(file)) in there]


def _target(file: Path) -> str:
    with suppress(OSError):
        return os.readlink(file)
    return ""


def test_temporary_files_of_a_call_are_gone_after_it_and_make_its_copy_unfit_for_another(served: Served) -> None:
    body = "import tempfile\n    name = tempfile.mkstemp()[1]\n    return {'name': name, 'process': os.getpid()}"
    install(served, body, declared={**NOTHING, "reusable": True})

    first, second = served.calls("probe", 2)

    assert first["process"] != second["process"]
    assert first["name"].rpartition("/")[0] != second["name"].rpartition("/")[0]


def test_a_changed_permission_counts_for_the_next_call(served: Served) -> None:
    path = served.machine.work / "notes.txt"
    path.write_text("notes")
    install(served, f"return {{'text': open({str(path)!r}).read()}}", declared=NOTHING)
    config = served.machine.home / "config.toml"
    config.write_text("")
    served.environment["FERRULE_CONFIG"] = str(config)

    async def work(pool: Pool) -> list[CallAnswer]:
        answers = [await pool.call("probe", NO_ARGUMENTS)]
        for granted in ([str(path)], []):
            config.write_text(f"[tools.probe.permissions]\nread = {json.dumps(granted)}\n")
            answers.append(await pool.call("probe", NO_ARGUMENTS))
        return answers

    assert [code(answer) for answer in served.run(work)] == [REFUSED, "", REFUSED]
