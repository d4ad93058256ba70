"""A strict reading of URLs: those that can be read in one way only."""

import pytest

from ferrule.http import UnusableURL, parse


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "https://example.com/",
        "http://example.com:8080/a?b=c#d",
        "http://example.com./",
        "http://_dmarc.example.com/",
        "http://localhost/",
        "http://127.0.0.1/",
        "http://[::1]:8080/",
        "http://[2001:db8::1]/",
        "http://example.com/?q=a@b",
        "http://1.example/",
    ],
)
def test_a_url_is_taken_as_it_is(url: str) -> None:
    assert str(parse(url, strict=True)) == url


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://EXAMPLE.COM/Path", "https://example.com/Path"),
        ("http://example.com:/", "http://example.com/"),
        ("http://example.com/a b\\c%zz", "http://example.com/a%20b\\c%zz"),
        ("HTTPS://example.com:443/Path", "https://example.com/Path"),
        ("http://example.com:0080/", "http://example.com/"),
        ("http://example.com:08080/", "http://example.com:8080/"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://BÜCHER.example:81/", "http://xn--bcher-kva.example:81/"),
        ("http://faß.example/", "http://xn--fa-hia.example/"),
        ("http://💩.example/", "http://xn--ls8h.example/"),
        ("http://i❤️.example/", "http://xn--i-7iq.example/"),
        ("http://مثال.example/", "http://xn--mgbh0fb.example/"),
        ("http://8.8.8.8./", "http://8.8.8.8/"),
        ("http://example。com/", "http://example.com/"),
    ],
)
def test_a_host_is_written_in_ascii_and_the_rest_percent_encoded(url: str, sent: str) -> None:
    assert str(parse(url, strict=True)) == sent


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "it does not begin with http:// or https://"),
        ("example.com/page", "it does not begin with http:// or https://"),
        ("example.com:8080/page", "it does not begin with http:// or https://"),
        ("//example.com/", "it does not begin with http:// or https://"),
        ("ftp://example.com/", "the scheme must be http or https, not 'ftp'"),
        ("file:///etc/passwd", "the scheme must be http or https, not 'file'"),
        ("javascript:alert(1)", "the scheme must be http or https, not 'javascript'"),
        ("http:", "it has no host"),
        ("http:///path", "it has no host"),
        ("http://?q", "it has no host"),
        ("http://xn--/", "its host is no name that the internet can have"),
        ("http://xn--a-/", "its host is no name that the internet can have"),
        ("http://xn--mnchen-3yA.xn--ls8h0/", "its host is no name that the internet can have"),
        ("http://xn--8jcxbbf/", "its host is no name that the internet can have"),
        ("http://a.\u0301b.example/", "its host is no name that the internet can have"),
        ("http://a\u200db.example/", "its host is no name that the internet can have"),
        ("http://\u05d0a.example/", "its host is no name that the internet can have"),
        (f"http://{'ü' * 300}.example/", "its host is malformed"),
        ("http:/path", "it has no host"),
        ("http:path", "it has no host"),
        ("HTTP:\\\\example.com/", "it has no host"),
        ("http://example.com:25/", "port 25 is for another service than web pages, and no browser fetches from it"),
        (
            "http://example.com:06000/",
            "port 6000 is for another service than web pages, and no browser fetches from it",
        ),
        ("http://１２７.0.0.1/", "its host is a malformed IPv4 address"),
        ("http://127。0。0。1/", "its host is a malformed IPv4 address"),
        ("http://127.0.0.1../", "its host is malformed"),
        ("http://[fe80::1%25eth0]/", "its host holds a character that no host has"),
        ("http://[::ffff:127.0.0.01]/", "its host is a malformed IPv6 address"),
        ("http://user:pass@example.com/", "it holds a user name or password; leave out what stands before the @"),
        ("http://example.com@127.0.0.1/", "it holds a user name or password; leave out what stands before the @"),
        ("http://exa mple.com/", "its host holds a character that no host has"),
        ("http://127.0.0.1\\.example.com/", "its host holds a character that no host has"),
        ("http://ex%61mple.com/", "its host holds a character that no host has"),
        ("http://a..b/", "its host is malformed"),
        ("http://.example.com/", "its host is malformed"),
        ("http://exam<ple.com/", "its host is malformed"),
        ("http://*.example.com/", "its host is malformed"),
        (f"http://{'x' * 64}.com/", "its host is malformed"),
        (f"http://{'x.' * 127}com/", "its host is malformed"),
        ("http://xn--ü.example/", "its host is no name that the internet can have"),
        ("http://\u2060.example/", "its host is malformed"),
        ("http://127.1/", "its host is a malformed IPv4 address"),
        ("http://2130706433/", "its host is a malformed IPv4 address"),
        ("http://0x7f000001/", "its host is a malformed IPv4 address"),
        ("http://0177.0.0.1/", "its host is a malformed IPv4 address"),
        ("http://256.0.0.1/", "its host is a malformed IPv4 address"),
        ("http://①②⑦.⓪.⓪/", "its host is a malformed IPv4 address"),
        ("http://[::1", "its host is a malformed IPv6 address"),
        ("http://[::zz]/", "its host is a malformed IPv6 address"),
        ("http://[::1]x/", "its host is a malformed IPv6 address"),
        ("http://[v1.x]/", "its host is a malformed IPv6 address"),
        ("http://example.com:0/", "its port is not a number from 1 to 65535"),
        ("http://example.com:65536/", "its port is not a number from 1 to 65535"),
        ("http://example.com:-1/", "its port is not a number from 1 to 65535"),
        ("http://example.com:８０/", "its port is not a number from 1 to 65535"),
        ("http://example.com:80:80/", "its port is not a number from 1 to 65535"),
        ("http://example.com/\x00", "it holds a control character or half of a surrogate pair"),
        ("http://exam\nple.com/", "it holds a control character or half of a surrogate pair"),
        ("http://example.com/\ud800", "it holds a control character or half of a surrogate pair"),
        ("http://example.com/" + "ü" * 11_000, "it is malformed"),
        ("httpſ://example.com/", "the scheme must be http or https, not 'httpſ'"),
    ],
)
def test_another_url_is_refused_with_the_reason(url: str, why: str) -> None:
    with pytest.raises(UnusableURL) as refused:
        parse(url, strict=True)
    assert refused.value.reason == why


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://EXAMPLE.com:80/", "example.com"),
        ("http://bücher.example/", "xn--bcher-kva.example"),
        ("http://8.8.8.8./", "8.8.8.8"),
        ("http://[::1]:8080/", "::1"),
    ],
)
def test_the_host_is_the_one_that_is_asked_for(url: str, host: str) -> None:
    assert parse(url, strict=True).host == host
