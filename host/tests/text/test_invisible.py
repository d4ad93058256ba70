"""Characters that nobody sees, and which of them are meant."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.text.invisible import hidden_in, without_invisible, without_invisible_in_html
from ferrule.text.visibility import make_visible, may_hide

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "secret")
ENGLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\u202eb\u202cc\u2066d\u2069", "abcd"),
        (f"a{TAGS}b", "ab"),
        (f"\U0001f3f4{TAGS}\U000e007f", "\U0001f3f4"),
        ("ig\u200bno\u200dre\u2060\ufeff", "ignore"),
        ("漢\u200b\u200b字", "漢字"),
        ("\U0001f600\ufe00\ufe01\ufe02", "\U0001f600"),
        ("a\ufe0fb", "ab"),
        ("a\u200eb", "ab"),
        ("a\x00\x07\x1b[31m\x7f\x80\x9f", "a[31m"),
        ("a\ufdd0\ufffe\uffff\ufff9", "a"),
        ("\u200dא", "א"),
    ],
)
def test_what_carries_text_past_the_reader_is_taken_out(text: str, left: str) -> None:
    assert without_invisible(text) == left


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_what_separates_words_becomes_a_blank(separator: str) -> None:
    assert without_invisible(f"a{separator}b") == "a b"


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\r\nc\xa0d",
        ENGLAND,
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f\u200d\U0001f525",
        "1\ufe0f\u20e3",
        "می\u200cخواهم",
        "क्\u200dष",
        "שלום (C++)\u200f עולם",
        "Donau\xaddampfschiff",
        "葛\U000e0100城",
        "\ufffd\ufffc\ue000",
    ],
)
def test_what_writing_needs_stays(text: str) -> None:
    assert without_invisible(text) == text


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("ig&#8203;no&#x200B;re&ZeroWidthSpace;", "ignore"),
        ("a&#x202E;b&#0008238;c&#x202e", "abc"),
        ("&#1;&#x1B;&#127;", ""),
        ("می&zwnj;خواهم &#8212; &#150;", "می\u200cخواهم &#8212; &#150;"),
        ("&amp;#x202e; &#x202eg; &#x110000; &#99999999;", "&amp;#x202e; g; &#x110000; &#99999999;"),
        ("&#9;&#10;&#13;", "&#9;&#10;&#13;"),
    ],
)
def test_references_to_them_are_taken_out_of_html(html: str, left: str) -> None:
    assert without_invisible_in_html(html) == left


def test_what_is_not_meant_can_be_marked() -> None:
    assert without_invisible("a\u202eb\u200dc", "?") == "a?b?c"


@pytest.mark.slow
@pytest.mark.process
def test_a_text_of_many_slices_is_worked_through_to_its_end() -> None:
    text = "x\u202e" * (3 << 20)
    assert without_invisible(text) == "x" * (3 << 20)


@given(st.text(st.characters(categories=["Cc", "Cf", "Cn", "Ll", "Lo", "Mn", "Zs"]), max_size=60))
def test_taking_out_leaves_the_rest_as_it_is_and_no_run(text: str) -> None:
    left = without_invisible(text)
    hidden = r"[\u200b-\u200d\u202a-\u202e\u2066-\u2069\ufe00-\ufe0f\U000e0000-\U000e007f]"
    assert re.sub(hidden, "", left.replace(" ", "")).isprintable() or not left.isprintable()
    assert not re.search(r"[\u202a-\u202e\u2066-\u2069]|[\u200b-\u200d]{2}|[\ufe00-\ufe0f]{2}", left)


@given(st.text(st.characters(categories=["Cc", "Cf", "Cn", "Ll", "Lo", "Mn", "Zs"]), max_size=20))
def test_what_is_taken_out_is_named_and_what_may_be_is_seen_at_a_glance(text: str) -> None:
    assert bool(hidden_in(text)) == (without_invisible(text) != text)
    assert may_hide(text) or not hidden_in(text)
    assert not hidden_in(make_visible(text))


@pytest.mark.slow
@pytest.mark.process
def test_no_character_that_may_be_invisible_is_missed_at_a_glance() -> None:
    letters = [chr(number) for number in range(0x110000)]
    gone = [letter for letter in letters if without_invisible(f"a{letter}b") != f"a{letter}b"]
    assert [letter for letter in gone if not may_hide(f"a{letter}b")] == []


def test_a_text_made_visible_shows_what_it_hides_and_keeps_its_lines() -> None:
    assert make_visible("a\u202eb\n\tc \x1b[0m d\u00a0e \U000e0041") == "a<U+202E>b\n\tc <U+001B>[0m d\u00a0e <U+E0041>"
