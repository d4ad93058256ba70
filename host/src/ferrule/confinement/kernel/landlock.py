"""Landlock: which files, TCP ports, signals and abstract sockets this process and its descendants can reach."""

from __future__ import annotations

import os

from ferrule.confinement.kernel.system_calls import IS_KNOWN, NUMBERS, call

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER = 1, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FOLDER, REMOVE_FILE, _MAKE_DEVICE, MAKE_FOLDER, MAKE_FILE = 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8
_MAKE_SOCKET, _MAKE_FIFO, _MAKE_BLOCK_DEVICE, _MAKE_LINK = 1 << 9, 1 << 10, 1 << 11, 1 << 12
REFER, TRUNCATE, _DEVICE_IOCTL = 1 << 13, 1 << 14, 1 << 15
READ = READ_FILE | READ_FOLDER
WRITE = (
    READ | WRITE_FILE | TRUNCATE | REFER | _REMOVE_FOLDER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE
    | _MAKE_SOCKET | _MAKE_FIFO | _MAKE_LINK
)  # fmt: skip
APPEND = WRITE_FILE | TRUNCATE | REFER | REMOVE_FILE | MAKE_FOLDER | MAKE_FILE
_OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | _DEVICE_IOCTL
BIND, CONNECT = 1, 2
_ABSTRACT_SOCKETS, _SIGNALS = 1, 2

_BENEATH, _PORT = 1, 2  # kinds of rules
_ASK_VERSION = 1
_LINK, _TOO_MANY_LINKS = 0o120000, 40
# From which version of the interface on the kernel knows what.
_REFER_VERSION, _TRUNCATE_VERSION, NET_VERSION, _IOCTL_VERSION, SCOPE_VERSION = 2, 3, 4, 5, 6


def version() -> int:
    """The version of the kernel's interface; 0 if there is none."""
    if not IS_KNOWN:
        return 0
    try:
        return call(NUMBERS["landlock_create_ruleset"], None, 0, _ASK_VERSION)
    except OSError:
        return 0


def _file_rights(abi: int) -> int:
    if abi < _REFER_VERSION:
        return REFER - 1
    if abi < _TRUNCATE_VERSION:
        return TRUNCATE - 1
    return _DEVICE_IOCTL - 1 if abi < _IOCTL_VERSION else (_DEVICE_IOCTL << 1) - 1


def open_without_links(path: str) -> int:
    """A descriptor of an absolute path, by O_PATH. Raises OSError, also where any part of it is a link."""
    file = os.open("/", os.O_PATH | os.O_CLOEXEC)
    for part in filter(None, path.split("/")):
        try:
            inner = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=file)
        finally:
            os.close(file)
        file = inner
        if part == ".." or os.fstat(file).st_mode & 0o170000 == _LINK:
            os.close(file)
            raise OSError(_TOO_MANY_LINKS, "a link")
    return file


class Ruleset:
    """What stays possible, once `enforce` was called. Nothing is by default. abi: the kernel's `version`, above 0.

    ports: whether TCP ports are ruled. Signals to processes outside, and their abstract sockets, are always out of
    reach where the kernel can hold that.
    """

    def __init__(self, abi: int, *, ports: bool = True, rights: int = -1) -> None:
        """rights: that are ruled; what else a process may do to files stays as it is. All by default."""
        self._rights = _file_rights(abi) & rights
        self._rules_ports = ports and abi >= NET_VERSION
        net = BIND | CONNECT if self._rules_ports else 0
        scopes = _ABSTRACT_SOCKETS | _SIGNALS if abi >= SCOPE_VERSION else 0
        words = b"".join(word.to_bytes(8, "little") for word in (self._rights, net, scopes))
        size = 24 if abi >= SCOPE_VERSION else 16 if abi >= NET_VERSION else 8
        self._file = call(NUMBERS["landlock_create_ruleset"], words[:size], size, 0)

    def allow(self, paths: Iterable[str], rights: int, *, follows: bool = True) -> None:
        """Let files, or all that is below folders, be used. A path that is not there is passed over.

        follows: whether links are followed. Where a tool may write, it can have made one since the path was judged.
        """
        for path in paths:
            try:
                file = os.open(path, os.O_PATH | os.O_CLOEXEC) if follows else open_without_links(path)
            except OSError:
                continue
            try:
                self.allow_file(file, rights)
            finally:
                os.close(file)

    def allow_file(self, file: int, rights: int) -> None:
        """The same for what a descriptor is open on."""
        is_folder = os.fstat(file).st_mode & 0o170000 == 0o040000
        held = (rights if is_folder else rights & _OF_A_FILE) & self._rights
        if held:
            rule = held.to_bytes(8, "little") + file.to_bytes(4, "little")
            call(NUMBERS["landlock_add_rule"], self._file, _BENEATH, rule, 0)

    def allow_port(self, port: int, rights: int) -> None:
        """Let a TCP port be connected to or bound."""
        if self._rules_ports:
            rule = rights.to_bytes(8, "little") + port.to_bytes(8, "little")
            call(NUMBERS["landlock_add_rule"], self._file, _PORT, rule, 0)

    def enforce(self) -> None:
        """Put it in force, for good. The process must have given up new privileges."""
        try:
            call(NUMBERS["landlock_restrict_self"], self._file, 0)
        finally:
            os.close(self._file)


class CopyRules:
    """What a copy of a process is narrowed with: each import and lookup that it is spared is some pages less to copy.

    ruleset: of what all copies have. own: paths that mean another thing in each of them. writable: theirs as well.
    """

    def __init__(self, ruleset: Ruleset, own: Sequence[str], writable: Sequence[str]) -> None:
        self._ruleset = ruleset
        self._own = own
        self._writable = writable

    def enforce(self, folder: str) -> None:
        """Put it in force, in a copy. folder: for its temporary files, empty where it has none."""
        self._ruleset.allow(self._own, READ)
        self._ruleset.allow([folder] if folder else (), WRITE, follows=False)
        self._ruleset.allow(self._writable, WRITE)
        self._ruleset.enforce()
