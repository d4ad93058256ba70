"""Texts that are cut."""

import random

import pytest

from ferrule_research.page.budget import MARK, truncate

pytestmark = pytest.mark.process


FAMILY = "👨‍👩‍👧‍👦"


def test_what_fits_is_left_alone() -> None:
    assert truncate("é" * 50, 100) == "é" * 50


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("a" * 60 + "\n\n" + "b" * 90, 100 + len(MARK), "a" * 60),
        ("a" * 60 + ". " + "b" * 90, 100 + len(MARK), "a" * 60 + "."),
        ("a" * 60 + "\n" + "b" * 90, 100 + len(MARK), "a" * 60),
        ("a" * 60 + " " + "b" * 90, 100 + len(MARK), "a" * 60),
        ("a" * 40 + "\n\n" + "b" * 110, 100 + len(MARK), "a" * 40 + "\n\n" + "b" * 58),
    ],
)
def test_it_ends_where_a_paragraph_sentence_line_or_word_does(text: str, most: int, expected: str) -> None:
    assert truncate(text, most) == expected + MARK


def test_it_never_passes_the_limit_nor_splits_a_character() -> None:
    rng = random.Random(5)
    letters = ["a", "é", "漢", "👍🏽", FAMILY, "e\u0301", " ", "\n\n", ". ", "\\*", "```\n", "❤\ufe0f"]
    for _ in range(400):
        text = "".join(rng.choices(letters, k=80))
        for most in rng.sample(range(1, 300), 20):
            cut = truncate(text, most)
            assert len(cut.encode()) <= most
            assert "\ufffd" not in cut


@pytest.mark.parametrize("letter", ["e\u0301\u0302", "👍🏽", FAMILY, "❤\ufe0f"])
def test_what_is_seen_as_one_letter_is_kept_or_left_out_whole(letter: str) -> None:
    text = "x" * 100 + letter + "x" * 100
    for most in range(110, 160):
        shown = truncate(text, most).removesuffix(MARK)
        assert shown.rstrip("x") in ("", "x" * 100 + letter)


def test_an_escape_is_not_parted_from_what_it_escapes() -> None:
    for most in range(60, 90):
        shown = truncate("\\*" * 100, most).removesuffix(MARK)
        assert len(shown) % 2 == 0
        shown = truncate("\\\\" * 100, most).removesuffix(MARK)
        assert len(shown) % 2 == 0


def test_a_block_of_code_is_closed_before_the_mark() -> None:
    text = "Words.\n\n````python\n" + "x = 1\n" * 60 + "````\n"
    cut = truncate(text, 200)
    assert cut.endswith("x = 1\n````" + MARK)
    assert len(cut.encode()) <= 200


def test_where_there_is_no_room_for_the_mark_there_is_none() -> None:
    assert truncate("abcdef" * 20, 30) == ("abcdef" * 20)[:30]


@pytest.mark.parametrize(
    ("opening", "inner", "closing"),
    [
        ("> ```\n", "> x = 1\n", "> ```"),
        ("- ```\n", "  x = 1\n", "  ```"),
        ("1. One\n\n   ~~~~\n", "   x = 1\n", "   ~~~~"),
        ("```\n", "```python\n", "```"),
    ],
)
def test_a_block_of_code_is_closed_where_it_stands(opening: str, inner: str, closing: str) -> None:
    cut = truncate(opening + inner * 60, 200)
    assert cut.endswith(f"\n{closing}{MARK}")
    assert len(cut.encode()) <= 200


def test_a_block_that_is_closed_in_a_list_is_not_closed_again() -> None:
    assert truncate("- ```\n  x = 1\n  ```\n" + "word " * 60, 200).removesuffix(MARK).endswith("word")
