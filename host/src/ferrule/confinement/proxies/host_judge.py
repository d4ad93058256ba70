"""Which hosts a call may reach through a proxy: by its network permission, from the name that it asks for."""

from __future__ import annotations

from ipaddress import IPv6Address
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from ferrule.confinement.networks import is_own_name, kind_of, kind_of_name
from ferrule.confinement.policy import LOOPBACK, PRIVATE, PUBLIC
from ferrule.text.hosts import is_number, is_plain_ipv4

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOOKUP_SECONDS = 2.0  # the proxy looks a name up itself, and where it stands, this machine may know none at all
_MAX_KNOWN = 1000
_MAX_HOST_CHARS = 253
_IN_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_WORDS = frozenset((PUBLIC, LOOPBACK, PRIVATE))


class HostJudge:
    """Judges by a policy's network. look_up: gives the addresses of a name, as far as they are known here.

    As `AddressJudge` does, and stricter where a name says more than an address: `*.example.com:443` is held to names
    below that one. A name that is known here is judged by its addresses, too, so that none leads into the own network.
    What the proxy itself finds under a name cannot be seen from here.
    """

    def __init__(self, network: Sequence[str] | None, look_up: Callable[[str], list[str]] | None = None) -> None:
        """network: None where everything may be reached."""
        self._is_open_to_all = network is None
        self._words = _WORDS.intersection(network or ())
        self._hosts = [_split(entry) for entry in network or () if entry not in _WORDS]
        self._look_up = look_up or _Names().addresses

    def allows(self, host: str, port: int) -> bool:
        """Whether a host may be reached. host: as `plain_host` gives it."""
        if self._is_open_to_all:
            return True
        is_named = any(_fits(entry, host) and wanted in (str(port), "*") for entry, wanted in self._hosts)
        if _is_address(host):
            return is_named or self._is_open(host, is_fit=False)
        special = kind_of_name(host)
        if special is not None:
            return special.allowed_by in self._words or (is_named and special.allowed_by != "")
        if not is_named and not self._words:
            return False
        addresses = self._look_up(host)
        if not addresses:
            return is_named or PUBLIC in self._words or (PRIVATE in self._words and is_own_name(host))
        is_fit = is_named and is_own_name(host)
        return all((is_named and kind_of(one) is None) or self._is_open(one, is_fit=is_fit) for one in addresses)

    def _is_open(self, address: str, *, is_fit: bool) -> bool:
        """Whether a word of the policy opens an address. is_fit: whether a name of the own network has led to it."""
        kind = kind_of(address)
        word = PUBLIC if kind is None else kind.allowed_by
        return word in self._words or (is_fit and word != "")


def plain_host(text: str) -> str | None:
    """A host as it is judged and passed on, in the one way to write it; None where it can be read in several.

    >>> plain_host("API.Example.com."), plain_host("0x7f000001"), plain_host("[0::1]")
    ('api.example.com', None, '::1')
    """
    host = text.lower().removesuffix(".")
    if host.startswith("[") and host.endswith("]"):
        try:
            return str(IPv6Address(host[1:-1])) if "%" not in host else None
        except ValueError:
            return None
    is_name = all(label and len(label) < 64 and set(label) <= _IN_NAMES for label in host.split("."))
    if not is_name or len(host) > _MAX_HOST_CHARS or (is_number(host) and not is_plain_ipv4(host)):
        return None
    return host


def _split(entry: str) -> tuple[str, str]:
    """Host and port of an entry; an asterisk stays before the dot. The host is empty where it is none."""
    host, _, port = entry.rpartition(":")
    name = plain_host(host.removeprefix("*."))
    return (f"*.{name}" if name and host.startswith("*.") else name or ""), port


def _fits(entry: str, host: str) -> bool:
    if entry.startswith("*.") and not _is_address(host):
        return host.endswith(entry[1:])
    return entry == host


def _is_address(host: str) -> bool:
    return ":" in host or is_number(host)


class _Names:
    """The addresses of names, each looked up once, in a thread that is left behind when it takes too long."""

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = {}
        self._lock = Lock()

    def addresses(self, name: str) -> list[str]:
        with self._lock:
            known = self._known.get(name)
        if known is not None:
            return known
        found: SimpleQueue[list[str]] = SimpleQueue()
        Thread(target=lambda: found.put(_resolve(name)), daemon=True).start()
        try:
            addresses = found.get(timeout=_LOOKUP_SECONDS)
        except Empty:
            addresses = []
        with self._lock:
            if len(self._known) < _MAX_KNOWN:
                self._known[name] = addresses
        return addresses


def _resolve(name: str) -> list[str]:
    from socket import getaddrinfo

    try:
        return list(dict.fromkeys(str(found[4][0]) for found in getaddrinfo(name.encode("ascii"), None)))
    except (OSError, UnicodeError):
        return []
