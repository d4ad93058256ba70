"""Which hosts are fetched from: those of the internet, and of the own networks what an administrator allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import Context, ToolError
from ferrule_fetch.addresses.networks import LOOPBACK, PRIVATE, Kind, kind_of
from ferrule_fetch.addresses.url import invalid, is_ipv4

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

VARIABLE, SETTING = "FERRULE_FETCH_ALLOW", "allow"
WORDS = (LOOPBACK, PRIVATE)

_LOOPBACK_NAME = Kind("a name of the machine itself", LOOPBACK)
_METADATA_NAME = Kind("the name of a cloud's metadata service")
_LOOPBACK_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")
# They resolve to special addresses where they resolve at all, but maybe only where a proxy stands.
_METADATA_NAMES = (
    "metadata",
    "metadata.goog",
    "metadata.google.internal",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.azure.internal",
    "metadata.packet.net",
    "metadata.platformequinix.com",
    "metadata.tencentyun.com",
    "rancher-metadata",
)


class Guard:
    """Judges a host with its addresses, for `ferrule.http.Client`. allowed: those of WORDS that are allowed."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = frozenset(allowed)

    @classmethod
    def of(cls, context: Context) -> Guard:
        """The guard that the administrator's setting asks for. Raises ToolError where it holds an unknown word."""
        setting = context.setting(SETTING, VARIABLE) or ""
        words = setting.split(",") if isinstance(setting, str) else setting
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise _unusable(setting)
        allowed = {word.strip().lower() for word in words} - {""}
        if not allowed.issubset(WORDS):
            raise _unusable(", ".join(sorted(allowed.difference(WORDS))))
        return cls(allowed)

    def __call__(self, host: str, addresses: Sequence[str]) -> None:
        """Raise ToolError INVALID_URL where the host must not be fetched from. Without addresses, its name is judged.

        One special address among public ones is enough. They stand in the order of whoever answered, and connecting
        goes on with the next where one is dead, so whoever owns a name could choose which of them is connected to.
        """
        name = host.lower().removesuffix(".")
        literal = ":" in name or is_ipv4(name)
        self._judge(host, kind_of(name) if literal else _kind_of_name(name))
        for address in addresses:
            kind = kind_of(address)
            self._judge(host if literal else f"{host} is at {address}, which", kind)

    def _judge(self, subject: str, kind: Kind | None) -> None:
        if kind is None or kind.allowed_by in self._allowed:
            return
        if not kind.allowed_by:
            raise invalid(f"{subject} is {kind.text}, and never fetched from", None)
        words = ",".join(sorted({*self._allowed, kind.allowed_by}))
        raise invalid(f"{subject} is {kind.text}; an administrator can allow it with {VARIABLE}={words}", None)


def _kind_of_name(name: str) -> Kind | None:
    if name in _LOOPBACK_NAMES or name.endswith(".localhost"):
        return _LOOPBACK_NAME
    return _METADATA_NAME if name in _METADATA_NAMES else None


def _unusable(found: object) -> ToolError:
    return ToolError(
        "NETWORK_ERROR",
        f"Failed to fetch URL: {VARIABLE}, or {SETTING!r} in the tool's table of config.toml, holds {found!r}.",
        hint=f"It takes a comma list of {' and '.join(WORDS)}.",
    )
