"""The path of a call: what translation imports, and how its work grows."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrule.text import strict_json
from ferrule_mcp.projection import translate_arguments

_PROGRAM = """
import sys
from ferrule.text import strict_json
arguments = strict_json.loads('{"x": "[1]", "y": "a"}')
before = set(sys.modules)
from ferrule_mcp.projection import translate_arguments
assert translate_arguments({"properties": {"x": {"json": ["array"]}}}, arguments) == {"x": [1], "y": "a"}
print(*sorted(set(sys.modules) - before))
"""


@pytest.mark.process
def test_translation_imports_itself_and_what_the_host_has_loaded_by_then() -> None:
    printed = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True).stdout
    assert printed.split() == [
        "ferrule.lazy",
        "ferrule_mcp",
        "ferrule_mcp.projection",
        "ferrule_mcp.projection.translation",
    ]


def test_without_a_translation_the_arguments_are_what_they_are() -> None:
    arguments = {"x": 1}
    assert translate_arguments({}, arguments) is arguments


def test_the_arguments_are_not_changed() -> None:
    arguments = {"x": {"y": ["1"]}}
    how = {"properties": {"x": {"properties": {"y": {"items": {"json": ["integer"]}}}}}}
    assert translate_arguments(how, arguments) == {"x": {"y": [1]}}
    assert arguments == {"x": {"y": ["1"]}}


def test_each_text_is_read_once_or_with_its_quotation_marks_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    original = strict_json.loads

    def count(text: bytes | str) -> object:
        read.append(len(text))
        return original(text)

    monkeypatch.setattr(strict_json, "loads", count)
    how = {"properties": {"x": {"items": {"json": ["string", "object"]}}}}
    items = ["{" * 1000, '"' + "a" * 1000 + '"'] * 100
    translate_arguments(how, {"x": items})
    assert sum(read) <= 2 * sum(map(len, items))


@given(value=st.recursive(st.none() | st.integers() | st.text(max_size=3), lambda inner: st.lists(inner), max_leaves=5))
def test_what_is_not_in_the_form_stays_as_it_is(value: Any) -> None:
    """A model may write anything; the server says what is wrong with it."""
    how: dict[str, Any] = {
        "properties": {"x": {"items": {"values": {"1": 1}}}, "y": {"properties": {"z": {"name": "Z"}}}}
    }
    assert translate_arguments(how, {"q": value, "y": value}) == {"q": value, "y": value}


def test_many_quotation_marks_are_taken_off_one_by_one() -> None:
    how = {"properties": {"x": {"json": ["string", "null"]}}}
    text = "null"
    for _ in range(8):
        quoted = strict_json.dumps(text).decode()
        assert translate_arguments(how, {"x": quoted}) == {"x": text}
        text = quoted
