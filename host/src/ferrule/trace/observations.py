"""What was seen of a call, put together: each thing once, in the order in which it came."""

from __future__ import annotations

from ipaddress import ip_address
from typing import NamedTuple, TypedDict


class Connection(NamedTuple):
    """What was connected to, or sent to. address: an IP address. host: the name that was resolved to it, if known."""

    address: str
    port: int
    protocol: str
    host: str = ""


class TraceFacts(TypedDict):
    """A trace as JSON. What every tool may touch, such as Python's own files, is not in it.

    read, written: files and folders. programs: absolute paths. connections: `{"address", "port", "protocol", "host"}`.
    sockets: UNIX sockets by path. listened: addresses with ports. names: that were resolved. variables: that were
    asked for. processes: copies of itself that the tool had at a time.
    """

    read: list[str]
    written: list[str]
    programs: list[str]
    connections: list[dict[str, object]]
    sockets: list[str]
    listened: list[str]
    names: list[str]
    variables: list[str]
    processes: int


class Observations:
    """Collects them.

    folders: in which something was made, removed or renamed. asked: names with the ports that they were resolved for.
    """

    def __init__(self) -> None:
        self.read: dict[str, None] = {}
        self.written: dict[str, None] = {}
        self.folders: dict[str, None] = {}
        self.asked: dict[tuple[str, int], None] = {}
        self.programs: dict[str, None] = {}
        self.connections: dict[Connection, None] = {}
        self.sockets: dict[str, None] = {}
        self.listened: dict[str, None] = {}
        self.names: dict[str, None] = {}
        self.variables: dict[str, None] = {}
        self.copies = CopyCount()
        self._last_name: tuple[str, int] = ("", 0)

    def add_connection(self, address: str, port: int, protocol: str) -> None:
        """Note a connection; the name that was resolved last, for the same port, is taken for the address's."""
        self.connections[Connection(address, port, protocol, self._host(address, port))] = None

    def add_name(self, host: str, port: object = None) -> None:
        """Note that a name is resolved. port: for which, a number or the name of a service, where that is known."""
        name, number = host.rstrip(".").lower(), _number_of(port)
        if _is_address(name):
            return
        self.names[name] = None
        if number:
            self.asked[name, number] = None
        if number or name != self._last_name[0]:  # the query of a resolver does not know for which port it asks
            self._last_name = name, number

    def _host(self, address: str, port: int) -> str:
        known = next((one.host for one in self.connections if one.address == address and one.host), "")
        name, wanted = self._last_name
        return known or (name if wanted in (0, port) else "")

    def as_dict(self) -> TraceFacts:
        """All of it as JSON."""
        return {
            "read": sorted(self.read),
            "written": sorted(self.written),
            "programs": sorted(self.programs),
            "connections": [one._asdict() for one in self.connections],
            "sockets": sorted(self.sockets),
            "listened": list(self.listened),
            "names": list(self.names),
            "variables": sorted(self.variables),
            "processes": self.copies.most,
        }


class CopyCount:
    """Counts the copies that a tool makes of itself, without the processes in which it then runs a program."""

    def __init__(self) -> None:
        self._forked = 0
        self._programs: set[int] = set()
        self._peak = 0

    def add_fork(self, process: int, alive: int) -> None:
        """A process forks. alive: the descendants that there are by now, without this one."""
        if process not in self._programs:
            self._forked += 1
            self._peak = max(self._peak, alive + 1)

    def add_program(self, process: int, parent: int) -> None:
        """A process runs a program from now on."""
        if process not in self._programs and parent not in self._programs:
            self._forked -= 1
        self._programs.add(process)

    @property
    def programs(self) -> set[int]:
        """The processes in which programs were run."""
        return self._programs

    @property
    def most(self) -> int:
        """The most copies that there were at a time, as far as that can be told."""
        return max(0, min(self._forked, self._peak))


def _number_of(port: object) -> int:
    if isinstance(port, str) and not port.isdigit():
        return {"http": 80, "https": 443}.get(port, 0)
    return int(port) if isinstance(port, int | str) else 0


def _is_address(name: str) -> bool:
    try:
        ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return True
