"""A worker as the serving process sees it: its process, the calls that are sent to it, and what it answers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import WorkerLost
from ferrule.installed import python_command
from ferrule.text import strict_json
from ferrule_serve import wire

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

EventHandler = Callable[["JSONObject"], None]

_EXIT_GRACE_SECONDS = 3.0  # in which a worker may end what it has started


class CallAnswer(NamedTuple):
    """What came of a call.

    document: one JSON object, the result or the failure in the tool's own shape. is_error: which of the two. text:
    what the tool printed, at most 8 KiB. seconds: how long the call took, without the time for which it was queued.
    """

    document: bytes
    is_error: bool
    text: str
    seconds: float


class _PendingCall:
    """The call that a worker makes."""

    def __init__(self, on_event: EventHandler | None) -> None:
        self.answer: asyncio.Future[CallAnswer] = asyncio.get_running_loop().create_future()
        self.on_event = on_event
        self.has_begun = False


class Worker:
    """One worker. tool: what it has loaded, None where it has nothing. on_idle, on_end: called when that is so."""

    def __init__(self, on_idle: Callable[[Worker], None], on_end: Callable[[Worker], None]) -> None:
        self.tool: str | None = None
        self.facts: wire.WorkerFacts | None = None
        self.is_retired = self.is_lost = self.is_watched = False
        self.first_tool: str | None = None
        self.idle_since = 0.0
        self._on_idle = on_idle
        self._on_end = on_end
        self._pending: _PendingCall | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None

    @property
    def process_id(self) -> int | None:
        """The id of its process."""
        return self._process.pid if self._process else None

    async def start(self, max_calls: int, environment: Mapping[str, str] | None) -> None:
        """Start the process, which is idle at first. max_calls: after which it renews a plugin."""
        ours, theirs = socket.socketpair()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *python_command("ferrule_serve.worker_main:main", str(max_calls), isolated=False),
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

    async def call(
        self, tool: str, arguments: bytes, seconds: float | None, on_event: EventHandler | None
    ) -> CallAnswer:
        """Make a call. Cancelled, it ends the tool's process. Raises WorkerLost."""
        if self.is_lost:
            raise _lost_error(has_begun=False)
        pending = self._pending = _PendingCall(on_event)
        facts: wire.CallFacts = {"tool": tool, "seconds": seconds}
        self._send(wire.frame(wire.CALL, facts, arguments))
        try:
            return await pending.answer
        except asyncio.CancelledError:
            pending.on_event = None
            self._send(wire.frame(wire.CANCEL))
            raise

    def prepare(self, tool: str) -> None:
        """Have a tool loaded before it is called; the worker is idle again when that is done."""
        self._send(wire.frame(wire.PREPARE, document=tool.encode()))

    def hang_up(self) -> None:
        """Let the process end, with all that it has started."""
        if self._writer is not None:
            self._writer.close()

    async def wait_until_gone(self) -> None:
        """Wait until the process is gone, and kill it where it does not end by itself."""
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), _EXIT_GRACE_SECONDS)
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
        pending = self._pending
        if kind == wire.IDLE:
            facts: wire.WorkerFacts = wire.facts_and_document(body)[0]
            self.facts, self.tool = facts, facts["tool"]
            self._pending = None
            self.idle_since = asyncio.get_running_loop().time()
            self._on_idle(self)
        elif pending is None:
            return
        elif kind == wire.BEGUN:
            pending.has_begun = True
        elif kind == wire.EVENT and pending.on_event is not None:
            self._hand_on(pending, pending.on_event, body)
        elif kind == wire.ANSWER and not pending.answer.done():
            answer, document = wire.facts_and_document(body)
            pending.answer.set_result(CallAnswer(document, **answer))

    def _hand_on(self, pending: _PendingCall, on_event: EventHandler, body: bytes) -> None:
        event = strict_json.loads(body)
        try:
            if isinstance(event, dict):
                on_event(event)
        except Exception as error:  # noqa: BLE001 - it is the caller's, who gets it
            pending.on_event = None
            if not pending.answer.done():
                pending.answer.set_exception(error)
                self._send(wire.frame(wire.CANCEL))

    def _lose(self) -> None:
        self.is_lost = True
        self.hang_up()
        pending, self._pending = self._pending, None
        if pending is not None and not pending.answer.done():
            pending.answer.set_exception(_lost_error(pending.has_begun))
        self._on_end(self)


def _lost_error(has_begun: bool) -> WorkerLost:
    text = "The process that supervised the call has ended before the tool had answered."
    return WorkerLost(text, has_begun=has_begun)
