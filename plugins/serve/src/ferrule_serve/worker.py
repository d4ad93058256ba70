"""A worker as the serving process sees it: its process, the calls that are sent to it, and what it answers."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ferrule.errors import WorkerLost
from ferrule.supervision.python_path import interpreter
from ferrule.text import strict_json
from ferrule_serve import wire

EventHandler = Callable[[dict[str, Any]], None]

_CODE = "from ferrule_serve.worker_main import main; main()"
_PATIENCE = 3.0  # seconds that a worker gets to end what it has started


class Answered(NamedTuple):
    """What came of a call.

    document: one JSON object, the result or the failure in the tool's own shape. is_error: which of the two. text:
    what the tool printed, at most 8 KiB. seconds: how long the call took, without the time for which it was queued.
    """

    document: bytes
    is_error: bool
    text: str
    seconds: float


class _Running:
    """The call that a worker makes."""

    def __init__(self, on_event: EventHandler | None) -> None:
        self.answer: asyncio.Future[Answered] = asyncio.get_running_loop().create_future()
        self.on_event = on_event
        self.has_begun = False


class Worker:
    """One worker. tool: what it has loaded, None where it has nothing. on_idle, on_end: told when that is so."""

    def __init__(self, on_idle: Callable[[Worker], None], on_end: Callable[[Worker], None]) -> None:
        self.tool: str | None = None
        self.facts: dict[str, Any] = {}
        self.is_retired = self.is_lost = self.is_watched = False
        self.first_tool: str | None = None
        self.idle_since = 0.0
        self._on_idle = on_idle
        self._on_end = on_end
        self._running: _Running | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def process(self) -> int | None:
        """The id of its process."""
        return self._process.pid if self._process else None

    async def start(self, calls: int, environment: Mapping[str, str] | None) -> None:
        """Start the process, which is idle at first. calls: after which it renews a plugin."""
        ours, theirs = socket.socketpair()
        isolated = "-I" if sys.flags.isolated else "-P"
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(interpreter(), isolated, "-c", _CODE, str(calls)),
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                env=None if environment is None else dict(environment),
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        reader, self._writer = await asyncio.open_unix_connection(sock=ours)
        self._reading = asyncio.create_task(self._read(reader))

    async def call(self, tool: str, arguments: bytes, seconds: float | None, on_event: EventHandler | None) -> Answered:
        """Make a call. Cancelled, it ends the tool's process. Raises WorkerLost."""
        if self.is_lost:
            raise _lost(has_begun=False)
        running = self._running = _Running(on_event)
        self._send(wire.frame(wire.CALL, {"tool": tool, "seconds": seconds}, arguments))
        try:
            return await running.answer
        except asyncio.CancelledError:
            running.on_event = None
            self._send(wire.frame(wire.CANCEL))
            raise

    def prepare(self, tool: str) -> None:
        """Have a tool loaded before it is called; the worker is idle again when that is done."""
        self._send(wire.frame(wire.PREPARE, {"tool": tool}))

    def hang_up(self) -> None:
        """Let the process end, with all that it has started."""
        if self._writer is not None:
            self._writer.close()

    async def ended(self) -> None:
        """Wait until the process is gone, and end it where it does not end by itself."""
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), _PATIENCE)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def _send(self, frame: bytes) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(frame)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while True:
                kind, size = wire.head(await reader.readexactly(wire.HEAD_BYTES))
                self._take(kind, await reader.readexactly(size))
        except (asyncio.IncompleteReadError, OSError):
            pass  # it has ended
        finally:
            self._lose()

    def _take(self, kind: bytes, body: bytes) -> None:
        running = self._running
        if kind == wire.IDLE:
            self.facts, _ = wire.facts_and_document(body)
            self.tool = self.facts["tool"]
            self._running = None
            self.idle_since = asyncio.get_running_loop().time()
            self._on_idle(self)
        elif running is None:
            return
        elif kind == wire.BEGUN:
            running.has_begun = True
        elif kind == wire.EVENT and running.on_event is not None:
            self._tell(running, running.on_event, body)
        elif kind == wire.ANSWER and not running.answer.done():
            running.answer.set_result(_answered(body))

    def _tell(self, running: _Running, on_event: EventHandler, body: bytes) -> None:
        event: dict[str, Any] = strict_json.loads(body)  # type: ignore[assignment]
        try:
            on_event(event)
        except Exception as error:  # noqa: BLE001 - it is the caller's, who gets it
            running.on_event = None
            if not running.answer.done():
                running.answer.set_exception(error)
                self._send(wire.frame(wire.CANCEL))

    def _lose(self) -> None:
        self.is_lost = True
        self.hang_up()
        running, self._running = self._running, None
        if running is not None and not running.answer.done():
            running.answer.set_exception(_lost(running.has_begun))
        self._on_end(self)


def _lost(has_begun: bool) -> WorkerLost:
    text = "The process that supervised the call has ended before the tool had answered."
    return WorkerLost(text, has_begun=has_begun)


def _answered(body: bytes) -> Answered:
    facts, document = wire.facts_and_document(body)
    return Answered(document, facts["is_error"], facts["text"], facts["seconds"])
