"""The serving process's end of the link to the supervisor, the process that supervises all calls."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING

from ferrule.calls.server_interface import CallAnswer
from ferrule.errors import ServerBusy, WorkerLost
from ferrule.installed import python_command
from ferrule.text import strict_json
from ferrule_serve import wire

if TYPE_CHECKING:
    from ferrule.calls.server_interface import Client, ServerFacts
    from ferrule.text.json_types import JSONObject

EventHandler = Callable[["JSONObject"], None]

_EXIT_GRACE_SECONDS = 3.0  # in which the supervisor may end what it has started


class _PendingCall:
    """A call that the supervisor makes."""

    def __init__(self, on_event: EventHandler | None) -> None:
        self.answer: asyncio.Future[CallAnswer] = asyncio.get_running_loop().create_future()
        self.on_event = on_event


class SupervisorLink(asyncio.Protocol):
    """A supervisor that runs, and the calls that it makes. on_end: is called when it is lost."""

    def __init__(self, on_end: Callable[[SupervisorLink], None]) -> None:
        self.is_lost = False
        self.has_answered = False
        self._on_end = on_end
        self._frames = wire.FrameBuffer()
        self._numbers = count(1)
        self._calls: dict[int, _PendingCall] = {}
        self._questions: dict[int, asyncio.Future[bytes]] = {}
        self._process: asyncio.subprocess.Process | None = None
        self._transport: asyncio.Transport | None = None
        self._begun = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when the process is gone

    @property
    def process_id(self) -> int | None:
        """The id of its process."""
        return self._process.pid if self._process else None

    async def start(self, max_calls: int, idle_seconds: float, environment: Mapping[str, str] | None) -> None:
        """Start the process. max_calls, idle_seconds: see `ServerOptions`. Raises OSError."""
        ours, theirs = socket.socketpair()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *python_command(
                    "ferrule_serve.supervisor:main",
                    str(max_calls),
                    str(idle_seconds),
                    str(self._begun.fileno()),
                    isolated=False,
                ),
                stdin=theirs.fileno(),
                pass_fds=[self._begun.fileno()],
                stdout=asyncio.subprocess.DEVNULL,
                env=None if environment is None else dict(environment),
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        await asyncio.get_running_loop().create_unix_connection(lambda: self, sock=ours)

    async def call(
        self,
        tool: str,
        arguments: bytes,
        seconds: float | None,
        on_event: EventHandler | None,
        client: Client | None = None,
    ) -> CallAnswer:
        """Make a call. Cancelled, it ends the tool's process. Raises WorkerLost."""
        if self.is_lost:
            raise _lost_error(has_begun=False)
        number, pending = next(self._numbers), _PendingCall(on_event)
        self._calls[number] = pending
        facts: wire.CallFacts = {"tool": tool, "seconds": seconds, "client": client}
        self._send(wire.frame(wire.CALL, number, facts, arguments))
        try:
            return await pending.answer
        except asyncio.CancelledError:
            self._send(wire.frame(wire.CANCEL, number))
            raise
        finally:
            self._calls.pop(number, None)

    def prepare(self, tool: str) -> None:
        """Have a tool loaded before it is called."""
        self._send(wire.frame(wire.PREPARE, 0, document=tool.encode()))

    async def renew(self, tool: str | None) -> None:
        """Have no call made from code that was loaded before now. tool: None for all of them."""
        await self._ask(wire.RENEW, (tool or "").encode())

    async def facts(self) -> ServerFacts:
        """What is loaded. Raises WorkerLost."""
        body = await self._ask(wire.FACTS, b"")
        if body is None:
            raise _lost_error(has_begun=False)
        facts: ServerFacts = wire.facts_and_document(body)[0]
        return facts

    def hang_up(self) -> None:
        """Let the process end, with all that it has started."""
        if self._transport is not None:
            self._transport.abort()

    async def wait_until_gone(self) -> None:
        """Wait until the process is gone, and kill it where it does not end by itself."""
        if self._process is None:
            return
        try:
            await asyncio.wait_for(self._process.wait(), _EXIT_GRACE_SECONDS)
        except TimeoutError:
            os.killpg(self._process.pid, signal.SIGKILL)  # with the process that it goes on in
            await self._process.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - it is a socket's
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for frame in self._frames.feed(data):
            self._take(frame)

    def connection_lost(self, exc: Exception | None) -> None:
        """The process has ended, and what it made with it."""
        self.is_lost = True
        last_begun = wire.NUMBER.unpack(os.pread(self._begun.fileno(), wire.NUMBER.size, 0) or bytes(4))[0]
        self._begun.close()
        for number, pending in self._calls.items():
            if not pending.answer.done():
                pending.answer.set_exception(self._loss(has_begun=number <= last_begun))
        for question in self._questions.values():
            if not question.done():
                question.set_result(b"")
        self._on_end(self)

    def _loss(self, *, has_begun: bool) -> ServerBusy | WorkerLost:
        if self.has_answered or has_begun:
            return _lost_error(has_begun)
        return ServerBusy("The process that supervises calls ended before it could take the call.")

    async def _ask(self, kind: bytes, document: bytes) -> bytes | None:
        """The answer to a question, None where the process is gone."""
        if self.is_lost:
            return None
        number = next(self._numbers)
        self._questions[number] = asyncio.get_running_loop().create_future()
        self._send(wire.frame(kind, number, document=document))
        try:
            answer = await self._questions[number]
        finally:
            del self._questions[number]
        return None if self.is_lost else answer

    def _send(self, frame: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(frame)

    def _take(self, frame: wire.Frame) -> None:
        self.has_answered = True
        if frame.kind in (wire.RENEWED, wire.FACTS):
            question = self._questions.get(frame.number)
            if question is not None and not question.done():
                question.set_result(frame.body)
            return
        pending = self._calls.get(frame.number)
        if pending is None:
            return
        if frame.kind == wire.EVENT and pending.on_event is not None:
            self._hand_on(frame.number, pending, pending.on_event, frame.body)
        elif frame.kind == wire.ANSWER and not pending.answer.done():
            answer, document = wire.facts_and_document(frame.body)
            pending.answer.set_result(CallAnswer(document, **answer))

    def _hand_on(self, number: int, pending: _PendingCall, on_event: EventHandler, body: bytes) -> None:
        event = strict_json.loads(body)
        try:
            if isinstance(event, dict):
                on_event(event)
        except Exception as error:  # noqa: BLE001 - it is the caller's, who gets it
            pending.on_event = None
            if not pending.answer.done():
                pending.answer.set_exception(error)
                self._send(wire.frame(wire.CANCEL, number))


def _lost_error(has_begun: bool) -> WorkerLost:
    text = "The process that supervised the call has ended before the tool had answered."
    return WorkerLost(text, has_begun=has_begun)
