"""A conversion within limits, and the plain text beyond them."""

import re
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule import bounded
from ferrule_fetch.limits import conversion
from ferrule_fetch.limits.conversion import BEGINNING, PLAIN, convert_page

URL = "http://host.example/"


def convert(html: str, seconds: float = 200) -> tuple[str, str]:
    return convert_page(html, URL, time.monotonic() + seconds)[:2]


@pytest.mark.process
def test_a_page_within_the_limits_is_markdown() -> None:
    assert convert("<title>T</title><h1>Head</h1><p>Some <b>text</b>.") == ("T", "# Head\n\nSome **text**.")


def test_a_page_that_takes_too_long_comes_back_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "SMALL_CHARS", 0)
    monkeypatch.setattr(conversion, "_SECONDS", 0.0)
    assert convert("<title>T</title><h1>Head</h1><p>Some <b>text</b>.") == ("T", f"{PLAIN}\n\n# Head\n\nSome text.")


@pytest.mark.process
def test_a_page_that_the_converter_cannot_take_comes_back_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RecursionError

    monkeypatch.setattr("ferrule_fetch.markdown.convert", fail)
    assert convert("<p>text") == ("", f"{PLAIN}\n\ntext")


_TAGS = (
    "div b i em a p span table tr td ul ol li dl dt dd blockquote pre code h1 section article details summary select "
    "option svg math font center form label button template ruby rt sup sub figure img iframe object video q nobr br "
    "input textarea title style script fieldset"
)
_TEXTS = (
    "&amp;",
    "<",
    "<!--",
    "<![CDATA[",
    "*_",
    "[]( ",
    "`",
    "\\",
    "|",
    "\u200b",
    "1. ",
    "http://a.b ",
    "10<sup>-3</sup>",
)
_PIECES = (
    "<em>a</em><em>b</em>", "<code>`</code>", "<pre>```</pre>", "<table><tr><td>a|b<td>c</table>", "<p hidden>x</p>",
    "<ul><li>a<ul><li>b", "<b><p>", "<a>x<div></a>y", "<i><table><tr><td>", "<td colspan=1000 rowspan=65000>x",
    "<div style='opacity:0;left:-9999px'>x</div>", "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>",
)  # fmt: skip


def expensive_pages(chars: int) -> Iterator[str]:
    """Pages that repeat, nest and close what a converter might look at again and again."""
    for tag in _TAGS.split():
        for piece in (f"<{tag}>", f"<{tag}>x</{tag}>", f"</{tag}>", f"<{tag} id=a class=b hidden>"):
            yield piece * (chars // len(piece))
    for piece in (*_TEXTS, *_PIECES):
        yield "<table><tr>" * ("<td" in piece) + piece * (chars // len(piece) - 1)
    for tag in ("b", "a", "font", "nobr"):
        yield f"<{tag} x=1>" * (chars // 30) + "<p>" * (chars // 9) + f"</{tag}>" * (chars // 21)
    yield "<p " + " ".join(f"a{number}=b" for number in range(chars // 9)) + ">x"
    yield f"<a href='{'a' * (chars - 20)}'>x</a>"


@pytest.mark.slow
@pytest.mark.process
def test_no_small_page_takes_what_a_process_would_be_ended_for() -> None:
    def work() -> bytes:
        for html in expensive_pages(conversion.SMALL_CHARS):
            assert len(html) <= conversion.SMALL_CHARS
            convert(html)
        return b"all"

    # All of them may take what a single page may, as far as the limit on the processor's time tells. What the process
    # of the tests holds by now counts as well, and is not the pages'.
    seconds, memory_mib = 4 * int(conversion._SECONDS), 200 + _resident_mib()
    assert bounded(work, seconds=100, cpu_seconds=seconds, memory_mib=memory_mib, max_bytes=10) == b"all"


def _resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


@pytest.mark.parametrize("html", ["<base href='/a/'><p>x", "<BASE HREF='/a/'><p>x"])
def test_a_page_whose_links_may_grow_is_no_small_one(html: str) -> None:
    assert not conversion._is_small(html, URL)
    assert conversion._is_small("<p>x", URL)
    assert not conversion._is_small("<p>x", URL + "a" * 500)


@pytest.mark.slow
@pytest.mark.process
def test_a_page_whose_markdown_outgrows_it_comes_back_as_plain_text() -> None:
    base = f"<base href='http://h/{'b' * 8_000}/'>"
    text = convert(f"{base}<p>Needle</p>{'<a href=x>y</a>' * 50_000}")[1]
    assert text.startswith(f"{PLAIN}\n\nNeedle\n\n[y](http://h/bbb")


@pytest.mark.process
def test_of_a_large_page_that_takes_too_long_the_beginning_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_SECONDS", 0.0)
    monkeypatch.setattr(conversion, "_PART_SECONDS", 60.0)
    markdown = convert("<p>ab" * (1 << 18))[1]
    assert markdown.startswith("ab\n\nab\n\n")
    assert markdown.endswith(f"ab\n\n{BEGINNING}")


def test_a_deadline_that_has_passed_still_gives_a_beginning() -> None:
    assert convert("<p>text", seconds=-1)[1].startswith(PLAIN)


@pytest.mark.process
def test_what_is_put_together_from_pieces_stays_marked() -> None:
    assert convert("<p>&#x2&#x200b;02e;# Forged")[1] != "# Forged"


@pytest.mark.process
@pytest.mark.parametrize("code", ["FDD0", "FDD1", "FDD2", "FDD4", "FDD5", "FDD6"])
def test_a_mark_of_the_writer_that_a_page_puts_together_makes_no_markup(code: str) -> None:
    mark = f"&#x{code[:2]}&#x200b;{code[2:]};"
    html = f"<p>a {mark}https://evil.example>b</p><p>c {mark}s d{mark}/</p><p>e{mark}</p><p>===</p>"
    markdown = convert(html)[1]
    assert not re.search(r"(?<!\\)<https", markdown)
    assert "**" not in markdown
    assert "e\n===" not in markdown
