"""The wheels and sdists, built as for a release and used as a stranger would use them."""

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from ferrule_testkit import ikigai

ROOT = Path(__file__).resolve().parents[2]
PROJECTS = [ROOT / "host", *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]
TOOLS = sorted(
    name
    for project in PROJECTS
    for name in (
        tomllib.loads((project / "pyproject.toml").read_text())["project"]
        .get("entry-points", {})
        .get("ferrule.tools", ())
    )
)

pytestmark = [pytest.mark.slow, pytest.mark.index, pytest.mark.timeout(300)]


def run(*command: str | Path, cwd: Path | None = None, environ: dict[str, str] | None = None) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FERRULE", "VIRTUAL"))}
    finished = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**clean, **(environ or {})}, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr + finished.stdout
    return finished.stdout


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist of every project, and the wheel that was built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    for project in PROJECTS:
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, project)
    return folder


def create_environment(folder: Path, *requirements: str | Path) -> None:
    venv.create(folder, with_pip=True, symlinks=True)
    pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt")
    run(*pip, *requirements)


@pytest.fixture(scope="session")
def environment(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clean virtual environment with all tools' wheels in it; nothing of it points into the repository."""
    folder = tmp_path_factory.mktemp("stranger") / "environment"
    # Without the one that brings pyarrow, which is more than all the rest together, and no tool.
    create_environment(
        folder, *sorted(wheel for wheel in dist.glob("*.whl") if not wheel.name.startswith("ferrule_duckdb"))
    )
    return folder


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def test_every_project_builds_an_sdist_and_a_wheel(dist: Path) -> None:
    assert len(list(dist.glob("*.tar.gz"))) == len(list(dist.glob("*.whl"))) == len(PROJECTS) >= 3


def test_the_index_takes_every_description(dist: Path) -> None:
    said = run(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()))
    assert said.count("PASSED") == 2 * len(PROJECTS)


def test_wheels_hold_no_tests_and_say_that_they_are_typed(dist: Path) -> None:
    for path in dist.glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            names = [name for name in wheel.namelist() if not name.startswith("ferrule_dev/templates/")]
        assert not [name for name in names if Path(name).name.startswith("test_") or "__pycache__" in name], path.name
        assert [name for name in names if name.endswith("py.typed")], path.name


def test_sdists_hold_the_tests(dist: Path) -> None:
    for path in dist.glob("*.tar.gz"):
        with tarfile.open(path) as sdist:
            assert [name for name in sdist.getnames() if re.search(r"/tests/(\w+/)*test_\w+\.py$", name)], path.name


def test_the_installed_host_is_not_the_repository(environment: Path) -> None:
    python = environment / "bin" / "python"
    for module in ("ferrule", "ferrule_fetch", "ferrule_example"):
        place = run(python, "-I", "-c", f"import {module}; print({module}.__file__)").strip()
        assert Path(place).is_relative_to(environment)


def test_all_tools_are_found_sound_and_linked(environment: Path, home: dict[str, str], tmp_path: Path) -> None:
    ferrule = environment / "bin" / "ferrule"
    listed = json.loads(run(ferrule, "list", "--check", "--json", environ=home))["tools"]
    assert {entry["name"]: entry["state"] for entry in listed} == dict.fromkeys(TOOLS, "ok")
    run(ferrule, "link", environ=home)
    tools = ikigai.discover([str(tmp_path / ".ikigai" / "tools")])
    assert sorted(tools) == [name for name in TOOLS if name != "artifact_read"]  # artifacts are off
    answer = ikigai.call(tools["example"], {"city": "Oslo"})
    assert answer == {"tool_success": True, "result": {"success": True, "greeting": "Hello, Oslo!"}}


def test_console_scripts_work_as_the_installer_wrote_them(environment: Path, home: dict[str, str]) -> None:
    schema = json.loads(run(environment / "bin" / "web-fetch-tool", "--schema", environ=home))
    assert schema["name"] == "web_fetch"


def test_the_extras_bring_their_commands(dist: Path, home: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "environment"
    create_environment(folder, "--find-links", dist, "ferrule[ask,dev,mcp]")
    for command in ("ask", "check", "new", "serve"):
        assert f"ferrule {command}" in run(folder / "bin" / "ferrule", command, "--help", environ=home)
