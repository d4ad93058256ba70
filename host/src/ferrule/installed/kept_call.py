"""A call that a keeper makes, for callers with an event loop: where one runs that keeps the tool, and is theirs."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ferrule._version import __version__
from ferrule.errors import FerruleError
from ferrule.links import keeper_frames as frames
from ferrule.links.keeper_address import base_environ, installation_number, is_base, runtime_folder, socket_name
from ferrule.links.keeper_start import read_first_environ
from ferrule.supervision.python_process import installation_folders, interpreter
from ferrule.text import strict_json

if TYPE_CHECKING:
    EventHandler = Callable[[bytes], object]

_CHUNK_BYTES = 1 << 16
_ACCEPT_SECONDS = 1.0  # in which a keeper says whether it takes a call; a busy one is slower than none
_GRACE_SECONDS = 2.0  # beyond the time of a call, in which its keeper answers


class KeptAnswer(NamedTuple):
    """What a call by a keeper came to. document: without a newline. text: for stderr. has_failed: see the exit code."""

    document: bytes
    text: bytes
    has_failed: bool


class KeeperLost(FerruleError):
    """A keeper has ended, or does not answer, in a call that may have been made."""

    code = "KEEPER_LOST"


class _LineEnded(Exception):
    """The keeper says no more."""


# Long by its parameters, of which each is explained here and nowhere else.
async def call_keeper(
    tool: str,
    arguments: bytes,
    seconds: float,
    environ: Mapping[str, str],
    *,
    on_event: EventHandler | None = None,
    is_lasting: bool = False,
) -> KeptAnswer | None:
    """Have a keeper make a call; None where none takes it, or it was lost before it had begun: then it is the caller's.

    A cancelled call is ended by its keeper.

    Args:
        tool: its name.
        arguments: one JSON object.
        seconds: that the call may take.
        environ: of the caller. Where it differs from that of the keeper in what those have in common, none takes it.
        on_event: gets each event as one JSON object, as it happens.
        is_lasting: only where the tool holds something between its calls.

    Raises:
        KeeperLost: the keeper was lost after the call had begun.
    """
    if not sys.platform.startswith("linux") or not (path := _find_socket(environ)):
        return None
    try:
        reader, writer = await asyncio.wait_for(asyncio.open_unix_connection(path), _ACCEPT_SECONDS)
    except (OSError, TimeoutError):
        return None
    line = _Line(reader, writer)
    try:
        writer.write(_make_hello(tool, seconds, environ, wants_events=on_event is not None, is_lasting=is_lasting))
        kind, _ = await asyncio.wait_for(line.read(), _ACCEPT_SECONDS)
        if kind != frames.ACCEPTED:
            return None
        return await asyncio.wait_for(line.exchange(arguments, on_event), seconds + _GRACE_SECONDS)
    except (_LineEnded, TimeoutError, frames.FrameMalformed, OSError):
        if line.has_begun:
            raise _lost(tool) from None
        return None
    finally:
        writer.close()


def join_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """These variables, with those by which a keeper is found as this process was started with them.

    For a program that sets some for its own tools.
    """
    own = {name: value for name, value in environ.items() if not is_base(name)}
    return {**own, **base_environ(read_first_environ())}


class _Line:
    """One end of a line to a keeper. has_begun: whether the tool may have done what cannot be repeated."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.has_begun = False
        self._reader = reader
        self._writer = writer
        self._frames = frames.FrameReader()
        self._waiting: list[tuple[bytes, bytes]] = []

    async def read(self) -> tuple[bytes, bytes]:
        """The next frame. Raises _LineEnded, FrameMalformed and OSError."""
        while not self._waiting:
            data = await self._reader.read(_CHUNK_BYTES)
            if not data:
                raise _LineEnded
            self._waiting += self._frames.feed(data)
        return self._waiting.pop(0)

    async def exchange(self, arguments: bytes, on_event: EventHandler | None) -> KeptAnswer:
        """Send the arguments, and wait for the answer. Raises as `read` does."""
        for begin in range(0, len(arguments), _CHUNK_BYTES):
            self._writer.write(frames.frame(frames.INPUT, arguments[begin : begin + _CHUNK_BYTES]))
        self._writer.write(frames.frame(frames.INPUT_END))
        while True:
            kind, payload = await self.read()
            if kind == frames.BEGUN:
                self.has_begun = payload != b"1"
            elif kind == frames.EVENT and on_event is not None:
                on_event(payload)
            elif kind == frames.ANSWER:
                code, document, text = frames.split_answer(payload)
                return KeptAnswer(document, text, code != 0)


def _make_hello(
    tool: str, seconds: float, environ: Mapping[str, str], *, wants_events: bool, is_lasting: bool
) -> bytes:
    orders = {"tool": tool, "names": {}, "provider": "", "translation": {}, "is_lasting": is_lasting}
    own = {**environ, "FERRULE_DEADLINE": f"{seconds:.3f}", "FERRULE_EXIT_ZERO": "0"}
    facts = strict_json.dumps(orders), os.getcwd(), _read_umask(), False, frames.limits_text(), own
    return frames.hello_frame(frames.Hello(*facts, wants_events=wants_events))


def _read_umask() -> int:
    """The file mode mask of this process, which has threads, so that it cannot be changed for a moment to be seen."""
    with open("/proc/self/status", "rb", buffering=0) as file:
        lines = file.readall().splitlines()
    return next((int(line[6:], 8) for line in lines if line.startswith(b"Umask:")), 0o077)


def _find_socket(environ: Mapping[str, str]) -> str:
    """The socket of the keeper of this environment; empty without one."""
    folder = runtime_folder(environ)
    if not folder:
        return ""
    path = os.path.join(folder, socket_name(_find_installation(), environ))
    try:
        return path if os.lstat(path).st_uid == os.geteuid() else ""
    except OSError:
        return ""


@lru_cache(maxsize=1)
def _find_installation() -> str:
    return installation_number(interpreter(), installation_folders(), __version__)


def _lost(tool: str) -> KeeperLost:
    return KeeperLost(
        f"The keeper that made the call of {tool} has ended, or does not answer any more.",
        hint="The tool may have done its work. Look before you call it again.",
    )
