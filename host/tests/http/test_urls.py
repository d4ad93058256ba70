"""URLs as they are sent, held against httpx."""

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.http import UnusableURL
from ferrule.http.urls import parse
from ferrule_testkit.effort import examples

HOSTS = [
    "a.example",
    "A.Example.",
    "127.0.0.1",
    "[::1]",
    "xn--ls8h.example",
    "münchen.example",
    "a b",
    "a<b",
    "x_y",
    "~%",
]
PORTS = ["", ":", ":80", ":443", ":0080", ":8080", ":65535"]
PIECES = [*"abc019-._~!$&'()*+,;=:@/?#[]%\"<>`{}|\\^ ", "%41", "%zz", "..x", "ü", "💩", "\u2028"]
urls = st.builds(
    lambda scheme, user, host, port, path, rest: f"{scheme}://{user}{host}{port}{path}{''.join(rest)}",
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "", "u@", "ü:p w@", "@", "a@b@"]),
    st.sampled_from(HOSTS),
    st.sampled_from(PORTS),
    st.sampled_from(["/", "/a/", "?", "#"]),
    st.lists(st.sampled_from(PIECES), max_size=12),
)
params = st.none() | st.dictionaries(st.text("a &=ü+%", max_size=4), st.text("b ?#/💩~", max_size=4), max_size=3)


@settings(deadline=None, database=None, max_examples=examples(200))
@given(urls, params)
def test_a_url_is_written_as_httpx_writes_it(url: str, params: dict[str, str] | None) -> None:
    peer = httpx.URL(url) if params is None else httpx.URL(url, params=params)
    ours = parse(url, params)
    assert ours.target == peer.raw_path.decode() or "/." in url
    assert (ours.host, ours.port, ours.authority) == (peer.raw_host.decode(), peer.port, peer.netloc.decode())
    assert str(ours) == str(peer) or "/." in url


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("", "/"),
        ("/.", "/"),
        ("/..", "/"),
        ("/a/.", "/a/"),
        ("/a/..", "/"),
        ("/a/./b", "/a/b"),
        ("/a/../../b", "/b"),
        ("/a//../b", "/a/b"),
        ("/..//b", "//b"),
        ("/.a/..b/c.", "/.a/..b/c."),
        ("/a?/../b", "/a?/../b"),
        ("?", "/?"),
    ],
)
def test_dot_segments_are_resolved(path: str, sent: str) -> None:
    assert parse(f"http://h{path}").target == sent


@pytest.mark.parametrize(
    "url",
    [
        "",
        " http://h/",
        "http:/h",
        "httpſ://h/",
        "http://:80/",
        "http://u@/",
        "http://h:0/",
        "http://h:65536/",
        "http://h:+80/",
        "http://h:٣/",
        "http://a:b:80/",
        "http://1.2.3.256/",
        "http://1.2.3.04/",
        "http://[::1]80/",
        "http://[::1%lo]/",
        "http://[1.2.3.4]/",
        "http://[ü]/",
        "http://💩.la/",
        "http://h/\ud800",
        "http://h/\t",
        "http://h/" + "ü" * 11_000,
    ],
)
def test_what_nobody_can_send_is_refused(url: str) -> None:
    with pytest.raises(UnusableURL, match="The URL is malformed"):
        parse(url)


def test_the_schemes_own_port_is_left_out_however_the_scheme_is_written() -> None:
    assert str(parse("HTTP://H:80/")) == "http://h/"
