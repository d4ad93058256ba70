"""The plain text of a page, without a tree."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule_fetch.limits.plain import plain_text
from ferrule_fetch.limits.tags import tokens

URL = "http://host.example/folder/page"


def text_of(html: str) -> str:
    return plain_text(html, URL, time.monotonic() + 60)[1]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("one  <b>two</b>\n three", "one two three"),
        ("<p>one<p>two<div>three</div>four", "one\n\ntwo\n\nthree\n\nfour"),
        ("one<br>two", "one\ntwo"),
        ("<h2>Head</h2>text", "## Head\n\ntext"),
        ("<ul><li>one<li><p>two</ul>three", "- one\n\n- two\n\nthree"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "1 | 2\n3"),
        ("<pre>a\n  b\n\n\n\nc</pre>", "a\n  b\n\nc"),
        ("a &amp; b &lt;c&gt; &eacute;&#8212;", "a & b \\<c\\> é—"),
        (
            '<a href="other">x</a> <a href=/top>y </a>z',
            "[x](http://host.example/folder/other) [y](http://host.example/top) z",
        ),
        ('<base href="http://far.example/"><a href=x>y</a>', "[y](http://far.example/x)"),
        ("<a href='javascript:alert(1)'>x</a><a>y</a>", "xy"),
        ("<a href=x>one<p>two</a>", "[one](http://host.example/folder/x)\n\ntwo"),
        ("<!-- a --><!doctype html><?b?></ c>text<!-- no end", "text"),
        ("<script>a<b</scripty></script><style>c</style>text<title>d</title>", "text"),
        ("<p title=\"a>b\" class='c>d' id=it's>text", "text"),
        ("<p hidden>a<p>b<div style='x:y; display: none'>c<div>d</div>e</div>f<nav>g</nav>", "b\n\nf"),
        ("a < b <3 <", "a \\< b \\<3 \\<"),
        ("unfinished<a href='x>text", "unfinished"),
        ("", ""),
    ],
)
def test_it_is_readable(html: str, text: str) -> None:
    assert text_of(html) == text


@pytest.mark.parametrize(
    "markup",
    [
        "# x",
        "- x",
        "+ x",
        "1. x",
        "2) x",
        "> x",
        "* x",
        "| x |",
        "```",
        "~~~",
        "===",
        "[x](http://evil)",
        "&amp;lt;b",
        "_x_",
    ],
)
def test_text_is_never_markup(markup: str) -> None:
    assert text_of(f"<p>{markup}") != markup
    assert text_of(f"<p>{markup}").replace("\\", "") == markup.replace("&amp;", "&")


def test_it_says_what_it_leaves_out() -> None:
    assert plain_text("<p>text " * 5_000, URL, time.monotonic() - 1)[1].endswith(
        "\n\n[The rest of the page is left out.]"
    )


def test_the_title_is_that_of_the_page_in_one_line() -> None:
    assert plain_text("<title>A &amp;\n b\u202e</title><title>c</title>", URL, time.monotonic() + 60)[0] == "A & b"


def test_a_long_text_has_line_ends_between_words() -> None:
    lines = text_of("word " * 10_000).split("\n")
    assert max(map(len, lines)) < 10_000
    assert " ".join(lines).split() == ["word"] * 10_000


@given(st.text("<>/!-ab='\" \n&;#1", max_size=200))
def test_every_page_has_a_text(html: str) -> None:
    assert isinstance(text_of(html), str)


@given(st.lists(st.sampled_from(["<p>", "</p>", "<b a='1'>", "text", "<!-- c -->", "&amp;"]), max_size=30))
def test_tags_and_text_come_in_their_order(parts: list[str]) -> None:
    expected = "".join(parts).replace("<!-- c -->", "").replace(" a='1'", "")
    assert "".join(f"<{name}>" if name else content for name, content in tokens("".join(parts))) == expected
