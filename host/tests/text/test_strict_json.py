"""JSON is read and written as the client does it: what it takes round-trips, all else is refused for its reason."""

import json
import math
import os
import subprocess
import sys
from enum import IntEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrule.text import strict_json
from ferrule.text.strict_json import MalformedJSON, Unrepresentable, dumps, loads

STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([10**308, -(10**308)])
STRICT = st.recursive(
    st.none() | st.booleans() | NUMBERS | STORABLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(STORABLE, inner, max_size=4),
    max_leaves=30,
)
SIGNS = r'{ } [ ] , : " \ 0 01 - .5 1e9 1e999 NaN -Infinity true null "a": "b" "\ud83d\ude00" "\ud83d" "\u0000"'
TOKENS = st.sampled_from([*SIGNS.split(), *" \n\t\v\ufeff", "9" * 309]) | STRICT.map(json.dumps)
QUICK = settings(deadline=None, database=None)


def independent_reading(text: str) -> list[Any]:
    """The document in a list, as the standard library reads it; `[]` where it is not strict."""
    try:
        value = json.loads(text, parse_constant=refuse, object_pairs_hook=without_duplicates)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        float(max((abs(number) for number in leaves(value) if isinstance(number, int)), default=0))
    except (ValueError, OverflowError):
        return []
    return [] if any(isinstance(leaf, str) and "\0" in leaf for leaf in leaves(value)) else [value]


def refuse(text: str) -> None:
    raise ValueError(text)


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError(pairs)
    return dict(pairs)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *(leaf for inner in value.values() for leaf in leaves(inner))]
    return [leaf for inner in value for leaf in leaves(inner)] if isinstance(value, list) else [value]


def spliced(tokens: list[str], text: str, place: int) -> str:
    return text[: place % (len(text) + 1)] + "".join(tokens) + text[place % (len(text) + 1) :]


@QUICK
@given(value=STRICT)
def test_what_is_strict_round_trips_through_either_side(value: Any) -> None:
    written = dumps(value)
    assert written == json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    assert repr(loads(written)) == repr(json.loads(written)) == repr(value)
    assert repr(loads(json.dumps(value, indent=1))) == repr(value)


@QUICK
@given(
    text=st.lists(TOKENS, max_size=12).map("".join)
    | st.builds(spliced, st.lists(TOKENS, max_size=2), STRICT.map(json.dumps), st.integers(0, 200))
)
def test_a_text_is_read_exactly_if_an_independent_reading_finds_it_strict(text: str) -> None:
    expected = independent_reading(text)
    try:
        found = [loads(text.encode())]
    except MalformedJSON:
        found = []
    assert repr(found) == repr(expected)


@QUICK
@given(data=st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        value = loads(data)
    except MalformedJSON:
        return
    assert [value] == independent_reading(data.decode())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "it is empty", id="nothing"),
        pytest.param(b" \n\t\r", "it is empty", id="blanks"),
        pytest.param(b"\xef\xbb\xbf{}", "it starts with a byte order mark", id="byte-order-mark"),
        pytest.param(b'{"a": "\xff"}', "byte 8 is not UTF-8", id="not-utf-8"),
        pytest.param(b'"\xed\xa0\x80"', "byte 2 is not UTF-8", id="surrogate-as-bytes"),
        pytest.param(b"{}\0", "the document ends, and something follows at line 1 column 3", id="nul-behind"),
        pytest.param(b"{} {}", "the document ends, and something follows at line 1 column 4", id="two-documents"),
        pytest.param(b"[1,\n 2,\n  x]", "a value was expected at line 3 column 3", id="third-line"),
        pytest.param(b"\n\n [1, x]", "a value was expected at line 3 column 6", id="blank-lines-before"),
        pytest.param(b"hello", "a value was expected at line 1 column 1", id="word"),
        pytest.param(b"[", "a value was expected at line 1 column 2", id="open-array"),
        pytest.param(b"-", "a value was expected at line 1 column 1", id="sign-alone"),
        pytest.param(b'{"a":1', "expecting ',' delimiter at line 1 column 7", id="open-object"),
        pytest.param(b'{"a"\n1}', "expecting ':' delimiter at line 2 column 1", id="no-colon"),
        pytest.param(b'{\n"a": "b\n"}', "invalid control character at line 2 column 8", id="control-character"),
        pytest.param(b'["\0"]', "invalid control character at line 1 column 3", id="raw-nul"),
        pytest.param(b'["a', "unterminated string starting at line 1 column 2", id="open-string"),
        pytest.param('["é", "ü" "'.encode(), "expecting ',' delimiter at line 1 column 11", id="characters-count"),
        pytest.param(b"[NaN]", "NaN is not JSON", id="nan"),
        pytest.param(b"-Infinity", "-Infinity is not JSON", id="infinity"),
        pytest.param(b"[1e999]", "the number 1e999 is out of range", id="float-out-of-range"),
        pytest.param(b"[-" + b"9" * 309 + b"]", f"the number -{'9' * 39} is out of range", id="integer-out-of-range"),
        pytest.param(b'{"a": 1, "a": 2}', "the key 'a' stands twice in one object", id="twice"),
        pytest.param(b'[{"b": {"a": 1, "\\u0061": 1}}]', "the key 'a' stands twice in one object", id="twice-nested"),
        pytest.param(b'"\\ud800"', "a lone surrogate stands at the top", id="lone-surrogate"),
        pytest.param(b'"\\udc00\\ud800"', "a lone surrogate stands at the top", id="surrogates-the-wrong-way"),
        pytest.param(b'{"a": [1, {"\\udead": 1}]}', "a lone surrogate stands at /a/1/'\\udead'", id="surrogate-key"),
        pytest.param(b'{"a/b": [1, "\\udead"]}', "a lone surrogate stands at /a~1b/1", id="lone-surrogate-nested"),
        pytest.param(b'{"a": "\\u0000"}', "a NUL character stands at /a", id="nul"),
        pytest.param(b'{"a\\u0000": {"b": "\\u0000"}}', "a NUL character stands at /'a\\x00'", id="nul-in-a-key"),
        pytest.param(b"[" * 100_000, "it is nested too deeply", id="100000-levels-of-arrays"),
        pytest.param(b'{"a":' * 100_000, "it is nested too deeply", id="100000-levels-of-objects"),
    ],
)
def test_what_is_not_strict_is_refused_for_its_reason(data: bytes, reason: str) -> None:
    with pytest.raises(MalformedJSON) as caught:
        loads(data)
    assert str(caught.value) == reason


@pytest.mark.parametrize("text", ["\udcff", '{"a": "\ud83d"}', "\ufeff{}"], ids=ascii)
def test_text_is_refused_for_what_its_bytes_would_be(text: str) -> None:
    with pytest.raises(MalformedJSON):
        loads(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud83d\ude00"', "😀"),
        (r'{"\ud83d\ude00": ["\uD83D\uDE00"]}', {"😀": ["😀"]}),
        (r'"\\u0000"', r"\u0000"),
        (r'"\\ud800"', r"\ud800"),
        ("\u2028".join('""'), "\u2028"),
        ("1.7976931348623157e308", sys.float_info.max),
        ("9" * 308, int("9" * 308)),
        ('[{"a": 1}, {"a": 1}]', [{"a": 1}, {"a": 1}]),
        (' {"a" :\r\n[ ] } ', {"a": []}),
    ],
    ids=ascii,
)
def test_what_only_looks_wrong_is_read(text: str, value: Any) -> None:
    assert loads(text) == loads(text.encode()) == value
    assert loads(dumps(value)) == value


@pytest.mark.parametrize(
    "data",
    [b'{"hunter2": 1, "hunter2": 2}', b'{"hunter2": "\\ud800"}', b'{"hunter2": "\\u0000"}', b"[" + b"123" * 200 + b"]"],
    ids=["key-twice", "surrogate", "nul", "number"],
)
def test_the_discreet_message_shows_nothing_of_the_text(data: bytes) -> None:
    with pytest.raises(MalformedJSON) as caught:
        loads(data)
    assert "hunter2" in str(caught.value) or "123" in str(caught.value)
    assert "hunter2" not in caught.value.discreet
    assert "123" not in caught.value.discreet


class Suit(IntEnum):
    """An integer that is more than one."""

    HEARTS = 1


def a_circle() -> list[Any]:
    circle: list[Any] = []
    circle.append({"again": circle})
    return circle


def nested(levels: int) -> Any:
    value: Any = None
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.process
@pytest.mark.parametrize(
    ("value", "reason"),
    [
        pytest.param({"a": [1, math.nan]}, "/a/1: NaN, which JSON does not have", id="nan"),
        pytest.param(-math.inf, "the top: an infinity, which JSON does not have", id="infinity"),
        pytest.param([10**309], "/0: an integer that is out of range", id="integer-out-of-range"),
        pytest.param([10**5000], "/0: an integer that is out of range", id="integer-too-long-to-print"),
        pytest.param({"a": {"b/c~": "\ud800"}}, "/a/b~1c~0: a lone surrogate, which UTF-8 cannot hold", id="surrogate"),
        pytest.param({"\ud800": 1}, "/'\\ud800': a lone surrogate, which UTF-8 cannot hold", id="surrogate-key"),
        pytest.param([["\0"]], "/0/0: a NUL character, which the client cannot store", id="nul"),
        pytest.param([{"a\0b": 1}], "/0/'a\\x00b': a NUL character, which the client cannot store", id="nul-in-a-key"),
        pytest.param({"a": {1: 2}}, "/a/1: a key that is not a string", id="integer-key"),
        pytest.param({None: 2}, "/None: a key that is not a string", id="null-key"),
        pytest.param([{b"a": 2}], "/0/b'a': a key that is not a string", id="bytes-key"),
        pytest.param([b"a"], "/0: a value of a type that JSON does not have", id="bytes"),
        pytest.param({"a": {1, 2}}, "/a: a value of a type that JSON does not have", id="set"),
        pytest.param(object(), "the top: a value of a type that JSON does not have", id="object"),
        pytest.param({"\n\0": math.nan}, "/\\n\\x00: NaN, which JSON does not have", id="place-on-one-line"),
        pytest.param({"a": math.nan, "b": math.nan}, "/a: NaN, which JSON does not have", id="the-first-of-several"),
        pytest.param(a_circle(), "it is circular or nested too deeply", id="circle"),
        pytest.param(nested(20_000), "it is circular or nested too deeply", id="20000-levels"),
    ],
)
def test_what_the_client_cannot_hold_is_refused_with_its_place(value: Any, reason: str) -> None:
    with pytest.raises(Unrepresentable) as caught:
        dumps(value)
    assert str(caught.value) == reason


@pytest.mark.slow
@pytest.mark.process
def test_the_place_of_what_is_wrong_in_100000_levels_is_shortened() -> None:
    value: Any = math.nan
    for _ in range(100_000):
        value = [value]
    with pytest.raises(Unrepresentable, match=r"^/0/0[/0…]{190,200}: NaN") as caught:
        dumps(value)
    assert len(str(caught.value)) < 300


def test_a_value_that_stands_in_several_places_is_no_circle() -> None:
    shared = {"a": [1]}
    value = {"x": shared, "y": [shared, shared], "z": {"x": shared}}
    assert loads(dumps(value)) == value


@pytest.mark.parametrize(
    ("value", "written"),
    [((1, (2,)), b"[1,[2]]"), (Suit.HEARTS, b"1"), (True, b"true"), (-0.0, b"-0.0"), ("/\x7f", b'"/\x7f"')],
    ids=["tuple", "enum", "boolean", "negative-zero", "delete"],
)
def test_what_python_has_besides_is_written_as_its_json(value: Any, written: bytes) -> None:
    assert dumps(value) == written


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(" " * 2_000_000 + "{}", id="blanks"),
        pytest.param('"' + "é\\n" * 600_000 + '"', id="text"),
        pytest.param('["\\u00e9",' + '{"a":[1,2.5,"b"]},' * 108_000 + "0]", id="objects"),
        pytest.param("{" + ",".join(f'"{number:07}":0' for number in range(180_000)) + "}", id="keys"),
        pytest.param("[" + "9" * 300 + ("," + "9" * 300) * 6_400 + "]", id="long-numbers"),
    ],
)
def test_two_megabytes_are_read_and_written_in_one_pass(text: str) -> None:
    # No clock: a second pass for each character would outlast the timeout of the whole test run.
    value = loads(text.encode())
    assert loads(dumps(value)) == value
    with pytest.raises(MalformedJSON, match="something follows at line 2 column 1"):
        loads(text + "\nx")


@pytest.mark.slow
@pytest.mark.process
def test_all_of_this_holds_where_the_c_module_is_missing() -> None:
    if strict_json._json is None:
        pytest.skip("this is the run without the C module")
    program = "import sys, pytest; sys.modules['_json'] = None; sys.exit(pytest.main(sys.argv[1:]))"
    options = ["--noconftest", "--import-mode=importlib", "-c", os.devnull, "-p", "no:cacheprovider"]
    command = [sys.executable, "-c", program, *options, "-k", "not megabytes", __file__]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "1 skipped" in finished.stdout
