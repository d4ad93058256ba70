"""What the supervising process does with a socket of a call, by the descriptor alone."""

from __future__ import annotations

from _socket import AF_INET, AF_INET6, inet_ntop

from ferrule.confinement.kernel.system_calls import NUMBERS, buffer, call

UNSPECIFIED, INET, INET6 = 0, int(AF_INET), int(AF_INET6)
STREAM = 1
NOWHERE = bytes(16)
"""The address by which a socket is connected to nothing."""
_SOCKET_LEVEL, _TYPE, _ERROR, _DOMAIN = 1, 3, 4, 39
_MAPPED = b"\0" * 10 + b"\xff\xff"
_INET_BYTES, _INET6_BYTES, _MAX_ADDRESS_BYTES = 16, 24, 128
_WHOLE_INET6_BYTES = 28
_NO_FAMILY = 97
_DONT_WAIT, _NO_SIGNAL, _BOTH_WAYS = 0x40, 0x4000, 2


class Address:
    """An internet address. text: without a port; an IPv4 one also where it is written as an IPv6 one."""

    __slots__ = ("port", "text")

    def __init__(self, text: str, port: int) -> None:
        self.text = text
        self.port = port

    def __str__(self) -> str:
        return f"[{self.text}]:{self.port}" if ":" in self.text else f"{self.text}:{self.port}"


def family_of(data: bytes) -> int:
    """The family of an address as the kernel takes it; -1 if there is none."""
    return int.from_bytes(data[:2], "little") if len(data) >= 2 else -1


def parse_address(data: bytes) -> Address:
    """An internet address as the kernel takes it. Raises OSError for any other."""
    port = int.from_bytes(data[2:4], "big")
    if family_of(data) == INET and len(data) >= _INET_BYTES:
        return Address(inet_ntop(AF_INET, data[4:8]), port)
    if family_of(data) == INET6 and len(data) >= _INET6_BYTES:
        inner = data[8:24]
        if inner.startswith(_MAPPED):
            return Address(inet_ntop(AF_INET, inner[12:]), port)
        return Address(inet_ntop(AF_INET6, inner), port)
    raise OSError(_NO_FAMILY, "no internet address")


def plain(data: bytes) -> bytes:
    """The same address with nothing else in it: no flow of IPv6, no bytes behind it. Raises OSError as `parse_address`.

    What was judged is made anew, so that the kernel is told no more than that.
    """
    parse_address(data)
    if family_of(data) == INET:
        return data[:8] + bytes(_INET_BYTES - 8)
    scope = data[24:_WHOLE_INET6_BYTES].ljust(4, b"\0")
    return data[:4] + bytes(4) + data[8:24] + scope


def domain(file: int) -> int:
    """The family of a socket. Raises OSError for what is none."""
    return _option(file, _DOMAIN)


def kind(file: int) -> int:
    """STREAM, or another."""
    return _option(file, _TYPE)


def take_error(file: int) -> int:
    """The number of the error that a connection ended with; 0 for none."""
    return _option(file, _ERROR)


def own_address(file: int) -> Address:
    """Where a socket is bound."""
    data, size = buffer(bytes(_MAX_ADDRESS_BYTES)), buffer(_MAX_ADDRESS_BYTES.to_bytes(4, "little"))
    call(NUMBERS["getsockname"], file, data, size)
    return parse_address(bytes(data)[: int.from_bytes(bytes(size), "little")])


def connect(file: int, address: bytes) -> int:
    """Connect; raises OSError, also where it takes a while."""
    return call(NUMBERS["connect"], file, address, len(address))


def bind(file: int, address: bytes) -> int:
    """Bind."""
    return call(NUMBERS["bind"], file, address, len(address))


def listen(file: int, backlog: int) -> int:
    """Wait for connections."""
    return call(NUMBERS["listen"], file, backlog & 0xFFFF_FFFF)


def shut_down(file: int) -> None:
    """Have a connection end, and whoever waits for it go on."""
    try:
        call(NUMBERS["shutdown"], file, _BOTH_WAYS)
    except OSError:
        return  # there is none


def send(file: int, data: bytes, flags: int, address: bytes) -> int:
    """Send what fits at once; how many bytes.

    Args:
        address: empty for where it is connected to.
    """
    return call(
        NUMBERS["sendto"], file, data, len(data), flags | _DONT_WAIT | _NO_SIGNAL, address or None, len(address)
    )


def _option(file: int, name: int) -> int:
    value, size = buffer(bytes(4)), buffer((4).to_bytes(4, "little"))
    call(NUMBERS["getsockopt"], file, _SOCKET_LEVEL, name, value, size)
    return int.from_bytes(bytes(value), "little")
