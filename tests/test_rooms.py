"""The structure of the source: rooms and floors, circles, public names, and what may stand in the hall of the host."""

import ast
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOST = ROOT / "host/src/ferrule"
SOURCES = sorted(path for path in ROOT.glob("*/src/*/**/*.py")) + sorted(ROOT.glob("plugins/*/src/**/*.py"))
TESTS = sorted(
    path
    for pattern in ("host/tests", "plugins/*/tests", "tests", "bench", "scripts", "demo")
    for folder in ROOT.glob(pattern)
    for path in folder.rglob("*.py")
    if not {"dists", "wrappers", ".cache"} & set(path.relative_to(ROOT).parts)
)
DRAWING = runpy.run_path(str(ROOT / "scripts/draw_architecture.py"))
MAX_ROOMS, MAX_FLOORS = 25, 11
MAX_HALL_FILES = 8
MAX_FILE_LINES = 400
MAX_FOLDER_FILES = 16
# The source, tests, their kit and the benches; what stands below is data of tests, one file or folder for each case.
WORKSHOPS = ("host/tests", ":(glob)plugins/*/tests/**", "tests", "bench", "host/src", ":(glob)plugins/*/src/**")
DATA = ("tests/conformance_tools", "tests/dists", "plugins/scholar/tests/replies")
# Where names of modules are data, and every other file imports what it names.
IMPORT_BY_NAME = ("lazy.py", "cli/commands.py")
# Nouns of the field that end as a gerund does.
NOUNS = {"testing", "query_mapping"}
# What silences a checker names a rule, and stands before a reason.
SILENCED = re.compile(r"# (?:type: ignore|noqa)")
REASON = re.compile(r"# (?:type: ignore\[[a-z, -]+\] # |noqa: [A-Z0-9, ]+ - )\S")


def lint(config: Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    command = [Path(sys.executable).with_name("lint-imports"), "--config", config, "--no-cache"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100)


@pytest.mark.process
def test_every_contract_about_imports_is_kept() -> None:
    linted = lint(ROOT / "pyproject.toml")
    assert linted.returncode == 0, linted.stdout + linted.stderr


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("file", "line", "rule"),
    [
        pytest.param("text/names.py", "from ferrule.cli import program", "Floors of the host", id="upward"),
        pytest.param("text/names.py", "from ferrule.text import aliases", "No circles", id="circle"),
    ],
)
def test_a_wrong_import_is_reported_by_the_name_of_its_rule(tmp_path: Path, file: str, line: str, rule: str) -> None:
    shutil.copytree(HOST, tmp_path / "ferrule", ignore=shutil.ignore_patterns("__pycache__"))
    wrong = tmp_path / "ferrule" / file
    wrong.write_text(f"{wrong.read_text()}\n\ndef wrong() -> None:\n    {line}\n")
    with (tmp_path / "ferrule/text/aliases.py").open("a") as other:
        other.write("\nfrom ferrule.text import names\n")
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    names = {contract["name"] for contract in contracts}
    linted = lint(ROOT / "pyproject.toml", tmp_path)
    broken = {name for name in names if re.search(rf"{re.escape(name)} BROKEN", linted.stdout)}
    assert linted.returncode == 1
    assert any(name.startswith(rule) for name in broken), linted.stdout


@pytest.mark.process
def test_the_host_has_few_rooms_on_few_floors() -> None:
    rooms = DRAWING["read_rooms"]()
    floors = DRAWING["floors"](rooms)
    assert len(rooms) <= MAX_ROOMS, sorted(rooms)
    assert max(floors.values()) <= MAX_FLOORS, sorted(floors.items(), key=lambda one: -one[1])


def test_arrows_count_that_stand_in_types_in_functions_and_in_texts(tmp_path: Path) -> None:
    names = {
        "types": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ferrule.text.names import tool_name",
        "inside": "def work():\n    import ferrule.text.names",
        "text": "module = __import__('ferrule.text.names')",
        "names": "from ferrule.lazy import attach\n__getattr__ = attach(__name__, {'tool_name': 'ferrule.text.names'})",
    }
    for name, source in names.items():
        (tmp_path / f"{name}.py").write_text(source)
    (tmp_path / "text.py").rename(tmp_path / "by_name.py")
    (tmp_path / "text").mkdir()
    (tmp_path / "text/__init__.py").touch()
    rooms = DRAWING["read_rooms"](tmp_path)
    assert {name for name, imported in rooms.items() if "text" in imported} == {"types", "inside", "by_name", "names"}


@pytest.mark.slow
@pytest.mark.process
def test_no_room_is_imported_by_a_name_that_no_import_shows() -> None:
    hidden = [
        f"{path.relative_to(HOST)}:{node.lineno}"
        for path in HOST.rglob("*.py")
        if str(path.relative_to(HOST)) not in IMPORT_BY_NAME
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call) and DRAWING["called_name"](node) in ("__import__", "import_module")
        for text in ast.walk(node)
        if isinstance(text, ast.Constant) and str(text.value).startswith("ferrule")
    ]
    assert hidden == [], "import it where it is used"


@pytest.mark.slow
def test_the_graphs_of_the_page_are_those_of_the_imports() -> None:
    page = DRAWING["PAGE"].read_text()
    assert page == DRAWING["draw"](page), "run: make architecture"


def test_the_hall_of_the_host_is_small() -> None:
    assert len(list(HOST.glob("*.py"))) <= MAX_HALL_FILES


def test_every_package_says_what_may_stand_in_it() -> None:
    silent = [
        path for path in SOURCES if path.name == "__init__.py" and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_modules_are_named_by_nouns() -> None:
    gerunds = {path.stem for path in SOURCES if path.stem.endswith("ing")} - NOUNS
    assert gerunds == set()


def test_no_file_is_long() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in SOURCES
        if (lines := path.read_text().count("\n")) > MAX_FILE_LINES
    }
    assert long == {}


@pytest.mark.process
def test_no_folder_is_full() -> None:
    listed = subprocess.run(["git", "ls-files", *WORKSHOPS], cwd=ROOT, capture_output=True, text=True, check=True)
    files = Counter(str(Path(path).parent) for path in listed.stdout.splitlines() if not path.startswith(DATA))
    assert {folder: number for folder, number in files.items() if number > MAX_FOLDER_FILES} == {}


def test_no_folder_of_a_plugin_holds_many_modules() -> None:
    folders = Counter(path.parent for path in SOURCES if path.is_relative_to(ROOT / "plugins"))
    full = {str(folder.relative_to(ROOT)): count for folder, count in folders.items() if count > MAX_FOLDER_FILES}
    assert full == {}


def test_what_a_checker_is_not_to_say_has_its_reason() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (*SOURCES, *TESTS)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if SILENCED.search(line) and not REASON.search(line) and "templates" not in path.parts
    ]
    assert silent == [], "write `# type: ignore[rule] # why` or `# noqa: RULE - why`"


@pytest.mark.slow  # it parses every source, which takes seconds
def test_no_private_name_of_a_module_is_left_over() -> None:
    left_over = []
    for path in SOURCES:
        text = path.read_text()
        words = Counter(re.findall(r"\w+", text))
        for node in ast.parse(text).body if "templates" not in path.parts else ():
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            names = [one.id for one in targets if isinstance(one, ast.Name)] + [getattr(node, "name", "")]
            private = [name for name in names if name.startswith("_") and not name.startswith("__")]
            left_over += [f"{path.name}: {name}" for name in private if words[name] < 2]
    assert left_over == []
