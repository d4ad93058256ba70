"""A URL that is fetched means the same host to a browser's parser and to the client, which sends it."""

import time
from ipaddress import IPv6Address

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ferrule import ToolError
from ferrule.http import URL, Client, RequestFailed
from ferrule_fetch.addresses import check
from ferrule_testkit.effort import examples
from ferrule_testkit.hostile import urls as hostile_urls

ada_url = pytest.importorskip("ada_url", reason="ada-url is the browser's parser")

ATOMS = hostile_urls.words("""
    a b.c example com . .. - _ 1 0 127 0x7f 08 255 256 [ ] ::1 ::ffff:1.2.3.4 2001:db8::1 : 80 8080 \\ @ / ? # % %41 %2e
    \u00ad \u200b \u200d ü ß ẞ İ 💩 ❤️ 。 ． １ ① xn-- xn--ls8h xn--mnchen-3ya xn--a XN--LS8H 日本 א ب \u0301 ς ℀ ／
    ＠ ～ ！
    \u202e ! $ & ' ( ) * + , ; = | ^ ` { } < > " й \U000e0041 ﬁ Å
""")
PORTS = {"http:": 80, "https:": 443}
STARTS = hostile_urls.words("http:// http:// http:// https:// HTTP:// http:/ http: http:/// http:\\\\")
ENDS = ["", "/", "/x", ":80/", ":8080", ":/", ":0443", "?q", "#f"]
urls = st.builds(
    lambda start, middle, end: start + "".join(middle) + end,
    st.sampled_from(STARTS),
    st.lists(st.sampled_from([*ATOMS, " ", "\t", "\u3000"]), max_size=6),
    st.sampled_from(ENDS),
)


@pytest.mark.slow
@pytest.mark.process
@settings(deadline=None, database=None, max_examples=examples(400))
@given(urls)
@example("http://[::ffff:1.2.3.4]:8080/")
def test_a_url_that_is_fetched_has_one_host_and_port_to_all(url: str) -> None:
    _compare(url)


@pytest.mark.process
@pytest.mark.parametrize("part", hostile_urls.PARTS)
def test_the_urls_of_the_table_have_one_host_and_port_to_all(part: str) -> None:
    for case in hostile_urls.PARTS[part]:
        _compare(case.url)


def _compare(url: str) -> None:
    try:
        asked = check(url)
    except ToolError:
        return
    host, port = _looked_up(asked)
    assert _looked_up(str(asked)) == (host, port)
    browsers = ada_url.URL(url)
    assert _host(host) == _host(browsers.hostname.strip("[]"))
    assert port == int(browsers.port or PORTS[browsers.protocol])


def _looked_up(url: str | URL) -> tuple[str, int]:
    """The host and port that the client asks the resolver for, which here finds no address."""
    asked = []

    def resolver(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return []

    with Client(time.monotonic() + 60, resolver=resolver) as client, pytest.raises(RequestFailed):
        client.open("GET", url)
    return asked[0]


def _host(host: str) -> object:
    return IPv6Address(host) if ":" in host else host
