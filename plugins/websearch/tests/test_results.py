"""Search results as plain text."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from ferrule_websearch import Result, make_result, parse_date, plain_text, read_results


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
        ("a\U000e0100b\u2061c\u2064d\u200d\u200d\u200de\u034ff\u17b4g\U0001d173h", "abcdefgh"),
        ("می\u200cخواهم stays", "می\u200cخواهم stays"),
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
    assert make_result("t", " https://a.example/ ", "s") == Result("t", "https://a.example/", "s")


@pytest.mark.parametrize("url", [None, "", "  ", 5, [], {"href": "x"}, "\u200b", "https://a.example/" + "x" * 5000])
def test_without_a_url_there_is_no_result(url: object) -> None:
    assert make_result("t", url, "s") is None


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "data:,x", "file:///etc/passwd", "ftp://a.example/", "/a", "http://[::1", "https:///a"],
)
def test_what_cannot_be_read_on_the_web_is_no_result(url: str) -> None:
    assert make_result("t", url, "s") is None


def test_nothing_invisible_is_left_in_a_url() -> None:
    found = make_result("t", "https://a.example/\u2062b\U000e0041\u202e", "s")
    assert found is not None
    assert found.url == "https://a.example/b"


def test_hits_are_results_in_their_places() -> None:
    hits = [{"name": "t", "link": "https://a.example/"}, "nonsense", {"name": "t", "link": "data:,x"}]
    assert read_results(hits, "name", "link") == [Result("t", "https://a.example/", ""), None, None]


def test_endless_texts_are_cut() -> None:
    found = make_result("t" * 10_000, "https://a.example/", "<" * 1_000_000)
    assert found is not None
    assert (len(found.title), found.title[-1]) == (500, "…")
    assert len(found.snippet) <= 2000


def test_any_result_can_be_written_as_json() -> None:
    found = make_result("\ud83d", "https://a.example/\udfff", "\x00&#xDFFF;")
    assert found is not None
    assert json.loads(json.dumps(found.as_json(), ensure_ascii=False).encode()) == found.as_json()


# ---- when it was published


@pytest.mark.parametrize(
    ("said", "published"),
    [
        ("2026-01-02", "2026-01-02"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05"),
        ("2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T04:04:05+01:00", "2026-01-02T03:04:05Z"),
        ("2026-01-02 03:04", "2026-01-02T03:04:00"),
        ("January 2, 2026", "2026-01-02"),
        ("Sept. 30, 2025", "2025-09-30"),
        ("2 Jan 2026", "2026-01-02"),
        ("Fri, 02 Jan 2026 03:04:05 GMT", "2026-01-02T03:04:05Z"),
        (1_767_323_045, "2026-01-02T03:04:05Z"),
        (1_767_323_045_678, "2026-01-02T03:04:05Z"),
    ],
)
def test_a_date_is_told_as_iso_8601_however_it_was_written(said: object, published: str) -> None:
    assert parse_date(said) == published


@pytest.mark.parametrize(
    "said",
    [
        *(None, "", "soon", "2026-13-02", "2026-02-30", "Foo 2, 2026", "many weeks ago", "2026"),
        *(True, 0, -5, float("nan"), float("inf"), 1e300, [], {}),
        *("2" * 100_000, "2026-01-02Tnonsense", "Fri, nonsense: x"),
    ],
)
def test_what_names_no_day_is_no_date(said: object) -> None:
    assert parse_date(said) == ""


def test_an_age_in_days_is_the_day_that_it_names() -> None:
    before = datetime.now(UTC).date()
    found = parse_date("2 days ago")
    assert found in {(day - timedelta(days=2)).isoformat() for day in (before, datetime.now(UTC).date())}


@pytest.mark.parametrize(
    ("said", "days", "length"),
    [
        ("a day ago", 1, 10),
        ("3 weeks ago", 21, 7),
        ("1 month ago", 30.4, 7),
        ("13 months ago", 396, 7),
        ("2 years ago", 731, 4),
    ],
)
def test_an_age_is_told_as_exactly_as_it_is_given(said: str, days: float, length: int) -> None:
    around = {datetime.now(UTC) - timedelta(days=days + more) for more in (-3, 0, 3)}
    found = parse_date(said)
    assert len(found) == length
    assert any(one.date().isoformat().startswith(found) for one in around)


def test_the_first_field_that_has_a_date_counts_and_snippets_are_bounded() -> None:
    hit = {"url": "https://a.example/", "page_age": "nonsense", "age": "January 2, 2026", "more": ["<b>a</b>", 5] * 9}
    (found,) = read_results([hit], published=("page_age", "age"), extra_snippets="more")
    assert found == Result("", "https://a.example/", "", "2026-01-02", ("a", "a", "a"))
