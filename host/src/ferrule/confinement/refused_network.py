"""Which address a call wanted that has no network: it gets no socket and no answer of a name server.

The errors of both name no address. It stands in the variables of the functions that were to connect.
"""

from __future__ import annotations

import sys

from ferrule.confinement.refused_call import refused_call

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

_ONLY_NUMBERS = 4  # AI_NUMERICHOST: whether a text is an address was asked, and no name server
_ANY_PORT = "*"
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_IPV6 = frozenset("0123456789abcdefABCDEF:.")
_MAX_PORT = 65_535


def is_name_lookup(error: BaseException) -> bool:
    """Whether a name was looked up in vain, as every name is where there is no network."""
    sockets = sys.modules.get("_socket")
    if sockets is None or not isinstance(error, sockets.gaierror):
        return False
    flags = next((frame.get("flags") for frame in _variables(error.__traceback__) if "flags" in frame), 0)
    return not (isinstance(flags, int) and flags & _ONLY_NUMBERS)


def wanted_address(error: BaseException) -> str:
    """`HOST:PORT` of what was to be reached, with `*` for a port that is not known; empty where no variable says it."""
    for variables in _variables(error.__traceback__):
        found = as_address(variables.get("host"), variables.get("port"))
        for name in () if found else ("address", "addr"):
            pair = variables.get(name)
            if isinstance(pair, tuple) and len(pair) > 1:
                found = found or as_address(pair[0], pair[1])
        if found:
            return found
    if is_name_lookup(error):
        return as_address(refused_call(_last(error.__traceback__))[1], None)
    return ""


def _variables(place: TracebackType | None) -> list[Mapping[str, object]]:
    """Those of each function of a traceback, the innermost first."""
    found: list[Mapping[str, object]] = []
    while place is not None:
        found.append(place.tb_frame.f_locals)
        place = place.tb_next
    return found[::-1]


def _last(place: TracebackType | None) -> TracebackType | None:
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    return place


def as_address(host: object, port: object) -> str:
    """`HOST:PORT` in the words of a declaration, with `*` for a port that is not known; empty where it is none."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or not host.strip("[]"):
        return ""
    host, number = host.strip("[]"), str(port or _ANY_PORT)
    is_port = number == _ANY_PORT or (number.isascii() and number.isdigit() and int(number) <= _MAX_PORT)
    is_ipv6 = ":" in host
    if not is_port or not set(host) <= (_IPV6 if is_ipv6 else _NAME):
        return ""
    return f"[{host}]:{number}" if is_ipv6 else f"{host}:{number}"
