"""The public module for other plugins."""

import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from ferrule import Context, ToolError
from ferrule_dev.testing import Server
from ferrule_fetch import library
from ferrule_fetch.library import FetchOptions, StatusError, TooMuch
from ferrule_fetch.limits import reader

MakeContext = Callable[..., Context]


def test_every_public_name_is_there() -> None:
    assert all(getattr(library, name) for name in library.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = library.nothing  # type: ignore[attr-defined] # what is not there is what is tried


@pytest.mark.process
def test_a_page_is_fetched_and_read(server: Server, make_context: MakeContext) -> None:
    within = make_context()
    page = library.fetch(server.page("/", "<title>T</title><h1>H</h1>", "Text/HTML; charset=UTF-8"), within)
    assert (page.url, page.content_type) == (f"{server.url}/", "Text/HTML; charset=UTF-8")
    assert library.form_of(page).name == "HTML"
    title, text = library.read_text(page, within.deadline)
    assert (title, text) == ("T", "# H")
    assert library.is_whole(page, text)


def test_the_guard_of_the_fetcher_holds(make_context: MakeContext) -> None:
    with pytest.raises(ToolError, match="private address"):
        library.fetch("http://10.0.0.1/", make_context())
    with pytest.raises(ToolError, match="private address"):
        library.check_url("http://10.0.0.1/", make_context())


@pytest.mark.process
@pytest.mark.parametrize("status", [400, 404, 503])
def test_a_status_can_be_told_without_reading_the_message(
    server: Server, make_context: MakeContext, status: int
) -> None:
    with pytest.raises(StatusError) as raised:
        library.fetch(server.page("/", "x", status=status), make_context())
    assert (raised.value.status, raised.value.code, raised.value.is_challenge) == (status, "HTTP_ERROR", False)


@pytest.mark.process
def test_the_options_decide_what_is_read(server: Server, make_context: MakeContext) -> None:
    url = server.page("/", b"\x89PNG" + bytes(100), "image/png")
    with pytest.raises(ToolError, match="which is not text"):
        library.fetch(url, make_context())
    options = FetchOptions("image/*", lambda _: 10, lambda declared: declared.type == "image/png")
    page = library.fetch(url, make_context(), options=options)
    assert (len(page.body), page.missing) == (10, "only its first 10 bytes were read")
    assert server.requests[-1].headers["accept"] == "image/*"


@pytest.mark.process
def test_robots_txt_is_about_pages_and_not_about_data(
    server: Server, make_context: MakeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_FETCH_ROBOTS", "1")
    server.page("/robots.txt", "User-agent: *\nDisallow: /", "text/plain")
    url = server.page("/api", "{}", "application/json")
    assert library.fetch(url, make_context(), is_page=False).body == b"{}"
    with pytest.raises(ToolError, match=r"robots\.txt"):
        library.fetch(url, make_context())


@pytest.mark.process
def test_an_earlier_deadline_holds(server: Server, make_context: MakeContext) -> None:
    url = server.route("/", lambda exchange: exchange.hang())
    with pytest.raises(ToolError, match="timeout"):
        library.fetch(url, make_context(), deadline=time.monotonic() + 0.3)


def test_elements_are_found_where_a_browser_has_them() -> None:
    html = (
        "<!-- <meta name=a> --><META Name='b' content='&quot;x&gt;'><template><meta name=c></template>"
        "<script>'<meta name=d>'</script><textarea><meta name=e></textarea><p><meta name=f>"
    )
    found = list(library.elements_of(html, ("meta", "script")))
    assert [one.attributes.get("name") for one in found] == ["b", None, "f"]
    assert found[0].attributes["content"] == '"x>'
    assert found[1].text == "'<meta name=d>'"


class Refused(Exception):
    """A reader's own."""


@pytest.mark.process
def test_work_is_bounded_and_its_refusal_comes_back() -> None:
    def refuse() -> str:
        raise Refused("not this one")

    assert library.bounded(lambda: "é", seconds=30) == "é"
    with pytest.raises(Refused, match="not this one"):
        library.bounded(refuse, Refused, seconds=30)
    with pytest.raises(TooMuch):
        library.bounded(refuse, seconds=30)


@pytest.mark.slow
@pytest.mark.process
def test_the_limit_that_work_passes_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_SLOWDOWN", 50)  # others may want the processor, too

    def loop() -> str:
        while True:
            pass

    def wait() -> str:
        return str(time.sleep(60))

    def swell() -> str:
        return "x" * (17 << 20)

    for work, limit in ((wait, "seconds"), (loop, "cpu_seconds"), (swell, "max_bytes")):
        with pytest.raises(TooMuch) as raised:
            library.bounded(work, seconds=0.02 if work is wait else 1)
        assert raised.value.limit == limit


@pytest.mark.process
def test_what_waits_for_the_processor_has_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "_SLOWDOWN", 1_000)
    assert library.bounded(lambda: str(time.sleep(0.2)), seconds=0.1) == "None"


@pytest.mark.process
def test_to_refuse_a_url_takes_neither_client_nor_parser() -> None:
    script = (
        "import sys, ferrule\nfrom ferrule_fetch.library import check_url\n"
        "try:\n    check_url('nonsense', ferrule.Context('x', 0))\nexcept ferrule.ToolError:\n    print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"httpcore", "ssl", "html5lib", "turbohtml._html"} & set(done.stdout.split())


@pytest.mark.process
def test_a_content_type_holds_no_invisible_characters_and_ends(server: Server, make_context: MakeContext) -> None:
    url = server.page("/", "x", "text/plain; x=\x1b[31m" + "y" * 60_000)
    header = library.fetch(url, make_context()).content_type
    assert header.startswith("text/plain; x=[31myyy")
    assert len(header) == 1000
