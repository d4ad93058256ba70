"""Which addresses a policy lets a call reach. This runs in the supervising process, and never waits."""

from __future__ import annotations

from ferrule.confinement.networks import is_own_name, kind_of
from ferrule.confinement.policy import LOOPBACK, PRIVATE, PUBLIC
from ferrule.text.hosts import is_number

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.confinement.networks import AddressKind
    from ferrule.confinement.policy import Policy

_DNS_PORT = 53
_RESOLVER = "/etc/resolv.conf"
_DEFAULT_SERVER = "127.0.0.1"


class AddressJudge:
    """Judges by addresses alone; for hosts that are names, it says which have to be looked up first."""

    def __init__(self, policy: Policy) -> None:
        self._network = policy.network
        self._relays = policy.relays
        self._addresses: dict[str, set[str]] = {}
        self._resolver: list[list[str]] | None = None

    def allows(self, address: str, port: int) -> bool:
        """Whether the address may be reached, by what is known of names so far."""
        kind = kind_of(address)
        word = PUBLIC if kind is None else kind.allowed_by
        if word and word in self._network:
            return True
        if self._may_ask_everything() and self.is_name_server(address, port):
            return True
        return any(self._is_host(host, address, kind) for host in self._hosts(port))

    def is_relay(self, address: str, port: int) -> bool:
        """Whether a relay to a proxy is there, which judges on its own what it passes on."""
        return bool(self._relays) and f"{address}:{port}" in self._relays

    def is_name_server(self, address: str, port: int) -> bool:
        """Whether it is one, and the call has a network, for which names may have to be looked up."""
        return port == _DNS_PORT and bool(self._network) and address in self._name_servers()

    def allows_name(self, name: str) -> bool:
        """Whether the name of a host may be looked up, also with a domain of resolv.conf behind a name without dots."""
        hosts = [entry.rpartition(":")[0].lower() for entry in self._network]
        if any(name == host or (host.startswith("*") and name.endswith(host[1:])) for host in hosts):
            return True
        first, dot, domain = name.partition(".")
        return bool(dot) and first in hosts and domain in self._settings("search", "domain")

    def allows_own(self, address: str) -> bool:
        """Whether the call may wait for connections at an address of this machine."""
        kind = kind_of(address)
        return kind is not None and kind.allowed_by == LOOPBACK and LOOPBACK in self._network

    def names(self, port: int) -> list[str]:
        """All names of hosts that decide about a port."""
        return [host for host in self._hosts(port) if "*" not in host and not _is_address(host)]

    def learn(self, name: str, addresses: set[str]) -> None:
        """Take what a name stands for. Servers of one name take turns, so what was known before stays."""
        self._addresses[name] = self._addresses.get(name, set()) | addresses

    def _hosts(self, port: int) -> Iterator[str]:
        for entry in self._network:
            host, colon, wanted = entry.rpartition(":")
            if colon and wanted in (str(port), "*"):
                yield host.strip("[]").lower()

    def _is_host(self, host: str, address: str, kind: AddressKind | None) -> bool:
        if host.startswith("*"):
            return kind is None
        if _is_address(host):
            return host == address
        # A name that anyone can register must not lead into the own network.
        is_fit = kind is None or (kind.allowed_by != "" and is_own_name(host))
        return is_fit and address in self._addresses.get(host, ())

    def _may_ask_everything(self) -> bool:
        """Whether any name may be looked up: who reaches all addresses can send anything away without a name."""
        return PUBLIC in self._network or PRIVATE in self._network

    def _name_servers(self) -> list[str]:
        return self._settings("nameserver") or [_DEFAULT_SERVER]

    def _settings(self, *names: str) -> list[str]:
        """The words behind these names in the settings of the system's resolver."""
        if self._resolver is None:
            try:
                with open(_RESOLVER, encoding="utf-8", errors="replace") as file:
                    self._resolver = [line.split() for line in file]
            except OSError:
                self._resolver = []
        return [word.lower().rstrip(".") for line in self._resolver if line and line[0] in names for word in line[1:]]


def _is_address(host: str) -> bool:
    return ":" in host or is_number(host)
