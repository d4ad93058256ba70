"""What of a page comes first, and which library reads it, as the administrator decides."""

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from ferrule import ToolError
from ferrule_dev.testing import Server, context
from ferrule_fetch.document import REST_HEADING
from ferrule_fetch.limits import conversion
from ferrule_fetch.limits.conversion import convert_page
from ferrule_fetch.reading_policy import ReadingPolicy
from ferrule_fetch.tree import nodes, parsers

Fetch = Callable[..., dict[str, Any]]

STORY = "".join(
    f"<p>Paragraph {number} of a story about a harbour, with commas, with clauses, and with words enough that a reader"
    " would call it an article, which is what this page is about.</p>"
    for number in range(12)
)
PAGE = (
    "<title>A harbour</title><div class=menu><a href=/a>Home</a> <a href=/b>Sports</a></div>"
    f"<article>{STORY}</article><div class=related><a href=/c>Another story</a></div>"
)


@pytest.fixture
def url(server: Server) -> str:
    return server.page("/story", PAGE)


@pytest.mark.process
def test_the_main_content_comes_first_and_the_rest_behind_a_heading(url: str, fetch: Fetch) -> None:
    content = fetch(url)["content"]
    assert content.startswith("Paragraph 0 of a story")
    story, _, rest = content.partition(f"\n\n{REST_HEADING}\n\n")
    assert story.count("Paragraph") == 12
    assert "Home" in rest
    assert "Another story" in rest


@pytest.mark.process
def test_a_page_can_be_had_in_its_own_order(url: str, fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_FETCH_CONTENT", "page")
    content = fetch(url)["content"]
    assert content.index("Home") < content.index("Paragraph 0") < content.index("Another story")
    assert REST_HEADING not in content


@pytest.mark.process
def test_an_answer_can_end_with_the_article_and_says_where_the_rest_is(
    url: str, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fetch(url)["content"].split("\n")
    monkeypatch.setenv("FERRULE_FETCH_CONTENT", "article")
    answer = fetch(url)
    end = answer["next_offset"] - 1
    note = f"[The main content ends here. Lines {end + 1} to {len(whole)} hold what surrounds it on the page.]"
    assert answer["content"].split("\n") == [*whole[:end], "", note]
    assert (answer["truncated"], answer["total_lines"]) == (True, len(whole))
    rest = fetch(url, offset=end + 1)
    assert rest["content"].split("\n") == whole[end:]
    assert "truncated" not in rest


@pytest.mark.process
def test_an_answer_that_ends_within_the_article_does_not_say_so(
    url: str, fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_FETCH_CONTENT", "article")
    answer = fetch(url, limit=3)
    assert answer["next_offset"] == 4
    assert "main content" not in answer["content"]


@pytest.mark.process
def test_a_page_without_an_article_keeps_its_order(server: Server, fetch: Fetch) -> None:
    links = "".join(f"<li><a href=/{number}>Entry {number}</a></li>" for number in range(40))
    content = fetch(server.page("/list", f"<div>Before</div><ul>{links}</ul><div>Behind</div>"))["content"]
    assert content.startswith("Before")
    assert content.endswith("Behind")


def test_settings_are_read_from_the_table_of_the_tool() -> None:
    made = context("web_fetch", settings={"content": "Article", "parser": " html5lib "})
    assert ReadingPolicy.from_context(made) == ReadingPolicy("article", "html5lib")


@pytest.mark.parametrize(
    ("key", "choices"), [("content", "main-first, article, page"), ("parser", "turbohtml, html5lib")]
)
def test_a_setting_that_is_none_of_its_choices_names_them(key: str, choices: str) -> None:
    with pytest.raises(ToolError, match=f"FERRULE_FETCH_{key.upper()}") as raised:
        ReadingPolicy.from_context(context("web_fetch", settings={key: "best"}))
    assert raised.value.hint == f"It takes {choices}."


def _crash() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _raise() -> None:
    raise SystemError


@pytest.mark.process
@pytest.mark.parametrize("fail", [_crash, _raise])
def test_html5lib_reads_a_page_that_turbohtml_fails_on(
    fail: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = nodes.parse

    def parse_what_is_well_formed(html: str, **options: bool) -> nodes.Document:
        if "</body>" not in html:  # which html5lib's tree is spelt with
            fail()
        return parse(html, **options)

    monkeypatch.setattr(nodes, "parse", parse_what_is_well_formed)
    if fail is _crash:
        monkeypatch.setattr(conversion, "SMALL_CHARS", 0)
    done = convert_page("<title>T</title><p>a<b>b", "http://host.example/", time.monotonic() + 60)
    assert done == ("T", "a**b**", "")


@pytest.mark.parametrize("parser", parsers.PARSERS)
def test_both_parsers_build_the_tree_of_a_browser(parser: str) -> None:
    html = "<pre>\n\na</pre><table><p>out</p><tr><td>&copy;<td><svg><title>s</title></svg></table><p>b<p hidden>c"
    root = parsers.parse(html, parser).root
    assert root
    assert root.html == (
        "<html><head></head><body><pre>\n\na</pre><p>out</p><table><tbody><tr><td>©</td><td><svg><title>s</title></svg>"
        '</td></tr></tbody></table><p>b</p><p hidden="">c</p></body></html>'
    )
