"""Which addresses a policy lets a call reach. This runs in the supervising process, and never waits."""

from __future__ import annotations

from ferrule.confinement.networks import is_own_name, kind_of
from ferrule.confinement.policy import LOOPBACK, PUBLIC
from ferrule.text.hosts import is_number

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule.confinement.networks import AddressKind
    from ferrule.confinement.policy import Policy

_DNS_PORT = 53
_RESOLVERS = "/etc/resolv.conf"


class AddressJudge:
    """Judges by addresses alone; for hosts that are names, it says which have to be looked up first."""

    def __init__(self, policy: Policy) -> None:
        self._network = policy.network
        self._relays = policy.relays
        self._addresses: dict[str, set[str]] = {}
        self._resolvers: list[str] | None = None

    def allows(self, address: str, port: int) -> bool:
        """Whether the address may be reached, by what is known of names so far."""
        kind = kind_of(address)
        word = PUBLIC if kind is None else kind.allowed_by
        if word and word in self._network:
            return True
        if port == _DNS_PORT and self._network and address in self._name_servers():
            return True
        return any(self._is_host(host, address, kind) for host in self._hosts(port))

    def is_relay(self, address: str, port: int) -> bool:
        """Whether a relay to a proxy is there, which judges on its own what it passes on."""
        return bool(self._relays) and f"{address}:{port}" in self._relays

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

    def _name_servers(self) -> list[str]:
        if self._resolvers is None:
            try:
                with open(_RESOLVERS, encoding="utf-8", errors="replace") as file:
                    lines = [line.split() for line in file]
            except OSError:
                lines = []
            self._resolvers = [line[1] for line in lines if len(line) > 1 and line[0] == "nameserver"] or ["127.0.0.1"]
        return self._resolvers


def _is_address(host: str) -> bool:
    return ":" in host or is_number(host)
