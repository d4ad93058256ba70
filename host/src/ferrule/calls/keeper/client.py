"""What asks a keeper for its facts, and ends it: for the admin."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from typing import TYPE_CHECKING, NamedTuple

from ferrule._version import __version__
from ferrule.calls.keeper.peer import peer_of
from ferrule.config import configuration
from ferrule.config.keep import keep_seconds
from ferrule.errors import FerruleError
from ferrule.links import keeper_frames as frames
from ferrule.links.keeper_address import base_environ, installation_number, runtime_folder, socket_name, sockets
from ferrule.links.keeper_start import read_first_environ, start
from ferrule.supervision.python_process import extra_paths, installation_folders, interpreter, place_of_paths
from ferrule.text import strict_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_START_SECONDS = 10.0
_PAUSE_SECONDS = 0.02
_ANSWER_SECONDS = 2.0
_END_SECONDS = 30.0  # as long as calls may take that run
_KILLED_SECONDS = 5.0
_CHUNK_BYTES = 1 << 16


class KeeperState(NamedTuple):
    """A keeper that listens. process: its number, 0 where that is not known. facts: None where it does not answer."""

    path: str
    process: int
    facts: dict[str, Any] | None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"socket": self.path, "process": self.process, "answers": self.facts is not None, **(self.facts or {})}


def find_keepers(environ: Mapping[str, str]) -> list[KeeperState]:
    """The keepers of this user. A socket to which nobody listens is no keeper."""
    found = []
    for path in sockets(environ):
        line = _connect(path)
        if line is not None:
            with line:
                found.append(_ask(path, line))
    return found


def start_keeper() -> KeeperState:
    """Start the keeper of this installation and environment, and wait until it listens.

    Raises FerruleError where it does not within ten seconds, or is not to be.
    """
    environ = read_first_environ()
    folder = runtime_folder(environ, is_made=True)
    if not folder:
        raise FerruleError("No folder for its socket is this user's alone.", hint="Set XDG_RUNTIME_DIR to one.")
    if not keep_seconds(configuration.read()):
        raise FerruleError("[keep] in config.toml says seconds = 0, so nothing is kept.")
    installation = installation_number(interpreter(), installation_folders(), __version__)
    path = os.path.join(folder, socket_name(installation, environ))
    limit = time.monotonic() + _START_SECONDS
    start(installation, base_environ(environ), paths_line())
    while time.monotonic() < limit:
        if (line := _connect(path)) is not None:
            with line:
                return _ask(path, line)
        time.sleep(_PAUSE_SECONDS)
    raise FerruleError(f"The keeper does not listen on {path} after {_START_SECONDS:.0f} s.")


def paths_line() -> str:
    """The line of Python by which a keeper has the `sys.path` of a call."""
    place = place_of_paths()
    return f"sys.path[{place}:{place}] = {extra_paths()}"


def stop_keeper(state: KeeperState) -> bool:
    """End a keeper, in peace where it answers; whether it has ended."""
    try:
        handle = os.pidfd_open(state.process)
    except OSError:
        return state.process > 0  # it has ended meanwhile
    try:
        if state.facts is not None and _tell_to_stop(state.path) and _has_ended(handle, _END_SECONDS):
            return True
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        return _has_ended(handle, _KILLED_SECONDS)
    except ProcessLookupError:
        return True
    finally:
        os.close(handle)


def _ask(path: str, line: socket.socket) -> KeeperState:
    try:
        process, user = peer_of(line)
    except OSError:
        process, user = 0, -1
    facts = None
    if user == os.geteuid():
        answer = _exchange(line, frames.FACTS)
        facts = strict_json.loads(answer) if answer else None
    if isinstance(facts, dict):
        return KeeperState(path, int(facts.get("process", process)), facts)
    return KeeperState(path, process if _is_keeper(process, path) else 0, None)


def _is_keeper(process: int, path: str) -> bool:
    """Whether a process is the keeper of a socket: where systemd listens for it, the socket is systemd's."""
    try:
        with open(f"/proc/{process}/cmdline", "rb", buffering=0) as file:
            last = os.fsdecode(file.readall()).split("\0")[-2:-1]
    except OSError:
        return False
    return last == os.path.basename(path).split("-")[1:2]


def _tell_to_stop(path: str) -> bool:
    line = _connect(path)
    if line is None:
        return False
    with line:
        return _exchange(line, frames.STOP) is not None


def _exchange(line: socket.socket, kind: bytes) -> bytes | None:
    """What the keeper says to one frame; None where it says nothing in time."""
    reader, limit = frames.FrameReader(), time.monotonic() + _ANSWER_SECONDS
    try:
        line.sendall(frames.frame(kind))
        while (left := limit - time.monotonic()) > 0:
            line.settimeout(left)
            data = line.recv(_CHUNK_BYTES)
            for _, payload in reader.feed(data):
                return payload
            if not data:
                return None
    except (OSError, frames.FrameMalformed):
        pass
    return None


def _connect(path: str) -> socket.socket | None:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        line.settimeout(_ANSWER_SECONDS)
        line.connect(path)
    except OSError:
        line.close()
        return None
    return line


def _has_ended(handle: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(seconds * 1000))
