"""Modes and times of files, changed instead of a call, and in its own folders only."""

from __future__ import annotations

import os

from ferrule.confinement.kernel.system_calls import NUMBERS, call

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferrule.confinement.broker.supervised_process import SupervisedProcess

    Check = Callable[[], None]
    Method = Callable[[SupervisedProcess, Check, list[int]], int]

_HERE = -100 & 0xFFFF_FFFF
_FOLLOWS_NOT, _EMPTY_PATH = 0x100, 0x1000
_PATH_FLAGS = _FOLLOWS_NOT | _EMPTY_PATH
"""The flags with which a path can be given. A call with any other one is not made."""
_MASK = 0xFFFF_FFFF
_SPECIAL_BITS = 0o6000
_TIMES_BYTES = 32
_NOT_PERMITTED, _BAD_DESCRIPTOR, _INVALID = 1, 9, 22
_DELETED = " (deleted)"


class FileAttributes:
    """folders: absolute paths without links, of folders and files. deny: is told what was refused, and where."""

    def __init__(self, folders: Sequence[str], deny: Callable[[str, str], None]) -> None:
        self._folders = folders
        self._deny = deny

    @property
    def methods(self) -> dict[str, Method]:
        """All calls that change modes and times, by their names. The old ones, which no library makes, are refused."""
        return {
            "chmod": self.chmod,
            "fchmod": self.fchmod,
            "fchmodat": self.fchmodat,
            "fchmodat2": self.fchmodat2,
            "utimensat": self.utimensat,
            "utime": _refuse,
            "utimes": _refuse,
            "futimesat": _refuse,
        }

    def chmod(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int:
        """As the kernel's calls of these names; they raise OSError."""
        return self._change_mode(self._opened(process, _HERE, arguments[0], 0), check, arguments[1])

    def fchmod(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int:
        """See `chmod`."""
        return self._change_mode(process.descriptor(arguments[0]), check, arguments[1])

    def fchmodat(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int:
        """See `chmod`."""
        return self._change_mode(self._opened(process, arguments[0], arguments[1], 0), check, arguments[2])

    def fchmodat2(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int:
        """See `chmod`."""
        file = self._opened(process, arguments[0], arguments[1], arguments[3])
        return self._change_mode(file, check, arguments[2])

    def utimensat(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int:
        """See `chmod`."""
        folder, path, times, flags = arguments[:4]
        _require_known(flags)
        data = process.read(times, _TIMES_BYTES) if times else None
        file = self._opened(process, folder, path, flags) if path else process.descriptor(folder)
        try:
            self._require_own(file, check)
            return call(NUMBERS["utimensat"], _HERE, _path_of(file).encode() + b"\0", data, 0)
        finally:
            os.close(file)

    def _opened(self, process: SupervisedProcess, folder: int, address: int, flags: int) -> int:
        _require_known(flags)
        path = process.read_path(address)
        if not path and flags & _EMPTY_PATH:
            return process.descriptor(folder)
        return process.open_path(folder, path, follows=not flags & _FOLLOWS_NOT)

    def _change_mode(self, file: int, check: Check, mode: int) -> int:
        try:
            self._require_own(file, check)
            if mode & _SPECIAL_BITS:
                self._deny("other", f"chmod {os.readlink(_path_of(file))}")
                raise OSError(_NOT_PERMITTED, "another user's rights cannot be given")
            os.chmod(_path_of(file), mode & 0o1777)
            return 0
        finally:
            os.close(file)

    def _require_own(self, file: int, check: Check) -> None:
        """Raise OSError unless the file is in a folder of the call, and the user's own."""
        check()
        path = os.readlink(_path_of(file)).removesuffix(_DELETED)
        is_in = any(path == folder or path.startswith(folder + "/") for folder in self._folders)
        if not is_in or os.fstat(file).st_uid != os.geteuid():
            self._deny("write", path)
            raise OSError(_NOT_PERMITTED, "not permitted")


def _refuse(_process: SupervisedProcess, _check: Check, _arguments: list[int]) -> int:
    raise OSError(_NOT_PERMITTED, "not permitted")


def _require_known(flags: int) -> None:
    if flags & _MASK & ~_PATH_FLAGS:
        raise OSError(_INVALID, "no flag that is made for a call")


def _path_of(file: int) -> str:
    return f"/proc/self/fd/{file}"
