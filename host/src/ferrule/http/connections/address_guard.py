"""Which hosts a tool may connect to: those of the internet, and of the own networks what an administrator allows."""

from __future__ import annotations

from ferrule.confinement.networks import LOOPBACK, PRIVATE, AddressKind, kind_of, kind_of_name
from ferrule.errors import ToolError
from ferrule.http.urls import is_ipv4

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class AddressGuard:
    """Judges a host with its addresses: the `guard` of `Client` and of the transports.

    allowed: those of `AddressGuard.NETWORKS` ("loopback", "private") that may be connected to. Raises ValueError for
    any other network.
    """

    NETWORKS = (LOOPBACK, PRIVATE)

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = frozenset([allowed] if isinstance(allowed, str) else allowed)
        if unknown := sorted(self._allowed - {*self.NETWORKS}):
            raise ValueError(f"allowed holds {', '.join(unknown)}; only {' and '.join(self.NETWORKS)} are networks")

    def __call__(self, host: str, addresses: Sequence[str]) -> None:
        """Raise ToolError INVALID_URL where the host must not be connected to. Without addresses, its name is judged.

        One special address among public ones is enough. Their order is the name server's, and connecting goes on with
        the next where one is dead, so the owner of a name could choose which of them is connected to.
        """
        name = host.lower().removesuffix(".")
        is_literal = ":" in name or is_ipv4(name)
        own = kind_of(name) if is_literal else kind_of_name(name)
        if own and not self._may_pass(own):
            raise _refused(f"{host} is {own.text}")
        kinds = filter(None, map(kind_of, addresses))
        if all(map(self._may_pass, kinds)):
            return
        # Which address a name has, and of which kind, is not said: a page could have a model map the own network.
        raise _refused(f"{host} is at an address that is not public")

    def _may_pass(self, kind: AddressKind) -> bool:
        return kind.allowed_by in self._allowed


def _refused(why: str) -> ToolError:
    return ToolError("INVALID_URL", f"Invalid URL: {why}.")
