"""`ferrule new`: what it refuses, what it warns of, and what it writes."""

import json
import tomllib
from pathlib import Path

import pytest

from ferrule_dev.creation.templates import DEFAULT, templates
from ferrule_testkit.corpus import EXAMPLE
from ferrule_testkit.entry_points import offer
from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process


def test_the_package_has_the_new_name_and_what_is_said_of_it(machine: Machine) -> None:
    made = machine.ferrule("new", "tide_table", "--description", "Tells the tides.", "--author", "Ann <a@b.example>")
    assert (made.code, made.err) == (0, "")
    assert "cd ./ferrule-tide-table" in made.out
    folder = machine.work / "ferrule-tide-table"
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    assert project["name"] == "ferrule-tide-table"
    assert project["description"] == "Tells the tides."
    assert project["authors"] == [{"name": "Ann", "email": "a@b.example"}]
    assert project["scripts"] == {
        "tide-table-tool": "ferrule.dispatch:main",
        "tide-table-mcp": "ferrule.cli:serve_tool",
        "ferrule-tide-table": "ferrule.cli:serve_tool",
    }
    assert "Tells the tides." in (folder / "README.md").read_text()


def test_nothing_of_the_template_is_left_in_what_is_written(machine: Machine) -> None:
    for kind, template in templates().items():
        option = () if kind == DEFAULT else (f"--{kind}",)
        assert machine.ferrule("new", "tides", *option, "--to", kind, "--description", "Tells the tides.").code == 0
        folder = machine.work / kind / "ferrule-tides"
        written = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
        names = (template.name, template.name.replace("_", "-"), template.name.upper(), template.sentence)
        assert [(path, name) for path, text in written.items() for name in names if name in path + text] == []
        assert {"README.md", ".gitignore", ".github/workflows/package.yml"} <= set(written)
        assert "Tells the tides." in written["README.md"]


@pytest.mark.parametrize(
    "name",
    ["", "Weather", "web-fetch", "1st", "a__b", "a_", "_a", "ü", "../x", "a b", "x" * 65, "import", "tool", "any"],
)
def test_a_bad_name_is_refused_with_what_is_allowed(machine: Machine, name: str) -> None:
    refused = machine.ferrule("new", name)
    assert refused.code == 1
    assert "is no good name" in refused.err
    assert "Use " in refused.err
    assert list(machine.work.iterdir()) == []


def test_a_name_that_is_too_long_only_for_the_tool_is_refused(machine: Machine) -> None:
    refused = machine.ferrule("new", "x" * 60, "--search")
    assert (refused.code, list(machine.work.iterdir())) == (1, [])
    assert "71 letters" in refused.err


def test_a_name_that_is_taken_already_is_a_warning(machine: Machine) -> None:
    machine.install("tides")
    of_client = machine.ferrule("new", "file_read")
    assert of_client.code == 0
    assert "The client has a tool file_read itself" in of_client.err
    installed = machine.ferrule("new", "tides", "--json")
    assert installed.document["warnings"] == [
        "dist-tides has a tool tides already; the two cannot be installed together."
    ]
    package = machine.ferrule("new", "fetch", "--json")
    told = "A package ferrule-fetch is installed already; to install yours takes its place."
    assert package.document["warnings"] == [told]
    offer(machine, "ferrule.wrappers", "stamp", "")
    wrapper = machine.ferrule("new", "stamp", "--wrapper", "--json")
    told = "dist-stamp 1.0 has the name stamp in ferrule.wrappers already; only one of the two can be used."
    assert wrapper.document["warnings"] == [told]
    of_other_kind = machine.ferrule("new", "bash", "--wrapper", "--json")
    assert of_other_kind.document["warnings"] == []


def test_a_name_that_only_the_code_of_another_kind_uses_is_taken(machine: Machine) -> None:
    assert machine.ferrule("new", "any", "--hooks").code == 0
    assert machine.ferrule("new", "list").code == 0
    assert machine.ferrule("new", "list", "--cli", "--to", "other").code == 1


def test_a_command_of_ferrule_is_no_name_for_a_command(machine: Machine) -> None:
    refused = machine.ferrule("new", "doctor", "--command")
    assert (refused.code, list(machine.work.iterdir())) == (1, [])
    assert "ferrule has a command doctor itself" in refused.err


@pytest.mark.parametrize(
    "arguments", [("--wrapper", "--command"), ("--description", "two\nlines"), ("--author", "a\x1b[1m")]
)
def test_what_makes_no_sense_is_a_wrong_usage(machine: Machine, arguments: tuple[str, ...]) -> None:
    refused = machine.ferrule("new", "weather", *arguments)
    assert (refused.code, list(machine.work.iterdir())) == (2, [])


def test_a_folder_that_is_there_is_left_as_it_is(machine: Machine) -> None:
    (machine.work / "ferrule-weather").mkdir()
    refused = machine.ferrule("new", "weather")
    assert refused.code == 1
    assert "there already" in refused.err
    assert list((machine.work / "ferrule-weather").iterdir()) == []


def test_it_is_put_where_it_is_wanted_and_json_says_where(machine: Machine) -> None:
    made = machine.ferrule("new", "weather", "--to", "plugins", "--json")
    target = machine.work / "plugins" / "ferrule-weather"
    assert made.document == {
        "kind": DEFAULT,
        "name": "weather",
        "tool": "weather",
        "path": str(target),
        "warnings": [],
    }
    assert (target / "pyproject.toml").exists()


def test_a_folder_that_cannot_be_written_is_one_message(machine: Machine) -> None:
    (machine.work / "file").touch()
    refused = machine.ferrule("new", "weather", "--to", "file", "--json")
    assert refused.code == 1
    assert "Not a directory" in json.loads(refused.out)["error"]["message"]


@pytest.mark.parametrize("file", ["__init__.py", "schema.json"])
def test_the_example_of_the_pages_is_a_tool_by_hooks_as_it_is_made(machine: Machine, file: str) -> None:
    assert machine.ferrule("new", "example", "--hooks").code == 0
    place = Path("src", "ferrule_example", file)
    assert (machine.work / "ferrule-example" / place).read_text() == (EXAMPLE / place).read_text()
