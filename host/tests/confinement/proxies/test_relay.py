"""What a relay to a proxy goes by: which hosts it passes on, which variables name a proxy, and what it conceals."""

from collections.abc import Sequence

import pytest

from ferrule.confinement.proxies.concealment import Concealment, forms_of, login_header
from ferrule.confinement.proxies.host_judge import HostJudge, plain_host
from ferrule.errors import ProxyUnusable
from ferrule.trust.resolution.proxies import named_proxies, usable_proxies

_KNOWN = {
    "api.example.com": ["93.184.216.34"],
    "rebound.example.com": ["93.184.216.34", "10.0.0.7"],
    "wiki.corp": ["10.0.0.8"],
    "localhost": ["127.0.0.1"],
}


@pytest.mark.parametrize(
    ("network", "host", "port", "expected"),
    [
        (["api.example.com:443"], "api.example.com", 443, True),
        (["API.example.com:443"], "api.example.com", 443, True),
        (["api.example.com:443"], "api.example.com", 80, False),
        (["api.example.com:*"], "api.example.com", 8080, True),
        (["api.example.com:443"], "www.example.com", 443, False),
        (["api.example.com:443"], "93.184.216.34", 443, False),
        (["unknown.example:443"], "unknown.example", 443, True),
        (["*.example.com:443"], "api.example.com", 443, True),
        (["*.example.com:443"], "example.com", 443, False),
        (["*.example.com:443"], "notexample.com", 443, False),
        (["*.example.com:443"], "93.184.216.34", 443, False),
        (["rebound.example.com:443"], "rebound.example.com", 443, False),
        (["rebound.example.com:443", "private"], "rebound.example.com", 443, True),
        (["wiki.corp:80"], "wiki.corp", 80, True),
        (["10.0.0.8:80"], "10.0.0.8", 80, True),
        (["[::1]:80"], "::1", 80, True),
        (["[0:0::1]:80"], "::1", 80, True),
        (["public"], "api.example.com", 443, True),
        (["public"], "unknown.example", 443, True),
        (["public"], "rebound.example.com", 443, False),
        (["public"], "wiki.corp", 80, False),
        (["public"], "10.0.0.8", 80, False),
        (["public"], "::ffff:10.0.0.8", 80, False),
        (["public"], "localhost", 80, False),
        (["public"], "metadata.google.internal", 80, False),
        (["public"], "169.254.169.254", 80, False),
        (["private"], "10.0.0.8", 80, True),
        (["private"], "wiki.corp", 80, True),
        (["private"], "unknown.corp", 80, True),
        (["private"], "unknown.example", 80, False),
        (["private"], "api.example.com", 443, False),
        (["loopback"], "localhost", 80, True),
        (["loopback"], "127.0.0.1", 80, True),
        (["loopback"], "unknown.example", 80, False),
        ([], "api.example.com", 443, False),
        (None, "10.0.0.8", 80, True),
    ],
)
def test_a_host_is_passed_on_as_the_network_of_the_tool_says(
    network: Sequence[str] | None, host: str, port: int, expected: bool
) -> None:
    assert HostJudge(network, lambda name: _KNOWN.get(name, [])).allows(host, port) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Example.COM.", "example.com"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "::1"),
        ("[::FFFF:127.0.0.1]", "::ffff:7f00:1"),
        *((text, None) for text in ("", ".", "a..b", "2130706433", "0x7f000001", "127.1", "0177.0.0.1", "[::1%25lo]")),
        *((text, None) for text in ("a b", "a@b", "a/b", "a\\b", "a%2eb", "a\0b", "ä.example", "[nonsense]", "x" * 64)),
    ],
)
def test_a_host_has_one_way_to_be_written(text: str, expected: str | None) -> None:
    assert plain_host(text) == expected


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ()),
        ({"HTTPS_PROXY": "http://p"}, ("HTTPS_PROXY",)),
        ({"HTTPS_PROXY": " "}, ()),
        ({"HTTPS_PROXY": "proxy:3128"}, ("HTTPS_PROXY",)),
        ({"HTTPS_PROXY": "http://p", "https_proxy": ""}, ()),
        ({"HTTP_PROXY": "http://p", "REQUEST_METHOD": "GET"}, ()),
        (
            {"HTTP_PROXY": "http://p", "https_proxy": "HTTPS://p", "ALL_PROXY": "socks5://p"},
            ("HTTP_PROXY", "https_proxy"),
        ),
    ],
)
def test_the_proxies_are_what_clients_take_for_them(environ: dict[str, str], expected: tuple[str, ...]) -> None:
    assert usable_proxies(environ) == expected


@pytest.mark.parametrize(
    "environ",
    [
        {"ALL_PROXY": "socks5://u:secret@p"},
        {"HTTPS_PROXY": "socks5h://u:secret@p", "HTTP_PROXY": "http://p"},
        {"HTTPS_PROXY": "http://p", "all_proxy": "socks4://u:secret@p"},
        {"http_proxy": "quic://u:secret@p", "HTTP_PROXY": "http://p", "HTTPS_PROXY": "http://p"},
    ],
)
def test_a_proxy_of_another_kind_that_would_be_used_is_an_error(environ: dict[str, str]) -> None:
    with pytest.raises(ProxyUnusable) as failed:
        usable_proxies(environ)
    assert "secret" not in str(failed.value.facts())


def test_only_what_is_set_names_a_proxy() -> None:
    assert named_proxies({"NO_PROXY": "*", "http_proxy": "http://p"}) == ["http_proxy"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_login_is_concealed_wherever_the_pieces_are_cut(size: int) -> None:
    login = b"staff", b"pass/word+1?"
    token = login_header(login).removeprefix(b"Basic ")
    page = b"<pre>Basic " + token + b"</pre> staff:pass/word+1? " + token[:5] + b" c3RhZm"
    concealed = Concealment(forms_of(login))
    got = b"".join(concealed.feed(page[at : at + size]) for at in range(0, len(page), size)) + concealed.end()
    assert len(got) == len(page)
    assert token not in got
    assert b"pass/word" not in got
    assert got.endswith(b" c3RhZm")


def test_nothing_is_held_back_of_what_is_no_login() -> None:
    concealed = Concealment(forms_of((b"staff", b"password")))
    assert concealed.feed(b"data: 1\n\n") == b"data: 1\n\n"
    assert Concealment(forms_of(None)).feed(b"data") == b"data"
