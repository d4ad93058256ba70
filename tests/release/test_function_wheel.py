"""A project of function tools, built as for a release: its wheel has the schema files, which nobody has committed."""

import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.index, pytest.mark.timeout(300)]

PYPROJECT = """\
[build-system]
requires = ["hatchling", "ferrule[schema]"]
build-backend = "hatchling.build"

[project]
name = "ferrule-sky"
version = "0.1.0"
requires-python = ">=3.11"
dependencies = ["ferrule", "iniconfig"]

[project.entry-points."ferrule.tools"]
sky = "ferrule_sky:sky"

[project.scripts]
sky-tool = "ferrule.dispatch:main"

[tool.hatch.build.targets.wheel]
packages = ["src/ferrule_sky"]

[tool.hatch.build.hooks.ferrule]
"""
SOURCE = '''\
"""The tool `sky`."""

from __future__ import annotations

from typing import Annotated, TypedDict

import iniconfig  # which the build has to install

from ferrule import Range, tool


class Answer(TypedDict):
    colour: str
    library: str


@tool
def sky(hour: Annotated[int, "Hour of the day", Range(0, 23)] = 12) -> Answer:
    """Tells the colour of the sky."""
    return {"colour": "blue" if 6 < hour < 20 else "black", "library": iniconfig.__name__}
'''


class Project:
    """A project in a folder, and where the wheel of the host is found."""

    def __init__(self, folder: Path, links: Path) -> None:
        self.folder = folder
        self.module = folder / "src" / "ferrule_sky" / "__init__.py"
        self.module.parent.mkdir(parents=True)
        self.module.write_text(SOURCE)
        (folder / "pyproject.toml").write_text(PYPROJECT)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "FERRULE", "VIRTUAL"))}
        found = f"{kept.get('PIP_FIND_LINKS', '')} {links}".strip()
        self.environ = {**kept, "PIP_FIND_LINKS": found, "PIP_CONSTRAINT": str(ROOT / "constraints.txt")}

    def run(self, *command: str | Path, stdin: str = "") -> Any:
        return subprocess.run(
            list(map(str, command)), cwd=self.folder, env=self.environ, input=stdin, capture_output=True, text=True
        )

    def build(self, *options: str) -> Any:
        return self.run(sys.executable, "-m", "build", *options)

    def schema_files(self) -> list[str]:
        return sorted(path.name for path in self.module.parent.glob("*.json"))


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel of the host."""
    folder = tmp_path_factory.mktemp("links")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT / "host"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture
def project(tmp_path: Path, links: Path) -> Project:
    return Project(tmp_path / "project", links)


def test_a_wheel_that_is_built_apart_from_everything_has_the_files_and_answers(
    project: Project, tmp_path: Path
) -> None:
    built = project.build()
    assert built.returncode == 0, built.stdout + built.stderr
    (sdist,), (wheel,) = project.folder.glob("dist/*.tar.gz"), project.folder.glob("dist/*.whl")
    with tarfile.open(sdist) as names:
        assert not [name for name in names.getnames() if name.endswith(".json")], "an sdist has what is committed"
    with zipfile.ZipFile(wheel) as archive:
        schema = json.loads(archive.read("ferrule_sky/schema.json"))
        declared = json.loads(archive.read("ferrule_sky/sky.tool.json"))
    assert schema["parameters"]["properties"]["hour"]["maximum"] == 23
    assert declared["result_schema"]["required"] == ["colour", "library"]
    assert project.schema_files() == [], "the project is left as it was"

    venv.create(tmp_path / "environment", with_pip=True, symlinks=True)
    scripts = tmp_path / "environment" / "bin"
    installed = project.run(scripts / "python", "-m", "pip", "install", "--quiet", wheel)
    assert installed.returncode == 0, installed.stderr
    assert json.loads(project.run(scripts / "sky-tool", "--schema").stdout) == schema
    answer = json.loads(project.run(scripts / "sky-tool", stdin='{"hour": 3}').stdout)
    assert answer == {"colour": "black", "library": "iniconfig"}
    absent = project.run(scripts / "python", "-c", "import msgspec")
    assert "ModuleNotFoundError" in absent.stderr, "who calls a tool needs no library for schemas"


def test_a_file_that_is_there_is_held_against_the_function(project: Project) -> None:
    (project.module.parent / "schema.json").write_text('{"name": "sky"}')
    stale = project.build("--no-isolation", "--wheel")
    assert stale.returncode == 1
    assert "schema.json of sky is not that of its function: /description is missing in the file" in stale.stderr
    assert "Run `ferrule schema --write`" in stale.stderr

    written = project.run(Path(sys.executable).with_name("ferrule"), "schema", "--write")
    assert written.stdout.splitlines() == ["Wrote src/ferrule_sky/schema.json", "Wrote src/ferrule_sky/sky.tool.json"]
    built = project.build("--no-isolation", "--wheel")
    assert built.returncode == 0, built.stderr
    (wheel,) = project.folder.glob("dist/*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert (names.count("ferrule_sky/schema.json"), names.count("ferrule_sky/sky.tool.json")) == (1, 1)


def test_a_signature_that_cannot_be_said_fails_the_build_with_the_parameter(project: Project) -> None:
    project.module.write_text(SOURCE.replace("hour: ", "hour: str | "))
    failed = project.build("--no-isolation", "--wheel")
    assert failed.returncode == 1
    assert "The parameter 'hour' of sky cannot be described: the format has no union" in failed.stderr
    assert "Give it one type" in failed.stderr


def test_an_editable_install_writes_the_files_into_the_project(project: Project, tmp_path: Path) -> None:
    venv.create(tmp_path / "environment", with_pip=True, symlinks=True)
    python = tmp_path / "environment" / "bin" / "python"
    done = project.run(python, "-m", "pip", "install", "--quiet", "--editable", ".")
    assert done.returncode == 0, done.stderr
    assert project.schema_files() == ["schema.json", "sky.tool.json"]
    assert "ok" in project.run(python.with_name("ferrule"), "list", "--check").stdout
