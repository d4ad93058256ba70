"""The thread that watches a child: it takes what the kernel and the child tell, and lets each call go on."""

from __future__ import annotations

import os
import select
import socket
import struct
import tempfile
import threading
from typing import TYPE_CHECKING, Self

from ferrule.confinement.broker.notifications import go_on, make, receive
from ferrule.confinement.broker.supervised_process import SupervisedProcess
from ferrule.text import strict_json
from ferrule.trace.interpretation import Interpretation
from ferrule.trace.notified_calls import NAMES
from ferrule.trace.observations import Observations

if TYPE_CHECKING:
    from ferrule.confinement.broker.file_attributes import FileAttributes
    from ferrule.confinement.broker.notifications import Notification
    from ferrule.confinement.broker.program_calls import ProgramCalls

_MESSAGE_BYTES = 65_536
_CREDENTIALS = struct.Struct("3i")
_END_SECONDS = 5.0
_MAX_FOLDER_CHARS = 70  # so that the path of a socket in it has at most 107


class Witness:
    """Watches one child, while it is entered. found: what was seen. failure: why nothing could be; empty for nothing.

    path: of the socket on which the child says that it is there. unread: calls whose arguments could not be read.
    """

    def __init__(self, programs: ProgramCalls | None = None, attributes: FileAttributes | None = None) -> None:
        """programs: is told of the calls of programs. attributes: changes modes and times, where the child is held."""
        self._programs = programs
        self._changes = attributes.methods if attributes else {}
        self.found = Observations()
        self.failure = ""
        self.unread = 0
        base = tempfile.gettempdir()
        base = base if len(base) <= _MAX_FOLDER_CHARS else "/tmp"  # noqa: S108 - the folder in it has mode 0700
        self._folder = tempfile.mkdtemp(prefix="ferrule-trace-", dir=base)
        self.path = os.path.join(self._folder, "socket")
        self._entrance = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._entrance.bind(self.path)
        self._entrance.listen(1)
        self._stop, self._stopped = os.pipe()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._stopped)
        self._thread.join(_END_SECONDS)
        self._entrance.close()
        os.close(self._stop)
        os.unlink(self.path)
        os.rmdir(self._folder)

    def _watch(self) -> None:
        ready = select.select([self._entrance.fileno(), self._stop], [], [])[0]
        if self._entrance.fileno() not in ready:
            return
        link = self._entrance.accept()[0]
        listener = -1
        try:
            process = _CREDENTIALS.unpack(link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))[0]
            told = link.recv(_MESSAGE_BYTES)
            if not told.isdigit():
                self.failure = told.decode(errors="replace") or "the call did not begin"
                return
            listener = SupervisedProcess(process).descriptor(int(told))
            link.send(b"+")
            self._serve(link, listener, Interpretation(self.found, process, self._programs))
        except OSError as error:
            self.failure = self.failure or str(error.strerror)
        finally:
            # Where nobody listens any more, the kernel refuses what it would have told.
            if listener >= 0:
                os.close(listener)
            link.close()

    def _serve(self, link: socket.socket, listener: int, interpretation: Interpretation) -> None:
        poll = select.poll()
        poll.register(listener, select.POLLIN)
        poll.register(link, select.POLLIN)
        poll.register(self._stop, select.POLLIN)
        while True:
            events = dict(poll.poll())
            # What the child has said comes first: a name is resolved before it is connected to.
            if events.get(link.fileno(), 0) and not self._hear(link):
                poll.unregister(link)
            if events.get(listener, 0) & select.POLLIN:
                self._let_go_on(listener, interpretation, link)
            elif events.get(listener, 0) or self._stop in events:
                return self._hear_all(link)

    def _let_go_on(self, listener: int, interpretation: Interpretation, link: socket.socket) -> None:
        one = receive(listener)
        if one is None:
            return
        try:
            self._hear_all(link)
            interpretation.take(one)
        except Exception:  # noqa: BLE001 - the child would wait for ever; whatever it has in its memory
            self.unread += 1
        finally:
            self._answer(listener, one)

    def _answer(self, listener: int, one: Notification) -> None:
        """Let a call go on, or make it where Landlock would not judge it."""
        method = self._changes.get(NAMES.get(one.number, ""))
        if method is None:
            go_on(listener, one)
        else:
            make(listener, one, method)

    def _hear_all(self, link: socket.socket) -> None:
        while select.select([link], [], [], 0)[0] and self._hear(link):
            continue

    def _hear(self, link: socket.socket) -> bool:
        """Take what the child tells; False where it tells nothing any more."""
        try:
            data = link.recv(_MESSAGE_BYTES)
        except OSError:
            return False
        if not data:
            return False
        try:
            told = strict_json.loads(data)
        except strict_json.MalformedJSON:
            return True
        match told:
            case ["name", str(value), more]:
                self.found.add_name(value, more)
            case ["variable", str(value), _]:
                self.found.variables[value] = None
        return True
