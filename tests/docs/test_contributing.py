"""The packages that CONTRIBUTING.md has `ferrule new` make: they exist, and become clean ones of this project."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule_dev.creation.templates import DEFAULT, create, templates

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
COMMAND = re.compile(r"^ferrule new (\w+)(?: --(\w+))? --to plugins$", re.MULTILINE)
# Guides that show a file of these packages, which has to be the same file.
SHOWN = {
    "add-a-command.md": "greet/src/ferrule_greet/command.py",
    "add-a-search-provider.md": "lighthouse/src/ferrule_lighthouse/general.py",
    "write-a-wrapper.md": "stamp/src/ferrule_stamp/__init__.py",
}


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages after the steps of "Create the package"."""
    folder = tmp_path_factory.mktemp("contributing") / "plugins"
    for name, kind in COMMAND.findall((ROOT / "CONTRIBUTING.md").read_text()):
        made = Path(create(templates()[kind or DEFAULT], name, str(folder)))
        package = made.rename(folder / name)
        pyproject = package / "pyproject.toml"
        pyproject.write_text(pyproject.read_text().partition("\n[tool.ruff]")[0])
    return folder


def test_the_page_makes_a_package_of_every_kind_that_it_names(plugins: Path) -> None:
    assert {path.name for path in plugins.iterdir()} == {"dice", "lighthouse", "stamp", "greet"}
    for package in plugins.iterdir():
        assert {path.name for path in package.iterdir()} >= {"README.md", "pyproject.toml", "src", "tests"}
        assert "[tool.mypy]" not in (package / "pyproject.toml").read_text()


@pytest.mark.parametrize(("guide", "file"), SHOWN.items())
def test_a_guide_shows_the_same_file(plugins: Path, guide: str, file: str) -> None:
    text = (ROOT / "docs" / "how-to" / guide).read_text()
    block = f"```python\n{(plugins / file).read_text()}```\n"
    assert block in text, f"docs/how-to/{guide}: copy {file} from what `ferrule new` writes:\n{block}"


def test_the_packages_are_clean_by_the_rules_of_the_project_once_they_are_formatted(plugins: Path) -> None:
    modules = "".join(f' "ferrule_{package.name}",' for package in plugins.iterdir())
    pyproject, count = re.subn(
        r"^known-first-party = \[", rf"\g<0>{modules}", (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE
    )
    assert count == 1, "pyproject.toml has no list `known-first-party`"
    (plugins.parent / "pyproject.toml").write_text(pyproject)
    ruff = Path(sys.executable).with_name("ruff")
    for command in (["check", "--fix"], ["format"], ["format", "--check"]):
        done = subprocess.run([ruff, *command, plugins], cwd=plugins.parent, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
