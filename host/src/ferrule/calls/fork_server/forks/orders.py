"""The line on which a plugin's process is told what to do, and answers. It runs only while an order is unanswered."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ferrule.calls.fork_server.child import plugin_process

if TYPE_CHECKING:
    from ferrule.calls.fork_server.poll_loop import PollLoop, Timer
    from ferrule.calls.fork_server.watched_process import StatusHandler, WatchedProcess

_STATUS_SECONDS = 0.5  # in which the parent of a process says how that has ended
_ANSWER_SECONDS = 10.0  # in which an order is answered, however busy the machine is
_CHUNK_BYTES = 1 << 12


class Orders:
    """The orders that a process which has loaded a plugin is given.

    Args:
        on_fork: gets the process of a copy, 0 if there is none.
        on_tried: a first fork was tried; whether the process can be copied since, as it says itself.
        on_silence: the process answers no order any more.
        on_rest: is called when the process has answered all, and is paused.
    """

    def __init__(
        self,
        loop: PollLoop,
        process: WatchedProcess,
        on_fork: Callable[[int], None],
        on_tried: Callable[[bool], None],
        on_silence: Callable[[], None],
        on_rest: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._process = process
        self._on_fork, self._on_tried, self._on_silence, self._on_rest = on_fork, on_tried, on_silence, on_rest
        self._control, self._theirs = socket.socketpair()
        self._forks = 0  # that are on their way
        self.is_trying = False  # a first fork is on its way
        self._asked: dict[int, StatusHandler] = {}
        self._answers = bytearray()
        self._limit: Timer | None = None

    def hand_over(self) -> int:
        """The other end's descriptor, which is the caller's to close."""
        return self._theirs.detach()

    def begin(self, document: bytes) -> None:
        """Tell the process what it has to know."""
        try:
            self._control.sendall(len(document).to_bytes(plugin_process.NUMBER_BYTES, "big") + document)
        except OSError:
            pass  # it has been killed, which is found next
        self._control.setblocking(False)

    def watch(self) -> None:
        """Read its answers from now on."""
        self._loop.watch(self._control.fileno(), self._read)

    def fork(self, files: Sequence[int]) -> None:
        """Have a copy forked that has these files. Raises OSError."""
        self._send_files(plugin_process.FORK, files)
        self._forks += 1
        self._await_answer()

    def try_fork(self) -> None:
        """Have the process fork once for nothing, after which it may be one that can be copied. Raises OSError."""
        self._control.sendall(plugin_process.TRY_FORK + bytes(plugin_process.NUMBER_BYTES))
        self.is_trying = True
        self._await_answer()

    def take_call(self, files: Sequence[int]) -> None:
        """Have the process itself take the next call. It takes no order any more. Raises OSError."""
        self._send_files(plugin_process.SELF, files)

    def ask_status(self, process: int, tell: StatusHandler) -> None:
        """Tell the status of a copy that has ended, None where it is not known."""
        try:
            self._control.send(plugin_process.REAP + process.to_bytes(plugin_process.NUMBER_BYTES, "big"))
        except OSError:
            tell(None)
            return
        self._asked[process] = tell
        self._loop.call_at(time.monotonic() + _STATUS_SECONDS, partial(self._tell_status, process, None))
        self._await_answer()

    def close(self) -> None:
        """The process has ended."""
        if self._limit is not None:
            self._limit.cancel()
        self._loop.unwatch(self._control.fileno())
        self._control.close()

    def tell_end(self) -> None:
        """Nobody answers what was asked, or will be asked: these orders and their process let go of each other."""
        for process in list(self._asked):
            self._tell_status(process, None)
        del self._process, self._on_fork, self._on_tried, self._on_silence, self._on_rest

    def _send_files(self, order: bytes, files: Sequence[int]) -> None:
        socket.send_fds(self._control, [order + bytes(plugin_process.NUMBER_BYTES)], list(files))

    def _await_answer(self) -> None:
        self._process.resume()
        if self._limit is None:
            self._limit = self._loop.call_at(time.monotonic() + _ANSWER_SECONDS, self._on_silence)

    def _is_asked(self) -> bool:
        return bool(self._forks or self._asked or self.is_trying)

    def _rest(self) -> None:
        """Pause the process where nothing is asked of it."""
        if self._is_asked() or self._process.is_gone:
            return
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
        self._process.pause()
        self._on_rest()

    def _read(self) -> None:
        try:
            data = self._control.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._loop.unwatch(self._control.fileno())
            self._on_silence()
            return
        if not self._is_asked():
            return  # no order is unanswered: it is a plugin's word, and must not pause a process that still loads
        self._answers += data
        while len(self._answers) >= plugin_process.ANSWER.size and not self._process.is_gone:
            kind, process, status = plugin_process.ANSWER.unpack_from(self._answers)
            del self._answers[: plugin_process.ANSWER.size]
            if kind == plugin_process.FORK and self._forks:
                self._forks -= 1
                self._on_fork(process)
            elif kind == plugin_process.TRY_FORK and self.is_trying:
                self.is_trying = False
                self._rest()
                self._on_tried(process == 1)
                return  # it may have been given a call, and must not be paused
            elif kind == plugin_process.REAP:
                self._tell_status(process, status if status >= 0 else None)
        self._rest()

    def _tell_status(self, process: int, status: int | None) -> None:
        if tell := self._asked.pop(process, None):
            tell(status)
            self._rest()
