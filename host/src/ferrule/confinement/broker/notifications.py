"""What the kernel tells of one system call: who makes it, with which arguments, and what they point to."""

from __future__ import annotations

import fcntl
import os
import socket
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

from ferrule.confinement.broker.supervised_process import SupervisedProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[[SupervisedProcess, Callable[[], None], list[int]], int]

_RECEIVE, _SEND, _IS_VALID = 0xC050_2100, 0xC018_2101, 0x4008_2102
_NOT_PERMITTED, _BAD_ADDRESS = 1, 14
_REQUEST = Struct("<QIIiIQ6Q")
_ANSWER = Struct("<QqiI")
_CONTINUE = 1
_HERE = -100  # AT_FDCWD


class Notification(NamedTuple):
    """One system call that waits. thread: its id. number: of the call. arguments: six words."""

    id: int
    thread: int
    number: int
    arguments: tuple[int, ...]

    @property
    def memory(self) -> SupervisedProcess:
        """The process, as its supervisor reads it. What is read raises OSError."""
        return SupervisedProcess(self.thread)

    def read(self, address: int, size: int) -> bytes:
        """Memory of the process; nothing where it cannot be read."""
        try:
            return self.memory.read(address, size)
        except (OSError, OverflowError):
            return b""

    def path(self, address: int, folder: int = _HERE) -> str:
        """A path of the process as an absolute one; empty if there is none. folder: what it begins at."""
        try:
            return self.absolute(os.fsdecode(self.memory.read_path(address)), folder)
        except (OSError, OverflowError):
            return ""

    def absolute(self, path: str, folder: int = _HERE) -> str:
        """The same path, from the process's working folder, or from a folder that it has open."""
        if not path:
            return ""
        if path == "/proc/self" or path.startswith("/proc/self/"):
            path = f"/proc/{self.process}{path[len('/proc/self') :]}"
        if not path.startswith("/"):
            folder = folder - (1 << 32) if folder & 0xFFFF_FFFF >= 1 << 31 and folder < 1 << 32 else folder
            where = "cwd" if folder & 0xFFFF_FFFF == _HERE & 0xFFFF_FFFF else f"fd/{folder}"
            try:
                path = os.path.join(os.readlink(f"/proc/{self.thread}/{where}"), path)
            except OSError:
                return ""
        return os.path.normpath(path)

    @property
    def process(self) -> int:
        """The process that the thread belongs to."""
        return self._status("Tgid") or self.thread

    @property
    def parent(self) -> int:
        """The process that started it."""
        return self._status("PPid")

    def is_datagram(self, descriptor: int) -> bool:
        """Whether a descriptor of the process is a socket that sends datagrams."""
        try:
            with socket.socket(fileno=self.memory.descriptor(descriptor)) as found:
                return found.type == socket.SOCK_DGRAM
        except OSError:
            return False

    def _status(self, field: str) -> int:
        try:
            with open(f"/proc/{self.thread}/status", "rb", buffering=0) as file:
                for line in file.readall().splitlines():
                    if line.startswith(field.encode() + b":"):
                        return int(line.partition(b":")[2])
        except (OSError, ValueError):
            pass
        return 0


def receive(listener: int) -> Notification | None:
    """The next call that waits; None where it has gone meanwhile."""
    data = bytearray(_REQUEST.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, data)
    except OSError:
        return None
    identifier, thread, _, number, _, _, *arguments = _REQUEST.unpack(data)
    return Notification(identifier, thread, number, tuple(arguments))


def go_on(listener: int, notification: Notification) -> None:
    """Let the call be made as it was meant."""
    _send(listener, _ANSWER.pack(notification.id, 0, 0, _CONTINUE))


def make(listener: int, notification: Notification, method: Make) -> None:
    """Make the call in place of the process, which gets what it gives, or the number of its OSError.

    method: makes it. It gets the process, what raises OSError where that has ended, and the arguments.
    """

    def check() -> None:
        fcntl.ioctl(listener, _IS_VALID, notification.id.to_bytes(8, "little"))

    value = number = 0
    try:
        value = method(notification.memory, check, list(notification.arguments))
    except OSError as error:
        number = error.errno or _NOT_PERMITTED
    except Exception:  # noqa: BLE001 - arguments that nobody expected, such as an address that is none
        number = _BAD_ADDRESS
    _send(listener, _ANSWER.pack(notification.id, value, -number, 0))


def _send(listener: int, answer: bytes) -> None:
    try:
        fcntl.ioctl(listener, _SEND, bytearray(answer))
    except OSError:
        return  # the process has ended meanwhile
