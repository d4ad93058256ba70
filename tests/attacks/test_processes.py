"""A tool gets no process that is not counted, and none that outlives its call, whatever it asks the kernel for."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

import pytest

from ferrule import confinement
from ferrule.confinement.broker.family import children_of, find_family
from ferrule.confinement.kernel.filter_rules import PROCESS_FLAGS
from ferrule_testkit.machine import BIN
from ferrule_testkit.runs import mark, wait_for, wait_until_gone
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served

if TYPE_CHECKING:
    from ferrule_serve.pool import Pool
    from ferrule_testkit.machine import Machine

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(bool(confinement.support().missing), reason="elsewhere: this kernel cannot hold a call"),
]

_CALLS = """\
import ctypes, os, platform, signal, threading, time
_library = ctypes.CDLL(None, use_errno=True)
_CLONE = {"x86_64": 56, "aarch64": 220}[platform.machine()]

def clone(flags):
    \"\"\"A process that sleeps; what it is answered, or minus the error.\"\"\"
    made = _library.syscall(ctypes.c_long(_CLONE), ctypes.c_ulong(flags), 0, 0, 0, 0)
    if made == 0:
        os.setsid()
        time.sleep(600)
        os._exit(0)
    return made if made > 0 else -ctypes.get_errno()

def prctl(option, value):
    return _library.prctl(option, value, 0, 0, 0) or ctypes.get_errno()
"""
# Flags of clone that no library makes processes or threads with: each bit of them by itself.
_FLAGS = [1 << bit for bit in range(8, 32) if not PROCESS_FLAGS >> bit & 1]
ONE_PROCESS = {"network": [], "processes": 1}


@pytest.fixture(params=["run", "serve"])
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def answer(machine: Machine, way: str) -> dict[str, Any]:
    """The document of one call of `evil`; nothing of it is left."""
    if way == "serve":

        async def work(pool: Pool) -> dict[str, Any]:
            document: dict[str, Any] = json.loads((await pool.call("evil", NO_ARGUMENTS)).document)
            return document

        served: dict[str, Any] = Served(machine).run(work)
        return served
    counted, machine.environment = mark(machine.environment)
    document: dict[str, Any] = machine.ferrule("run", "evil", stdin=b"{}").document
    wait_until_gone(counted)
    return document


def _install(machine: Machine, execute: str, permissions: dict[str, Any], top: str = "") -> None:
    machine.install("evil", top=_CALLS + top, execute=execute, properties={}, permissions=permissions)


def test_a_tool_of_one_process_has_no_sixty_by_flags_of_clone(way: str, machine: Machine) -> None:
    body = f"return {{'made': [{{clone(17 | flag) for _ in range(60)}} == {{-1}} for flag in {_FLAGS}]}}"
    _install(machine, body, ONE_PROCESS)
    assert 0x8000 in _FLAGS
    assert answer(machine, way).get("made") == [True] * len(_FLAGS)


def test_processes_that_end_with_another_signal_or_none_are_refused(way: str, machine: Machine) -> None:
    _install(machine, "return {'made': [clone(number) for number in (0, 9, 15, 10)]}", ONE_PROCESS)
    assert answer(machine, way).get("made") == [-1] * 4


def test_threads_and_a_process_go_on_as_before(way: str, machine: Machine) -> None:
    body = """done = []
    threads = [threading.Thread(target=done.append, args=(1,)) for _ in range(8)]
    for one in threads: one.start()
    for one in threads: one.join()
    child = os.fork()
    if not child: os._exit(3)
    return {'threads': len(done), 'child': os.waitpid(child, 0)[1] >> 8}"""
    _install(machine, body, ONE_PROCESS)
    assert answer(machine, way) == {"threads": 8, "child": 3}


def test_a_tool_is_told_of_itself_and_of_nobody_else(way: str, machine: Machine) -> None:
    body = f"""host = {os.getpid()}
    asked = (
        os.getsid, os.getpgid, os.sched_getscheduler, os.sched_getparam, os.sched_getaffinity, os.pidfd_open,
        lambda one: os.getpriority(0, one), lambda one: time.clock_gettime(~one << 3 | 2),
    )
    def refused(one):
        found = 0
        for ask in asked:
            try: ask(one)
            except OSError as error: found += error.errno == 1
        return found
    own = []
    thread = threading.Thread(target=lambda: own.append(os.sched_getaffinity(threading.get_native_id())))
    thread.start(); thread.join()
    return dict(own=refused(0) + refused(os.getpid()), threads=len(own), host=refused(host), first=refused(1),
                none=refused((1 << 22) + 1))"""
    _install(machine, body, {"network": []})
    assert answer(machine, way) == {"own": 0, "threads": 1, "host": 8, "first": 8, "none": 8}


def test_a_tool_ends_with_a_host_that_is_killed_whatever_signal_it_wants_instead(machine: Machine) -> None:
    gate = machine.gate()
    body = f"""[signal.signal(number, signal.SIG_IGN) for number in range(1, 32) if number not in (9, 17, 19)]
    said = [prctl(1, number) for number in range(65) if number != 9]
    thread = threading.Thread(target=lambda: [prctl(1, number) for number in range(65) if number != 9])
    thread.start(); thread.join()
    open({str(gate)!r}).read()
    time.sleep(600)"""
    _install(machine, body, {"network": [], "read": [str(gate)]})
    counted, environment = mark(machine.environment)
    process = subprocess.Popen(
        [BIN / "ferrule", "run", "evil"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
    )
    assert process.stdin is not None
    process.stdin.write(b"{}")
    process.stdin.close()
    with open(gate, "w"):  # it waits there with its signals ignored
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until_gone(counted)


def test_a_thread_does_not_become_another_program_that_outlives_a_killed_host(way: str, machine: Machine) -> None:
    body = """said = []
    def become():
        try: os.execv('/bin/sleep', ['sleep', '600'])
        except OSError as error: said.append(error.errno)
    thread = threading.Thread(target=become)
    thread.start(); thread.join()
    return {'said': said}"""
    _install(machine, body, {"network": [], "programs": ["sleep"]})
    assert answer(machine, way) == {"said": [1]}


PENDING = """\
import socket
threading.stack_size(1 << 18)
threads = []
for _ in range(140):
    one = socket.socket()
    one.settimeout(None)
    threads.append(threading.Thread(target=lambda one=one: one.connect_ex(({host!r}, {port})), daemon=True))
    threads[-1].start()
while sum(one.is_alive() for one in threads) > {share}:
    time.sleep(0.01)
with open({gates!r} + str(arguments['number'])) as gate:
    gate.read()
return {{'pending': sum(one.is_alive() for one in threads)}}"""
_CALLS_AT_ONCE, _DESCRIPTORS = 12, 1024


class LimitedServer:
    """`ferrule serve` that can have so many descriptors and no more, over stdio; enter it to have it ended."""

    def __init__(self, machine: Machine) -> None:
        self.mark, environment = mark(machine.environment)
        command = f"ulimit -n {_DESCRIPTORS}; exec '{BIN / 'ferrule'}' serve"
        self.process = subprocess.Popen(
            ["sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=machine.work
        )
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        self.ask(0, "initialize", client)
        self.answer_to(0)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, number: int, method: str, params: dict[str, Any]) -> None:
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def call(self, number: int, tool: str, arguments: dict[str, Any]) -> None:
        self.ask(number, "tools/call", {"name": tool, "arguments": arguments})

    def answer_to(self, number: int) -> dict[str, Any]:
        """What comes for that number; an answer to another one that comes before is an error."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message and "method" not in message:
                assert message["id"] == number, message
                result: dict[str, Any] = message["result"]
                return result
        raise AssertionError("the server has ended")

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def __enter__(self) -> LimitedServer:
        return self

    def __exit__(self, *_: object) -> None:
        with self.process:
            self.process.terminate()
            self.process.terminate()
        wait_until_gone(self.mark)


@pytest.mark.slow
def test_connections_that_wait_cost_only_the_calls_that_made_them(machine: Machine) -> None:
    """Under a hard limit of 1,024 descriptors, twelve calls of one server have 140 such connections each."""
    gates = str(machine.work / "gate-")
    for number in range(_CALLS_AT_ONCE):
        os.mkfifo(f"{gates}{number}")
    with socket.create_server(("127.0.0.1", 0), backlog=1) as full, ExitStack() as stack:
        host, port = full.getsockname()
        for _ in range(4):  # so that its queue is full, and later ones wait
            one = stack.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex((host, port))
        share = 2 * _DESCRIPTORS // 5 // _CALLS_AT_ONCE
        body = PENDING.format(host=host, port=port, gates=gates, share=share).replace("\n", "\n    ")
        machine.install(
            "evil",
            top=_CALLS,
            execute=body,
            properties={"number": {"type": "integer"}},
            permissions={"network": ["loopback"], "read": [str(machine.work)]},
        )
        machine.install("innocent", properties={}, permissions={"network": []}, execute="return {'well': True}")
        server = stack.enter_context(LimitedServer(machine))
        for number in range(_CALLS_AT_ONCE):
            server.call(number, "evil", {"number": number})
        held = [stack.enter_context(open(f"{gates}{number}", "w")) for number in range(_CALLS_AT_ONCE)]
        before = children_of(server.process.pid)
        for number in range(100, 130):
            server.call(number, "innocent", {})
            assert server.answer_to(number).get("structuredContent") == {"well": True}
        for number, gate in enumerate(held):
            gate.close()
            pending = server.answer_to(number)["structuredContent"]["pending"]
            assert 0 < pending <= share
        server.call(130, "innocent", {})
        assert server.answer_to(130).get("structuredContent") == {"well": True}
        assert children_of(server.process.pid) == before


@pytest.mark.slow
def test_a_server_goes_on_after_one_of_its_processes_was_killed(machine: Machine) -> None:
    """Whichever it is: the copy that waits for a call, the process that has loaded the tool, the one that forks."""
    machine.install("innocent", properties={}, permissions={"network": []}, execute="return {'well': True}")

    async def work(pool: Pool) -> list[dict[str, Any]]:
        found = []
        for number in range(6):
            found.append(json.loads((await pool.call("innocent", NO_ARGUMENTS)).document))
            (facts,) = (await pool.facts())["plugins"]
            supervisor = find_family(facts["process"])[1]
            forking = [one for one in children_of(supervisor) if one != facts["process"]]
            for process in [[facts["process"]], facts["copies"], forking][number % 3]:
                kill(process)
        return [*found, json.loads((await pool.call("innocent", NO_ARGUMENTS)).document)]

    assert Served(machine).run(work) == [{"well": True}] * 7


def kill(process: int) -> None:
    """Kill it, and wait until it is gone."""
    with suppress(ProcessLookupError):
        file = os.pidfd_open(process)
        signal.pidfd_send_signal(file, signal.SIGKILL)
        poll = select.poll()
        poll.register(file, select.POLLIN)
        poll.poll()
        os.close(file)


@pytest.mark.parametrize("group", [False, True], ids=["the host", "its group"])
def test_what_a_program_has_started_ends_with_a_host_that_is_killed(group: bool, machine: Machine) -> None:
    gate = machine.gate()
    kept = machine.work / "kept"
    body = f"""import subprocess
    command = f'(setsid sleep 600 & echo $! >>{kept}) ; sleep 600 & echo $! >>{kept}; wait'
    subprocess.Popen(['sh', '-c', command], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        child = os.fork()
        if child == 0: time.sleep(600)
        with open({str(kept)!r}, 'a') as file: file.write(f'{{child}}\\n')
        os._exit(0)
    while len(open({str(kept)!r}).readlines() if os.path.exists({str(kept)!r}) else ()) < 3: time.sleep(0.01)
    open({str(gate)!r}).read()
    time.sleep(600)"""
    permissions = {
        "network": [],
        "read": [str(gate)],
        "write": [str(kept.parent)],
        "programs": ["sh", "sleep", "setsid"],
        "processes": 8,
    }
    _install(machine, body, permissions)
    counted, environment = mark(machine.environment)
    process = subprocess.Popen(
        [BIN / "ferrule", "run", "evil"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(b"{}")
    process.stdin.close()
    with open(gate, "w"):
        (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
        process.wait()
        started = [int(line) for line in kept.read_text().splitlines()]
        wait_until_gone(counted)
    assert len(started) == 3
    wait_for(lambda: not any(map(_runs, started)))


def _runs(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False
