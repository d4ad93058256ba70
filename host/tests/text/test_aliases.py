"""Tools under other names: their schemas, and the texts that name them."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.text.aliases import rename_schema, rename_text, with_prefix

NAMES = {"web_fetch": "fetch", "web_search": "find", "a": "b", "b": "a"}


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        pytest.param("web_fetch", "fetch", id="alone"),
        pytest.param("Use web_fetch, then `web_search`.", "Use fetch, then `find`.", id="in-a-sentence"),
        pytest.param("web_fetch web_fetch(web_fetch)", "fetch fetch(fetch)", id="several-times"),
        pytest.param("web_fetcher my_web_fetch web_fetch2", "web_fetcher my_web_fetch web_fetch2", id="part-of-a-word"),
        pytest.param("web-fetch web_fetch-tool x-web_fetch", "web-fetch web_fetch-tool x-web_fetch", id="with-dashes"),
        pytest.param("éweb_fetch web_fetché", "éweb_fetch web_fetché", id="beside-letters-that-are-not-ascii"),
        pytest.param("a b a", "b a b", id="swapped"),
        pytest.param("web_fetch.api_key of my.web_fetch.", "web_fetch.api_key of my.web_fetch.", id="dotted-names"),
        pytest.param("See web_fetch.", "See fetch.", id="at-the-end-of-a-sentence"),
        pytest.param("https://a.example/web_fetch web_fetch", "https://a.example/web_fetch fetch", id="urls"),
        pytest.param("`ferrule validate web_fetch` web_fetch", "`ferrule validate web_fetch` fetch", id="a-command"),
        pytest.param("ferrule credentials set a b", "ferrule credentials set a a", id="a-longer-command"),
        pytest.param("nothing of it", "nothing of it", id="none"),
        pytest.param("", "", id="empty"),
    ],
)
def test_a_tool_is_renamed_where_it_stands_as_a_whole_word(text: str, renamed: str) -> None:
    assert rename_text(text, NAMES) == renamed


def test_a_name_that_begins_like_another_one_is_not_taken_for_it() -> None:
    names = {"web": "x", "web_search": "y", "web_search_brave": "z"}
    assert rename_text("web web_search web_search_brave", names) == "x y z"


def test_a_name_is_text_and_no_pattern() -> None:
    assert rename_text("a.c abc", {"a.c": r"\1\g<0>"}) == r"\1\g<0> abc"


def test_a_schema_is_renamed_in_its_name_and_in_its_descriptions_at_any_depth() -> None:
    schema = {
        "name": "web_fetch",
        "description": "Fetches what web_search found.",
        "parameters": {
            "type": "object",
            "description": "Of web_fetch.",
            "properties": {
                "description": {"type": "string", "description": "As web_search gives it"},
                "web_search": {"type": "array", "items": {"type": "string", "description": "From web_search"}},
                "mode": {"type": "string", "enum": ["web_search"], "default": "web_search", "title": "web_search"},
            },
            "anyOf": [{"description": "web_fetch"}],
            "required": ["web_search"],
        },
    }
    before = copy.deepcopy(schema)
    assert rename_schema(schema, {"web_fetch": "fetch", "web_search": "find"}) == {
        "name": "fetch",
        "description": "Fetches what find found.",
        "parameters": {
            "type": "object",
            "description": "Of fetch.",
            "properties": {
                "description": {"type": "string", "description": "As find gives it"},
                "web_search": {"type": "array", "items": {"type": "string", "description": "From find"}},
                "mode": {"type": "string", "enum": ["web_search"], "default": "web_search", "title": "web_search"},
            },
            "anyOf": [{"description": "fetch"}],
            "required": ["web_search"],
        },
    }
    assert schema == before


def test_a_schema_without_other_names_is_the_same_object() -> None:
    schema = {"name": "web_fetch"}
    assert rename_schema(schema, {}) is schema


@pytest.mark.parametrize("schema", [{}, {"name": 5, "description": None}, {"parameters": [1, "web_fetch"]}], ids=repr)
def test_a_schema_of_any_form_is_renamed_without_a_crash(schema: dict[str, Any]) -> None:
    assert rename_schema(schema, NAMES) == schema


def test_a_prefix_takes_the_place_of_another_one() -> None:
    tools = ["web_fetch", "web_search", "dice", "web"]
    assert with_prefix(tools, "web_", "net_") == {"web_fetch": "net_fetch", "web_search": "net_search"}
    assert with_prefix(["dice"], "", "my_") == {"dice": "my_dice"}


@given(text=st.text(st.sampled_from("ab_- é."), max_size=20))
def test_swapping_names_twice_gives_the_text_back(text: str) -> None:
    names = {"a": "b", "b": "a"}
    assert rename_text(rename_text(text, names), names) == text
