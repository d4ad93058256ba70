"""The two names of a tool, and the one form of a distribution's name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.utils import canonicalize_name

from ferrule.text.names import executable_name, is_tool_name, same_distribution, served_tool, tool_name

TOOL_NAMES = st.from_regex(r"[A-Za-z0-9_]{1,64}", fullmatch=True)


@pytest.mark.parametrize(
    ("tool", "executable"),
    [
        ("dice", "dice-tool"),
        ("web_search_brave", "web-search-brave-tool"),
        ("tool", "tool-tool"),
        ("a_tool", "a-tool-tool"),
        ("_x_", "-x--tool"),
        ("T2", "T2-tool"),
    ],
)
def test_a_tool_and_its_executable_name_each_other(tool: str, executable: str) -> None:
    assert executable_name(tool) == executable
    assert tool_name(executable) == tool
    assert tool_name(f"/any-tool/fol_der/{executable}") == tool


@pytest.mark.parametrize(("script", "tool"), [("dice-mcp", "dice"), ("/bin/a-tool-mcp", "a_tool"), ("a-b-mcp", "a_b")])
def test_the_script_of_a_server_names_its_tool(script: str, tool: str) -> None:
    assert served_tool(script) == tool


@given(tool=TOOL_NAMES)
def test_every_tool_name_comes_back_from_its_executable(tool: str) -> None:
    assert is_tool_name(tool)
    assert tool_name(executable_name(tool)) == tool
    assert tool_name(f"./{executable_name(tool)}") == tool


@pytest.mark.parametrize(("path", "tool"), [("web-fetch", "web_fetch"), ("/bin/x.py", "x.py"), ("", ""), ("a/", "")])
def test_a_file_without_the_ending_has_the_name_that_it_would_have_with_it(path: str, tool: str) -> None:
    assert tool_name(path) == tool


@pytest.mark.parametrize(
    "name", ["", "web-fetch", "web fetch", "web.fetch", "é", "٣", "a\n", "a/b", "²", "😀"], ids=ascii
)
def test_what_no_provider_takes_is_no_tool_name(name: str) -> None:
    assert not is_tool_name(name)


@given(name=st.text(max_size=8))
def test_a_tool_name_has_ascii_letters_digits_and_underscores_only(name: str) -> None:
    allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
    assert is_tool_name(name) == (name != "" and set(name) <= set(allowed))


@given(name=st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,12}[A-Za-z0-9])?", fullmatch=True))
def test_a_distributions_name_has_the_form_that_installers_give_it(name: str) -> None:
    assert same_distribution(name) == canonicalize_name(name)
