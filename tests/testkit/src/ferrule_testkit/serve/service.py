"""`ferrule serve` for tests: the real program, over stdio or HTTP, and the official client in both eras."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferrule_testkit import PATIENCE_SECONDS

if TYPE_CHECKING:
    import mcp_types as types
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

BIN = Path(sys.executable).parent
LEGACY, MODERN = "legacy", "2026-07-28"
ERAS = (LEGACY, MODERN)
SECONDS = PATIENCE_SECONDS
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class HttpService:
    """A running `ferrule serve --http`; enter it to have it ended."""

    def __init__(self, environment: Mapping[str, str], *options: str, http: str = "127.0.0.1:0", work: Path) -> None:
        self._errors = work / f"serve-{time.monotonic_ns()}.err"
        with self._errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [BIN / "ferrule", "serve", *options, f"--http={http}"],
                env=dict(environment),
                cwd=work,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().decode().strip()
        assert self.url, self.told

    @property
    def told(self) -> str:
        """What it has said to people so far."""
        return self._errors.read_text()

    def __enter__(self) -> HttpService:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.send_signal(signal.SIGTERM)  # without waiting for running calls
        try:
            self.process.wait(SECONDS)
        finally:
            self.process.kill()
            assert self.process.stdout is not None
            self.process.stdout.close()

    def post(self, method: str, params: Mapping[str, Any], **headers: str) -> tuple[int, str]:
        """One request of the newer era as it goes over the wire; the answer's status and whole text."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"_meta": META, **params}}
        meta = {**META, **params.get("_meta", {})}
        body["params"]["_meta"] = meta  # type: ignore[index] # the answer is JSON
        return self.post_bytes(json.dumps(body).encode(), **{"Mcp-Method": method, **_named(params), **headers})

    def post_bytes(self, body: bytes, **headers: str) -> tuple[int, str]:
        """A body as it is; the answer's status and whole text."""
        usual = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN,
        }
        request = urllib.request.Request(self.url, body, {**usual, **headers})
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()


def _named(params: Mapping[str, Any]) -> dict[str, str]:
    return {"Mcp-Name": str(params["name"])} if "name" in params else {}


class Heard:
    """What a client was told beside its answers. logs: of each log message logger, level and data."""

    def __init__(self) -> None:
        self.logs: list[tuple[str | None, str, Any]] = []
        self.messages: list[str] = []

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        """Keep a log message."""
        self.logs.append((params.logger, params.level, params.data))

    async def message(self, message: Any) -> None:
        """Keep the kind of a message."""
        self.messages.append(type(message).__name__)


def on_stdio(environment: Mapping[str, str], *options: str) -> StdioServerParameters:
    """`ferrule serve` as a client starts it itself."""
    from mcp.client.stdio import StdioServerParameters

    return StdioServerParameters(command=str(BIN / "ferrule"), args=["serve", *options], env=dict(environment))


@asynccontextmanager
async def connected(
    server: str | StdioServerParameters,
    era: str,
    heard: Heard | None = None,
    *,
    level: types.LoggingLevel | None = None,
) -> AsyncIterator[Client]:
    """The official client, connected in one of the two eras."""
    from mcp import Client

    heard = heard or Heard()
    client = Client(
        server,
        mode=era if era == LEGACY else "auto",
        logging_callback=heard.log,
        message_handler=heard.message,
        log_level=level,
        cache=None,
        read_timeout_seconds=SECONDS,
    )
    async with client:
        yield client


def text_of(result: types.CallToolResult) -> str:
    """The text of a result's first content."""
    import mcp_types as types

    first = result.content[0]
    assert isinstance(first, types.TextContent)
    return first.text


async def leave_a_call(client: Client, mark: Path) -> None:
    """Begin a call of the tool `waits`, and cancel it once it has begun."""
    task = asyncio.create_task(client.call_tool("waits", {"mark": str(mark)}))
    await asyncio.to_thread(wait_until, mark.exists, "the call's beginning")
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def wait_until(is_so: Callable[[], object], what: str) -> None:
    """Wait for something that has to come about."""
    limit = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < limit, f"{what} did not come about"
        time.sleep(0.02)


def is_alive(process: int) -> bool:
    """Whether a process is there and is no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def descendants(process: int) -> set[int]:
    """All processes below one, as far as they have not been left by their parents."""
    found: set[int] = set()
    waiting = [process]
    while waiting:
        try:
            children = Path(f"/proc/{waiting.pop()}/task").glob("*/children")
            new = {int(word) for file in children for word in file.read_text().split()}
        except OSError:
            continue
        waiting.extend(new - found)
        found |= new
    return found


def as_user(home: Path, site: Path) -> dict[str, str]:
    """The environment of a person who has configured nothing and has the tools of one folder."""
    return {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(site), "LANG": "C.UTF-8"}
