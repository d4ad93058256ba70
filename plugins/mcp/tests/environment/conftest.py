"""Packages that are built here, so that installs need no network."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ferrule_mcp.launch.plan import NPM, PYPI, SCRIPT, Launch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferrule_mcp.environment.record import Environment

PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "{name}"
version = "{version}"
dependencies = {dependencies}
[project.scripts]
{name} = "{module}:main"
[tool.hatch.build.targets.wheel]
packages = ["{module}"]
"""


def build_wheel(folder: Path, wheels: Path, name: str, version: str, code: str, dependencies: list[str]) -> None:
    """Build a wheel of one module with hatchling."""
    module = name.replace("-", "_")
    (folder / module).mkdir(parents=True)
    (folder / module / "__init__.py").write_text(code)
    project = PROJECT.format(name=name, version=version, module=module, dependencies=json.dumps(dependencies))
    (folder / "pyproject.toml").write_text(project)
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels], cwd=folder, check=True)


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels of a server and of what it needs."""
    folder = tmp_path_factory.mktemp("wheels")
    made = tmp_path_factory.mktemp("projects")
    build_wheel(made / "a", folder, "greeting-part", "0.5", "WORD = 'hello'\n", [])
    code = "import sys\n\ndef main():\n    from greeting_part import WORD\n    print(WORD, *sys.argv[1:])\n"
    build_wheel(made / "b", folder, "greeting-mcp", "1.2", code, ["greeting-part"])
    build_wheel(made / "c", folder, "greeting-mcp", "1.1", code, ["greeting-part"])
    return folder


@pytest.fixture
def python_launch(wheels: Path) -> Launch:
    """The plan for a server in Python, installed from the wheels alone."""
    options = ("--no-index", "--find-links", str(wheels))
    return Launch(PYPI, SCRIPT, "greeting-mcp", requirements=("greeting-mcp",), arguments=("x",), options=options)


@pytest.fixture(scope="session")
def tarballs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the archives of a server on Node, and of a part that wants its install script."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("tarballs")
    script = "require('fs').writeFileSync('built.node', 'x')"
    _pack(folder, {"name": "native-part", "main": "index.js", "scripts": {"postinstall": f'node -e "{script}"'}}, {
        "index.js": "if (!require('fs').existsSync(__dirname + '/built.node')) "
        "throw new Error('Could not locate the bindings file')",
    })  # fmt: skip
    part = f"file:{folder}/native-part-1.0.0.tgz"
    server = "#!/usr/bin/env node\nrequire('native-part'); console.log('hello', ...process.argv.slice(2))\n"
    _pack(
        folder,
        {"name": "@own/greeting-mcp", "bin": {"greeting-mcp": "bin/x.js"}, "dependencies": {"native-part": part}},
        {"bin/x.js": server},
    )
    _pack(folder, {"name": "many", "bin": {"one": "1.js", "two": "2.js"}}, {"1.js": "console.log(1)", "2.js": ""})
    _pack(folder, {"name": "nothing"}, {})
    return folder


def _pack(folder: Path, package: dict[str, object], files: dict[str, str]) -> None:
    project = folder / str(package["name"]).replace("/", "-")
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    project.mkdir(exist_ok=True)
    (project / "package.json").write_text(json.dumps({"version": "1.0.0", **package}))
    subprocess.run(["npm", "pack", "--silent", "--pack-destination", folder], cwd=project, check=True)


@pytest.fixture
def node_launch(tarballs: Path) -> Launch:
    """The plan for a server on Node, installed from the archives alone."""
    requirements = (str(tarballs / "own-greeting-mcp-1.0.0.tgz"),)
    return Launch(NPM, SCRIPT, "", requirements=requirements, arguments=("x",), options=("--offline",))


@pytest.fixture
def start() -> Callable[[Environment], str]:
    """Starts a server somewhere else, without the variables of this process, and returns what it writes."""

    def run(environment: Environment) -> str:
        ended = subprocess.run(environment.command, capture_output=True, text=True, cwd="/", env={"HOME": "/"})
        return ended.stdout.strip() or ended.stderr

    return run
