"""The supervisor of `ferrule serve`: a process that makes all calls of all tools, for the serving process.

It is started anew, not forked from the serving process, which has threads. It ends with the serving process, and ends
all that it started.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from ferrule.calls.server_interface import ForkServer, ServerOptions, WriteQueue
from ferrule_serve import limits, wire

if TYPE_CHECKING:
    from ferrule.calls.server_interface import CallAnswer, ServedCall

_CHUNK_BYTES = 1 << 18


def main() -> None:
    """Serve what comes over stdin, a socket, until it is closed.

    argv: the calls after which a plugin is renewed, the seconds after which an unused one is ended, and the descriptor
    of the file for the number of the call that was begun last.
    """
    options = ServerOptions(int(sys.argv[1]), float(sys.argv[2]), answer_bytes=limits.result_bytes)
    begun = int(sys.argv[3])
    with ForkServer(options) as server, socket.socket(fileno=os.dup(server.stdin)) as link:
        _Supervisor(server, link, begun)
        server.run()


class _Supervisor:
    """The supervisor's end of the link, and the calls that run. begun: the file for the number of the last call."""

    def __init__(self, server: ForkServer, link: socket.socket, begun: int) -> None:
        self._server = server
        self._link = link
        self._begun = begun
        self._frames = wire.FrameBuffer()
        self._writes = WriteQueue(server.loop, link.fileno())
        self._calls: dict[int, ServedCall] = {}
        server.loop.watch(link.fileno(), self._receive)

    def _receive(self) -> None:
        if self._server.is_stopping:
            self._server.stop()  # a call that has not begun goes to another supervisor
            return
        try:
            data = self._link.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._server.stop()
            return
        for frame in self._frames.feed(data):
            self._take(frame)

    def _take(self, frame: wire.Frame) -> None:
        number = frame.number
        if frame.kind == wire.CALL:
            self._begin(number, frame.body)
        elif frame.kind == wire.CANCEL and number in self._calls:
            self._calls[number].cancel()
        elif frame.kind == wire.PREPARE:
            self._server.prepare(frame.body.decode())
        elif frame.kind == wire.RENEW:
            self._server.renew(frame.body.decode() or None, partial(self._send, number, wire.RENEWED))
        elif frame.kind == wire.FACTS:
            self._send(number, wire.FACTS, self._server.facts())

    def _begin(self, number: int, body: bytes) -> None:
        os.pwrite(self._begun, wire.NUMBER.pack(number), 0)
        facts: wire.CallFacts
        facts, arguments = wire.facts_and_document(body)
        call = self._server.call(
            facts["tool"],
            arguments,
            partial(self._answer, number),
            on_event=partial(self._send, number, wire.EVENT, None),
            seconds=facts["seconds"],
            client=facts["client"],
        )
        if not call.is_done:
            self._calls[number] = call

    def _answer(self, number: int, answer: CallAnswer) -> None:
        self._calls.pop(number, None)
        facts: wire.AnswerFacts = {"is_error": answer.is_error, "seconds": answer.seconds, "text": answer.text}
        self._send(number, wire.ANSWER, facts, answer.document)

    def _send(self, number: int, kind: bytes, facts: Mapping[str, object] | None = None, document: bytes = b"") -> None:
        self._writes.send(wire.frame(kind, number, facts, document))
