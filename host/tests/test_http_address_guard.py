"""Which hosts may be connected to, and what a refusal says."""

import pytest

from ferrule import ToolError
from ferrule.http import AddressGuard

PUBLIC = "8.8.8.8"
VARIABLE = "WEATHER_ALLOW"


def _refusal(guard: AddressGuard, host: str, *addresses: str) -> str:
    with pytest.raises(ToolError) as refused:
        guard(host, addresses)
    assert refused.value.code == "INVALID_URL"
    return refused.value.message


@pytest.mark.parametrize(
    ("host", "addresses", "why"),
    [
        ("127.0.0.1", [], "127.0.0.1 is a loopback address; an administrator can allow it with {}=loopback"),
        ("::1", ["::1"], "::1 is a loopback address; an administrator can allow it with {}=loopback"),
        ("10.0.0.1", [], "10.0.0.1 is a private address; an administrator can allow it with {}=private"),
        ("localhost", [], "localhost is a name of the machine itself; an administrator can allow it with {}=loopback"),
        (
            "a.LOCALHOST.",
            [],
            "a.LOCALHOST. is a name of the machine itself; an administrator can allow it with {}=loopback",
        ),
        ("169.254.1.1", [], "169.254.1.1 is a link-local address, and never fetched from"),
        (
            "metadata.google.internal",
            [],
            "metadata.google.internal is the name of a cloud's metadata service, and never fetched from",
        ),
        (
            "nas.example",
            [PUBLIC, "192.168.1.2"],
            "nas.example is at a private address; an administrator can allow it with {}=private",
        ),
        (
            "evil.example",
            ["fe80::1%eth0"],
            "evil.example is at a link-local address, and never fetched from",
        ),
    ],
)
def test_a_refusal_names_the_address_its_kind_and_what_allows_it(host: str, addresses: list[str], why: str) -> None:
    refusal = _refusal(AddressGuard(variable=VARIABLE), host, *addresses)
    assert refusal == f"Invalid URL: {why.format(VARIABLE)}."


def test_a_refusal_keeps_what_is_allowed_already() -> None:
    assert _refusal(AddressGuard(["loopback"], variable=VARIABLE), "10.0.0.1").endswith(
        "WEATHER_ALLOW=loopback,private."
    )


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
    assert "never fetched from" in _refusal(everything, address)
    assert "never fetched from" in _refusal(everything, "any.example", "127.0.0.1", address)


def test_no_word_allows_the_name_of_a_metadata_service() -> None:
    assert "never" in _refusal(AddressGuard(["loopback", "private"]), "metadata.google.internal", "10.0.0.1")


def test_without_a_variable_a_refusal_names_none() -> None:
    assert (
        _refusal(AddressGuard(), "nas.example", PUBLIC, "10.0.0.1")
        == "Invalid URL: nas.example is at a private address."
    )


@pytest.mark.parametrize(
    "address", ["10.1.2.3", "64:ff9b::a01:203", "2600::5efe:a01:203", "fd12::1", "169.254.169.254"]
)
def test_a_refusal_does_not_say_which_address_a_name_has(address: str) -> None:
    message = _refusal(AddressGuard(), "inside.example", address)
    assert address not in message
    assert "10.1.2.3" not in message


def test_an_unknown_network_is_refused_when_the_guard_is_made() -> None:
    with pytest.raises(ValueError, match="nonsense; only loopback and private are networks"):
        AddressGuard(["nonsense", "loopback"])
    AddressGuard("loopback")("localhost", ["127.0.0.1"])
