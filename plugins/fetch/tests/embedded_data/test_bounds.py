"""Data that are made to cost time, memory or depth, and answers of the tool."""

import json
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from ferrule_dev.testing import Server
from ferrule_fetch.embedded_data import find_text, read_embedded
from ferrule_fetch.embedded_data.state import MAX_CHARS

URL = "https://app.example/"
SENTENCE = "Four oak gates were lifted out of the river on Monday, a century after they were hung."


def write_flight(*rows: str) -> str:
    return f"<script>self.__next_f.push([1,{json.dumps(chr(10).join(rows))}])</script>"


def write_nuxt(*values: object) -> str:
    return f'<script type="application/json" id="__NUXT_DATA__">{json.dumps(values)}</script>'


@pytest.mark.parametrize(
    "html",
    [
        write_nuxt({"a": 0, "b": 1, "c": 99, "d": -1}, [1, 0, 2], SENTENCE),
        write_nuxt(*([number + 1] * 20 for number in range(40)), SENTENCE),
        write_flight('0:["$0","$1",["$","p",null,{"children":"$1"}]]', f'1:["$1","$0",{json.dumps(SENTENCE)}]'),
        write_flight(*(f'{n:x}:["${n + 1:x}","${n + 1:x}"]' for n in range(40)), f"28:T{len(SENTENCE):x},{SENTENCE}"),
        f'<script>window.__APOLLO_STATE__={{"ROOT_QUERY":{{"a":{{"__ref":"A"}}}},"A":{{"a":{{"__ref":"A"}},"b":"{SENTENCE}"}}}}</script>',
        f'<script>window.__S__=(function(){{let a={{}};a.a=a;a.b="{SENTENCE}";return a}}())</script>',
    ],
    ids=["nuxt-circle", "nuxt-doubling", "flight-circle", "flight-doubling", "apollo-circle", "script-circle"],
)
def test_data_that_contain_themselves_are_read_once(html: str) -> None:
    assert find_text(html, URL, "")[1].count(SENTENCE) == 1


@pytest.mark.parametrize("depth", [70, 900, 50_000])
@pytest.mark.parametrize(
    "write",
    [
        lambda deep: f"<script type='application/json'>{deep}</script>",
        lambda deep: f"<script>window.__S__={deep}</script>",
        lambda deep: f"<script type='application/ld+json'>{deep}</script>",
        lambda deep: write_flight(f"0:{deep}"),
    ],
    ids=["json", "script", "json-ld", "flight"],
)
def test_what_nests_too_deeply_does_not_cost_the_rest(write: Callable[[str], str], depth: int) -> None:
    rest = f"<script>window.__T__={json.dumps({'text': SENTENCE})}</script>"
    deep = write('{"a":[' * depth + json.dumps("Too deep a sentence, it is not read.") + "]}" * depth)
    text = find_text(deep + rest, URL, "")[1]
    assert SENTENCE in text
    assert "Too deep" not in text


def test_an_editors_tree_that_nests_too_deeply_ends() -> None:
    node: dict[str, Any] = {"type": "text", "text": "Too deep"}
    for _ in range(300):
        node = {"type": "paragraph", "content": [node]}
    html = f"<script type='application/json'>{json.dumps({'a': node, 'b': SENTENCE})}</script>"
    assert find_text(html, URL, "")[1].endswith(f"]\n\n{SENTENCE}")


def write_doubling(last: str, of_many: str) -> str:
    """A script that names each object in the next one, ten times. of_many: what stands for `many` in them."""
    names = "abcdefghij"
    pairs = pairwise(names)
    made = "".join(f"{name}.x={of_many.replace('many', ','.join(before * 10))};" for before, name in pairs)
    given = ",".join("{}" for _ in names)
    body = f"{last}{made}return {{x:j,t:{SENTENCE!r}}}"
    return f"<script>window.__S__=(function({','.join(names)}){{{body}}}({given}))</script>"


@pytest.mark.parametrize(
    ("last", "of_many"),
    [
        (f"a.type='p';a.children=[{SENTENCE!r}];", "{type:'p',children:[many]}"),
        ("a.x=1;", "{author:[many]}"),
        ("a.x=1;", "['$','div',null,{style:{a:[many]}}]"),
        ("a.x=1;", "{title:'A title of it',price:[[many]]}"),
    ],
    ids=["tree", "fact", "style", "price"],
)
def test_what_stands_for_itself_many_times_costs_no_time(last: str, of_many: str) -> None:
    _, text = find_text(write_doubling(last, of_many), URL, "")
    assert SENTENCE in text
    assert len(text) < 3 << 20


def test_a_fact_that_contains_itself_is_none() -> None:
    assert SENTENCE in find_text(write_nuxt({"author": 1, "text": 2}, [1, 1], SENTENCE), URL, "")[1]


def test_a_number_of_any_length_costs_no_data() -> None:
    html = f'<script type="application/json">{{"a": {"9" * 100_000}, "text": "{SENTENCE}"}}</script>'
    assert SENTENCE in find_text(html, URL, "")[1]


def test_a_text_has_a_largest_length() -> None:
    texts = [f"{number} {SENTENCE}" for number in range(20_000)]
    assert (
        MAX_CHARS / 2 < len(find_text(f"<script>window.__S__={json.dumps(texts)}</script>", URL, "")[1]) < MAX_CHARS * 2
    )


@pytest.mark.process
@pytest.mark.parametrize(
    "html",
    [
        "<script>" + "window.__S__={a:" * 200_000 + "</script>",
        "<script>" + "window.__S__={a:[1,2,3],b:'" * 100_000 + "</script>",
        "<script>" + "__next_f.push([" * 200_000 + "</script>",
        "<script>" + "window.a" + " " * 1_000_000 + "=" * 1_000_000 + "</script>",
        "<script>" + ".start(" * 200_000 + "__sveltekit_a.resolve(" * 100_000 + "</script>",
        "<script>streamController.enqueue('" + "[" * 1_000_000 + "')</script>",
        "<script>window.a={" + "/**/" * 500_000 + "</script>",
        "<script>window.a='" + "\\u" * 1_000_000 + "'</script>",
        '<script type="application/ld+json">' + '{"a":' * 500_000 + "</script>",
    ],
)
def test_scripts_that_are_made_to_cost_time_are_given_up(html: str) -> None:
    assert read_embedded(html, URL, "", time.monotonic() + 60) is None


@pytest.mark.process
def test_an_answer_says_that_its_text_is_from_the_data(server: Server, fetch: Callable[..., dict[str, Any]]) -> None:
    state = json.dumps({"title": "Gates", "text": SENTENCE})
    page = f"<title>T</title><div id=app>Loading…</div><script>window.__S__={state}</script>"
    answer = fetch(server.page("/", page))
    own, note, heading, text = answer["content"].split("\n\n")
    assert (answer["title"], own, heading, text) == ("T", "Loading…", "# Gates", SENTENCE)
    assert note.startswith("[The HTML of this page has hardly any words. What follows was read from its data")


@pytest.mark.process
def test_a_page_with_words_is_not_read_twice(server: Server, fetch: Callable[..., dict[str, Any]]) -> None:
    page = f"<p>{'The page has words of its own. ' * 20}</p><script>window.__S__={json.dumps([SENTENCE] * 9)}</script>"
    assert "oak gates" not in fetch(server.page("/", page))["content"]
