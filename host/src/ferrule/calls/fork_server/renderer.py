"""Failures in the words of the tool that has failed, which are made in a process of their own."""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from ferrule.calls.output import render
from ferrule.supervision import processes

if TYPE_CHECKING:
    from ferrule.calls.fork_server.surroundings import Surroundings
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.channel.outcome import Outcome

KIND = b"d"  # not that of `questions.RUN_KIND`, which the same process forks
_CHUNK_BYTES = 1 << 16


class Renderer:
    """One such process.

    Args:
        done: gets the document, empty if there is none.

    Raises:
        OSError: no process or descriptor is left, and `done` is not called.
    """

    def __init__(
        self,
        surroundings: Surroundings,
        outcome: Outcome,
        tool: InstalledTool,
        name: str,
        done: Callable[[bytes], None],
    ) -> None:
        self._surroundings = surroundings
        self._done = done
        self._document = bytearray()
        self._line, theirs = socket.socketpair()
        try:
            self._process = surroundings.zygote.fork(KIND, [theirs.fileno()])
        except OSError:
            self._line.close()
            raise
        finally:
            theirs.close()
        surroundings.known.add(self._process)
        try:
            self._line.sendall(pickle.dumps((os.getpid(), outcome, tool, name)))
            self._line.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # it has been killed, and so there is no document
        self._line.setblocking(False)
        surroundings.loop.watch(self._line.fileno(), self._read)

    def _read(self) -> None:
        try:
            data = self._line.recv(_CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._document += data
        if data:
            return
        self._surroundings.loop.unwatch(self._line.fileno())
        self._line.close()
        os.waitpid(self._process, 0)
        self._surroundings.known.discard(self._process)
        self._done(bytes(self._document))


def begin(files: Sequence[int]) -> NoReturn:
    """The process's whole life: the function of the tool is called in a child of it, which is held to a policy."""
    try:
        with socket.socket(fileno=files[0]) as line:
            job = bytearray()
            while data := line.recv(_CHUNK_BYTES):
                job += data
            parent, outcome, tool, name = pickle.loads(bytes(job))  # noqa: S301 - the supervisor wrote it
            processes.die_with_parent(parent)
            line.sendall(render(outcome, tool, name, {}).document)
    finally:
        os._exit(0)
