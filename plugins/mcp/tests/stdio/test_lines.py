"""Lines of pipes, messages in lines, and text of programs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.text import strict_json
from ferrule_mcp.stdio.lenient_json import read_leniently
from ferrule_mcp.stdio.lines import LineReader, Tail, clean_text, fit_text, shorten_line
from ferrule_mcp.stdio.messages import read_messages

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.binary(max_size=30).map(lambda one: one.replace(b"\n", b"")), max_size=20), st.integers(1, 40))
def test_lines_are_the_same_however_they_are_cut(written: list[bytes], size: int) -> None:
    data = b"".join(line + b"\n" for line in written) + b"rest"
    reader = LineReader()
    read = [line for at in range(0, len(data), size) for line in reader.feed(data[at : at + size])]
    assert read == written
    assert reader.take_rest() == b"rest"
    assert reader.take_rest() == b""


@given(VALUES)
def test_whatever_a_server_writes_as_json_can_be_written_again(value: object) -> None:
    """By json.dumps of Python as it comes: NaN, lone surrogates and NUL among it."""
    for ascii_only in (True, False):
        line = json.dumps({"jsonrpc": "2.0", "method": "m", "params": {"v": value}}, ensure_ascii=ascii_only)
        (message,) = read_messages(line.encode(errors="surrogatepass"))
        strict_json.dumps(message)


@given(VALUES.filter(lambda value: isinstance(value, dict | list)))
def test_what_is_strict_already_is_read_as_it_is(value: object) -> None:
    try:
        line = strict_json.dumps(value)
    except strict_json.Unrepresentable:
        return
    assert read_leniently(line) == strict_json.loads(line)


@pytest.mark.parametrize("line", [b"x", b"7", b"null", b'"text"', b"{", b"[1]", b"{}", b'{"id": 1}', b'{"method": 7}'])
def test_a_line_without_a_message_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        read_messages(line)


def test_messages_of_a_batch_are_taken_and_the_rest_is_dropped() -> None:
    assert read_messages(b'[{"method":"a"}, 7, {"id":1,"result":{}}]') == [{"method": "a"}, {"id": 1, "result": {}}]
    assert read_messages(b"  \r") == []


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;link\x1b\\text", "text"),
        ("\x9b2Jtext", "text"),
        ("\x1bMtext\x1b", "text"),
        ("10%\r20%\r\n30%", "10%\n20%\n30%"),
        ("a\x00b\x08c\td", "abc\td"),
        ("a\u202eb\u200bc", "abc"),
        ("plain – Ü 日本", "plain – Ü 日本"),
    ],
)
def test_text_of_a_program_has_nothing_that_moves_a_cursor(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@given(st.text(st.characters()))
def test_clean_text_stays_clean(text: str) -> None:
    clean = clean_text(text)
    assert clean_text(clean) == clean
    assert all(letter in "\n\t" or letter.isprintable() for letter in clean)


def test_the_last_lines_are_kept_and_the_first_of_them_is_whole() -> None:
    tail = Tail()
    for number in range(10_000):
        tail.feed(f"line {number}\n".encode())
    lines = tail.last_lines(10_000)
    assert lines[-1] == "line 9999"
    assert lines == [f"line {number}" for number in range(10_000 - len(lines), 10_000)]
    assert 100 < len(lines) < 3_000
    assert tail.last_lines(2) == ["line 9998", "line 9999"]


def test_one_endless_line_says_nothing() -> None:
    tail = Tail()
    tail.feed(b"x" * 100_000)
    assert tail.last_lines(5) == []


def test_long_text_is_cut_or_counted() -> None:
    assert shorten_line("x" * 500) == "x" * 500
    assert shorten_line("x" * 501) == "x" * 500 + "…"
    assert fit_text("x" * 1_234, 1_234) == "x" * 1_234
    assert fit_text("x" * 1_235, 1_234) == "(1,235 characters)"
