"""What the host knows of the distributions that are published with it, held against their projects."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from ferrule.installed import known_distributions

ROOT = Path(__file__).resolve().parents[2]
FILE = Path(known_distributions.__file__).with_suffix(".json")
PROJECTS = [ROOT / "host", *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]


def in_the_projects() -> dict[str, dict[str, list[str] | str]]:
    host = tomllib.loads((ROOT / "host/pyproject.toml").read_text())["project"]
    extras = {one: extra for extra, needs in host["optional-dependencies"].items() for one in needs}
    found: dict[str, dict[str, list[str] | str]] = {}
    for folder in PROJECTS:
        project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
        groups = project.get("entry-points", {})
        tools, commands = (sorted(groups.get(f"ferrule.{kind}", ())) for kind in ("tools", "commands"))
        name = project["name"]
        extra = {"extra": extras[name]} if name in extras else {}
        found[name] = {"tools": tools, "commands": commands, **extra}
    return found


def test_the_file_says_what_the_projects_say() -> None:
    text = json.dumps(in_the_projects(), indent=2) + "\n"
    if os.environ.get("UPDATE_DOCS"):
        FILE.write_text(text)
    assert FILE.read_text() == text, "UPDATE_DOCS=1 writes it"


@pytest.mark.parametrize("name", ["web_fetch", "web-fetch", "web-fetch-tool"])
def test_a_tool_is_found_by_its_name_and_by_that_of_its_executable(name: str) -> None:
    assert known_distributions.owner_of_tool(name) == "ferrule-fetch"
    assert known_distributions.owner_of_command(name) is None


def test_a_command_is_found_by_its_name() -> None:
    assert known_distributions.owner_of_command("connect") == "ferrule-serve"
    assert known_distributions.owner_of_tool("connect") is None


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("web_serch_brave", "web_search_brave"), ("tavili", "ferrule-tavily"), ("Ferrule_Fetchs", "ferrule-fetch")],
)
def test_what_was_probably_meant_comes_first(typed: str, meant: str) -> None:
    assert known_distributions.probably_meant(typed)[0] == meant


def test_what_is_like_nothing_has_no_suggestion() -> None:
    assert known_distributions.probably_meant("requests") == []
