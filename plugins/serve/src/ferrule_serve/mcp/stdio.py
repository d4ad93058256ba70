"""stdin and stdout: one client, whose messages are lines. Nothing but the protocol is written to stdout."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
import threading
from typing import TYPE_CHECKING, cast

from ferrule_serve.mcp.exchange import Exchange, Peer, RunningRequests, has_envelope, read_envelope, unsupported
from ferrule_serve.mcp.inbound import Notification, Request, Unreadable, read_message
from ferrule_serve.protocol.vocabulary import (
    ENVELOPE_VERSIONS,
    INVALID_REQUEST,
    RequestError,
    encode,
    failure,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.text.json_types import JSONObject
    from ferrule_serve.mcp.service import Service

_MAX_LINE_BYTES = 1 << 26
_FULL_BYTES = 1 << 20  # that wait for the client to read them
_CHUNK_BYTES = 1 << 16
_DRAIN_SECONDS = 3.0  # in which the client may read the last answers
_CONNECTION_CLOSED = -32000


async def serve_stdio(service: Service, ending: asyncio.Event) -> None:
    """Answer what comes on stdin, until that is closed or the event is set."""
    output = await _open_output(ending.set)
    connection = _Connection(service, output)
    lines = _Lines(connection.take, ending.set)
    output.on_pressure = lines.hold
    await _open_input(lines)
    await ending.wait()
    await connection.end()
    await output.drain()


class _Connection:
    """The client, and what it has asked. The first request says of which era it is."""

    def __init__(self, service: Service, output: _Output) -> None:
        self._service = service
        self._output = output
        self._peer = Peer(channel=output)
        self._era_is_known = False
        self._running = RunningRequests()

    def take(self, line: bytes) -> None:
        """Take one line. A blank one is nothing."""
        if not line.strip():
            return
        try:
            message = read_message(line)
            if isinstance(message, Request):
                self._begin(message)
            elif isinstance(message, Notification):
                self._note(message)
        except Unreadable as error:
            self._output.send(failure(error.number, error))

    async def end(self) -> None:
        """Answer no more: subscriptions end in order, and what still runs is ended."""
        self._service.subscriptions.close()
        await asyncio.sleep(0)
        for number in self._running.cancel_all():
            self._output.send(failure(number, RequestError(_CONNECTION_CLOSED, "Connection closed")))
        await self._running.wait()

    def _begin(self, request: Request) -> None:
        try:
            peer = self._peer_of(request)
        except RequestError as error:
            self._output.send(failure(request.number, error))
            return
        task = asyncio.get_running_loop().create_task(self._answer(Exchange(request, peer, self._output)))
        self._running.keep(request.number, task)

    async def _answer(self, exchange: Exchange) -> None:
        self._output.send(await self._service.answer(exchange))

    def _peer_of(self, request: Request) -> Peer:
        """Who asks. Raises RequestError where a connection of one era gets a request of the other."""
        is_of_envelope = request.method != "initialize" and has_envelope(request.params)
        if not self._era_is_known:
            self._era_is_known = True
            self._peer.version = ENVELOPE_VERSIONS[-1] if is_of_envelope else self._peer.version
        if not self._peer.has_envelopes:
            if is_of_envelope:
                text = "The connection began with a handshake, and takes no request with an envelope."
                raise RequestError(INVALID_REQUEST, text)
            return self._peer
        if request.method == "initialize":
            raise unsupported(request.params.get("protocolVersion"))
        return read_envelope(request)

    def _note(self, message: Notification) -> None:
        if message.method == "notifications/initialized" and not self._peer.has_envelopes:
            self._service.begin(self._peer)
        elif message.method == "notifications/cancelled":
            self._running.cancel(message.params.get("requestId"))  # the answer to a cancelled request is none


class _Lines(asyncio.Protocol):
    """Cuts what comes into lines. on_end: is called when nothing comes any more."""

    def __init__(self, take: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._take = take
        self._on_end = on_end
        self._rest = bytearray()
        self._is_skipping = False
        self._transport: asyncio.ReadTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Take what has come. Of a line that is too long, the beginning is taken, which is no message."""
        if self._is_skipping:
            _, end, data = data.partition(b"\n")
            self._is_skipping = not end
        self._rest += data
        if b"\n" in data:
            *lines, self._rest = self._rest.split(b"\n")
            for line in lines:
                self._take(bytes(line))
        if len(self._rest) > _MAX_LINE_BYTES:
            self._take(bytes(self._rest[:_CHUNK_BYTES]))
            self._rest, self._is_skipping = bytearray(), True

    def eof_received(self) -> None:
        """A last line may lack its end."""
        self._take(bytes(self._rest))

    def connection_lost(self, _error: Exception | None) -> None:
        self._on_end()

    def hold(self, *, is_full: bool) -> None:
        """Read no more requests while the client does not read their answers."""
        if self._transport is not None and not self._transport.is_closing():
            (self._transport.pause_reading if is_full else self._transport.resume_reading)()


class _Output(asyncio.BaseProtocol):
    """Writes messages, each as a line. on_lost: is called when nobody reads them any more."""

    on_pressure: Callable[..., None] | None = None

    def __init__(self, file: int, on_lost: Callable[[], None]) -> None:
        self._file = file
        self._on_lost = on_lost
        self._transport: asyncio.WriteTransport | None = None
        self._is_empty = asyncio.Event()
        self._is_empty.set()

    @property
    def is_full(self) -> bool:
        """Whether what need not be sent is left out."""
        return self._transport is not None and self._transport.get_write_buffer_size() > _FULL_BYTES

    def send(self, message: JSONObject) -> None:
        """Write a message."""
        data = encode(message) + b"\n"
        if self._transport is None:
            _write_all(self._file, data)
        elif not self._transport.is_closing():
            self._transport.write(data)

    async def drain(self) -> None:
        """Let the client read what waits for it."""
        if self._transport is not None:
            self._transport.set_write_buffer_limits(0)
            try:
                await asyncio.wait_for(self._is_empty.wait(), _DRAIN_SECONDS)
            except TimeoutError:
                return

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)
        self._transport.set_write_buffer_limits(_FULL_BYTES)

    def pause_writing(self) -> None:
        self._is_empty.clear()
        if self.on_pressure is not None:
            self.on_pressure(is_full=True)

    def resume_writing(self) -> None:
        self._is_empty.set()
        if self.on_pressure is not None:
            self.on_pressure(is_full=False)

    def connection_lost(self, _error: Exception | None) -> None:
        self._is_empty.set()
        self._on_lost()


async def _open_output(on_lost: Callable[[], None]) -> _Output:
    """stdout under a number of its own; nothing else in this process writes into it."""
    file = _take_over(1, os.O_WRONLY)
    output = _Output(file, on_lost)
    if _can_be_awaited(file):
        loop = asyncio.get_running_loop()
        await loop.connect_write_pipe(lambda: output, os.fdopen(file, "wb", 0))
        if os.path.sameopenfile(0, file):
            loop.remove_reader(file)  # asyncio takes what can be read there for the client's end; it is its requests
    return output


def _write_all(file: int, data: bytes) -> None:
    """Write to what is always ready: a file, or a terminal."""
    while data:
        data = data[os.write(file, data) :]


async def _open_input(lines: _Lines) -> None:
    """stdin under a number of its own. What cannot be waited for, such as a file, is read by a thread."""
    file = _take_over(0, os.O_RDONLY)
    loop = asyncio.get_running_loop()
    if _can_be_awaited(file):
        await loop.connect_read_pipe(lambda: lines, os.fdopen(file, "rb", 0))
        return

    def read() -> None:
        with contextlib.suppress(OSError):  # as of a terminal that was closed
            while data := os.read(file, _CHUNK_BYTES):
                loop.call_soon_threadsafe(lines.data_received, data)
        loop.call_soon_threadsafe(lines.eof_received)
        loop.call_soon_threadsafe(lines.connection_lost, None)

    threading.Thread(target=read, daemon=True).start()


def _can_be_awaited(file: int) -> bool:
    if sys.platform == "win32":
        return False
    mode = os.fstat(file).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _take_over(file: int, flags: int) -> int:
    """The stream under another number; whoever uses the old one reads nothing, or writes to stderr."""
    taken = os.dup(file)
    nothing = os.open(os.devnull, flags)
    os.dup2(2 if flags == os.O_WRONLY else nothing, file)
    os.close(nothing)
    return taken
