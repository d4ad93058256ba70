"""A process that waits for an answer to a system call: its memory, its descriptors, its place among processes."""

from __future__ import annotations

import os

from ferrule.confinement.kernel.system_calls import NUMBERS, call

_THREAD = os.O_EXCL  # of pidfd_open: the number is a thread's
_CURRENT_FOLDER = -100
_PAGE_BYTES = 4096
_MAX_PATH_BYTES = 4096
_TOO_LONG, _NO_FILE, _INVALID = 36, 2, 22


class SupervisedProcess:
    """thread: the number of the thread that waits. All raises OSError, with the number that the call should fail with.

    What is read can change at once, as other threads go on; so it is read once, and what is done is done with that.
    """

    __slots__ = ("thread",)

    def __init__(self, thread: int) -> None:
        self.thread = thread

    def read(self, address: int, size: int) -> bytes:
        """Bytes of its memory."""
        with open(f"/proc/{self.thread}/mem", "rb", buffering=0) as memory:
            data = os.pread(memory.fileno(), size, address) if size else b""
        if len(data) != size:
            raise OSError(14, "bad address")
        return data

    def read_path(self, address: int) -> bytes:
        """A path, without the zero at its end."""
        data = b""
        memory = os.open(f"/proc/{self.thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            while b"\0" not in data:
                size = _PAGE_BYTES - (address + len(data)) % _PAGE_BYTES
                piece = os.pread(memory, size, address + len(data))
                data += piece
                if not piece or len(data) > _MAX_PATH_BYTES + _PAGE_BYTES:
                    raise OSError(_TOO_LONG, "path too long")
        finally:
            os.close(memory)
        return data.partition(b"\0")[0]

    def write(self, address: int, data: bytes) -> None:
        """Change its memory."""
        with open(f"/proc/{self.thread}/mem", "r+b", buffering=0) as memory:
            os.pwrite(memory.fileno(), data, address)

    def descriptor(self, number: int) -> int:
        """Another descriptor of what it has open under a number."""
        process = self._open()
        try:
            return call(NUMBERS["pidfd_getfd"], process, number & 0xFFFF_FFFF, 0)
        finally:
            os.close(process)

    def open_path(self, folder: int, path: bytes, *, follows: bool) -> int:
        """What it means by a path: a descriptor with which the file cannot be read. folder: see `openat`."""
        flags = os.O_PATH | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW)
        if not path:
            raise OSError(_NO_FILE, "no path")
        if path.startswith(b"/"):
            return os.open(path, flags)
        start = self._folder(folder)
        try:
            return os.open(path, flags, dir_fd=start)
        finally:
            os.close(start)

    def _folder(self, number: int) -> int:
        number = number & 0xFFFF_FFFF
        if number == _CURRENT_FOLDER & 0xFFFF_FFFF:
            return os.open(f"/proc/{self.thread}/cwd", os.O_PATH | os.O_CLOEXEC)
        return self.descriptor(number)

    def _open(self) -> int:
        """A descriptor of the process. Older kernels have them for a process's first thread only."""
        for flags in (0, _THREAD):
            try:
                return call(NUMBERS["pidfd_open"], self.thread, flags)
            except OSError as error:
                if error.errno not in (_INVALID, _NO_FILE):
                    raise
        return call(NUMBERS["pidfd_open"], self._leader(), 0)

    def _leader(self) -> int:
        with open(f"/proc/{self.thread}/status", "rb") as file:
            return next(int(line.split()[1]) for line in file if line.startswith(b"Tgid:"))
