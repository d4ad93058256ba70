"""Who may be fetched from, who decides it, and what a refusal says."""

from collections.abc import Callable
from typing import Any

import pytest

from ferrule import ToolError
from ferrule.testing import context
from ferrule_fetch.addresses.guard import Guard

Error = Callable[..., tuple[str, str]]
PUBLIC = "8.8.8.8"


@pytest.fixture(autouse=True)
def _nothing_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FERRULE_FETCH_ALLOW")


def _refusal(guard: Guard, host: str, *addresses: str) -> str:
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
            "nas.example is at 192.168.1.2, which is a private address; an administrator can allow it with {}=private",
        ),
        (
            "evil.example",
            ["fe80::1%eth0"],
            "evil.example is at fe80::1%eth0, which is a link-local address, and never fetched from",
        ),
    ],
)
def test_a_refusal_names_the_address_its_kind_and_what_allows_it(host: str, addresses: list[str], why: str) -> None:
    assert _refusal(Guard(), host, *addresses) == f"Invalid URL: {why.format('FERRULE_FETCH_ALLOW')}."


def test_a_refusal_keeps_what_is_allowed_already() -> None:
    assert _refusal(Guard(["loopback"]), "10.0.0.1").endswith("FERRULE_FETCH_ALLOW=loopback,private.")


def test_a_public_host_is_fetched_from() -> None:
    Guard()("example.com", [PUBLIC, "2606:4700::1"])
    Guard()("example.com", [])
    Guard()(PUBLIC, [PUBLIC])


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
    Guard([allowed])(host, [address])
    other = "private" if allowed == "loopback" else "loopback"
    assert _refusal(Guard([other]), host, address)


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
    everything = Guard(["loopback", "private"])
    assert "never fetched from" in _refusal(everything, address)
    assert "never fetched from" in _refusal(everything, "any.example", "127.0.0.1", address)


def test_no_word_allows_the_name_of_a_metadata_service() -> None:
    assert "never" in _refusal(Guard(["loopback", "private"]), "metadata.google.internal", "10.0.0.1")


@pytest.mark.parametrize(
    ("variable", "setting", "allowed"),
    [
        (None, None, set()),
        ("", None, set()),
        ("loopback", None, {"loopback"}),
        ("private", None, {"private"}),
        (" Loopback , PRIVATE,, ", None, {"loopback", "private"}),
        (None, "loopback, private", {"loopback", "private"}),
        (None, ["private"], {"private"}),
        (None, [], set()),
        ("", ["private"], {"private"}),
        ("loopback", ["private"], {"loopback"}),
    ],
)
def test_the_environment_decides_and_then_the_configuration(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, setting: Any, allowed: set[str]
) -> None:
    if variable is not None:
        monkeypatch.setenv("FERRULE_FETCH_ALLOW", variable)
    guard = Guard.of(context("web_fetch", settings={} if setting is None else {"allow": setting}))
    assert {
        word for word, host in {"loopback": "127.0.0.1", "private": "10.0.0.1"}.items() if _lets_in(guard, host)
    } == allowed


def _lets_in(guard: Guard, host: str) -> bool:
    try:
        guard(host, [host])
    except ToolError:
        return False
    return True


@pytest.mark.parametrize(
    ("variable", "setting", "told"),
    [
        ("lan", None, "'lan'"),
        ("loopback,all,*", None, "'*, all'"),
        ("loopback private", None, "'loopback private'"),
        (None, "localhost", "'localhost'"),
        (None, ["loopback", "10.0.0.0/8"], "'10.0.0.0/8'"),
        (None, [1], "[1]"),
        (None, True, "True"),
        (None, {"loopback": True}, "{'loopback': True}"),
    ],
)
def test_an_unknown_word_is_told_with_the_name_of_the_setting(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, setting: Any, told: str
) -> None:
    if variable is not None:
        monkeypatch.setenv("FERRULE_FETCH_ALLOW", variable)
    with pytest.raises(ToolError) as refused:
        Guard.of(context("web_fetch", settings={"allow": setting}))
    assert refused.value.message == (
        f"Failed to fetch URL: FERRULE_FETCH_ALLOW, or 'allow' in the tool's table of config.toml, holds {told}."
    )
    assert refused.value.hint == "It takes a comma list of loopback and private."


def test_a_word_that_is_unknown_lets_nothing_be_fetched(monkeypatch: pytest.MonkeyPatch, error: Error) -> None:
    monkeypatch.setenv("FERRULE_FETCH_ALLOW", "loopback,everything")
    code, message = error("http://127.0.0.1/")
    assert code == "NETWORK_ERROR"
    assert "'everything'" in message
