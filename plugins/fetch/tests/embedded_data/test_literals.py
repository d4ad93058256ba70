"""Values as scripts write them."""

import pytest

from ferrule_fetch.embedded_data.literals import NotALiteral, read_literal


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ('{"a": [1, 2.5, null, true]}', {"a": [1, 2.5, None, True]}),
        ("{a: 'x', \"b\": `y`, 3: [, 1,],}", {"a": "x", "b": "y", "3": [None, 1]}),
        ("{$c: !0, d: !1, e: void 0}", {"$c": True, "d": False, "e": None}),
        (r"'\x41\u00e9\u{1F600}\ud83d\ude00\n\'\
'", "Aé😀😀\n'"),
        ("[-1.5e3, .5, 0x1F, 12n, NaN]", [-1500.0, 0.5, 31, 12, None]),
        ("{a: /* b */ 1, // c\n d: 2}", {"a": 1, "d": 2}),
        ("[new Date(0), new Set(['x']), new Map([['k', 1]])]", [0, ["x"], [["k", 1]]]),
        ("[Array(2), Object.freeze({a: 1})]", [[], {"a": 1}]),
        (r"JSON.parse('{\"a\": \"\\u0062\"}')", {"a": "b"}),
        ("JSON.parse(decodeURIComponent('%7B%22a%22%3A1%7D'))", {"a": 1}),
        ("(function(a,b){return {x:a,y:[b,b]}}('one',{z:2}))", {"x": "one", "y": [{"z": 2}, {"z": 2}]}),
        ("(function(a,b){a.x=1;b[0]='two';return [a,b]}({},[]))", [{"x": 1}, ["two"]]),
        ("(function(){let a={};a.x=1;return {p:a,q:a}}())", {"p": {"x": 1}, "q": {"x": 1}}),
        ("[(function(a){return a}(1)),(function(a){return a}(2))]", [1, 2]),
    ],
)  # fmt: skip
def test_data_are_read_in_every_spelling(source: str, value: object) -> None:
    assert read_literal(f"x={source};y", 2) == (value, len(source) + 2)


@pytest.mark.parametrize(
    "source",
    [
        *("", "{", "[1", "'open", "`a${b}`", "{a: b}", "{a() {}}", "{...a}", "a + 1", "/*", "JSON.parse('{')"),
        *("function(){alert(1)}", "(function(a){return (function(b){return b}(a))}(1))"),
        *("[" * 5_000, "{a:" * 5_000, "(" * 5_000, "!" * 5_000),
    ],
)  # fmt: skip
def test_what_is_more_than_data_is_refused(source: str) -> None:
    with pytest.raises(NotALiteral):
        read_literal(source)


def test_what_contains_itself_is_read() -> None:
    value = read_literal("(function(){let a={};a.self=a;return a}())").value
    assert isinstance(value, dict)
    assert value["self"] is value
