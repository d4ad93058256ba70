"""A clean virtual environment with the project's wheels in it, as a user has it."""

from __future__ import annotations

import compileall
import json
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ROOT = Path(__file__).resolve().parents[2]


class Installation:
    """A virtual environment. python: its interpreter. scripts: the folder of its executables. site: its packages."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True, symlinks=True)
        self.folder = folder
        self.scripts = folder / "bin"
        self.python = self.scripts / "python"
        self.site = next((folder / "lib").glob("python*/site-packages"))

    def install(self, *requirements: str) -> None:
        """Install folders of the project (built to wheels first) or what the index has, as the constraints say.

        What these need of the project comes from its folders, too: no index has it.
        """
        command = [str(self.python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        constraints = ["--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([*command, *constraints, *_with_own_needs(requirements)], check=True, stdout=sys.stderr)

    def add_tools(self, number: int) -> list[str]:
        """Put small tools into the environment, as their wheels would; their names."""
        names = [f"bench_{index:03}" for index in range(number)]
        for name in names:
            self._add_tool(name)
        compileall.compile_dir(self.site, quiet=2)
        return names

    def remove_tools(self) -> None:
        """Take away again what `add_tools` put there."""
        subprocess.run(["sh", "-c", f"rm -rf '{self.site}'/bench_*"], check=True)

    def _add_tool(self, name: str) -> None:
        metadata = self.site / f"{name}-1.0.dist-info"
        metadata.mkdir()
        metadata.joinpath("METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        metadata.joinpath("entry_points.txt").write_text(f"[ferrule.tools]\n{name} = {name}\n")
        package = self.site / name
        package.mkdir()
        example = ROOT / "plugins" / "example" / "src" / "ferrule_example"
        package.joinpath("__init__.py").write_text(example.joinpath("__init__.py").read_text())
        schema = json.loads(example.joinpath("schema.json").read_text())
        package.joinpath("schema.json").write_text(json.dumps({**schema, "name": name}))


def _with_own_needs(requirements: Iterable[str]) -> list[str]:
    """The requirements, and the folders of the project's distributions that those among them need."""
    folders = [ROOT / "host", *sorted((ROOT / "plugins").iterdir())]
    projects = {
        facts["name"]: (str(folder), facts["dependencies"])
        for folder in folders
        if (folder / "pyproject.toml").is_file()
        for facts in [tomllib.loads((folder / "pyproject.toml").read_text())["project"]]
    }
    found = dict.fromkeys(requirements)
    chosen = {name for name, (folder, _) in projects.items() if any(one.partition("[")[0] == folder for one in found)}
    waiting = list(chosen)
    while waiting:
        for need in projects[waiting.pop()][1]:
            name = re.split(r"[^\w.-]", need, maxsplit=1)[0]
            if name in projects and name not in chosen:
                chosen.add(name)
                waiting.append(name)
                found[projects[name][0]] = None
    return list(found)
