"""Host names that are numbers, which the C library takes for an IPv4 address: `0x7f000001`, `017700000001`, `127.1`."""

from __future__ import annotations

_HEX = frozenset("0123456789abcdefABCDEF")
_MAX_BYTE = 255


def is_number(host: str) -> bool:
    """Whether its last label is a number in any notation, so that it can be no name."""
    last = host.rstrip(".").rpartition(".")[2]
    return last.isdigit() or (last[:2] in ("0x", "0X") and set(last[2:]) <= _HEX)


def is_plain_ipv4(host: str) -> bool:
    """Whether it is an IPv4 address as everybody reads it: four decimal numbers without zeros in front."""
    parts = host.split(".")
    return len(parts) == 4 and all(
        one.isascii() and one.isdigit() and int(one) <= _MAX_BYTE and str(int(one)) == one for one in parts
    )
