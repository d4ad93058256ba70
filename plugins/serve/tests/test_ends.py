"""How `ferrule serve` begins and ends, and how clients learn of other tools, over both transports."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.service import (
    BIN,
    ERAS,
    LEGACY,
    META,
    MODERN,
    SECONDS,
    Heard,
    HttpService,
    connected,
    descendants,
    is_alive,
    leave_a_call,
    on_stdio,
    text_of,
    wait_until,
)
from ferrule_testkit.serve.tools import install_two

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("serve-ends")]


@pytest.fixture
def small(machine: Machine) -> Machine:
    return install_two(machine)


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_stdio_serves_both_eras_and_ends_with_its_client(era: str, small: Machine) -> None:
    async def talk() -> list[Any]:
        async with connected(on_stdio(small.environment, "hello", "waits"), era) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            answer = await client.call_tool("hello", {})
            await leave_a_call(client, mark)
            await asyncio.to_thread(wait_until, gone, "the end of the cancelled call")
            return [names, text_of(answer), text_of(await client.call_tool("hello", {}))]

    def gone() -> bool:
        return not any(is_alive(int(process)) for process in mark.read_text().split())

    mark = small.work / "mark"
    assert asyncio.run(talk()) == [["artifact_read", "hello", "waits"], '{"hello":true}', '{"hello":true}']


def start(machine: Machine, *options: str, **streams: Any) -> "subprocess.Popen[bytes]":
    given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    command = [BIN / "ferrule", "serve", *options]
    return subprocess.Popen(command, env=machine.environment, cwd=machine.work, bufsize=0, **given)


def shake_hands(process: "subprocess.Popen[bytes]") -> None:
    """As a client of the handshake era, which then asks for the list of tools, without waiting for that."""
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    send(process, *messages)
    assert received(process)["id"] == 1


def greet(process: "subprocess.Popen[bytes]") -> None:
    """Shake hands, and have the list of tools."""
    shake_hands(process)
    assert received(process)["id"] == 2


def send(process: "subprocess.Popen[bytes]", *messages: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))


def received(process: "subprocess.Popen[bytes]") -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def call_that_waits(mark: Path) -> dict[str, Any]:
    params = {"name": "waits", "arguments": {"mark": str(mark)}}
    return {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params}


def test_one_socket_may_be_both_stdin_and_stdout(small: Machine) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, start(small, "hello", stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL) as process:
        theirs.close()
        ours.settimeout(SECONDS)
        for number in (1, 2):
            ours.sendall(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}\n' % number)
            assert json.loads(ours.recv(1000)) == {"jsonrpc": "2.0", "id": number, "result": {}}
        ours.shutdown(socket.SHUT_WR)
        assert process.wait(SECONDS) == 0


@pytest.mark.slow
def test_nobody_has_to_read_stderr(small: Machine) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with start(small, "hello", stderr=writing) as process:
        os.close(writing)
        assert process.stdin is not None
        greet(process)
        process.stdin.close()
        assert process.wait(SECONDS) == 0


@pytest.mark.slow
@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "closed stdin", "SIGKILL"])
def test_stdio_ends_whatever_runs_and_leaves_nothing(how: str, small: Machine) -> None:
    mark = small.work / "mark"
    with start(small) as process:
        assert process.stdin is not None
        greet(process)
        send(process, call_that_waits(mark))
        wait_until(mark.exists, "the call's beginning")
        others = descendants(process.pid) | {int(word) for word in mark.read_text().split()}
        if how == "closed stdin":
            process.stdin.close()
        else:
            process.send_signal(getattr(signal, how))
        assert process.wait(SECONDS) == (-signal.SIGKILL if how == "SIGKILL" else 0)
        wait_until(lambda: not [one for one in others if is_alive(one)], "the end of all processes")


@pytest.mark.slow
def test_stdout_carries_the_protocol_alone_and_stderr_a_few_lines(small: Machine) -> None:
    small.install(
        "prints",
        execute="import os; os.write(1, b'noise'); print('noise'); return {}",
        static=False,
        top="print('noise')",
    )
    with start(small) as process:
        assert process.stdin is not None
        greet(process)
        params = {"name": "prints", "arguments": {}}
        send(process, {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
        answer = received(process)
        assert answer.get("result", {}).get("structuredContent") == {}, answer
        process.stdin.close()
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == b""
        lines = process.stderr.read().decode().splitlines()
        assert [line for line in lines if not line.startswith(("Serving", "Not served"))] == []


@pytest.mark.parametrize("options", [[], ["--http"]], ids=["stdio", "http"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_that_comes_while_the_server_starts_ends_it_in_order(
    number: signal.Signals, options: list[str], small: Machine
) -> None:
    with start(small, *options) as process:
        wait_until(lambda: descendants(process.pid), "the process that looks at the tools")
        started = descendants(process.pid)
        process.send_signal(number)
        assert process.wait(SECONDS) == 0
        for one in started:
            wait_until(lambda one=one: not is_alive(one), "the end of what it has started")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (b"garbage", None, -32700),
        (rb'{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "\ud800"}}', 3, -32600),
        (b'{"id": 3}', 3, -32600),
        (b"[]", None, -32600),
    ],
)
def test_what_is_no_message_is_answered_and_a_blank_line_is_not(
    line: bytes, number: int | None, code: int, small: Machine
) -> None:
    with start(small) as process:
        assert process.stdin is not None
        greet(process)
        process.stdin.write(b"\n" + line + b"\n")
        process.stdin.flush()
        answer = received(process)
        assert (answer["id"], answer["error"]["code"]) == (number, code)
        send(process, {"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": {}})
        assert received(process)["id"] == 4
        process.stdin.close()


@pytest.mark.slow
def test_a_client_of_the_handshake_era_is_told_from_the_level_on_that_it_has_set(small: Machine) -> None:
    events = """context.event({"event": "usual"}); context.event({"event": "bad", "level": "error"}); return {}"""
    small.install("tells", execute=events)
    with start(small, "tells") as process:
        assert process.stdin is not None
        greet(process)
        level = {"jsonrpc": "2.0", "id": 3, "method": "logging/setLevel", "params": {"level": "error"}}
        call = {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "tells", "arguments": {}}}
        send(process, level)
        assert received(process)["id"] == 3
        send(process, call)
        assert received(process)["params"]["data"] == {"event": "bad", "level": "error"}
        assert received(process)["id"] == 4
        process.stdin.close()


@pytest.mark.slow
def test_initialize_is_answered_while_a_plugin_is_still_being_loaded(small: Machine, tmp_path: Path) -> None:
    go = tmp_path / "go"
    top = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.02)"
    late = {f"late_{number}" for number in range(12)}  # each is given up after 5 s, which a busy machine may need
    for name in late:
        small.install(name, top=top)
    process = start(small, "hello", *late)
    try:
        shake_hands(process)
        go.touch()
        tools = {tool["name"] for tool in received(process)["result"]["tools"]}
        assert tools & late, "all of them were waited for"
    finally:
        process.communicate(timeout=SECONDS)


@pytest.mark.slow
def test_tools_that_are_named_are_loaded_before_the_first_call(small: Machine) -> None:
    loaded = small.work / "loaded"
    top = f"""\
try:
    with open({str(loaded)!r}, "a") as file:
        file.write("x")
except PermissionError:
    pass  # the survey may write nothing, so what is written is of the loading for calls
"""
    small.install("early", top=top, permissions={"write": [str(small.work)]})
    process = start(small, "early")
    try:
        greet(process)
        wait_until(lambda: loaded.exists() and loaded.read_text() == "x", "the loading for calls")
    finally:
        process.communicate(timeout=SECONDS)


@pytest.mark.slow
def test_a_call_that_is_late_is_ended(small: Machine) -> None:
    mark = small.work / "mark"

    async def late() -> str:
        server = on_stdio({**small.environment, "FERRULE_DEADLINE": "1"}, "waits")
        async with connected(server, MODERN) as client:
            result = await client.call_tool("waits", {"mark": str(mark)})
            assert result.is_error
            return text_of(result)

    assert json.loads(asyncio.run(late()))["error_code"] == "TIMEOUT"
    assert not any(is_alive(int(process)) for process in mark.read_text().split())


@pytest.mark.slow
def test_over_http_a_running_call_finishes_and_nothing_new_begins(small: Machine) -> None:
    mark, answers = small.work / "mark", []

    async def listen() -> None:
        async with connected(service.url, MODERN) as client, client.listen(tools_list_changed=True):
            begun.set()
            await asyncio.to_thread(service.process.wait, SECONDS)

    with HttpService(small.environment, work=small.work) as service:
        begun = threading.Event()
        listener = threading.Thread(target=lambda: asyncio.run(_quietly(listen())))
        caller = threading.Thread(
            target=lambda: answers.append(
                service.post("tools/call", {"name": "waits", "arguments": {"mark": str(mark)}})
            )
        )
        listener.start()
        caller.start()
        wait_until(mark.exists, "the call's beginning")
        wait_until(begun.is_set, "the subscription")
        service.process.terminate()
        wait_until(lambda: _is_refused(service), "the end of listening")
        Path(f"{mark}.go").touch()
        assert service.process.wait(SECONDS) == 0
        caller.join(SECONDS)
        listener.join(SECONDS)
    status, answer = answers[0]
    assert status == 200
    assert '"structuredContent":{"waited":true}' in answer


@pytest.mark.slow
def test_a_client_with_a_session_can_cancel_and_does_not_hold_up_the_end(small: Machine) -> None:
    mark = small.work / "mark"

    async def talk() -> None:
        async with connected(service.url, LEGACY) as client:
            await leave_a_call(client, mark)
            await asyncio.to_thread(wait_until, gone, "the end of the cancelled call")
            service.process.terminate()
            assert await asyncio.to_thread(service.process.wait, SECONDS / 2) == 0

    def gone() -> bool:
        return not any(is_alive(int(process)) for process in mark.read_text().split())

    environment = {**small.environment, "FERRULE_DEADLINE": "600"}
    with HttpService(environment, "waits", "--sessions", work=small.work) as service:
        asyncio.run(_quietly(talk()))
        assert gone()
        assert service.process.wait(SECONDS) == 0


async def _quietly(work: Any) -> None:
    await asyncio.gather(work, return_exceptions=True)


def _is_refused(service: HttpService) -> bool:
    try:
        service.post("tools/list", {})
    except OSError:
        return True
    return False


CHANGES: list[Any] = [
    ("stdio", LEGACY),
    pytest.param("stdio", MODERN, marks=pytest.mark.slow),
    ("http", MODERN),
    pytest.param("http --sessions", LEGACY, marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize(("transport", "era"), CHANGES, ids=str)
def test_clients_are_told_of_tools_that_come_and_go(transport: str, era: str, small: Machine) -> None:
    async def changes(server: Any) -> None:
        heard = Heard()
        async with connected(server, era, heard) as client:
            assert await _names(client) == {"hello", "waits"}
            async with _Told(client, heard, era) as told:
                small.install("later", execute="return {'version': 1}")
                await told()
                assert await _names(client) == {"hello", "waits", "later"}
                assert text_of(await client.call_tool("later", {})) == '{"version":1}'
                (small.site / "dist_later-1.0.dist-info" / "entry_points.txt").unlink()
                await told()
                assert await _names(client) == {"hello", "waits"}

    if transport == "stdio":
        asyncio.run(changes(on_stdio(small.environment)))
        return
    with HttpService(small.environment, *transport.split()[1:], work=small.work) as service:
        asyncio.run(changes(service.url))


async def _names(client: Any) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools} - {"artifact_read", "example", "web_fetch"}


class _Told:
    """Within it, the way in which this era tells of changes is open; what it gives waits for the next one."""

    def __init__(self, client: Any, heard: Heard, era: str) -> None:
        self._client, self._heard, self._era = client, heard, era

    async def __aenter__(self) -> Callable[[], Any]:
        if self._era == LEGACY:
            return self._notified
        self._listening = self._client.listen(tools_list_changed=True)
        self._events = aiter(await self._listening.__aenter__())
        return self._event

    async def __aexit__(self, *error: Any) -> None:
        if self._era != LEGACY:
            await self._listening.__aexit__(*error)

    async def _notified(self) -> None:
        told = lambda: "ToolListChangedNotification" in self._heard.messages  # noqa: E731 - one line for one use
        await asyncio.to_thread(wait_until, told, "the notification")
        self._heard.messages.clear()

    async def _event(self) -> None:
        await asyncio.wait_for(anext(self._events), SECONDS)


@pytest.mark.slow
def test_code_that_has_been_replaced_is_served_no_more(small: Machine) -> None:
    async def talk() -> None:
        async with connected(on_stdio(small.environment, "hello"), MODERN) as client:
            assert text_of(await client.call_tool("hello", {})) == '{"hello":true}'
            small.install("hello", execute="return {'hello': 'again'}")
            for _ in range(600):
                if text_of(await client.call_tool("hello", {})) == '{"hello":"again"}':
                    return
                await asyncio.sleep(0.1)
            raise AssertionError("the old code is served")

    asyncio.run(talk())


def test_what_stands_in_a_file_is_answered_into_a_file(small: Machine, tmp_path: Path) -> None:
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "waits", "arguments": {}}},
    ]
    asked.write_text("\n".join(map(json.dumps, messages)))
    with asked.open() as stdin, answered.open("w") as stdout, start(small, stdin=stdin, stdout=stdout) as process:
        assert process.wait(SECONDS) == 0
    found = {answer["id"]: answer for answer in map(json.loads, answered.read_text().splitlines())}
    assert found[1]["result"]["protocolVersion"] == "2025-11-25"
    assert found[2]["result"] == {}
    assert found[3]["error"]["code"] == -32000, "the call runs no longer than its client is there"


@pytest.mark.slow
def test_a_connection_of_one_era_takes_no_request_of_the_other(small: Machine) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with_envelope = {"jsonrpc": "2.0", "id": 8, "method": "tools/list", "params": {"_meta": META}}
    with start(small) as process:
        send(process, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, with_envelope)
        early, other = received(process), received(process)
        assert (early["id"], early["error"]["code"]) in ((1, -32602), (8, -32600))
        assert {early["error"]["code"], other["error"]["code"]} == {-32602, -32600}
        assert process.stdin is not None
        process.stdin.close()
        process.wait(SECONDS)
    with start(small) as process:
        send(process, with_envelope, {"jsonrpc": "2.0", "id": 9, "method": "initialize", "params": hello})
        answers = {answer["id"]: answer for answer in (received(process), received(process))}
        assert "hello" in [tool["name"] for tool in answers[8]["result"]["tools"]]
        assert answers[9]["error"]["data"] == {"supported": [MODERN], "requested": "2025-11-25"}
        assert process.stdin is not None
        process.stdin.close()
        process.wait(SECONDS)
