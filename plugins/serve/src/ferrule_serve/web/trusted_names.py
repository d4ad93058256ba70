"""Names under which a server over HTTP may be asked, and pages that may ask: another name may be a rebound one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


class Refusal(NamedTuple):
    """Why a request is refused."""

    status: int
    text: str


class TrustedNames:
    """The values of Host and Origin that are accepted: those of loopback, the server's own, and the further ones.

    name: of the host that is listened at. further: host names, with a port or without, under which clients know the
    server, such as a balancer's. A page that has rebound its own name to this address is refused, since it sends that
    name. pages: origins of other servers' pages, such as https://app.example.org.
    """

    def __init__(self, name: str, further: Sequence[str] = (), pages: Iterable[str] = ()) -> None:
        as_browsers_send_them = map(str.lower, further)
        self._hosts = frozenset((*_LOOPBACK_NAMES, name, *further, *as_browsers_send_them))
        self._pages = frozenset(pages)

    def refusal(self, headers: Mapping[str, str]) -> Refusal | None:
        """Why a request is refused, None where it is not. headers: by their names in small letters."""
        if not self._is_host(headers.get("host", "")):
            return Refusal(421, "Invalid Host header")
        origin = headers.get("origin", "")
        if origin and origin not in self._pages and not self._is_own(origin):
            return Refusal(403, "Invalid Origin header")
        return None

    def _is_own(self, origin: str) -> bool:
        scheme, _, host = origin.partition("://")
        return scheme in ("http", "https") and self._is_host(host)

    def _is_host(self, host: str) -> bool:
        """Whether it is one of the names, with any port."""
        return host in self._hosts or host.rpartition(":")[0] in self._hosts
