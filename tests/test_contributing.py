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
    pyproject = (ROOT / "pyproject.toml").read_text()
    own = '"ferrule_greet", "ferrule_lighthouse", "ferrule_stamp", "ferrule_google"'
    text = pyproject.replace("{ask,serve}", "{ask,greet,serve}").replace('"ferrule_google"', own)
    (plugins.parent / "pyproject.toml").write_text(text)
    for command in (["check"], ["format", "--check"]):
        done = subprocess.run([tool("ruff"), *command, plugins], cwd=plugins.parent, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


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
    assert "7 passed" in done.stdout


def tool(name: str) -> Path:
    """A program of the environment that runs the tests."""
    return Path(sys.executable).with_name(name)
