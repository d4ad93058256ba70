"""The schema of an installed tool: where its file is found, what the hook says, and what is refused."""

import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule import static_schema
from ferrule.discovery import InstalledTool
from ferrule.errors import SchemaInvalid
from ferrule.schema import schema_file
from ferrule_testkit.machine import Machine
from ferrule_testkit.runs import LATE, print_schema, run

SCHEMA = {"name": "dice", "description": "Rolls.", "parameters": {"type": "object", "properties": {}}}
TEXT = json.dumps(SCHEMA)
Site = Callable[..., str]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Write files into a folder of the path, which is given back."""

    def write(*files: str, folder: str = "site") -> str:
        for file in files:
            path = tmp_path / folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(TEXT if file.endswith(".json") else "from ferrule import static_schema\n")
        return str(tmp_path / folder)

    return write


def tool(value: str, name: str = "dice") -> InstalledTool:
    return InstalledTool(name, value, "ferrule-dice", "1.0", "/nowhere")


# Where the file is.


@pytest.mark.parametrize(
    ("module", "files", "expected"),
    [
        pytest.param("dice", "dice/__init__.py dice/schema.json", "dice/schema.json", id="package"),
        pytest.param("dice", "dice.py dice.schema.json", "dice.schema.json", id="plain-module"),
        pytest.param("d.six", "d/__init__.py d/six.py d/six.schema.json", "d/six.schema.json", id="nested-module"),
        pytest.param(
            "d.six", "d/__init__.py d/six/__init__.py d/six/schema.json", "d/six/schema.json", id="nested-package"
        ),
        pytest.param("dice", "dice/schema.json", "dice/schema.json", id="namespace-folder"),
        pytest.param("d.six", "d/six/schema.json", "d/six/schema.json", id="folder-in-a-namespace"),
        pytest.param("d.six", "d/six.py d/six.schema.json", "d/six.schema.json", id="module-in-a-namespace"),
        pytest.param(
            "dice", "dice.py dice.schema.json dice/schema.json", "dice.schema.json", id="module-before-namespace"
        ),
        pytest.param(
            "d", "d/__init__.py d/schema.json d.py d.schema.json", "d/schema.json", id="package-before-module"
        ),
        pytest.param("dice", "dice/__init__.py dice.schema.json", None, id="package-without-one"),
        pytest.param("dice", "dice.py dice/schema.txt", None, id="module-without-one"),
        pytest.param("dice", "cards.py dice.schema.json", None, id="no-such-module"),
        pytest.param("dice.six", "dice.py dice.schema.json", None, id="inside-a-plain-module"),
        pytest.param("", "schema.json .schema.json", None, id="no-name"),
        pytest.param(".dice", "dice/schema.json", None, id="relative-name"),
        pytest.param("../site/dice", "dice/schema.json", None, id="path-for-a-name"),
    ],
)
def test_the_file_of_a_module_is_found_without_importing_it(
    site: Site, module: str, files: str, expected: str | None
) -> None:
    folder = site(*files.split())
    found = schema_file.find_schema_file(module, ["/nowhere", folder])
    assert found == (expected and os.path.join(folder, expected))
    assert "dice" not in sys.modules


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param(["dice.py", "dice.schema.json"], ["dice/__init__.py"], "one/dice.schema.json", id="module-first"),
        pytest.param(["dice.py"], ["dice.py", "dice.schema.json"], None, id="the-first-has-no-schema"),
        pytest.param(
            ["dice/readme.txt"],
            ["dice/__init__.py", "dice/schema.json"],
            "two/dice/schema.json",
            id="namespace-is-last",
        ),
        pytest.param(["dice/a.py"], ["dice/schema.json"], "two/dice/schema.json", id="namespace-of-two-folders"),
    ],
)
def test_the_file_belongs_to_the_module_that_would_be_imported(
    site: Site, first: list[str], second: list[str], expected: str | None, tmp_path: Path
) -> None:
    search = [site(*first, folder="one"), site(*second, folder="two")]
    assert schema_file.find_schema_file("dice", search) == (expected and str(tmp_path / expected))


@pytest.mark.parametrize(
    ("module", "files"),
    [
        ("hooked_package", ["hooked_package/__init__.py", "hooked_package/schema.json"]),
        ("hooked_module", ["hooked_module.py", "hooked_module.schema.json"]),
        ("hooked_outer.inner", ["hooked_outer/__init__.py", "hooked_outer/inner.py", "hooked_outer/inner.schema.json"]),
        ("hooked_space.inner", ["hooked_space/inner/__init__.py", "hooked_space/inner/schema.json"]),
    ],
    ids=["package", "module", "nested", "namespace"],
)
def test_the_host_and_the_hook_read_the_same_file(
    site: Site, monkeypatch: pytest.MonkeyPatch, module: str, files: list[str]
) -> None:
    monkeypatch.syspath_prepend(site(*files))
    assert schema_file.read_static(tool(module)) == SCHEMA
    assert static_schema(str(importlib.import_module(module).__file__)) == SCHEMA


def test_a_source_file_is_found_without_importing_it(site: Site) -> None:
    folder = site("a/__init__.py", "a/b.py", "c.py")
    found = [schema_file.find_module_file(module, ["/nowhere", folder]) for module in ("a", "a.b", "c", "d")]
    assert found == [f"{folder}/a/__init__.py", f"{folder}/a/b.py", f"{folder}/c.py", None]


# What the file may say.


def test_a_plugin_without_a_file_computes_its_schema(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(site("dice.py", "dice.schema.json", "cards.py"))
    assert schema_file.read_static(tool("cards", "cards")) is None
    assert schema_file.read_static(tool("dice")) == SCHEMA


@pytest.mark.parametrize(
    ("value", "name", "files", "expected"),
    [
        ("dice:roll", "dice", "dice/__init__.py dice/schema.json", "dice/schema.json"),
        ("dice:roll", "other", "dice/__init__.py dice/schema.json", None),
        ("dice:roll", "other", "dice/__init__.py dice/schema.json dice/roll.schema.json", "dice/roll.schema.json"),
        ("dice.six:roll", "other", "dice/six.py dice/schema.json dice/roll.schema.json", "dice/roll.schema.json"),
        ("dice:roll", "dice", "dice.py dice.schema.json roll.schema.json", "roll.schema.json"),
        ("dice:roll", "dice", "dice/__init__.py", None),
        ("nowhere:roll", "dice", "dice/__init__.py dice/schema.json roll.schema.json", None),
    ],
)
def test_an_attribute_has_its_own_file_or_that_of_the_module_if_this_has_its_name(
    value: str, name: str, files: str, expected: str | None, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = site(*files.split())
    monkeypatch.syspath_prepend(folder)
    assert schema_file.find_for_tool(tool(value, name)) == (expected and f"{folder}/{expected}")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("{", "is not valid JSON: expecting property name", id="not-json"),
        pytest.param("", "is not valid JSON: it is empty", id="empty"),
        pytest.param('{"name": "dice", "name": "dice"}', "the key 'name' stands twice", id="key-twice"),
        pytest.param(TEXT.replace("Rolls", "\\u0000"), "a NUL character stands at /description", id="nul"),
        pytest.param("[" * 100_000, "it is nested too deeply", id="too-deep-to-read"),
        pytest.param("[]", "The schema is an array, not an object", id="array"),
        pytest.param(
            TEXT.replace('"dice"', '"cards"'), "calls the tool 'dice', and its schema 'cards'", id="other-name"
        ),
        pytest.param(TEXT.replace("Rolls", "x" * 8192), "The printed schema has 8,", id="8192-bytes"),
        pytest.param(TEXT.replace("{}", '{"a": {"type": "str"}}'), "has the type 'str'", id="type"),
        pytest.param(TEXT.replace("{}", '{"a":' * 90 + "1" + "}" * 90), "more than 64 levels", id="too-deep"),
        pytest.param(" " * (1 << 20) + TEXT, "is larger than 1048576 bytes", id="1-MiB"),
    ],
)
def test_a_file_that_breaks_a_rule_is_refused_with_the_reason(
    site: Site, monkeypatch: pytest.MonkeyPatch, text: str, reason: str
) -> None:
    folder = site("dice.py", "dice.schema.json")
    Path(folder, "dice.schema.json").write_text(text)
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(SchemaInvalid) as caught:
        schema_file.read_static(tool("dice"))
    assert caught.value.message.startswith("The schema of dice (ferrule-dice 1.0) is not valid")
    assert reason in caught.value.message


def test_a_refused_schema_tells_its_findings_and_how_to_see_all() -> None:
    with pytest.raises(SchemaInvalid) as caught:
        schema_file.require_valid({"name": "dice"}, tool("dice"))
    assert caught.value.hint == "Run `ferrule validate dice` for all findings."
    assert caught.value.details is not None
    findings: Any = caught.value.details["findings"]
    assert [found["pointer"] for found in findings] == ["/description", "/parameters"]


def test_a_schema_of_8191_bytes_with_its_newline_is_taken_and_one_more_is_not() -> None:
    room = 8190 - len(json.dumps(SCHEMA, separators=(",", ":")))
    fits = {**SCHEMA, "description": "Rolls." + "x" * room}
    assert schema_file.require_valid(fits, tool("dice")) is fits
    with pytest.raises(SchemaInvalid, match="8,192 bytes"):
        schema_file.require_valid({**SCHEMA, "description": "Rolls.x" + "x" * room}, tool("dice"))


@pytest.mark.parametrize(
    ("text", "error"),
    [("[1]", "holds no JSON object"), ("{", "expecting property name")],
    ids=["array", "malformed"],
)
def test_the_hooks_helper_refuses_what_is_no_schema(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "schema.json").write_text(text)
    with pytest.raises(ValueError, match=error):
        static_schema(str(tmp_path / "__init__.py"))
    with pytest.raises(FileNotFoundError):
        static_schema(str(tmp_path / "plain.py"))


# What a hook computes.


def asks(name: str) -> list[str]:
    """A command that does what the executable of a tool does with `--schema`."""
    return [sys.executable, "-c", f"from ferrule.dispatch import run; run({name!r}, ['--schema'], {{}})"]


@pytest.mark.process
def test_a_computed_schema_is_printed_as_a_static_one_is(machine: Machine) -> None:
    machine.install("computed", static=False)
    machine.install("fixed")
    outputs = [print_schema(asks(name), environment=machine.environment) for name in ("computed", "fixed")]
    assert [output.exit_code for output in outputs] == [0, 0]
    assert outputs[0].stdout.replace(b"computed", b"fixed") == outputs[1].stdout


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("top", "schema", "reason"),
    [
        pytest.param("raise OSError('no dice')", None, "cannot be loaded: OSError: no dice", id="import-fails"),
        pytest.param("", {"name": "other"}, "is not valid", id="breaks-a-rule"),
        pytest.param("import time; time.sleep(60)", None, LATE.decode(), id="too-late"),
    ],
)
def test_a_computed_schema_that_cannot_be_had_is_told_on_stderr_and_by_the_exit_code(
    machine: Machine, top: str, schema: dict[str, Any] | None, reason: str
) -> None:
    machine.install("dice", static=False, top=top, schema=schema)
    output = (run if reason == LATE.decode() else print_schema)(asks("dice"), environment=machine.environment)
    assert output.exit_code == 1
    assert reason in output.stderr.decode()
    assert output.document["success"] is False
