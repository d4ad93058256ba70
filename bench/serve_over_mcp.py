"""The contenders that speak MCP: `ferrule serve` and its peers, each asked by the same official client."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from environments import interpreter_with
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


def own(transport: str, environment: Mapping[str, str]) -> AsyncIterator[Ask]:
    """`ferrule serve` with its usual eight workers."""
    command = [str(_BIN / "ferrule"), "serve"]
    if transport == "stdio":
        return _over_stdio(command, environment)
    port = free_port()
    return _over_http([*command, f"--http=127.0.0.1:{port}"], port, environment)


def trivial(framework: str, transport: str, environment: Mapping[str, str]) -> AsyncIterator[Ask]:
    """A server that its framework makes of one function, which it calls in its own process."""
    python = interpreter_with(_HERE / "fastmcp_peers.txt") if framework == "fastmcp" else sys.executable
    command = [python, _TRIVIAL, framework, transport]
    if transport == "stdio":
        return _over_stdio(command, environment)
    port = free_port()
    return _over_http([*command, str(port)], port, environment)


def fetch(environment: Mapping[str, str]) -> AsyncIterator[Ask]:
    """mcp-server-fetch, which has stdio alone. It asks for robots.txt before each page unless it is told not to."""
    python = interpreter_with(_HERE / "mcp_fetch_peers.txt")
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
            text: str = result.content[0].text  # type: ignore[union-attr]
            return text.encode()

        yield ask
