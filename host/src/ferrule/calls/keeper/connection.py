"""One caller of a keeper: what it says, its input, its call, and the answer."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Protocol

from ferrule.calls.caller import Caller
from ferrule.calls.fork_server.poll_loop import WriteQueue
from ferrule.calls.keeper.peer import read_rights
from ferrule.calls.streams import (
    INPUT_BYTES,
    INPUT_SECONDS,
    SILENCE_SECONDS,
    input_too_large,
    input_unfinished,
    is_whole,
    may_be_whole,
)
from ferrule.config import configuration
from ferrule.config.keep import is_kept
from ferrule.errors import FerruleError
from ferrule.links import keeper_frames as frames
from ferrule.links.keeper_address import base_environ
from ferrule.links.kept_tools import is_to_keep
from ferrule.supervision.signals import INTERRUPTS, interruption
from ferrule.text import strict_json

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping

    from ferrule.calls.fork_server.call import ServedCall
    from ferrule.calls.fork_server.facts import CallAnswer
    from ferrule.calls.fork_server.poll_loop import Handler, Timer
    from ferrule.calls.fork_server.server import ForkServer
    from ferrule.calls.keeper.peer import Rights
    from ferrule.discovery import InstalledTool
    from ferrule.links.keeper_frames import Hello
    from ferrule.links.orders import LinkOrders
    from ferrule.text.json_types import JSONObject

_CHUNK_BYTES = 1 << 16
_HELLO_SECONDS = 5.0  # in which a caller says who it is
_FAREWELL_SECONDS = 5.0  # in which it reads its answer


class ConnectionOwner(Protocol):
    """The keeper, as its connections have it.

    environ: with which it was started. added: what the interpreter has added to that. rights, limits: of its process.
    calls: that it has made.
    """

    server: ForkServer
    environ: Mapping[str, str]
    added: Mapping[str, str]
    rights: Rights
    limits: str
    calls: int

    @property
    def is_outdated(self) -> bool:
        """Whether the host has changed since its process began."""

    def facts(self) -> JSONObject:
        """What the admin is shown."""

    def note_use(self) -> None:
        """A call has come or ended."""

    def leave(self) -> None:
        """Take no more calls, and end when those that run have ended."""

    def forget(self, connection: Connection) -> None:
        """A connection has ended."""


class Connection:
    """One caller. process: its number. It ends with the answer, and the call ends with it."""

    def __init__(self, keeper: ConnectionOwner, line: socket.socket, process: int) -> None:
        self._keeper = keeper
        self._line = line
        self._process = process
        self._loop = keeper.server.loop
        line.setblocking(False)
        self._reader = frames.FrameReader()
        self._writes = WriteQueue(self._loop, line.fileno())
        self._came = time.monotonic()
        self._input = bytearray()
        self._caller: Caller | None = None
        self._tool = ""
        self._call: ServedCall | None = None
        self._wants_events = False
        self._seconds = 0.0
        self._is_over = False
        self._limit: Timer | None = self._loop.call_at(self._came + _HELLO_SECONDS, self._end)
        self._silence: Timer | None = None
        self._loop.watch(line.fileno(), self._read)

    @property
    def is_busy(self) -> bool:
        """Whether it has a call, of which the answer may not have been read yet."""
        return self._caller is not None and self._line.fileno() >= 0

    def _read(self) -> None:
        try:
            data = self._line.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        try:
            for kind, payload in self._reader.feed(data):
                self._take(kind, payload)
                if self._line.fileno() < 0:
                    return
        except frames.FrameMalformed as error:
            self._refuse(str(error))
            return
        if not data:
            self._end()

    def _take(self, kind: bytes, payload: bytes) -> None:
        if kind == frames.HELLO and self._caller is None:
            self._greet(frames.parse_hello(payload))
        elif kind == frames.PING:
            self._writes.send(frames.frame(frames.PONG))
        elif kind == frames.FACTS and self._caller is None:
            self._writes.send(frames.frame(frames.FACTS, strict_json.dumps(self._keeper.facts())))
        elif kind == frames.STOP and self._caller is None:
            self._writes.send(frames.frame(frames.PONG))
            self._keeper.leave()
        elif kind == frames.INPUT and self._caller is not None:
            self._take_input(payload)
        elif kind == frames.INPUT_END and self._caller is not None:
            self._begin(bytes(self._input))
        elif kind == frames.SIGNAL and self._caller is not None:
            self._interrupt(payload)
        else:
            raise frames.FrameMalformed(f"a frame {kind!r} does not belong here")

    def _greet(self, hello: Hello) -> None:
        """Take the call, or say why not: then the caller makes it itself."""
        try:
            orders: LinkOrders = strict_json.loads(hello.orders)  # type: ignore[assignment] # `ferrule link` wrote it
            caller = _caller(hello, orders, self._keeper.added)
            refusal = self._find_refusal(orders["tool"], hello, is_lasting=orders.get("is_lasting") is True)
        except (ValueError, KeyError, TypeError, OSError, FerruleError) as error:
            refusal = f"{type(error).__name__}: {error}"
        if refusal:
            self._refuse(refusal)
            return
        self._keeper.note_use()
        self._tool, self._caller, self._wants_events = orders["tool"], caller, hello.wants_events
        self._seconds = configuration.deadline(hello.environ)
        self._writes.send(frames.frame(frames.ACCEPTED))
        self._limit_until(self._came + min(INPUT_SECONDS, self._seconds), self._give_up_input)

    def _find_refusal(self, tool: str, hello: Hello, *, is_lasting: bool) -> str:
        """Why this keeper does not make the call. Raises OSError and FerruleError.

        is_lasting: whether it is wanted for a tool alone that holds something between calls.
        """
        keeper = self._keeper
        if keeper.is_outdated:
            keeper.leave()
            return "another ferrule is installed than the keeper began with"
        if base_environ(hello.environ) != keeper.environ:
            return "the caller has another environment"
        if not os.access(hello.folder, os.X_OK):
            return "the caller's folder cannot be entered"
        if hello.limits != keeper.limits:
            return "the caller has other limits"
        if read_rights(self._process) != keeper.rights:
            return "the caller has other rights"
        if is_lasting and not keeper.server.is_lasting(tool):
            return f"{tool} holds nothing between calls"
        settings = keeper.server.configuration()
        if is_kept(settings, tool) or is_to_keep(settings, keeper.server.find_tool(tool)):
            return ""
        return f"{tool} is not kept"

    def _take_input(self, data: bytes) -> None:
        if self._call is not None:
            return
        self._input += data[: INPUT_BYTES + 1 - len(self._input)]
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None
        if len(self._input) <= INPUT_BYTES and may_be_whole(self._input):
            self._silence = self._loop.call_at(time.monotonic() + SILENCE_SECONDS, self._handle_silence)

    def _handle_silence(self) -> None:
        self._silence = None
        if self._call is None and is_whole(bytes(self._input)):
            self._begin(bytes(self._input))

    def _give_up_input(self) -> None:
        if len(self._input) > INPUT_BYTES:
            self._begin(bytes(self._input))
        else:
            self._begin(input_unfinished(min(INPUT_SECONDS, self._seconds)))

    def _interrupt(self, payload: bytes) -> None:
        number = int(payload) if payload.isdigit() else 0
        if number not in INTERRUPTS:
            raise frames.FrameMalformed("no signal to stop")
        if self._call is None:
            self._begin(interruption(number))
        else:
            self._call.cancel(interruption(number))

    def _begin(self, sent: bytes | FerruleError) -> None:
        """Make the call. sent: its input, or why there is none."""
        if self._call is not None or self._caller is None:
            return
        self._limit_until(0.0, None)
        if isinstance(sent, bytes) and len(sent) > INPUT_BYTES:
            sent = input_too_large()
        self._keeper.calls += 1
        left = self._seconds - (time.monotonic() - self._came)
        self._call = self._keeper.server.call(
            self._tool,
            sent,
            self._answer,
            on_event=self._tell_event if self._wants_events else None,
            seconds=max(left, 0.001),
            caller=self._caller,
            on_begin=self._tell_begun,
        )
        if self._line.fileno() < 0:  # it has ended already, see `_end`
            self._call = None

    def _tell_event(self, event: bytes) -> None:
        if not self._is_over:
            self._writes.send(frames.frame(frames.EVENT, event))

    def _tell_begun(self, tool: InstalledTool) -> None:
        self._writes.send(frames.frame(frames.BEGUN, b"1" if self._keeper.server.can_repeat(tool) else b"0"))

    def _answer(self, answer: CallAnswer) -> None:
        if answer.is_unbegun:
            self._end()  # after which the caller makes the call itself
        elif not self._is_over:
            self._writes.send(frames.answer_frame(answer.exit_code, answer.document, answer.stderr))
            self._keeper.note_use()
            self._is_over = True
            self._limit_until(time.monotonic() + _FAREWELL_SECONDS, self._end)

    def _refuse(self, reason: str) -> None:
        self._writes.send(frames.frame(frames.REFUSED, reason.encode(errors="replace")))
        self._end()

    def _limit_until(self, when: float, action: Handler | None) -> None:
        if self._limit is not None:
            self._limit.cancel()
        self._limit = None if action is None else self._loop.call_at(when, action)

    def _end(self) -> None:
        """The caller is gone, or is no caller."""
        if self._line.fileno() < 0:
            return
        self._is_over = True
        self._limit_until(0.0, None)
        if self._silence is not None:
            self._silence.cancel()
        if self._call is not None and not self._call.is_done:
            self._call.cancel()
        self._call = None  # which knows this connection: else both would stay until a collection
        self._writes.close()
        self._loop.unwatch(self._line.fileno())
        self._line.close()
        self._keeper.forget(self)


def _caller(hello: Hello, orders: LinkOrders, added: Mapping[str, str]) -> Caller:
    return Caller(
        {**added, **hello.environ},
        hello.folder,
        hello.umask,
        orders["names"],
        orders["translation"] or None,
        hello.is_terminal,
    )
