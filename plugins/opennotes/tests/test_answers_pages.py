"""Pages of results."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrule_opennotes.answers import pages

RESULTS = st.lists(
    st.dictionaries(st.sampled_from(["path", "title", "content"]), st.text(max_size=3000), min_size=1), max_size=60
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RESULTS, st.integers(1, 70))
def test_pages_neither_lose_nor_repeat_a_result(results, limit):
    gathered, offset = [], 0
    while True:
        page = pages.cut(results[offset : offset + limit], len(results), offset, limit)
        gathered += page.items
        assert page.pagination["returned"] == len(page.items)
        assert page.pagination["total"] == len(results)
        assert page.pagination["hasMore"] is ("nextOffset" in page.pagination)
        if not page.pagination["hasMore"]:
            break
        assert page.guidance
        assert f"{{ offset: {page.pagination['nextOffset']} }}" in page.guidance
        offset = page.pagination["nextOffset"]
    assert gathered == results


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RESULTS)
def test_a_page_fits_its_budget(results):
    page = pages.cut(results, len(results), 0, 1000)
    assert len(json.dumps(page.items, ensure_ascii=False).encode()) <= 51_200


def test_an_answer_stops_at_three_quarters_of_fifty_kilobytes():
    results = [{"path": f"{number:04}.md", "title": "x" * 990} for number in range(200)]
    page = pages.cut(results, 200, 0, 200)
    assert 37_000 <= len(json.dumps(page.items).encode()) <= 38_400
    assert page.pagination["nextOffset"] == len(page.items)


def test_many_small_results_fill_an_answer_which_is_one_line():
    results = [{"path": f"{number}.md", "a": 1, "b": 2} for number in range(1000)]
    assert pages.cut(results, 1000, 0, 1000).pagination["returned"] == 1000


def test_one_result_that_is_too_large_is_shortened_and_said_so():
    page = pages.cut([{"path": "a.md", "content": "\x01é" * 50_000, "n": 1}, {"path": "b.md"}], 2, 0, 50)
    assert page.items[0]["path"] == "a.md"
    assert page.items[0]["n"] == 1
    assert page.items[0]["content"].startswith("\x01é")
    assert len(json.dumps(page.items, ensure_ascii=False).encode()) <= 38_420
    assert page.guidance is not None
    assert "content shortened" in page.guidance
    assert page.pagination["nextOffset"] == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [({}, (0, 50)), ({"offset": 10.0, "limit": 5.0}, (10, 5)), ({"limit": 5000}, (0, 1000)), ({"limit": 0}, (0, 50))],
)
def test_bounds_are_whole_and_have_their_defaults(arguments, expected):
    assert pages.read_bounds(arguments) == expected


def test_a_fraction_is_refused():
    assert pages.find_problems({"limit": 1.5, "offset": 2.0}) == ["limit: 1.5 is no whole number"]


def test_past_the_end_there_is_nothing_and_the_guidance_says_so():
    page = pages.cut([], 120, 500, 50)
    assert page.pagination == {"total": 120, "returned": 0, "page": 11, "pageSize": 50, "hasMore": False}
    assert page.guidance == "There are 120 results, and none from offset 500 on."


@pytest.mark.parametrize("tags", [[f"tag{number}" for number in range(10_000)], ["t"] * 30_000, ["x" * 100_000, "y"]])
def test_a_list_that_is_too_long_stays_a_list(tags):
    page = pages.cut([{"path": "a.md", "tags": tags}], 1, 0, 50)
    shortened = page.items[0]["tags"]
    assert shortened
    assert all(tag.startswith(short) for short, tag in zip(shortened, tags, strict=False))
    assert len(json.dumps(page.items[0]).encode()) <= 38_400
    assert page.guidance is not None
    assert "tags shortened" in page.guidance
