"""Distributions that are installed without pip: a folder of modules and `*.dist-info`, and their executables.

What a wheel would install is written as pip would write it: the modules, the metadata with its entry points, and a
console script for each of `[project.scripts]`. That takes a millisecond a distribution, and pip a second.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from ferrule_testkit import PROJECT
from ferrule_testkit.processes import fork_server, linker
from ferrule_testkit.scripts import shebang

DISTS = PROJECT / "tests/dists"
EXAMPLE = PROJECT / "plugins/example"
PROBE = PROJECT / "tests/testkit/probe"

# As pip before 25.2 writes it; newer ones leave out `re`, which nothing here depends on.
_CONSOLE_SCRIPT = """\
{shebang}# -*- coding: utf-8 -*-
import re
import sys
from {module} import {function}
if __name__ == '__main__':
    sys.argv[0] = re.sub(r'(-script\\.pyw|\\.exe)?$', '', sys.argv[0])
    sys.exit({function}())
"""


class Site:
    """A folder of installed distributions. path: what goes on PYTHONPATH. scripts, links: their executables."""

    def __init__(self, root: Path) -> None:
        self.path = root / "site"
        self.scripts = root / "bin"
        self.links = root / "links"

    def install(self, *distributions: Path) -> "Site":
        """Install distributions from their folders, as pip would."""
        for folder in (self.path, self.scripts, self.links):
            folder.mkdir(parents=True, exist_ok=True)
        for distribution in distributions:
            project = tomllib.loads((distribution / "pyproject.toml").read_text())["project"]
            _copy_modules(distribution, self.path)
            _write_metadata(project, self.path)
            _write_scripts(project, self.scripts)
        return self

    def link(
        self,
        tools: Iterable[str],
        environment: Mapping[str, str],
        *,
        names: str = "{}",
        python: Path = Path(sys.executable),
        beside: Iterable[str] = (),
    ) -> None:
        """Link tools by name; one whose schema cannot be had or breaks a rule gets no executable.

        names: their other names, as JSON. python: the interpreter; this one does it in a fork of a process that has
        the host. beside: further folders that it needs. Raises subprocess.CalledProcessError.
        """
        environ = {**environment, "PYTHONPATH": os.pathsep.join([str(self.path), *beside])}
        words = [str(self.links), names, *tools]
        # A process that has this kit by PYTHONPATH alone can have no fork of one that has it installed.
        has_kit = "PYTHONPATH" not in os.environ
        if python != Path(sys.executable) or not (has_kit and fork_server.is_possible(environ)):
            command = [str(python), "-c", Path(linker.__file__).read_text(), *words]
            subprocess.run(command, env=environ, check=True, timeout=120)
            return
        # The name of the program is none: its folder is the first in which a program looks for modules.
        done = fork_server.run(
            "ferrule_testkit.processes.linker:main", ["", *words], b"", environment=environ, cwd=Path.cwd()
        )
        if done.exit_code:
            raise subprocess.CalledProcessError(done.exit_code, words, done.stdout, done.stderr)

    def tools(self) -> list[str]:
        """The names of all tools that have a console script."""
        return sorted(path.name.removesuffix("-tool").replace("-", "_") for path in self.scripts.glob("*-tool"))


def broken_distributions() -> list[Path]:
    """The folders of all distributions that are broken on purpose."""
    return sorted(path.parent for path in DISTS.glob("*/pyproject.toml"))


def _copy_modules(distribution: Path, site: Path) -> None:
    source = distribution / "src"
    for path in (source if source.is_dir() else distribution).iterdir():
        if path.is_dir() and path.name != "__pycache__":
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(path, site / path.name, dirs_exist_ok=True, ignore=ignored)
        elif path.suffix in (".py", ".json"):
            shutil.copy(path, site)


def _write_metadata(project: "Mapping[str, object]", site: Path) -> None:
    name, version = str(project["name"]), str(project["version"])
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    groups = {"console_scripts": project.get("scripts", {}), **_mapping(project.get("entry-points"))}
    sections = [
        "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in _mapping(points).items()), ""])
        for group, points in groups.items()
    ]
    (folder / "entry_points.txt").write_text("\n".join(sections))


def _write_scripts(project: "Mapping[str, object]", folder: Path) -> None:
    for name, target in _mapping(project.get("scripts")).items():
        module, _, function = str(target).partition(":")
        path = folder / name
        path.write_text(_CONSOLE_SCRIPT.format(shebang=shebang(), module=module, function=function))
        path.chmod(0o755)


def _mapping(value: object) -> "dict[str, object]":
    return value if isinstance(value, dict) else {}
