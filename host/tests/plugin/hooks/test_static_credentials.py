"""The credentials of a plugin are those of its tool.json, which is the one place that lists them."""

import json
from pathlib import Path

import pytest

from ferrule import static_credentials

LISTED = [
    {"name": "api_key", "environment": "ALMANAC_API_KEY", "path": "almanac.api_key", "url": "https://almanac.example"},
    {"name": "engine", "environment": "ALMANAC_ENGINE", "path": "almanac.engine", "secret": False},
]


def plugin(folder: Path, text: str) -> str:
    (folder / "tool.json").write_text(text)
    return str(folder / "__init__.py")


def test_they_are_made_of_what_the_file_lists(tmp_path: Path) -> None:
    found = static_credentials(plugin(tmp_path, json.dumps({"credentials": LISTED})))
    assert [one.as_dict() for one in found] == [
        {"url": "", "description": "", "secret": True, **facts} for facts in LISTED
    ]


def test_a_file_without_any_has_none(tmp_path: Path) -> None:
    assert static_credentials(plugin(tmp_path, "{}")) == []


@pytest.mark.parametrize("text", ["", "[]", '{"credentials": 5}', '{"credentials": [{"name": "a"}]}'])
def test_what_is_none_is_named_with_its_file(text: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"tool\.json: "):
        static_credentials(plugin(tmp_path, text))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"tool\.json"):
        static_credentials(str(tmp_path / "__init__.py"))
