"""A conversion within limits, and the plain text beyond them."""

import time

import pytest

from ferrule_fetch.limits import conversion
from ferrule_fetch.limits.conversion import BEGINNING, PLAIN, convert_page

URL = "http://host.example/"


def convert(html: str, seconds: float = 200) -> tuple[str, str]:
    return convert_page(html, URL, time.monotonic() + seconds)


@pytest.mark.process
def test_a_page_within_the_limits_is_markdown() -> None:
    assert convert("<title>T</title><h1>Head</h1><p>Some <b>text</b>.") == ("T", "# Head\n\nSome **text**.")


def test_a_page_that_takes_too_long_comes_back_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "_SECONDS", 0.0)
    assert convert("<title>T</title><h1>Head</h1><p>Some <b>text</b>.") == ("T", f"{PLAIN}\n\n# Head\n\nSome text.")


@pytest.mark.process
def test_a_page_that_the_converter_cannot_take_comes_back_as_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(html: str, url: str) -> None:
        raise RecursionError

    monkeypatch.setattr("ferrule_fetch.markdown.convert", fail)
    assert convert("<p>text") == ("", f"{PLAIN}\n\ntext")


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
