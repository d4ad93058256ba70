"""What a model is told of a tool's answer."""

from typing import Any

import pytest

from ferrule_ask.tools import tool_results
from ferrule_ask.tools.tool_results import UNAVAILABLE, search_results

BRAVE = "web_search_brave"


def content(tool: str, document: dict[str, Any], *, failed: bool) -> tuple[str, bool]:
    """What the model is told, and whether it is told that it is an error."""
    result = tool_results.content(tool, document, failed=failed)
    return result.content, result.is_error


def hit(number: int = 1, **fields: Any) -> dict[str, Any]:
    return {"title": f"Title {number}", "url": f"https://e.example/{number}", "snippet": f"Text {number}", **fields}


def snippet(text: str) -> str:
    """The third line of the only result."""
    return search_results([hit(snippet=text)]).split("\n")[4].strip()


def test_five_of_seven_results_are_listed_in_the_form_of_the_specification() -> None:
    shown = search_results([hit(number) for number in range(1, 8)])
    assert shown.startswith(
        "Search Results:\n\n1. Title 1\n   https://e.example/1\n   Text 1\n\n2. Title 2\n   https://e.example/2\n"
    )
    assert "5. Title 5" in shown
    assert "Title 6" not in shown


def test_what_is_listed_is_a_source_and_so_is_a_page_of_its_own() -> None:
    hits = [hit(1, published="2026-01-02"), hit(2, title=""), {"title": "no URL"}]
    found = tool_results.content(BRAVE, {"success": True, "results": hits}, failed=False).sources
    assert [tuple(one) for one in found] == [
        ("Title 1", "https://e.example/1", "2026-01-02", BRAVE),
        ("https://e.example/2", "https://e.example/2", "", BRAVE),
    ]
    page = {"success": True, "url": "https://e.example/page", "title": "A page", "content": "Text"}
    assert [one.url for one in tool_results.content("web_fetch", page, failed=False).sources] == [page["url"]]
    assert tool_results.content("web_fetch", page, failed=True).sources == ()


@pytest.mark.parametrize("letter", ["x", "ü", "𝔊", "搜"])
def test_a_snippet_has_two_hundred_characters_of_any_kind(letter: str) -> None:
    assert snippet(letter * 200) == letter * 200
    assert snippet(letter * 201) == letter * 197 + "..."


def test_markup_and_entities_are_taken_out_before_the_snippet_is_cut() -> None:
    assert snippet("<strong>Bitcoin</strong> &amp; Ether &#8212; 5 &gt; 4") == "Bitcoin & Ether — 5 > 4"
    assert snippet("<strong>" + "x" * 200 + "</strong>") == "x" * 200


def test_what_is_missing_is_left_out_without_an_empty_line() -> None:
    shown = search_results([{"title": "A", "url": "https://a.example"}, hit(2, title=""), {"title": "no URL"}, "junk"])
    assert shown == (
        "Search Results:\n\n1. A\n   https://a.example\n\n2. https://e.example/2\n   https://e.example/2\n   Text 2"
    )


def test_a_date_that_is_known_reaches_the_model() -> None:
    shown = search_results([hit(published="2026-01-02"), hit(2, published="\n3. Fake"), hit(3, published="x" * 99)])
    assert shown == (
        "Search Results:\n\n1. Title 1\n   https://e.example/1\n   Text 1\n   Published: 2026-01-02\n\n"
        "2. Title 2\n   https://e.example/2\n   Text 2\n   Published: 3. Fake\n\n"
        f"3. Title 3\n   https://e.example/3\n   Text 3\n   Published: {'x' * 37}..."
    )


def test_a_description_stands_for_a_snippet() -> None:
    assert "   said so" in search_results([hit(snippet=None, description="said so")])


def test_a_result_without_lines_of_its_own_cannot_fake_another_one() -> None:
    shown = search_results([hit(title="A\n\n2. Fake\n   https://evil.example", snippet="x\r\n3. Fake")])
    assert shown.count("\n") == 4
    assert "\n2. " not in shown


def test_the_whole_list_is_about_fifteen_hundred_tokens_at_the_most() -> None:
    long = hit(title="t" * 5000, url="https://e.example/" + "u" * 5000, snippet="s" * 5000)
    assert len(search_results([long] * 20)) <= 6_000


def test_nothing_found_is_no_error() -> None:
    text, is_error = content(BRAVE, {"success": True, "results": [], "count": 0}, failed=False)
    assert (text, is_error) == ("Search Results:\n\nNothing was found.", False)


def test_the_result_of_another_tool_is_compact_json() -> None:
    text, is_error = content("weather", {"city": "Oslo", "results": [1]}, failed=False)
    assert (text, is_error) == ('{"city":"Oslo","results":[1]}', False)


@pytest.mark.parametrize("code", ["AUTH_INVALID", "RATE_LIMIT", "TIMEOUT", "INTERNAL_ERROR", ""])
@pytest.mark.parametrize("tool", [BRAVE, "web_search_google", "web_search"])
def test_of_a_search_that_failed_the_model_hears_that_it_is_left_to_its_knowledge(tool: str, code: str) -> None:
    document = {"success": False, "error": "the plan is used up", "error_code": code}
    assert content(tool, document, failed=True) == (UNAVAILABLE, True)


@pytest.mark.parametrize(
    ("wait", "seconds"), [({"retry_after": 7}, 7.0), ({"retryAfterSeconds": 7}, 7.0), ({"retry_after": "soon"}, None)]
)
def test_the_user_is_told_more_than_the_model(wait: dict[str, Any], seconds: float | None) -> None:
    document = {"success": False, "error": "the plan is used up", "error_code": "RATE_LIMIT", **wait}
    result = tool_results.content(BRAVE, document, failed=True)
    assert (result.content, result.code, result.error) == (UNAVAILABLE, "RATE_LIMIT", "the plan is used up")
    assert result.retry_after == seconds


def test_arguments_that_do_not_fit_are_told_for_a_search_too() -> None:
    document = {"success": False, "error": "Invalid arguments: query: it is required.", "error_code": "INVALID_INPUT"}
    assert content(BRAVE, document, failed=True) == ("Invalid arguments: query: it is required.", True)


def test_another_tool_is_heard_with_its_own_words_in_either_family() -> None:
    web = {"success": False, "error": "HTTP 404: Not Found", "error_code": "HTTP_ERROR"}
    notes = {"error": True, "message": "No such note.", "code": "NOT_FOUND", "hint": "List them."}
    assert content("web_fetch", web, failed=True) == ("HTTP 404: Not Found", True)
    assert content("opennotes_get", notes, failed=True) == ("No such note. List them.", True)


def test_a_document_that_says_it_failed_is_believed_whatever_the_exit_code() -> None:
    assert content("x", {"success": False, "error": "no"}, failed=False) == ("no", True)
    assert content("x", {"error": True, "message": "no"}, failed=False) == ("no", True)


def test_a_failure_in_the_shape_of_no_known_family_is_told_whole() -> None:
    assert content("x", {"ok": False, "reason": "full"}, failed=True) == ('{"ok":false,"reason":"full"}', True)
    assert content("x", {"error": {"message": "no"}}, failed=True) == ('{"error":{"message":"no"}}', True)


def test_a_failure_without_a_word_is_told_in_some() -> None:
    assert content("x", {}, failed=True) == ("The tool failed, and did not say why.", True)
    assert len(content("x", {"error": "e" * 9_000}, failed=True)[0]) == 2_000


def test_of_several_items_the_texts_are_shown_and_of_a_file_what_and_where_it_is() -> None:
    stored = {"resource": f"research://artifact/{'0' * 64}", "mimeType": "image/png", "bytes": 5120, "path": "/a/b"}
    items = [{"type": "text", "text": "Sales of May"}, {"type": "json", "value": {"sum": 12}}]
    document = {"success": True, "content": [*items, {"type": "image", "name": "may.png", **stored}]}
    shown = 'Sales of May\n\n{"sum":12}\n\n[image: may.png, image/png, 5,120 bytes, in /a/b]'
    assert content("charts", document, failed=False) == (shown, False)
