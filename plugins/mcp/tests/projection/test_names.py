"""Names of tools that every provider takes."""

from hypothesis import given
from hypothesis import strategies as st

from ferrule.schema.rules import check
from ferrule_mcp.projection import name_tools


def test_names_are_in_snake_case_and_begin_with_the_server() -> None:
    names = ["API-get-user", "getUser", "read.file", "notion_search", "notion"]
    assert list(name_tools("notion", names).values()) == [
        "notion_api_get_user",
        "notion_get_user",
        "notion_read_file",
        "notion_search",
        "notion",
    ]


def test_two_names_that_would_be_one_are_told_apart() -> None:
    assert name_tools("fs", ["read-file", "read_file", "readFile"]) == {
        "read-file": "fs_read_file",
        "read_file": "fs_read_file_2",
        "readFile": "fs_read_file_3",
    }


@given(server=st.text(max_size=70), names=st.lists(st.text(max_size=80), max_size=6, unique=True))
def test_no_rule_warns_of_a_name_and_no_two_are_the_same(server: str, names: list[str]) -> None:
    named = name_tools(server, names)
    assert list(named) == names
    assert len(set(named.values())) == len(names)
    for name in named.values():
        schema = {"name": name, "description": "It.", "parameters": {"type": "object", "properties": {}}}
        about_names = [one for one in check(schema, name=name) if one.pointer == "/name"]
        assert about_names == []
