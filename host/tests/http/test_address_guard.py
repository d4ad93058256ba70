"""Which hosts may be connected to, and what a refusal says."""

import pytest

from ferrule import ToolError
from ferrule.http import AddressGuard

PUBLIC = "8.8.8.8"


def _refusal(guard: AddressGuard, host: str, *addresses: str) -> str:
    with pytest.raises(ToolError) as refused:
        guard(host, addresses)
    assert refused.value.code == "INVALID_URL"
    return refused.value.message


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("127.0.0.1", "a loopback address"),
        ("::1", "a loopback address"),
        ("10.0.0.1", "a private address"),
        ("169.254.1.1", "a link-local address"),
        ("localhost", "a name of the machine itself"),
        ("a.LOCALHOST.", "a name of the machine itself"),
        ("metadata.google.internal", "the name of a cloud's metadata service"),
    ],
)
def test_a_refusal_says_what_the_caller_has_named(host: str, why: str) -> None:
    assert _refusal(AddressGuard(), host) == f"Invalid URL: {host} is {why}."


@pytest.mark.parametrize(
    "address", ["10.1.2.3", "127.0.0.1", "64:ff9b::a01:203", "fd12::1", "169.254.169.254", "fe80::1%eth0"]
)
def test_a_refusal_says_nothing_of_the_address_that_a_name_has(address: str) -> None:
    expected = "Invalid URL: inside.example is at an address that is not public."
    assert _refusal(AddressGuard(), "inside.example", PUBLIC, address) == expected


def test_a_public_host_is_fetched_from() -> None:
    AddressGuard()("example.com", [PUBLIC, "2606:4700::1"])
    AddressGuard()("example.com", [])
    AddressGuard()(PUBLIC, [PUBLIC])


@pytest.mark.parametrize(
    ("allowed", "host", "address"),
    [
        ("loopback", "127.0.0.1", "127.0.0.1"),
        ("loopback", "localhost", "::1"),
        ("loopback", "dev.localhost", "127.0.0.1"),
        ("loopback", "here.example", "::ffff:127.0.0.1"),
        ("private", "10.0.0.1", "10.0.0.1"),
        ("private", "nas.example", "fd12::1"),
    ],
)
def test_a_word_allows_its_own_networks_and_not_the_others(allowed: str, host: str, address: str) -> None:
    AddressGuard([allowed])(host, [address])
    other = "private" if allowed == "loopback" else "loopback"
    assert _refusal(AddressGuard([other]), host, address)


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.1.1",
        "fe80::1",
        "fd00:ec2::254",
        "100.100.100.200",
        "100.64.0.1",
        "192.0.0.192",
        "168.63.129.16",
        "64:ff9b::7f00:1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
        "::127.0.0.1",
        "0.0.0.0",
        "::",
        "fec0::1",
        "255.255.255.255",
    ],
)
def test_no_word_allows_anything_else(address: str) -> None:
    everything = AddressGuard(["loopback", "private"])
    assert _refusal(everything, address)
    assert _refusal(everything, "any.example", "127.0.0.1", address)


def test_no_word_allows_the_name_of_a_metadata_service() -> None:
    assert _refusal(AddressGuard(["loopback", "private"]), "metadata.google.internal", "10.0.0.1")


def test_an_unknown_network_is_refused_when_the_guard_is_made() -> None:
    with pytest.raises(ValueError, match="nonsense; only loopback and private are networks"):
        AddressGuard(["nonsense", "loopback"])
    AddressGuard("loopback")("localhost", ["127.0.0.1"])
