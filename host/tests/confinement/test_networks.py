"""Which addresses are special, held against Python's own idea of it and against IANA's registries."""

import random
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

import pytest

from ferrule.confinement.networks import kind_of
from ferrule_testkit.hostile.urls import NEAR, NOWHERE, words

# The two registries of special-purpose addresses, and the multicast ranges; what is globally reachable is left out.
REGISTERED = words("""
    0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24
    192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
    ::1/128 ::/128 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7
    fe80::/10 ff00::/8
""")
# Of Azure and of clouds, whatever else their addresses are; AS112 and AMT, globally reachable and without pages.
BEYOND = words("168.63.129.16/32 192.31.196.0/24 192.52.193.0/24 192.175.48.0/24 2620:4f:8000::/48")
_BEYOND = list(map(ip_network, BEYOND))
_SEED = 20


@pytest.mark.parametrize("address", [*NEAR, *NOWHERE])
def test_a_special_address_has_a_kind(address: str) -> None:
    assert kind_of(address)


@pytest.mark.parametrize("network", [*REGISTERED, *BEYOND])
def test_a_registered_network_is_special_from_its_first_address_to_its_last(network: str) -> None:
    whole = ip_network(network)
    pick = random.Random(_SEED)
    inside = [0, 1, whole.num_addresses - 1, *(pick.randrange(whole.num_addresses) for _ in range(50))]
    assert all(kind_of(str(whole[place % whole.num_addresses])) for place in inside)


@pytest.mark.parametrize("network", [network for network in REGISTERED if ip_network(network).version == 4])
def test_the_neighbours_of_a_registered_network_are_public_unless_they_are_registered(network: str) -> None:
    whole = ip_network(network)
    for neighbour in (int(whole[0]) - 1, int(whole[-1]) + 1):
        if 0 <= neighbour < 1 << 32:
            address = IPv4Address(neighbour)
            assert bool(kind_of(str(address))) == any(address in ip_network(each) for each in REGISTERED)


@pytest.mark.slow
@pytest.mark.process
def test_every_ipv4_address_that_python_calls_special_is_special_and_no_other() -> None:
    pick = random.Random(_SEED)
    for _ in range(20_000):
        address = IPv4Address(pick.getrandbits(32))
        assert bool(kind_of(str(address))) == _is_special(address), address


def test_every_ipv6_address_that_python_calls_special_is_special() -> None:
    pick = random.Random(_SEED)
    roots = [IPv6Network(network) for network in REGISTERED if ":" in network]
    for _ in range(20_000):
        root = pick.choice(roots)
        bits = pick.choice([pick.getrandbits(128), int(root[0]) | pick.getrandbits(128 - root.prefixlen)])
        address = IPv6Address(bits)
        assert kind_of(str(address)) or not _is_special(address), address


def test_an_ipv4_address_is_the_same_in_an_ipv6_socket() -> None:
    pick = random.Random(_SEED)
    for address in ["127.0.0.1", "10.0.0.1", *(str(IPv4Address(pick.getrandbits(32))) for _ in range(2_000))]:
        assert kind_of(f"::ffff:{address}") == kind_of(address)
        assert bool(kind_of(f"64:ff9b::{address}")) == bool(kind_of(address))


@pytest.mark.parametrize(
    ("address", "text", "allowed_by"),
    [
        ("127.0.0.1", "a loopback address", "loopback"),
        ("::1", "a loopback address", "loopback"),
        ("::ffff:127.0.0.1", "a loopback address", "loopback"),
        ("10.1.2.3", "a private address", "private"),
        ("fd12::1", "a private address", "private"),
        ("169.254.1.1", "a link-local address", ""),
        ("169.254.169.254", "the address of a cloud's metadata service", ""),
        ("100.100.100.200", "the address of a cloud's metadata service", ""),
        ("fd00:ec2::254", "the address of a cloud's metadata service", ""),
        ("168.63.129.16", "the address of Azure's WireServer", ""),
        ("100.64.0.1", "a shared address behind a carrier's NAT", ""),
        ("64:ff9b::7f00:1", "the NAT64 form of a loopback address", ""),
        ("2600::200:5efe:a00:1", "the ISATAP form of a private address", ""),
        ("fe80::1%eth0", "a link-local address", ""),
        ("255.255.255.255", "the broadcast address", ""),
        ("127.1", "no address", ""),
        ("example.com", "no address", ""),
        ("", "no address", ""),
    ],
)
def test_a_kind_says_what_the_address_is_and_what_allows_it(address: str, text: str, allowed_by: str) -> None:
    kind = kind_of(address)
    assert kind is not None
    assert (kind.text, kind.allowed_by) == (text, allowed_by)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2600::5efe:808:808"]
)
def test_a_public_address_has_none(address: str) -> None:
    assert kind_of(address) is None


def _is_special(address: IPv4Address | IPv6Address) -> bool:
    """Any property of Python's, which agree with the registry for IPv4 but for what BEYOND lists."""
    return (
        any(address in network for network in [*_BEYOND, IPv4Network("192.88.99.0/24")])
        or not address.is_global
        or address.is_multicast
        or address.is_reserved
        or address.is_private
        or address.is_link_local
    )
