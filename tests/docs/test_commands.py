"""The pages say what is so: their code runs, and their help texts are what the program prints."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ferrule_testkit.model.server import MODEL_KEY, ModelServer
from ferrule_testkit.model.token_bucket import echo
from ferrule_testkit.pages.blocks import find_pages

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 80
COMMANDS = ROOT / "docs" / "reference" / "commands.md"
INTRODUCTION = """\
# Commands

Every command takes `--json`. The exit code is 0 for success, 1 where something is wrong, and 2 where the command line
cannot be understood. Results go to stdout, messages for the user to stderr.
"""
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What README, the tutorials and the guides say is done where users are: tests/installed/test_pages.py. The blocks of
# CONTRIBUTING.md are files of packages, which test_contributing.py makes.
PAGES = [
    page
    for page in sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("plugins/*/README.md")])
    if PYTHON.search(page.read_text()) and page not in find_pages().values()
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_in_the_pages_runs(page: Path, tmp_path: Path) -> None:
    module = tmp_path / "page.py"
    module.write_text("\n".join(PYTHON.findall(page.read_text())))
    (tmp_path / "schema.json").write_text('{"name": "page", "description": "", "parameters": {}}')
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # What a page asks of a model must not reach one, whatever key the reader of this test has.
    with ModelServer(echo) as model:
        model_environ = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": MODEL_KEY}
        environ = {**os.environ, "PATH": path, "HOME": str(tmp_path), **model_environ}
        finished = subprocess.run([sys.executable, module], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.slow
def test_the_help_of_every_command_stands_in_the_reference() -> None:
    expected = reference()
    if os.environ.get("UPDATE_DOCS"):
        COMMANDS.write_text(expected)
    assert COMMANDS.read_text() == expected, "run: UPDATE_DOCS=1 pytest tests/docs/test_commands.py"
    helps = expected.removeprefix(INTRODUCTION).splitlines()
    assert [line for line in helps if len(line) > COLUMNS] == [], "this is wider than a terminal"


def reference() -> str:
    """The page of the commands as it has to be."""
    return INTRODUCTION + "".join(
        f"\n## {' '.join(['ferrule', *words])}\n\n```text\n{help_of(words)}```\n" for words in commands([])
    )


def commands(words: list[str]) -> Iterator[list[str]]:
    yield words
    text = help_of(words)
    for section in re.findall(r"^Commands[^\n]*:\n((?:  .*\n)+)", text, flags=re.MULTILINE):
        for line in section.splitlines():
            if match := re.match(r"  (\w[\w-]*)", line):
                yield from commands([*words, match[1]])


def help_of(words: list[str]) -> str:
    program = Path(sys.executable).parent / "ferrule"
    environ = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    finished = subprocess.run([program, *words, "--help"], env=environ, capture_output=True, text=True, check=True)
    return finished.stdout
