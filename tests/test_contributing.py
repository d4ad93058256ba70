"""The packages that CONTRIBUTING.md shows file by file: complete, clean, and their own tests pass."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule_testkit.corpus import Site

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parent.parent
FILE = re.compile(r"^`plugins/(\S+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGES = ("lighthouse", "stamp", "greet")
# Guides that show a file of these packages, which has to be the same file.
SHOWN = {
    "add-a-command.md": "greet/src/ferrule_greet/command.py",
    "add-a-search-provider.md": "lighthouse/src/ferrule_lighthouse/general.py",
    "write-a-wrapper.md": "stamp/src/ferrule_stamp/__init__.py",
}


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages as a reader of the page has them."""
    folder = tmp_path_factory.mktemp("contributing") / "plugins"
    for name, text in FILE.findall((ROOT / "CONTRIBUTING.md").read_text()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_page_shows_every_package(plugins: Path) -> None:
    assert {path.name for path in plugins.iterdir()} == set(PACKAGES)
    for package in plugins.iterdir():
        assert {path.name for path in package.iterdir()} == {"README.md", "pyproject.toml", "src", "tests"}


def test_the_packages_are_clean(plugins: Path) -> None:
    modules = "".join(f' "ferrule_{package}",' for package in PACKAGES)
    pyproject, count = re.subn(
        r"^known-first-party = \[", rf"\g<0>{modules}", (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE
    )
    assert count == 1, "pyproject.toml has no list `known-first-party`"
    (plugins.parent / "pyproject.toml").write_text(pyproject)
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run([tool("ruff"), *command, plugins], cwd=plugins.parent, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("guide", "file"), SHOWN.items())
def test_a_guide_shows_the_same_file(plugins: Path, guide: str, file: str) -> None:
    text = (ROOT / "docs" / "how-to" / guide).read_text()
    block = f"```python\n{(plugins / file).read_text()}```\n"
    assert block in text, f"docs/how-to/{guide}: copy plugins/{file} from CONTRIBUTING.md"


@pytest.mark.slow
def test_the_tests_of_the_packages_pass(plugins: Path, tmp_path: Path) -> None:
    site = Site(tmp_path).install(*(plugins / package for package in PACKAGES))
    path = os.pathsep.join([str(site.scripts), str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PYTHONPATH": str(site.path), "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--import-mode=importlib",
        "-W",
        "ignore::pytest.PytestUnknownMarkWarning",
    ]
    command = [sys.executable, "-m", "pytest", *options, "-c", os.devnull, "--rootdir", plugins, plugins]
    done = subprocess.run(command, env=environment, cwd=plugins, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = re.search(r"^(\d+) passed", done.stdout, re.MULTILINE)
    assert passed, done.stdout
    assert int(passed[1]) >= sum(path.read_text().count("\ndef test_") for path in plugins.glob("*/tests/*.py"))


def tool(name: str) -> Path:
    """A program of the environment that runs the tests."""
    return Path(sys.executable).with_name(name)
