"""Parts of a page: offset, limit, and what is left out where an answer would be too large."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from ferrule import Context
from ferrule_dev.testing import Exchange, Server, context
from ferrule_fetch.text.lines import Document, Lines
from ferrule_fetch.text.pages import answer
from ferrule_testkit.effort import examples

Fetch = Callable[..., dict[str, Any]]
MakeContext = Callable[..., Context]

MANY = [f'line {number}: "ünï\\cödé" 漢字 🙂 {"x" * (number % 97)}' for number in range(1, 4_001)]


@pytest.fixture
def ten_lines(server: Server) -> str:
    return server.page("/", "\n".join(map(str, range(1, 11))), "text/plain")


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        ({}, "1 2 3 4 5 6 7 8 9 10"),
        ({"offset": 1}, "1 2 3 4 5 6 7 8 9 10"),
        ({"offset": 8}, "8 9 10"),
        ({"offset": 10}, "10"),
        ({"offset": 8, "limit": 3}, "8 9 10"),
        ({"offset": 8, "limit": 99}, "8 9 10"),
        ({"limit": 10}, "1 2 3 4 5 6 7 8 9 10"),
        ({"limit": 10**30}, "1 2 3 4 5 6 7 8 9 10"),
    ],
)
def test_lines_up_to_the_end_are_all_there_is(
    ten_lines: str, fetch: Fetch, arguments: dict[str, int], content: str
) -> None:
    answer = fetch(ten_lines, **arguments)
    assert answer["content"] == content.replace(" ", "\n")
    assert set(answer) == {"success", "url", "title", "content"}


@pytest.mark.process
@pytest.mark.parametrize("offset", [11, 12, 10**30])
def test_an_offset_beyond_the_end_gives_nothing(ten_lines: str, fetch: Fetch, offset: int) -> None:
    for arguments in ({"offset": offset}, {"offset": offset, "limit": 1}):
        answer = fetch(ten_lines, **arguments)
        assert (answer["content"], answer["total_lines"]) == ("", 10)
        assert set(answer) == {"success", "url", "title", "content", "total_lines"}


@pytest.mark.process
def test_a_limit_that_leaves_lines_out_says_where_to_go_on(ten_lines: str, fetch: Fetch) -> None:
    answer = fetch(ten_lines, offset=3, limit=4)
    assert answer["content"] == "3\n4\n5\n6"
    assert (answer["truncated"], answer["next_offset"], answer["total_lines"]) == (True, 7, 10)


@pytest.mark.process
def test_lines_are_those_of_the_markdown(server: Server, fetch: Fetch) -> None:
    url = server.page("/", "<h1>One</h1><p>Two\n\n\nwords</p><p>Three")
    assert fetch(url, offset=3, limit=1)["content"] == "Two words"


@pytest.mark.process
def test_an_answer_that_is_too_large_is_cut_at_a_line(server: Server, fetch: Fetch, make_context: MakeContext) -> None:
    context = make_context()
    answer = fetch(server.page("/", "\n".join(MANY), "text/plain"), within=context)
    last = answer["next_offset"] - 1
    assert answer["content"] == "\n".join(MANY[:last])
    assert (answer["truncated"], answer["total_lines"]) == (True, len(MANY))
    assert context.size(answer) <= context.max_bytes
    with_one_more = {**answer, "content": "\n".join(MANY[: last + 1])}
    assert context.size(with_one_more) > context.max_bytes


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("arguments", [{}, {"limit": 7}, {"limit": 700}], ids=["all", "seven", "seven-hundred"])
@pytest.mark.parametrize("max_bytes", [65_534, 4_000])
def test_paging_gives_every_line_once(
    server: Server, fetch: Fetch, make_context: MakeContext, arguments: dict[str, int], max_bytes: int
) -> None:
    url = server.page("/", "\n".join(MANY[:600]), "text/plain; charset=utf-8")
    lines: list[str] = []
    offset = 1
    while offset:
        answer = fetch(url, within=make_context(max_bytes=max_bytes), offset=offset, **arguments)
        lines += answer["content"].split("\n")
        offset = answer.get("next_offset", 0)
    assert lines == MANY[:600]


@pytest.mark.process
def test_a_line_that_fits_into_no_answer_is_cut_and_says_so(
    server: Server, fetch: Fetch, make_context: MakeContext
) -> None:
    line = "漢" * 50_000
    url = server.page("/", f"first\n{line}\nlast", "text/plain; charset=utf-8")
    context = make_context()
    answer = fetch(url, within=context, offset=2)
    shown, _, note = answer["content"].partition(" … ")
    assert line.startswith(shown)
    assert note == f"[line 2 is cut: {len(shown):,} of its 50,000 characters]"
    assert (answer["truncated"], answer["next_offset"], answer["total_lines"]) == (True, 3, 3)
    assert context.max_bytes - 12 <= context.size(answer) <= context.max_bytes


@pytest.mark.process
def test_a_last_line_that_is_cut_leads_to_the_end(server: Server, fetch: Fetch) -> None:
    url = server.page("/", "x" * 100_000, "text/plain")
    following = fetch(url)["next_offset"]
    assert fetch(url, offset=following) == {"success": True, "url": url, "title": "", "content": "", "total_lines": 1}


@pytest.mark.process
def test_empty_lines_are_lines(server: Server, fetch: Fetch, make_context: MakeContext) -> None:
    url = server.page("/", "\n" * 200_000 + "end", "text/plain")
    answer = fetch(url, within=make_context())
    assert answer["total_lines"] == 200_001
    assert set(answer["content"]) == {"\n"}
    assert fetch(url, offset=200_001)["content"] == "end"


@pytest.mark.process
def test_an_answer_that_just_fits_is_not_cut(server: Server, fetch: Fetch, make_context: MakeContext) -> None:
    url = server.page("/", "a\nb\n" + "c" * 100, "text/plain")
    whole = fetch(url)
    size = make_context().size(whole)
    assert fetch(url, within=make_context(max_bytes=size)) == whole
    assert fetch(url, within=make_context(max_bytes=size - 1))["truncated"] is True


_texts = some.text(some.sampled_from('ab \n\n\\"\x7f漢🙂\u2028\u0301'), max_size=400)


@settings(max_examples=examples(60))
@given(
    text=_texts,
    title=some.text("x🙂", max_size=9),
    limit=some.none() | some.integers(1, 9),
    spare=some.integers(120, 600),
)
def test_paging_through_any_text_gives_every_line_once(text: str, title: str, limit: int | None, spare: int) -> None:
    within = context("web_fetch")
    document = Document(title, Lines(text))
    within.max_bytes = within.size({"success": True, "url": "u", "title": title, "content": ""}) + spare
    lines: list[str] = []
    while len(lines) < len(document.lines):
        answered = answer("u", document, len(lines) + 1, limit, within)
        assert within.size(answered) <= within.max_bytes
        shown = answered["content"].split("\n")
        beginning, is_cut, note = shown[-1].partition(" … [line ")
        if is_cut:
            whole = document.lines[len(lines)]
            assert whole.startswith(beginning)
            assert note == f"{len(lines) + 1:,} is cut: {len(beginning):,} of its {len(whole):,} characters]"
            shown = [whole]
        lines += shown
        assert answered.get("next_offset", len(lines) + 1) == len(lines) + 1
        assert answered.get("total_lines", len(lines)) == len(document.lines)
    assert "\n".join(lines) == text


@pytest.mark.slow
@pytest.mark.process
@given(text=_texts, beyond=some.integers(1, 10**12), limit=some.none() | some.integers(1, 10**12))
def test_beyond_any_text_there_is_nothing(text: str, beyond: int, limit: int | None) -> None:
    document = Document("", Lines(text))
    answered = answer("u", document, len(document.lines) + beyond, limit, context("web_fetch"))
    assert answered == {"success": True, "url": "u", "title": "", "content": "", "total_lines": len(document.lines)}


@pytest.mark.parametrize("letter", ["x", '"', "\\", "é", "漢", "🙂", "\u2028"])
def test_a_line_is_cut_at_the_last_character_that_fits(letter: str) -> None:
    within = context("web_fetch")
    answered = answer("u", Document("", Lines(letter * 70_000)), 1, None, within)
    shown = answered["content"].partition(" … ")[0]
    one_more = {**answered, "content": letter + answered["content"]}
    assert set(shown) == {letter}
    assert within.size(answered) <= within.max_bytes < within.size(one_more) + 1


@pytest.mark.process
def test_an_address_that_a_redirect_made_long_leaves_room_for_the_page(server: Server, fetch: Fetch) -> None:
    def lead_on(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /" + "漢".encode() * 7_000 + b"\r\n\r\n")

    server.route("*", lambda exchange: exchange.answer(b"arrived", "text/plain"))
    answered = fetch(server.route("/", lead_on))
    assert answered["content"] == "arrived"
    assert len(json.dumps(answered, ensure_ascii=False).encode()) < 65_535
