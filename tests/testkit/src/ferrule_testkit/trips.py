"""Which files of ferrule a piece of work passes: all in which a function runs, and how often it changes file.

As a script, `python trips.py RECORD MODULE:FUNCTION PROGRAM [ARGUMENT…]` runs a function under a profile hook, in this
process and in all that come from it, and keeps in the file RECORD what they pass. A reader begins a new trip in it with
`Record.reset`, and looks at it with `Record.read`. Functions that run while a module is imported count, too; the bodies
of modules and classes do not.
"""

from __future__ import annotations

import contextlib
import importlib
import mmap
import os
import struct
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

_SLOTS, _SLOT_BYTES = 256, 1 << 15
_BYTES = _SLOTS * _SLOT_BYTES
_HEAD = struct.Struct("=IIII")  # process, trip, changes of file, bytes of names
_TRIP = struct.Struct("=I")  # the number of the trip, before the first slot
_START = 64
_SUPERVISOR = "ferrule_serve.supervisor"  # which makes the calls of a server
_OPTIMIZED = 1  # the flag of a function's code


class Trip(NamedTuple):
    """files: that were passed, by the number of the process. changes: of file, in all processes together."""

    files: dict[int, list[str]]
    changes: int

    @property
    def all_files(self) -> set[str]:
        """The files of all processes."""
        return {file for files in self.files.values() for file in files}


class Record:
    """A file that processes write what they pass to."""

    def __init__(self, path: Path | str) -> None:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            os.ftruncate(file, _START + _BYTES)
            self.memory = mmap.mmap(file, _START + _BYTES)
        finally:
            os.close(file)

    @property
    def number(self) -> int:
        """The number of the trip that is going on."""
        return int(_TRIP.unpack_from(self.memory, 0)[0])

    def reset(self) -> None:
        """Begin a new trip: what processes have passed so far is forgotten."""
        _TRIP.pack_into(self.memory, 0, self.number + 1)

    def slot_of(self, process: int) -> int:
        """Where a process writes: the first place from its own on that no other one has taken in this trip.

        Two whose numbers are a multiple of the places apart would otherwise write over each other.
        """
        for number in range(process, process + _SLOTS):
            start = _START + number % _SLOTS * _SLOT_BYTES
            owner, trip, _, _ = _HEAD.unpack_from(self.memory, start)
            if trip != self.number or owner in (0, process):
                return start
        raise RuntimeError(f"more than {_SLOTS} processes take part in a trip")

    def read(self) -> Trip:
        """What was passed since the last `reset`."""
        files, changes = {}, 0
        for start in range(_START, _START + _BYTES, _SLOT_BYTES):
            process, number, changed, length = _HEAD.unpack_from(self.memory, start)
            if process and number == self.number:
                names = self.memory[start + _HEAD.size : start + _HEAD.size + length]
                files[process] = names.decode().split("\n")[:-1]
                changes += changed
        return Trip(files, changes)


class Hook:
    """The profile hook: it notes each file below these folders in which a function is called."""

    def __init__(self, record: Record, folders: tuple[str, ...]) -> None:
        self._record = record
        self._folders = folders
        self._process = self._number = -1
        self._last = ""
        self._known: set[str] = set()
        self._changes = self._length = self._slot = 0

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Called by the interpreter for whatever begins and ends."""
        code = frame.f_code
        if event != "call" or not code.co_flags & _OPTIMIZED or not code.co_filename.startswith(self._folders):
            return
        if (os.getpid(), self._record.number) != (self._process, self._number):
            self._begin()
        if code.co_filename == self._last:
            return
        self._last = code.co_filename
        self._changes += 1
        if self._last not in self._known:
            self._known.add(self._last)
            name = f"{self._last}\n".encode()
            at = self._slot + _HEAD.size + self._length
            self._record.memory[at : at + len(name)] = name
            self._length += len(name)
        _HEAD.pack_into(self._record.memory, self._slot, self._process, self._number, self._changes, self._length)

    def _begin(self) -> None:
        self._process, self._number = os.getpid(), self._record.number
        self._slot = self._record.slot_of(self._process)
        self._last, self._known, self._changes, self._length = "", set(), 0, 0


def watch(path: str, module: str = "") -> None:
    """Set the hook for this process, those that are forked from it, and the interpreters that ferrule starts.

    module: that such an interpreter runs.
    """
    root = os.path.dirname(os.path.dirname(os.path.abspath(importlib.import_module("ferrule").__file__ or "")))
    from ferrule.supervision import python_process

    folders = {os.path.join(folder, "ferrule") for folder in (root, *sys.path)}
    code = f"import runpy\nrunpy.run_path({__file__!r})['watch']({path!r}, '{{module}}')\nfrom {{module}} import"
    python_process._CODE = python_process._CODE.replace("from {module} import", code)
    if module == _SUPERVISOR:
        _overlook_record(path)
    hook = Hook(Record(path), tuple(folders))
    threading.setprofile(hook)
    sys.setprofile(hook)


def _overlook_record(path: str) -> None:
    """Have the processes of tools be copied as they are without the hook, although all of them write to the record.

    A process that shares memory takes one call and ends. Each call would load its tool, as no served call does.
    """
    from ferrule.calls.fork_server import rest
    from ferrule.calls.fork_server.child import state_check

    def shares_memory(process: int | str = "self") -> bool:
        with open(f"/proc/{process}/maps", encoding="utf-8") as file:
            rights = [line.split(None, 2)[1] for line in file if not line.rstrip().endswith(path)]
        return any(right[1] == "w" and right[3] == "s" for right in rights)

    rest.shares_memory = shares_memory
    state_check._shares_memory = shares_memory


def main() -> None:
    """Run the function with the hook."""
    path, named, *command = sys.argv[1:]
    module, _, function = named.partition(":")
    found = getattr(importlib.import_module(module), function)
    sys.argv = command
    watch(path)
    with contextlib.suppress(SystemExit):
        found()


if __name__ == "__main__":
    main()
