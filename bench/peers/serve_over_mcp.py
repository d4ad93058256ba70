"""The contenders that speak MCP: `ferrule serve` and its peers, each asked by the official client or by a raw one."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from installations.environments import interpreter_with
from mcp import Client
from mcp.client.stdio import StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    Question = Any
    Ask = Callable[[Question], Awaitable[bytes]]

_HERE = Path(__file__).resolve().parent
_BIN = Path(sys.executable).parent
_TRIVIAL = str(_HERE / "trivial_server.py")
_SECONDS = 60.0
_RELEASE = "2026-07-28"


def own(transport: str, environment: Mapping[str, str]) -> AsyncIterator[Ask]:
    """`ferrule serve` as it is.

    transport: `stdio` or `http` for the official client, `raw` for lines on stdio, `raw http` for plain requests.
    """
    command = [str(_BIN / "ferrule"), "serve"]
    if transport == "raw":
        return _raw(command, environment)
    if transport == "stdio":
        return _over_stdio(command, environment)
    port = free_port()
    over_http = _raw_over_http if transport == "raw http" else _over_http
    return over_http([*command, f"--http=127.0.0.1:{port}"], port, environment)


def trivial(framework: str, transport: str, environment: Mapping[str, str]) -> AsyncIterator[Ask]:
    """A server that its framework makes of one function, which it calls in its own process."""
    python = interpreter_with(_HERE / "fastmcp.txt") if framework == "fastmcp" else sys.executable
    command = [python, _TRIVIAL, framework, {"raw": "stdio", "raw http": "http"}.get(transport, transport)]
    if transport == "raw":
        return _raw(command, environment)
    if transport == "stdio":
        return _over_stdio(command, environment)
    port = free_port()
    return (_raw_over_http if transport == "raw http" else _over_http)([*command, str(port)], port, environment)


def fetch(environment: Mapping[str, str]) -> AsyncIterator[Ask]:
    """mcp-server-fetch, which has stdio alone. It asks for robots.txt before each page unless it is told not to."""
    python = interpreter_with(_HERE / "mcp_fetch.txt")
    options = ["--ignore-robots-txt", "--allow-private-ips"]
    return _over_stdio([python, "-m", "mcp_server_fetch", *options], environment, {"web_fetch": "fetch"})


def free_port() -> int:
    """A port of loopback that nobody listens at now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def _over_stdio(
    command: Sequence[str], environment: Mapping[str, str], names: Mapping[str, str] | None = None
) -> AsyncIterator[Ask]:
    server = StdioServerParameters(command=command[0], args=list(command[1:]), env=dict(environment))
    with Path(os.devnull).open("w") as nothing:
        async with _asking(_quiet(server, nothing), names or {}) as ask:
            yield ask


def _quiet(server: StdioServerParameters, errors: Any) -> Any:
    from mcp.client.stdio import stdio_client

    return stdio_client(server, errlog=errors)


async def _raw(command: Sequence[str], environment: Mapping[str, str]) -> AsyncIterator[Ask]:
    """Lines of JSON on stdin and stdout, by a client that does nothing else."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, env=dict(environment), stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL, limit=1 << 24
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
    numbers = itertools.count(1)

    async def read() -> None:
        async for line in stdout:
            message = json.loads(line)
            if "id" in message and "method" not in message:
                waiting.pop(message["id"]).set_result(message)

    async def request(method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(numbers)
        waiting[number] = asyncio.get_running_loop().create_future()
        stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
        return await waiting[number]

    async def ask(question: Question) -> bytes:
        answer = await request("tools/call", {"name": question.tool, "arguments": question.parsed})
        assert not answer["result"].get("isError"), answer
        text: str = answer["result"]["content"][0]["text"]
        return text.encode()

    reading = asyncio.create_task(read())
    client = {"name": "raw", "version": "1"}
    await request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
    stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    try:
        yield ask
    finally:
        stdin.close()
        await process.wait()
        reading.cancel()


async def _over_http(command: Sequence[str], port: int, environment: Mapping[str, str]) -> AsyncIterator[Ask]:
    nothing = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, env=dict(environment), stdout=nothing, stderr=nothing)
    try:
        await _listens(port)
        async with _asking(f"http://127.0.0.1:{port}/mcp", {}) as ask:
            yield ask
    finally:
        process.terminate()
        await process.wait()


async def _raw_over_http(command: Sequence[str], port: int, environment: Mapping[str, str]) -> AsyncIterator[Ask]:
    """One request after the other on connections that are kept, by a client that does nothing else."""
    nothing = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, env=dict(environment), stdout=nothing, stderr=nothing)
    idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(question: Question) -> bytes:
        reader, writer = idle.pop() if idle else await asyncio.open_connection("127.0.0.1", port)
        writer.write(_request(question, port))
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        answer = json.loads(await reader.readexactly(int(head.partition(b"content-length:")[2].split()[0])))
        idle.append((reader, writer))
        assert not answer["result"].get("isError"), answer
        text: str = answer["result"]["content"][0]["text"]
        return text.encode()

    try:
        await _listens(port)
        yield ask
    finally:
        for _, writer in idle:
            writer.close()
        process.terminate()
        await process.wait()


def _request(question: Question, port: int) -> bytes:
    """A call as release 2026-07-28 has it."""
    keys = "io.modelcontextprotocol/"
    meta = {f"{keys}protocolVersion": _RELEASE, f"{keys}clientCapabilities": {}}
    params = {"name": question.tool, "arguments": question.parsed, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    return (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {_RELEASE}\r\nMcp-Method: tools/call\r\n"
        f"Mcp-Name: {question.tool}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


async def _listens(port: int) -> None:
    async with asyncio.timeout(_SECONDS):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.02)
                continue
            writer.close()
            return


@asynccontextmanager
async def _asking(server: Any, names: Mapping[str, str]) -> AsyncIterator[Ask]:
    async with Client(server, mode="auto", cache=None, read_timeout_seconds=_SECONDS) as client:

        async def ask(question: Question) -> bytes:
            result = await client.call_tool(names.get(question.tool, question.tool), question.parsed)
            assert not result.is_error, result
            text: str = result.content[0].text  # type: ignore[union-attr] # the kind is known here, and another one fails the test
            return text.encode()

        yield ask
