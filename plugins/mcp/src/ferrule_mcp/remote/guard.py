"""Which addresses a server over HTTP may be at: those of the internet, and of the own networks what the admin named."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule import ToolError
from ferrule.http import AddressGuard, UnusableURL, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class ServerGuard:
    """The `guard` of a transport: `network` is the list of a tool's permissions.

    `loopback` and `private` open these networks. An entry HOST:PORT whose host is a literal address, or a name of this
    machine, opens that host: who wrote it named the address. Any other name must lead to a public address.
    """

    def __init__(self, network: Sequence[str]) -> None:
        words = [word for word in network if word in AddressGuard.NETWORKS]
        self._others = AddressGuard(words)
        self._named = AddressGuard(AddressGuard.NETWORKS)
        self._hosts = frozenset(filter(_is_address, map(_host_of_entry, network)))

    def __call__(self, host: str, addresses: Sequence[str]) -> None:
        """Raise ToolError INVALID_URL where the host must not be connected to."""
        guard = self._named if host.lower().rstrip(".") in self._hosts else self._others
        try:
            guard(host, addresses)
        except ToolError as error:
            error.admin = (
                f"If {host} is meant, add the word private or loopback to the network of the server's permissions."
            )
            raise


def find_network(url: str) -> list[str]:
    """The entry of the permission `network` for a server: `["mcp.example.com:443"]`. Raises ToolError INVALID_URL."""
    try:
        read = parse(url, strict=True)
    except UnusableURL as error:
        raise _unusable(url, error.reason) from None
    if read.userinfo:
        raise _unusable(url, "it holds a name or a password, which belong into a header")
    host = f"[{read.host}]" if ":" in read.host else read.host
    return [f"{host}:{read.port or _DEFAULT_PORTS[read.scheme]}"]


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine."""
    return (urlsplit(url).hostname or "") in _LOOPBACK_HOSTS


def require_confidential(url: str) -> None:
    """Raise ToolError INVALID_URL where a secret that is sent to a URL could be read on its way."""
    if urlsplit(url).scheme != "https" and not is_loopback(url):
        raise ToolError(
            "INVALID_URL",
            f"No credential is sent to {describe_address(url)}, because it is not https.",
            hint="Use the https address of the server.",
        )


def describe_address(url: str) -> str:
    """A URL for a message: without its query, which may hold a key."""
    read = urlsplit(url)
    return f"{read.scheme}://{read.netloc.rpartition('@')[2]}{read.path}"


def _host_of_entry(entry: str) -> str:
    return entry.rpartition(":")[0].strip("[]").lower()


def _is_address(host: str) -> bool:
    return host in _LOOPBACK_HOSTS or ":" in host or (host.replace(".", "").isdigit() and host.count(".") == 3)


def _unusable(url: str, reason: str) -> ToolError:
    return ToolError("INVALID_URL", f"{describe_address(url)} cannot be used as the URL of a server: {reason}.")
