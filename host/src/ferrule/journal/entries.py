"""What the journal holds, read from its files: the oldest call first. A line that is damaged is told, and no more."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from typing import NamedTuple, TypedDict

from ferrule.journal.file import OLDER

_CHUNK_BYTES = 1 << 20
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


class Client(TypedDict, total=False):
    """The MCP client that made a call."""

    name: str
    version: str


class Denial(TypedDict):
    """What a call was denied. kind: `read`, `write`, `connect`, `run`, `fork`, `signal`, `variable` or `other`."""

    kind: str
    what: str


class _Always(TypedDict):
    time: str
    tool: str
    way: str
    outcome: str
    seconds: float
    input_bytes: int
    output_bytes: int


class Entry(_Always, total=False):
    """One call, as its line has it.

    time: when it began, in UTC. way: `executable`, `run`, `serve`, or as the program that called names itself. outcome:
    `ok`, or the code of the failure. seconds: that it took. advice: what an administrator can do about the failure.
    arguments: where the admin wants them; arguments_hash: see `record.hash_arguments`, where not.
    """

    distribution: str
    version: str
    agent: str
    client: Client
    denied: list[Denial]
    advice: str
    arguments: dict[str, object]
    arguments_hash: str


class DamagedLine(NamedTuple):
    """A line that is no entry. place: the file, and the number of the line."""

    place: str


class JournalReader:
    """Reads what is in the journal, and later what has come to it since, across its rotation.

    path: of the file that is written; the older ones stand beside it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._current: tuple[int, int] | None = None  # device and inode of the file that was read last
        self._held: int | None = None  # its descriptor: as long as it is open, no other file gets that inode
        self._offset = self._line = 0

    def read(self, *, is_last: bool = True) -> Iterator[Entry | DamagedLine]:
        """What has come since the last time. Raises OSError where a file cannot be read.

        is_last: whether a line without an end counts as damaged; else it is left for the next time.
        """
        files = self._open()
        try:
            identities = [identity for _, identity, _ in files]
            first = identities.index(self._current) if self._current in identities else 0
            for index, (file, identity, name) in enumerate(files[first:], start=first):
                if identity != self._current:
                    self._current, self._offset, self._line = identity, 0, 0
                yield from self._read_file(file, name, is_last or index < len(files) - 1)
        finally:
            for file, identity, _ in files:
                if identity == self._current:
                    self._hold(file)
                else:
                    os.close(file)

    def close(self) -> None:
        """Let go of the files."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def _hold(self, file: int) -> None:
        self.close()
        self._held = file

    def _open(self) -> list[tuple[int, tuple[int, int], str]]:
        """The files that there are, the oldest first.

        The newest is opened first: one that is rotated meanwhile is met twice then, not missed.
        """
        found: list[tuple[int, tuple[int, int], str]] = []
        for name in (self._path, *(f"{self._path}.{number + 1}" for number in range(OLDER))):
            try:
                file = os.open(name, _READ)
            except FileNotFoundError:
                continue
            facts = os.fstat(file)
            identity = facts.st_dev, facts.st_ino
            if stat.S_ISREG(facts.st_mode) and identity not in [one for _, one, _ in found]:
                found.insert(0, (file, identity, name))
            else:
                os.close(file)
        return found

    def _read_file(self, file: int, name: str, is_complete: bool) -> Iterator[Entry | DamagedLine]:
        rest = b""
        while data := os.pread(file, _CHUNK_BYTES, self._offset + len(rest)):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                yield from self._take(line, name, len(line) + 1)
        if rest and is_complete:
            yield from self._take(rest, name, len(rest))

    def _take(self, line: bytes, name: str, size: int) -> Iterator[Entry | DamagedLine]:
        self._offset += size
        self._line += 1
        if line.strip():
            yield _entry(line) or DamagedLine(f"{os.path.basename(name)}:{self._line}")


def _entry(line: bytes) -> Entry | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not _is_sound(found):
        return None
    entry: Entry = found  # type: ignore[assignment] # which was looked at
    return entry


def _is_sound(found: dict[str, object]) -> bool:
    texts = all(isinstance(found.get(name), str) for name in ("time", "tool", "way", "outcome"))
    sizes = all(type(found.get(name)) in (int, float) for name in ("seconds", "input_bytes", "output_bytes"))
    denied = found.get("denied", [])
    is_list = isinstance(denied, list) and all(
        isinstance(one, dict) and {"kind", "what"} <= one.keys() for one in denied
    )
    is_told = isinstance(found.get("advice", ""), str)
    return texts and sizes and is_list and is_told and isinstance(found.get("client", {}), dict)
