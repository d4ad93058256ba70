"""An installation as a user has it: by one installer, with one Python, in a home and a working folder of its own."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from ferrule_testkit.installation.offer import CONSTRAINTS, Offer, find_python, locked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LAUNCHER = "ferrule-launcher"  # which starts every tool, so `ferrule install` asks whether it is trusted
PIP, PIPX, UV = "pip", "pipx", "uv"
VENV = "venv"
"""A virtual environment with pip, made by uv, which takes a tenth of the time. What it has is compiled, as pip does.

One with a purpose is a copy, in which `pip install` is uv's, which takes a tenth of the time, too.
"""
INSTALLERS = (PIP, PIPX, UV)
_PIP = """\
#!/bin/sh
[ "$1" = install ] || exec '{venv}/bin/python' -m pip "$@"
exec env VIRTUAL_ENV='{venv}' uv pip "$@"
"""
SECONDS = 300.0  # that a command may take on a busy machine before the test fails


class Recipe(NamedTuple):
    """What is installed, and how. plugins: distributions beside the host. python: a version, such as `3.12`.

    purpose: of an installation that is not for all who ask for the same; by VENV.
    """

    installer: str
    python: str
    plugins: tuple[str, ...]
    purpose: str = ""

    @property
    def name(self) -> str:
        """What it is called in the names of tests and folders."""
        what = {0: "host", 1: "".join(self.plugins).removeprefix("ferrule-")}.get(len(self.plugins), "all")
        return "-".join(filter(None, (what, self.installer, self.python, self.purpose)))


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What it has printed, as JSON."""
        return json.loads(self.out)


class Installation:
    """The home of a user. root: of all that is theirs. home, work: folders. environ: of every command."""

    def __init__(self, root: Path, recipe: Recipe, offer: Path, uv_cache: Path) -> None:
        self.recipe = recipe
        self.home, self.work = root / "home", root / "work"
        self.scripts = root / "venv" / "bin" if recipe.installer in (PIP, VENV) else self.home / ".local" / "bin"
        self.environ = {
            "HOME": str(self.home),
            "PATH": f"{self.scripts}:{root / 'installers'}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TMPDIR": str(root / "tmp"),
            **_settings(offer, uv_cache),
        }
        self._root = root

    def make_folders(self) -> None:
        """What there is before anything is installed: a home, and the installers."""
        for folder in (self.home, self.work, self._root / "tmp", self._root / "installers"):
            folder.mkdir(parents=True)
        for name in (PIPX, UV):
            (self._root / "installers" / name).symlink_to(os.path.join(os.path.dirname(sys.executable), name))

    def make(self) -> None:
        """Install everything; what an earlier try has left is gone then."""
        shutil.rmtree(self._root, ignore_errors=True)
        self.make_folders()
        python = find_python(self.recipe.python)
        assert python is not None
        for command in self._commands(python):
            done = self.run(*command)
            assert done.code == 0, f"{command}\n{done.out[-2000:]}\n{done.err[-4000:]}"

    def copy(self, pattern: Installation) -> None:
        """Be what another one is, with the same files, none of which is written: an installer puts others there."""
        shutil.rmtree(self._root, ignore_errors=True)
        self.make_folders()
        own, others = str(self._root / "venv"), str(pattern.scripts.parent)
        shutil.copytree(others, own, copy_function=os.link, symlinks=True)
        for script in self.scripts.iterdir():
            if not script.is_symlink() and others.encode() in (text := script.read_bytes()):
                script.unlink()
                script.write_bytes(text.replace(others.encode(), own.encode()))
                script.chmod(0o755)
        (self.scripts / "pip").unlink()
        (self.scripts / "pip").write_text(_PIP.format(venv=own))
        (self.scripts / "pip").chmod(0o755)

    def of_another_user(self, folder: Path) -> Self:
        """The same installation with a home and a working folder that are new."""
        other = copy.copy(self)
        other.home, other.work = folder / "home", folder / "work"
        other.environ = {**self.environ, "HOME": str(other.home)}
        for one in (other.home, other.work):
            one.mkdir()
        return other

    def _commands(self, python: str) -> list[list[str]]:
        """By pip and uv in their own words, by pipx in those of `ferrule install`."""
        plugins = list(self.recipe.plugins)
        if self.recipe.installer == PIP:
            venv = str(self._root / "venv")
            return [[python, "-m", "venv", venv], [f"{venv}/bin/pip", "install", "--quiet", "ferrule", *plugins]]
        if self.recipe.installer == VENV:
            venv = str(self._root / "venv")
            install = ["uv", "pip", "install", "--quiet", "--python", f"{venv}/bin/python", "--compile-bytecode"]
            install += ["ferrule", *plugins]
            return [["uv", "venv", "--quiet", "--seed", "--python", python, venv], install]
        if self.recipe.installer == PIPX:
            trusted = [part for name in plugins if name == LAUNCHER for part in ("--trust", name)]
            more = [["ferrule", "install", *plugins, *trusted]] if plugins else []
            return [["pipx", "install", "--quiet", "--python", python, "ferrule"], *more]
        beside = [part for name in plugins for part in ("--with", name)]
        return [["uv", "tool", "install", "--quiet", "--python", python, "ferrule", *beside]]

    def run(
        self,
        *command: str | Path,
        stdin: str = "",
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        seconds: float = SECONDS,
    ) -> Done:
        """Run a command of the user to its end; its streams and exit code."""
        done = subprocess.run(
            list(map(str, self.resolve(command))),
            input=stdin,
            env={**self.environ, **(environ or {})},
            cwd=cwd or self.work,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    def resolve(self, command: Sequence[str | Path]) -> list[str | Path]:
        """The command as the user's shell finds it."""
        for folder in self.environ["PATH"].split(os.pathsep):
            if os.access(path := os.path.join(folder, command[0]), os.X_OK):
                return [path, *command[1:]]
        return list(command)

    def ferrule(self, *arguments: str | Path, stdin: str = "", environ: Mapping[str, str] | None = None) -> Done:
        """Run `ferrule ARGUMENT…`."""
        return self.run("ferrule", *arguments, stdin=stdin, environ=environ)

    def tools(self) -> list[str]:
        """The names of the tools that are installed."""
        return [tool["name"] for tool in self.ferrule("list", "--json").document["tools"]]


def installed(recipe: Recipe, folder: Path, offer: Offer) -> Installation:
    """The installation of a recipe, which the first worker that asks for it makes."""
    root = folder / recipe.name
    wheels = offer.for_python(recipe.python)
    made = Installation(root, recipe, wheels, offer.uv_cache)
    pattern = installed(recipe._replace(purpose=""), folder, offer) if recipe.purpose else None
    with locked(folder / f"{recipe.name}.lock"):
        if not (root / "complete").exists():
            made.make() if pattern is None else made.copy(pattern)
            (root / "complete").touch()
    return made


def bare(recipe: Recipe, root: Path, offer: Offer) -> Installation:
    """A user who has the installers, and has installed nothing."""
    made = Installation(root, recipe, offer.for_python(recipe.python), offer.uv_cache)
    made.make_folders()
    return made


def _settings(offer: Path, uv_cache: Path) -> dict[str, str]:
    """The variables by which installers take packages from the folder, and from nowhere else."""
    return {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(offer),
        "PIP_CONSTRAINT": str(CONSTRAINTS),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(offer),
        "UV_CONSTRAINT": str(CONSTRAINTS),
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(uv_cache),
        "UV_PYTHON_DOWNLOADS": "never",
    }
