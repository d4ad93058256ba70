"""The process from which those that load plugins are forked: a copy of the supervisor from before its first call.

The supervisor learns credentials of tools, since it keeps them out of all output, and has the arguments of all calls. A
copy of it would have them in its memory, where the plugin's code could look for them. This process only forks: what a
plugin's process has to know, that process reads itself.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

from ferrule.supervision import processes
from ferrule.supervision.standard_streams import close_all_but

_NUMBER_BYTES = 8
_MAX_FILES = 4

Begin = Callable[[Sequence[int]], NoReturn]


class Origin:
    """The supervisor's end. begins: what the forked processes do, by the byte that asks for it.

    Made before the supervisor handles signals. process: its id.
    """

    def __init__(self, begins: dict[bytes, Begin]) -> None:
        self._line, theirs = socket.socketpair()
        self._begins = begins
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
            return os.fork() or _begin_here(self._begins[kind], files)
        socket.send_fds(self._line, [kind], list(files))
        number = int.from_bytes(_receive(self._line), "big")
        if not number:
            raise OSError("no process can be forked")
        return number


def _begin_here(begin: Begin, files: Sequence[int]) -> NoReturn:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    begin(files)


def _receive(line: socket.socket) -> bytes:
    data = line.recv(_NUMBER_BYTES, socket.MSG_WAITALL)
    if len(data) < _NUMBER_BYTES:
        raise OSError("the process that forks has ended")
    return data


def _serve(line: socket.socket, parent: int, begins: dict[bytes, Begin]) -> NoReturn:
    try:
        close_all_but(line.fileno())
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
    """Fork twice: the parent of the second one ends, so that the supervisor adopts it. 0 where that fails."""
    source, number = os.pipe()
    try:
        between = os.fork()
    except OSError:
        os.close(source)
        os.close(number)
        return 0
    if between == 0:
        try:
            process = os.fork()
            if process == 0:
                os.close(number)
                begin(files)
            os.write(number, process.to_bytes(_NUMBER_BYTES, "big"))
        finally:
            os._exit(0)
    os.close(number)
    try:
        process = int.from_bytes(os.read(source, _NUMBER_BYTES), "big")
        os.waitpid(between, 0)
        return process
    finally:
        os.close(source)
