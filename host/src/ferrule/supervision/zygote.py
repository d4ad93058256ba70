"""A copy of this process from before it learnt any secret, from which others are forked later.

A process that has calls made learns credentials of tools, since it keeps them out of all output. A copy of it would
have them in its memory, where a plugin's code could look for them. This one only forks: what a forked process has to
know, that process reads itself.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import socket
import sys

from ferrule.supervision import processes
from ferrule.supervision.standard_streams import close_all_but

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn

    Begin = Callable[[Sequence[int]], NoReturn]

_NUMBER_BYTES = 8
_MAX_FILES = 8


class Zygote:
    """The end of the process that has it fork. begins: what the forked processes do, by the byte that asks for it.

    process: its number. The caller adopts orphans before the first one is forked.
    """

    def __init__(self, begins: Mapping[bytes, Begin]) -> None:
        self._begins = begins
        self._line, theirs = socket.socketpair()
        parent = os.getpid()
        self.process = os.fork()
        if self.process == 0:
            _serve(theirs, parent, begins)
        theirs.close()

    @property
    def file(self) -> int:
        """What is readable, outside of `fork`, once the process has ended."""
        return self._line.fileno()

    def fork(self, kind: bytes, files: Sequence[int]) -> int:
        """Fork a process that has these files and nothing else, and becomes a child of this one. Raises OSError."""
        if sys.platform != "linux":  # where this process cannot adopt what another one has forked
            number = os.fork()
            if number == 0:
                _forget_signals()
                self._begins[kind](files)
            return number
        socket.send_fds(self._line, [kind], list(files))
        data = self._line.recv(_NUMBER_BYTES, socket.MSG_WAITALL)
        number = int.from_bytes(data, "big") if len(data) == _NUMBER_BYTES else 0
        if not number:
            raise OSError(errno.EAGAIN, "no process can be forked")
        return number

    def close(self) -> None:
        """End the process. What it has forked goes on."""
        self._line.close()
        processes.kill_group(self.process)  # a copy of this process may still hold the line
        try:
            os.waitpid(self.process, 0)
        except ChildProcessError:
            pass  # where the caller ignores SIGCHLD, the kernel keeps nothing of a child


class ForkedProcess:
    """A process that a server has forked for a piece of work. number: of the process.

    file: is readable once it has ended. Either `result` or `end` has to be called, once.
    """

    def __init__(self, server: Zygote, kind: bytes, files: Sequence[int]) -> None:
        """files: those that the process gets, before one that it holds open as long as it lives."""
        self.file, theirs = os.pipe()
        try:
            self.number = server.fork(kind, [*files, theirs])
        except OSError:
            os.close(self.file)
            raise
        finally:
            os.close(theirs)

    def result(self, seconds: float) -> None:
        """Wait for its end for so many seconds, and end it then."""
        poll = select.poll()
        poll.register(self.file, select.POLLIN)
        poll.poll(seconds * 1000)
        self.end()

    def end(self) -> None:
        """End it with its process group, and wait for that."""
        os.close(self.file)
        processes.kill_group(self.number)
        try:
            os.waitpid(self.number, 0)
        except ChildProcessError:
            pass


def _serve(line: socket.socket, parent: int, begins: Mapping[bytes, Begin]) -> NoReturn:
    try:
        _forget_signals()
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        for file in range(3):  # a client may wait for the end of what it reads
            os.dup2(nothing, file)
        close_all_but(line.fileno())
        processes.leave_orphans()
        processes.die_with_parent(parent)
        while True:
            kind, files, _, _ = socket.recv_fds(line, 1, _MAX_FILES)
            if not kind:
                break
            number = _fork_child_of_parent(begins[kind], files)
            for file in files:
                os.close(file)
            line.sendall(number.to_bytes(_NUMBER_BYTES, "big"))
    finally:
        os._exit(0)


def _fork_child_of_parent(begin: Begin, files: Sequence[int]) -> int:
    """Fork twice: the parent of the second one ends, so that the caller adopts it. 0 where that fails."""
    source, number = os.pipe()
    try:
        between = os.fork()
    except OSError:
        os.close(source)
        os.close(number)
        return 0
    if between == 0:
        _fork_again(begin, files, number)
    os.close(number)
    try:
        process = int.from_bytes(os.read(source, _NUMBER_BYTES), "big")
        os.waitpid(between, 0)
        return process
    finally:
        os.close(source)


def _fork_again(begin: Begin, files: Sequence[int], number: int) -> NoReturn:
    try:
        process = os.fork()
        if process == 0:
            os.close(number)
            begin(files)
        os.write(number, process.to_bytes(_NUMBER_BYTES, "big"))
    finally:
        os._exit(0)


def _forget_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
