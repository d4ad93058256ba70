"""Which IP addresses are special, after the registries of special-purpose addresses that IANA keeps.

`ipaddress` has an idea of its own, `is_global`, that lets multicast, translated and tunnelled addresses pass, and
another one in each version of Python.
"""

from __future__ import annotations

from _socket import AF_INET, AF_INET6, inet_pton  # socket itself takes as long to import as the interpreter

from ferrule.confinement.policy import LOOPBACK, PRIVATE

__all__ = ["LOOPBACK", "PRIVATE", "AddressKind", "is_own_name", "kind_of", "kind_of_name"]


class AddressKind:
    """What an address is: "a loopback address". allowed_by: the word with which an admin can allow it, or ""."""

    __slots__ = ("allowed_by", "text")

    def __init__(self, text: str, allowed_by: str = "") -> None:
        self.text = text
        self.allowed_by = allowed_by


class _Network:
    """bits: how many of an address are not the network's."""

    __slots__ = ("bits", "kind", "prefix")

    def __init__(self, bits: int, prefix: int, kind: AddressKind) -> None:
        self.bits = bits
        self.prefix = prefix
        self.kind = kind


def _table(size: int, rows: dict[str, AddressKind]) -> list[_Network]:
    family = AF_INET if size == 32 else AF_INET6
    networks = []
    for text, kind in rows.items():
        prefix, _, length = text.partition("/")
        bits = size - int(length)
        networks.append(_Network(bits, int.from_bytes(inet_pton(family, prefix)) >> bits, kind))
    return networks


_LOOPBACK = AddressKind("a loopback address", LOOPBACK)
_PRIVATE = AddressKind("a private address", PRIVATE)
_UNSPECIFIED = AddressKind("an address of no host")
_LINK_LOCAL = AddressKind("a link-local address")
_METADATA = AddressKind("the address of a cloud's metadata service")
_MULTICAST = AddressKind("a multicast address")
_DOCUMENTATION = AddressKind("an address for documentation")
_BENCHMARKING = AddressKind("an address for benchmarks")
_PROTOCOL = AddressKind("an address that protocols use among themselves")
_RESERVED = AddressKind("a reserved address")
_ANYCAST = AddressKind("an address of the AS112 or AMT service")
_TUNNEL_6TO4 = AddressKind("an address of a 6to4 tunnel")

# The first network that holds an address decides.
_IPV4 = _table(
    32,
    {
        "169.254.169.254/32": _METADATA,  # nearly all clouds
        "169.254.170.2/32": _METADATA,  # Amazon's containers
        "169.254.0.23/32": _METADATA,  # Tencent
        "100.100.100.200/32": _METADATA,  # Alibaba
        "192.0.0.192/32": _METADATA,  # Oracle
        "168.63.129.16/32": AddressKind("the address of Azure's WireServer"),  # public by number, on every machine
        "0.0.0.0/8": _UNSPECIFIED,
        "10.0.0.0/8": _PRIVATE,
        "100.64.0.0/10": AddressKind("a shared address behind a carrier's NAT"),
        "127.0.0.0/8": _LOOPBACK,
        "169.254.0.0/16": _LINK_LOCAL,
        "172.16.0.0/12": _PRIVATE,
        "192.0.0.0/24": _PROTOCOL,
        "192.0.2.0/24": _DOCUMENTATION,
        "192.31.196.0/24": _ANYCAST,
        "192.52.193.0/24": _ANYCAST,
        "192.88.99.0/24": _TUNNEL_6TO4,
        "192.168.0.0/16": _PRIVATE,
        "192.175.48.0/24": _ANYCAST,
        "198.18.0.0/15": _BENCHMARKING,
        "198.51.100.0/24": _DOCUMENTATION,
        "203.0.113.0/24": _DOCUMENTATION,
        "224.0.0.0/4": _MULTICAST,
        "255.255.255.255/32": AddressKind("the broadcast address"),
        "240.0.0.0/4": _RESERVED,
    },
)
_IPV6 = _table(
    128,
    {
        "::/128": _UNSPECIFIED,
        "::1/128": _LOOPBACK,
        "::/96": AddressKind("an IPv4-compatible address"),
        "::ffff:0:0:0/96": AddressKind("an IPv4-translated address"),
        "64:ff9b:1::/48": AddressKind("an address of a local NAT64"),
        "100::/64": AddressKind("an address whose packets are discarded"),
        "2001::/32": AddressKind("an address of a Teredo tunnel"),
        "2001:2::/48": _BENCHMARKING,
        "2001:db8::/32": _DOCUMENTATION,
        "2001::/23": _PROTOCOL,
        "2002::/16": _TUNNEL_6TO4,
        "2620:4f:8000::/48": _ANYCAST,
        "3fff::/20": _DOCUMENTATION,
        "5f00::/16": AddressKind("an address for segment routing"),
        "fd00:ec2::254/128": _METADATA,  # Amazon
        "fd20:ce::254/128": _METADATA,  # Google
        "fd00:42::42/128": _METADATA,  # Scaleway
        "fc00::/7": _PRIVATE,
        "fe80::/10": _LINK_LOCAL,
        "fec0::/10": AddressKind("a site-local address"),
        "ff00::/8": _MULTICAST,
    },
)
_LOOPBACK_NAME = AddressKind("a name of the machine itself", LOOPBACK)
_METADATA_NAME = AddressKind("the name of a cloud's metadata service")
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
_OWN_NAMES = ("localhost", "local", "localhost.localdomain")
# Names below these are given by the own network; any other name belongs to who has registered it.
_OWN_DOMAINS = (".localhost", ".local", ".internal", ".lan", ".home", ".arpa", ".test", ".intranet", ".corp")
_MAPPED = 0xFFFF  # ::ffff:0:0/96, the same address for a socket as the IPv4 one
_NAT64 = 0x0064_FF9B << 64  # 64:ff9b::/96
_UNICAST = 0b001  # 2000::/3, out of which IANA gives addresses to the world
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def kind_of(address: str) -> AddressKind | None:
    """What is special about an IP address; None where any host of the internet may have it.

    Text that is no address counts as special, and so does an address with a zone (`fe80::1%eth0`).
    """
    try:
        if ":" not in address:
            return _find(_IPV4, int.from_bytes(inet_pton(AF_INET, address)))
        return _of_ipv6(int.from_bytes(inet_pton(AF_INET6, address)))
    except OSError:
        return _LINK_LOCAL if "%" in address else AddressKind("no address")


def kind_of_name(name: str) -> AddressKind | None:
    """What is special about a name in small letters, wherever it leads; None for most. Without a dot at its end."""
    if name in _LOOPBACK_NAMES or name.endswith(".localhost"):
        return _LOOPBACK_NAME
    return _METADATA_NAME if name in _METADATA_NAMES else None


def is_own_name(host: str) -> bool:
    """Whether a name is given by the own network, so that it may lead there. host: in small letters."""
    name = host.rstrip(".")
    return name in _OWN_NAMES or "." not in name or name.endswith(_OWN_DOMAINS)


def _of_ipv6(address: int) -> AddressKind | None:
    prefix, inner = address >> 32, address & 0xFFFF_FFFF
    if prefix == _MAPPED:
        return _find(_IPV4, inner)
    if prefix == _NAT64:  # of a public address it stays open: on networks without IPv4 it is the only way there
        return _carried("NAT64", inner)
    kind = _find(_IPV6, address)
    if kind is None and address >> 125 != _UNICAST:
        return _RESERVED
    if kind is None and prefix & 0xFFFF_FFFF in _ISATAP:
        return _carried("ISATAP", inner)
    return kind


def _carried(form: str, inner: int) -> AddressKind | None:
    """The kind of an address that carries an IPv4 one. No word allows it: it leads to a network behind a gateway."""
    kind = _find(_IPV4, inner)
    return kind and AddressKind(f"the {form} form of {kind.text}")


def _find(networks: list[_Network], address: int) -> AddressKind | None:
    for network in networks:
        if address >> network.bits == network.prefix:
            return network.kind
    return None
