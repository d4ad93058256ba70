"""The pages say what is so: their code runs, their commands exist, and their help texts are what the program prints."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [ROOT / "README.md", ROOT / "host" / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("plugins/*/README.md")]
)
INTRODUCTION = """\
# Commands

Every command takes `--json`, and ends with 0 where all is well, with 1 where something is wrong, and with 2 where it
was not understood. Messages for people go to stderr, results to stdout.
"""
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[object]:
    return [
        pytest.param(text, id=f"{page.relative_to(ROOT)}-{number}")
        for page in PAGES
        for number, (kind, text) in enumerate(FENCE.findall(page.read_text()), 1)
        if kind == language
    ]


@pytest.mark.parametrize("text", blocks("json"))
def test_json_in_the_pages_is_json(text: str) -> None:
    json.loads(text)


@pytest.mark.parametrize("text", blocks("toml"))
def test_toml_in_the_pages_is_toml(text: str) -> None:
    tomllib.loads(text)


@pytest.mark.process
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_in_the_pages_runs(page: Path, tmp_path: Path) -> None:
    code = "\n".join(text for kind, text in FENCE.findall(page.read_text()) if kind == "python")
    module = tmp_path / "page.py"
    module.write_text(code)
    (tmp_path / "schema.json").write_text('{"name": "page", "description": "", "parameters": {}}')
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    # What a page asks of a model must not reach one, whatever key the reader of this test has.
    environment = {**os.environ, "PATH": path, "HOME": str(tmp_path), "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}
    finished = subprocess.run([sys.executable, module], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_the_pages_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^(`{3,}).*?^\1", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", prose):
        assert (page.parent / target).exists(), target


@pytest.mark.process
def test_the_help_of_every_command_stands_in_the_reference() -> None:
    page = ROOT / "docs" / "commands.md"
    expected = reference()
    if os.environ.get("UPDATE_DOCS"):
        page.write_text(expected)
    assert page.read_text() == expected, "run: UPDATE_DOCS=1 pytest tests/test_documentation.py"


def reference() -> str:
    """The page docs/commands.md as it has to be."""
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
