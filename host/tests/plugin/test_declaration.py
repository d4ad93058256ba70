"""What a tool declares in `tool.json`: which files hold, and what each key may be."""

import json
from pathlib import Path

import pytest

from ferrule.plugin.declaration import Extra, Program, read_declaration

FULL = {
    "title": "Weather",
    "read_only": True,
    "destructive": False,
    "idempotent": True,
    "open_world": True,
    "result_schema": {"type": "object"},
    "examples": [{"city": "Oslo"}],
    "programs": [{"names": ["curl"], "version": ["-V"], "output": "^curl", "install": "apt install curl"}],
    "extras": [{"module": "pypdf", "install": "ferrule-weather[pdf]", "purpose": "reads PDF files"}],
    "requires_ferrule": ">=0.1",
    "permissions": {
        "network": ["api.example.com:443"],
        "read": ["~/*", "."],
        "write": ["setting:almanac"],
        "programs": ["curl"],
        "environment": ["WEATHER_*"],
        "state": ["weather"],
        "tools": ["weather_*"],
        "processes": 2,
    },
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    for module in ("declared/__init__.py", "declared/inner/__init__.py", "declared/inner/one.py", "declared_plain.py"):
        (tmp_path / module).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / module).write_text("raise RuntimeError('imported')")
    return tmp_path


def declare(path: Path, **content: object) -> None:
    path.write_text(json.dumps(content))


def test_every_key_is_read_and_comes_back_as_json(site: Path) -> None:
    declare(site / "declared_plain.tool.json", **FULL)
    declared = read_declaration("declared_plain")
    assert declared.as_dict() == FULL
    assert declared.programs == (Program(("curl",), ("-V",), output="^curl", install="apt install curl"),)
    assert declared.extras == (Extra("pypdf", "ferrule-weather[pdf]", "reads PDF files"),)
    assert declared.files == (str(site / "declared_plain.tool.json"),)


def test_a_tool_without_a_file_declares_nothing(site: Path) -> None:
    declare(site / "tool.json", title="of a folder that is no package")
    for value in ("declared_plain", "declared.inner", "declared_plain:weather", "not_installed"):
        assert read_declaration(value).as_dict() == {}


def test_the_nearest_file_that_has_a_key_counts(site: Path) -> None:
    declare(site / "declared" / "tool.json", title="outer", read_only=True, idempotent=True)
    declare(site / "declared" / "inner" / "tool.json", title="inner", read_only=False)
    declare(site / "declared" / "inner" / "one.tool.json", title="one")
    declare(site / "declared" / "inner" / "rain.tool.json", title="rain")
    expected = {"read_only": False, "idempotent": True}
    assert read_declaration("declared.inner").as_dict() == {"title": "inner", **expected}
    assert read_declaration("declared.inner.one").as_dict() == {"title": "one", **expected}
    assert read_declaration("declared.inner.one:rain").as_dict() == {"title": "rain", **expected}
    assert read_declaration("declared").as_dict() == {"title": "outer", "read_only": True, "idempotent": True}


def test_what_a_later_host_may_know_is_named_and_stops_nothing(site: Path) -> None:
    programs = [{"names": ["curl"], "sha256": "0"}]
    content = {"title": "Weather", "permissions": {"clock": 1}, "telemetry": [], "programs": programs}
    declare(site / "declared_plain.tool.json", **content)
    declared = read_declaration("declared_plain")
    assert declared.unknown == ("permissions.clock", "telemetry", "programs[0].sha256")
    assert declared.title == "Weather"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is no JSON"),
        ("[]", "holds no JSON object"),
        ('{"title": ""}', "title in FILE is no text of one printable line"),
        ('{"title": "Weather\\nnow"}', "title in FILE is no text of one printable line"),
        ('{"title": "Weather\\u001b[2J"}', "FILE hides something at /title: "),
        ('{"result_schema": {"properties": {"a": {"title": "\\u202ea"}}}}', "at /result_schema/properties/a/title: "),
        ('{"examples": [{"city": "Oslo\\udb40\\udc41"}]}', "a model reads: U+E0041"),
        ('{"extras": [{"module": "x", "install": "x\\ny"}]}', "extras[0].install in FILE is no text"),
        ('{"read_only": "no"}', "read_only in FILE is no boolean"),
        ('{"examples": [{}, 5]}', "examples[1] in FILE is no object"),
        ('{"result_schema": true}', "result_schema in FILE is no object"),
        ('{"programs": [{}]}', "programs[0] in FILE has no names"),
        (
            '{"programs": [{"names": []}]}',
            "programs[].names in FILE is no list with a name in it, where neither variable nor setting names one",
        ),
        ('{"programs": [{"names": "x"}]}', "programs[0].names in FILE is no list of texts"),
        ('{"programs": [{"names": ["x"], "output": "["}]}', "programs[0].output in FILE is no pattern"),
        ('{"extras": [{"purpose": "x"}]}', "extras[0] in FILE has no module and no install"),
        ('{"permissions": []}', "permissions in FILE cannot be used: it is no object"),
        ('{"permissions": {"network": "public"}}', "permissions in FILE cannot be used: network is no list of texts"),
        ('{"permissions": {"processes": true}}', "cannot be used: processes is no number from 0 to 1024"),
        ('{"permissions": {"read": ["~/../x"]}}', "read[0], '~/../x', leads out of its own folder"),
        ('{"requires_ferrule": "later"}', "requires_ferrule in FILE is no version specifier, such as >=0.2"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_its_path(site: Path, text: str, problem: str) -> None:
    path = site / "declared_plain.tool.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"tool\.json") as raised:
        read_declaration("declared_plain")
    assert problem.replace("FILE", str(path)) in str(raised.value)
