"""Search results as plain text."""

import json

import pytest

from ferrule_websearch import make_result, plain_text, read_results


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("plain", "plain"),
        ("<strong>Rust</strong>&#x27;s", "Rust's"),
        ("a &amp; b &lt;c&gt; &quot;d&quot; &#39;e&#39; &hellip;", "a & b <c> \"d\" 'e' …"),
        ("&amp;lt; is twice", "&lt; is twice"),
        ("one<br>two<br/>three<p>four</p>five", "one two three four five"),
        ('<a href="x" title="y">link</a>ed', "linked"),
        ("<B CLASS=x>big</B>", "big"),
        ("cut <strong>off", "cut off"),
        ("cut &amp", "cut &"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("  many \n\t blanks\u00a0here ", "many blanks here"),
        ("&nbsp;&#0;&#xD800;&#x110000;", "\ufffd\ufffd\ufffd"),
        ("a\x00b\x1bc\x7fd\x85e\u200bf\u202eg\ufeffh\ud800i", "abcd efghi"),
        ("tag\U000e0041\U000e0042s", "tags"),
        ("👩\u200d💻 stays", "👩\u200d💻 stays"),
        ("", ""),
        (None, ""),
        (7, ""),
        (["a"], ""),
    ],
)
def test_html_becomes_plain_text(html: object, text: str) -> None:
    assert plain_text(html) == text


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("The <title> tag", "The <title> tag"),
        ("vector<int> & <b>bold</b>", "vector<int> & bold"),
        ("<b> against <strong>", "<b> against <strong>"),
        ("AT&amp;T", "AT&T"),
    ],
)
def test_text_keeps_what_is_no_emphasis(given: str, text: str) -> None:
    assert plain_text(given, html=False) == text


def test_a_result_has_what_it_was_given() -> None:
    assert make_result("t", " https://a.example/ ", "s") == ("t", "https://a.example/", "s")


@pytest.mark.parametrize("url", [None, "", "  ", 5, [], {"href": "x"}, "\u200b", "https://a.example/" + "x" * 5000])
def test_without_a_url_there_is_no_result(url: object) -> None:
    assert make_result("t", url, "s") is None


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:,x", "file:///etc/passwd", "ftp://a.example/", "/a", "http://[::1", "https:///a"],
)
def test_what_cannot_be_read_on_the_web_is_no_result(url: str) -> None:
    assert make_result("t", url, "s") is None


def test_hits_are_results_in_their_places() -> None:
    hits = [{"name": "t", "link": "https://a.example/"}, "nonsense", {"name": "t", "link": "data:,x"}]
    assert read_results(hits, "name", "link") == [("t", "https://a.example/", ""), None, None]


def test_endless_texts_are_cut() -> None:
    found = make_result("t" * 10_000, "https://a.example/", "<" * 1_000_000)
    assert found is not None
    assert (len(found.title), found.title[-1]) == (500, "…")
    assert len(found.snippet) <= 2000


def test_any_result_can_be_written_as_json() -> None:
    found = make_result("\ud83d", "https://a.example/\udfff", "\x00&#xDFFF;")
    assert found is not None
    assert json.loads(json.dumps(found, ensure_ascii=False).encode()) == list(found)
