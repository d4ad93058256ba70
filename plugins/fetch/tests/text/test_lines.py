"""A text by its lines, as a list would give them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule_fetch.text.lines import Lines

TEXTS = st.text("ab\n", max_size=400).flatmap(lambda text: st.sampled_from([text, text * 700]))


@given(TEXTS, st.lists(st.integers(0, 500), max_size=8))
def test_every_line_is_that_of_a_list(text: str, places: list[int]) -> None:
    lines, expected = Lines(text), text.split("\n")
    assert len(lines) == len(expected)
    for place in places:
        index = place % len(expected)
        assert lines[index] == expected[index]
        assert lines[-1 - index] == expected[-1 - index]


@given(TEXTS, st.integers(0, 600), st.integers(0, 600))
def test_every_slice_is_that_of_a_list(text: str, first: int, last: int) -> None:
    assert Lines(text)[first:last] == text.split("\n")[first:last]


def test_only_a_line_feed_ends_a_line() -> None:
    assert list(Lines("a\u2028b\x0cc\rd\ne")) == ["a\u2028b\x0cc\rd", "e"]


@pytest.mark.parametrize("index", [2, -3, 10**30])
def test_there_is_no_line_beyond_the_last(index: int) -> None:
    with pytest.raises(IndexError):
        Lines("a\nb")[index]
