"""Which address a call wanted that has no network: it gets no socket and no answer of a name server.

The errors of both name no address. It stands in the variables of the functions that were to connect.
"""

from __future__ import annotations

import sys

from ferrule.confinement.refused_call import refused_call

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType, TracebackType

WAITING = "(waiting there)"
"""What stands behind an address at which a call wanted to wait for connections, or alone where none is known."""

_ONLY_NUMBERS = 4  # AI_NUMERICHOST: whether a text is an address was asked, and no name server
_ANY_PORT, _ANYWHERE = "*", "0.0.0.0"  # noqa: S104 - said of a tool, and bound to by nobody
_WAITING = frozenset((
    "accept", "bind", "create_server", "create_unix_server", "listen", "server_bind", "start_server",
))  # fmt: skip
_UNIX, _INTERNET, _KIND_BITS = 1, (2, 10), 0xF
_PROTOCOLS = {1: 6, 2: 17}  # of TCP and UDP, by the kind of socket
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
_IPV6 = frozenset("0123456789abcdefABCDEF:.")
_MAX_PORT = 65_535


def is_name_lookup(error: BaseException) -> bool:
    """Whether a name was looked up in vain, as every name is if there is no network."""
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
        return as_address(refused_call(_last(error.__traceback__)).argument(0), None)
    return ""


def waiting_address(error: BaseException, called: str) -> tuple[bool, str]:
    """Whether it was to wait for connections, and where, see `wanted_address`. called: the function refused."""
    place = _last(error.__traceback__)
    within = {frame.f_code.co_name for frame in _frames(error.__traceback__)}
    if called not in _WAITING and not within & _WAITING:
        return False, ""
    pairs = [refused_call(place).argument(0)] if called == "bind" else []
    for variables in _variables(error.__traceback__):
        pairs += [variables.get(name) for name in ("address", "server_address", "sa")]
        pairs.append((variables.get("host"), variables.get("port")))
    for pair in pairs:
        if isinstance(pair, tuple) and len(pair) > 1:
            address = as_address(pair[0] or _ANYWHERE if pair[1] is not None else None, pair[1])
            if address:
                return True, address
    return True, ""


def socket_kind(error: BaseException) -> str:
    """What kind of socket was wanted that no tool gets, in the words of the module `socket`; empty for any other."""
    place = _last(error.__traceback__)
    sockets = sys.modules.get("socket")
    if place is None or sockets is None:
        return ""
    frame = place.tb_frame
    is_library = frame.f_code.co_filename == sockets.__file__
    function = frame.f_code.co_name if is_library else ""
    if function in ("__init__", "socketpair"):
        given = [frame.f_locals.get(name) for name in ("family", "type", "proto")]
    elif (call := refused_call(place)).name in ("socket", "socketpair"):
        function, given = call.name, [call.argument(0, "family"), call.argument(1, "type"), call.argument(2, "proto")]
    else:
        return ""
    family, kind, protocol = (one if isinstance(one, int) else 0 for one in given)
    if function == "socketpair":
        return f"{_word('AF_', family or _UNIX)} {_word('SOCK_', kind)}"
    return kind_in_words(family, kind, protocol)


def kind_in_words(family: int, kind: int, protocol: int = 0) -> str:
    """A kind of socket that no tool gets; empty for TCP and UDP."""
    kind &= _KIND_BITS
    if family not in (0, *_INTERNET):
        return _word("AF_", family)
    if kind not in (0, *_PROTOCOLS):
        return _word("SOCK_", kind)
    return "" if protocol in (0, _PROTOCOLS.get(kind, protocol)) else _word("IPPROTO_", protocol)


def _word(beginning: str, number: int) -> str:
    known = vars(sys.modules["socket"]).items()
    return next(
        (name for name, value in known if name.startswith(beginning) and value == number), beginning + str(number)
    )


def _frames(place: TracebackType | None) -> Iterator[FrameType]:
    while place is not None:
        yield place.tb_frame
        place = place.tb_next


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
