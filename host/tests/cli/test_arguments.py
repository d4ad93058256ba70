"""`key=value` words, made the arguments that a schema expects."""

import pytest

from ferrule.cli.arguments import Pair, arguments

KINDS = ("string", "integer", "number", "boolean", "object")
SCHEMA = {
    "parameters": {
        "properties": {
            **{kind: {"type": kind} for kind in KINDS},
            "texts": {"type": "array", "items": {"type": "string"}},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "things": {"type": "array"},
        }
    }
}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        pytest.param("string=5", {"string": "5"}, id="a-text-stays-one"),
        pytest.param("string=a=b", {"string": "a=b"}, id="only-the-first-sign-counts"),
        pytest.param("string=", {"string": ""}, id="an-empty-text"),
        pytest.param("string={}", {"string": "{}"}, id="a-text-that-looks-like-json"),
        pytest.param("integer=5 number=-2.5e3", {"integer": 5, "number": -2500.0}, id="numbers"),
        pytest.param("integer=5.0", {"integer": 5.0}, id="a-whole-float-is-for-the-check"),
        pytest.param("boolean=True", {"boolean": True}, id="a-boolean-in-any-case"),
        pytest.param('object={"a":[1]}', {"object": {"a": [1]}}, id="an-object"),
        pytest.param("texts=1 texts=2,3", {"texts": ["1", "2,3"]}, id="an-array-item-by-item"),
        pytest.param("numbers=1 numbers=2", {"numbers": [1, 2]}, id="items-have-their-type"),
        pytest.param("numbers=[1,2]", {"numbers": [1, 2]}, id="an-array-at-once"),
        pytest.param("things=1", {"things": ["1"]}, id="items-of-no-type-are-texts"),
        pytest.param("string:=5 other:=null", {"string": 5, "other": None}, id="json-as-it-is"),
        pytest.param("unknown=5", {"unknown": "5"}, id="what-is-unknown-is-text"),
    ],
)
def test_values_get_the_type_of_their_parameter(words: str, expected: dict[str, object]) -> None:
    assert arguments(map(Pair, words.split()), SCHEMA) == expected


@pytest.mark.parametrize(
    "word", ["integer=five", "integer=", "integer=true", "number=1e999", "number=NaN", "boolean=yes", "object=[]"]
)
def test_what_is_not_of_its_type_stays_text_so_that_the_check_can_name_it(word: str) -> None:
    key, _, value = word.partition("=")
    assert arguments([Pair(word)], SCHEMA) == {key: value}


@pytest.mark.parametrize("word", ["string", "=5", ":=5", ""])
def test_what_is_no_pair_is_an_error(word: str) -> None:
    with pytest.raises(ValueError, match="neither key=value"):
        Pair(word)


@pytest.mark.parametrize("words", ["string=a string=b", "string:=1 string=b", "texts=[] texts=[]"])
def test_a_key_that_comes_twice_is_an_error(words: str) -> None:
    with pytest.raises(ValueError, match="stands twice"):
        arguments(map(Pair, words.split()), SCHEMA)


@pytest.mark.parametrize("word", ["a:=", "a:=x", "a:=NaN", 'a:={"b":1,"b":2}'])
def test_json_that_is_none_is_an_error(word: str) -> None:
    with pytest.raises(ValueError, match="is not JSON"):
        arguments([Pair(word)], SCHEMA)
