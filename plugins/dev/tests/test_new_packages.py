"""What `ferrule new` writes, as it is: clean, with tests that pass, and tests that follow another schema."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from ferrule_dev.creation import templates as scaffold
from ferrule_testkit.corpus import EXAMPLE, Site
from ferrule_testkit.runs import read_output

KINDS = scaffold.templates()
BIN = Path(sys.executable).parent
PROVIDER = EXAMPLE.parent / "websearch"
NEEDS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
NAMES = ("t", "tide_table", "x" * 64)


def write(kind: str, name: str, parent: Path) -> Path:
    """A new package of a kind; its folder."""
    return Path(scaffold.create(KINDS[kind], name, str(parent)))


def environment(packages: list[Path], root: Path) -> dict[str, str]:
    """The variables with which the packages are installed, and what they require."""
    site = Site(root).install(*packages)
    for package in packages:
        shared = tomllib.loads((package / "pyproject.toml").read_text())["tool"].get("hatch", {})
        for path in shared.get("build", {}).get("targets", {}).get("wheel", {}).get("shared-scripts", {}):
            (site.scripts / Path(path).name).symlink_to(package / path)
    path = os.pathsep.join([str(site.scripts), str(BIN), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONPATH": str(site.path), "HOME": str(root), "NO_COLOR": "1"}


def run(command: str, folder: Path, environ: dict[str, str]) -> str:
    """What a command of the shell prints in a folder; it has to succeed."""
    return read_output(["bash", "-c", command], folder, environ)


@pytest.fixture(scope="session")
def types(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Variables that let mypy read what ferrule and pytest consist of once."""
    return {"MYPY_CACHE_DIR": str(tmp_path_factory.mktemp("types"))}


@pytest.mark.slow
@pytest.mark.process
def test_the_tests_of_a_new_tool_pass(tmp_path: Path) -> None:
    package = write(scaffold.DEFAULT, "tide_table", tmp_path)
    assert " passed" in run("pytest -q", package, environment([package], tmp_path / "root"))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param(one, marks=NEEDS_NODE if one == "script" else ()) for one in KINDS])
def test_a_new_package_passes_what_its_own_workflow_runs(kind: str, types: dict[str, str], tmp_path: Path) -> None:
    package = write(kind, "tide_table", tmp_path)
    jobs = yaml.safe_load((package / ".github/workflows/package.yml").read_text())["jobs"]
    install, *commands = [step["run"] for step in jobs["test"]["steps"] if "run" in step]
    assert install == 'python -m pip install --editable ".[dev]"'
    assert len(commands) == 2
    environ = {**environment([package], tmp_path / "root"), **types}
    printed = [run(command, package, environ) for command in commands]
    assert "All checks passed!" in printed[0]
    assert "Success: no issues found" in printed[0]
    assert " passed" in printed[1]
    assert jobs["publish"]["needs"] == "build"
    assert jobs["build"]["needs"] == "test"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}


@pytest.mark.process
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_is_clean_however_long_its_name_is(kind: str, tmp_path: Path) -> None:
    longest = len(KINDS[kind].tool.format(""))
    for name in NAMES:
        write(kind, name[longest:] or name, tmp_path)
    run("ruff check . && ruff format --check .", tmp_path, dict(os.environ, PATH=f"{BIN}:{os.environ['PATH']}"))


# What an author does: another argument that is required, in what the model sees, and in the examples.
ARGUMENT = '    country: Annotated[str, "The country that the city is in"],\n'
CHANGES = {
    "hooks": ("schema.json", '"properties": {', '"properties": {"country": {"type": "string", "description": "It."},'),
    "function": ("__init__.py", "    times:", f"{ARGUMENT}    times:"),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHANGES)
def test_the_tests_of_a_new_package_follow_its_schema(kind: str, tmp_path: Path) -> None:
    package = write(kind, "tides", tmp_path)
    name, old, new = CHANGES[kind]
    source, declaration = (package / "src/ferrule_tides" / one for one in (name, "tool.json"))
    source.write_text(source.read_text().replace(old, new).replace('["city"]', '["city", "country"]'))
    declared = json.loads(declaration.read_text())
    declared["examples"] = [{**one, "country": "Norway"} for one in declared["examples"]]
    declaration.write_text(json.dumps(declared))
    if kind == "function":
        stale = environment([package], tmp_path / "stale")
        told = subprocess.run(["pytest", "-q"], cwd=package, env=stale, capture_output=True, text=True, check=False)
        assert "failed schema-agrees: schema.json of tides is not that of its function" in told.stdout
        assert "ferrule schema --write" in told.stdout
        assert set(re.findall("failed ([a-z-]+):", told.stdout)) == {"schema-agrees"}
        assert told.returncode == 1
        run("ferrule schema --write", package, stale)
    assert " passed" in run("pytest -q", package, environment([package], tmp_path / "root"))
