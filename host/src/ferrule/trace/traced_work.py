"""The child's part of a trace: it has the kernel tell of what it does, and tells what Python alone knows."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

from ferrule.confinement.enforcement import confine, note_listener
from ferrule.text import strict_json
from ferrule.trace.notified_calls import install_listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferrule.confinement import Policy
    from ferrule.supervision.channel.channel import Channel

_NAMES = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyname_ex")
_HOST = "ferrule."
_TOOLS_OWN = ("ferrule.plugin.hooks.context",)  # where the host reads a variable because a tool asks for it


class TracedWork:
    """Work that is watched by a `Witness`, and held to a policy. path: of its socket."""

    def __init__(self, work: Callable[[Channel], None], policy: Policy, path: str) -> None:
        self._work = work
        self._policy = policy
        self._path = path

    def __call__(self, channel: Channel) -> None:
        """Begin to be watched, and do the work. Raises OSError where that cannot be, which the witness is told."""
        _begin(self._path)
        # There can be one listener only. The witness judges the modes and times of files; what else a listener of the
        # policy would judge is refused, or left alone.
        note_listener()
        confine(self._policy)
        library = sys.modules.get("tempfile")
        if library is not None:
            library.tempdir = None  # type: ignore[attr-defined] # it keeps the folder that it has found once
        self._work(channel)


def _begin(path: str) -> None:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    link.connect(path)
    teller = _Teller(link.detach())
    try:
        listener = install_listener()
    except OSError as error:
        teller.write((error.strerror or "it has no listener").encode())
        raise
    # From here on, what the kernel tells waits for an answer: only calls that it does not tell of are made.
    teller.write(str(listener).encode())
    teller.wait()
    os.close(listener)
    sys.addaudithook(teller.hear)
    _watch_variables(teller)


class _Teller:
    """Tells the witness, as long as the descriptor is still the one to it."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._identity = _identity(file)
        self._told: set[tuple[str, str]] = set()

    def write(self, data: bytes) -> None:
        os.write(self._file, data)

    def wait(self) -> None:
        os.read(self._file, 1)

    def tell(self, kind: str, value: str, more: object = None) -> None:
        """Say one thing. What was said before is not said again, but for names, whose order matters."""
        if (kind, value) in self._told and kind != "name":
            return
        self._told.add((kind, value))
        try:
            if _identity(self._file) == self._identity:  # a copy of the process may have closed it
                self.write(strict_json.dumps([kind, value, more if isinstance(more, int | str) else None]))
        except (OSError, ValueError):
            return

    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        """The hook for what Python does."""
        if event in _NAMES and arguments and arguments[0]:
            host = arguments[0]
            name = host.decode(errors="replace") if isinstance(host, bytes) else str(host)
            self.tell("name", name, arguments[1] if arguments[1:] else None)


def _watch_variables(teller: _Teller) -> None:
    """Have the variables tell which of them are asked for; what the host's own code asks for is not told."""
    environ = type(os.environ)

    class Watched(environ):  # type: ignore[valid-type,misc] # the class is private to os
        _copied: tuple[str, ...] = ()  # names that a copy of all variables is about to ask for, one after the other

        def __getitem__(self, name: str) -> str:
            if self._copied[:1] == (name,):
                self._copied = self._copied[1:]
            elif not _is_host(sys._getframe(1)):
                self._copied = ()
                if isinstance(name, str):  # `os.get_exec_path` asks for b"PATH", which no such mapping has
                    teller.tell("variable", name)
            found: str = super().__getitem__(name)
            return found

        def __iter__(self) -> Iterator[str]:
            names = tuple(super().__iter__())
            for index, name in enumerate(names):
                self._copied = names[index:]  # where the values are asked for within the loop
                yield name
            self._copied = names  # where they are asked for behind it, as `dict` does

    os.environ.__class__ = Watched


def _is_host(frame: object) -> bool:
    """Whether the host's code asks. frame: of the caller, behind those of the mapping."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))  # type: ignore[attr-defined] # a frame, whose type costs an import
        if name not in ("os", "_collections_abc", "collections.abc"):
            return name.startswith(_HOST) and name not in _TOOLS_OWN
        frame = frame.f_back  # type: ignore[attr-defined] # as above
    return True


def _identity(file: int) -> tuple[int, int]:
    facts = os.fstat(file)
    return facts.st_dev, facts.st_ino
