"""What a call may touch, and what it was denied. Light: it is read on the path of every call."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

STRICT, STANDARD, OFF = "strict", "standard", "off"
PUBLIC, LOOPBACK, PRIVATE = "public", "loopback", "private"
DEFAULT_FILE_MIB = 1024
RELAY_REFUSAL = "Refused by ferrule"
"""The reason phrase with which a relay to a proxy refuses a host. HTTP clients put it into the text of their error."""


class Policy:
    """Everything that one call may touch, resolved; all of it can be pickled. It is not changed once it is made.

    Args:
        tool: its name, for messages.
        network: any of "public", "loopback", "private", and hosts with their port such as "api.example.com:443"; empty
            is none.
        read, write: absolute paths of files and folders; what may be written may be read.
        append: folders in which files may be made and replaced, but neither read nor listed.
        programs: absolute paths.
        environment: all variables of the child, None for those of the parent.
        processes: copies of itself that it may have at a time.
        is_copied: these are made by the host, and none by the tool.
        file_mib: MiB that a file may have.
        temporary: whether it gets a TMPDIR of its own, which goes with the call.
        isolation: "strict", "standard" or "off".
        granted_by: the start of the command that grants an entry to all tools of this one's source; empty where
            no source has it.
        refused: what was declared and is not granted, and why.
        proxies: variables of the supervising process's environment that name a proxy, for which the child gets a relay.
        relays: where these are, as addresses with their port.
    """

    __slots__ = (
        "append", "environment", "file_mib", "granted_by", "is_copied", "isolation", "network", "processes", "programs",
        "proxies", "read", "refused", "relays", "temporary", "tool", "write",
    )  # fmt: skip

    def __init__(
        self,
        tool: str = "",
        *,
        network: Sequence[str] = (),
        read: Sequence[str] = (),
        write: Sequence[str] = (),
        append: Sequence[str] = (),
        programs: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        processes: int = 0,
        is_copied: bool = False,
        file_mib: int = DEFAULT_FILE_MIB,
        temporary: bool = True,
        isolation: str = STRICT,
        granted_by: str = "",
        refused: Sequence[str] = (),
        proxies: Sequence[str] = (),
        relays: Sequence[str] = (),
    ) -> None:
        self.tool = tool
        self.network = tuple(network)
        self.read = tuple(read)
        self.write = tuple(write)
        self.append = tuple(append)
        self.programs = tuple(programs)
        self.environment = environment
        self.processes = processes
        self.is_copied = is_copied
        self.file_mib = file_mib
        self.temporary = temporary
        self.isolation = isolation
        self.granted_by = granted_by
        self.refused = tuple(refused)
        self.proxies = tuple(proxies)
        self.relays = tuple(relays)

    def replaced(self, **changes: object) -> Self:
        """The same policy with other values."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return type(self)(**{**values, **changes})

    _replace = replaced


class Denial:
    """What a call wanted and did not get. kind: read, write, connect, run, fork, signal or other. what: of those."""

    __slots__ = ("kind", "what")

    def __init__(self, kind: str, what: str) -> None:
        self.kind = kind
        self.what = what

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Denial) and (self.kind, self.what) == (other.kind, other.what)

    def __hash__(self) -> int:
        return hash((self.kind, self.what))

    def __repr__(self) -> str:
        return f"Denial({self.kind!r}, {self.what!r})"
