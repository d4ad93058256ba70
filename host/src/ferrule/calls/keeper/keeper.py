"""The keeper: a server of calls on a socket of its user's, which ends when nobody has called for a while."""

from __future__ import annotations

import errno
import gc
import os
import socket
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import ferrule
from ferrule.calls.keeper.connection import Connection
from ferrule.calls.keeper.folder_watch import FolderWatch
from ferrule.calls.keeper.peer import peer_of, read_rights
from ferrule.config import configuration
from ferrule.config.keep import keep_seconds
from ferrule.errors import FerruleError
from ferrule.links.keeper_frames import limits_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.calls.fork_server.server import ForkServer
    from ferrule.text.json_types import JSONObject

_BACKLOG = 128
_MAX_CONNECTIONS = 256
_COLLECTED_CALLS, _ALL_COLLECTED_CALLS = 16, 1024  # after which garbage is looked for, when one of them is over
_COLLECTED_OBJECTS = 20_000  # by which it is looked for at any time, as the interpreter does after 700


class Keeper:
    """Takes calls from a socket, and makes them in a `ForkServer`.

    Args:
        path: of the socket, in a folder that is this user's alone.
        environ: the variables with which this process was started.
        given: a socket that listens there already, whose owner goes on listening when this keeper has ended.
    """

    def __init__(
        self, server: ForkServer, path: str, environ: Mapping[str, str], given: socket.socket | None = None
    ) -> None:
        """Raises OSError where it cannot listen there."""
        self.server = server
        self.environ = environ
        # Such as LC_CTYPE, which the interpreter sets in the C locale, as it would in the process of a cold call.
        self.added: Mapping[str, str] = {name: value for name, value in os.environ.items() if name not in environ}
        self.rights = read_rights()
        self.limits = limits_text()
        self.calls = 0
        self._path = path
        self._host = _identify_host()
        self._connections: set[Connection] = set()
        self._started = self._used = time.monotonic()
        self._is_leaving = False
        self._ended = 0
        self._is_given = given is not None
        self._socket = given or _listen(path)
        self._own = _identify(path)
        self._watch = FolderWatch(os.path.dirname(path))
        self._spare = _open_spare()
        server.loop.watch(self._socket.fileno(), self._accept)
        if self._watch.file is not None:
            server.loop.watch(self._watch.file, self._look_at_folder)
        if self._watch.mounts is not None:
            server.loop.watch_urgent(self._watch.mounts, self._look_at_folder)
        gc.set_threshold(_COLLECTED_OBJECTS)
        self._wait()

    @property
    def is_outdated(self) -> bool:
        """Whether the host has changed since this process began."""
        return self._host != _identify_host()

    def facts(self) -> JSONObject:
        """What `ferrule keep status` shows."""
        plugins = self.server.facts()["plugins"]
        now = time.monotonic()
        return {
            "process": os.getpid(),
            "socket": self._path,
            "seconds": round(now - self._started, 1),
            "idle_seconds": round(now - self._used, 1),
            "calls": self.calls,
            "running": sum(one.is_busy for one in self._connections),
            "tools": sorted({one["tool"] for one in plugins}),
            "processes": sum(1 + len(one["copies"]) for one in plugins),
        }

    def note_use(self) -> None:
        """A call has come or ended."""
        self._used = time.monotonic()

    def leave(self) -> None:
        """Take no more calls, and end when those that run have ended."""
        if not self._is_leaving:
            self._is_leaving = True
            self.server.loop.unwatch(self._socket.fileno())
            self._remove_socket()
            self._socket.close()
        if not any(one.is_busy for one in self._connections):
            self.server.stop()

    def forget(self, connection: Connection) -> None:
        """A connection has ended."""
        self._connections.discard(connection)
        if self._is_leaving:
            self.leave()
            return
        self._ended += 1
        if self._ended % _COLLECTED_CALLS == 0:  # here no caller waits for it
            gc.collect(1 if self._ended % _ALL_COLLECTED_CALLS else 2)

    def close(self) -> None:
        """Let go of the socket, if that has not happened yet."""
        if not self._is_leaving:
            self._remove_socket()

    def _accept(self) -> None:
        try:
            line, _ = self._socket.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self._turn_away()
            return
        try:
            process, user = peer_of(line)
        except OSError:
            line.close()
            return
        if user != os.geteuid() or len(self._connections) >= _MAX_CONNECTIONS:
            line.close()  # which the caller takes for a keeper that is not there
            return
        self._connections.add(Connection(self, line, process))

    def _turn_away(self) -> None:
        """No descriptor is left: the spare one takes a caller, who is let go, and makes the call itself."""
        if self._spare >= 0:
            os.close(self._spare)
        with suppress(OSError):
            line, _ = self._socket.accept()
            line.close()
        self._spare = _open_spare()

    def _wait(self) -> None:
        """Look again when it may have been idle for long enough. Between calls nothing else wakes this process."""
        try:
            seconds = keep_seconds(configuration.read())
        except FerruleError:
            seconds = 0.0  # each call says what is wrong, without a keeper
        left = self._used + seconds - time.monotonic()
        if left <= 0 and not any(one.is_busy for one in self._connections):
            self.leave()
        else:
            self.server.loop.call_at(time.monotonic() + max(left, 1.0), self._wait)

    def _look_at_folder(self) -> None:
        self._watch.read()
        if not self._is_leaving and _identify(self._path) != self._own:
            self.leave()  # nobody can reach it any more

    def _remove_socket(self) -> None:
        if not self._is_given and _identify(self._path) == self._own:
            os.unlink(self._path)


def _listen(path: str) -> socket.socket:
    """A socket at that path, which only this user can reach. What an earlier keeper has left there is replaced."""
    draft = f"{path}.{os.getpid()}"
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if os.path.lexists(draft):
            os.unlink(draft)
        line.bind(draft)
        os.chmod(draft, 0o600)
        line.listen(_BACKLOG)
        line.setblocking(False)
        os.rename(draft, path)
    except OSError:
        line.close()
        raise
    return line


def _identify(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _open_spare() -> int:
    """A descriptor for a caller for whom there is none; -1 where there is none for this either."""
    try:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


def _identify_host() -> tuple[object, ...]:
    """What differs once another ferrule or another interpreter is installed here."""
    package = os.path.dirname(ferrule.__file__ or "")
    found = []
    for path in (sys.executable, package, os.path.join(package, "_version.py"), os.path.join(package, "dispatch.py")):
        try:
            status = os.stat(path)
        except OSError:
            return ()
        found.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return tuple(found)
