"""The OpenNotes CLI for tests: the real ones where scripts/install-opennotes could build them, and their stand-ins.

A test gets a program of its own. Of a real one that is a script that starts the build, which no test can write to.
"""

import compileall
import functools
import json
import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit import PROJECT
from ferrule_testkit.scripts import shebang

TOOLS = PROJECT / ".tools"
STAND_IN = PROJECT / "plugins" / "opennotes" / "tests"
GENERATIONS = ("opennotes", "jot")
OFFLINE = "opennotes-offline"  # opennotes with a macro in place of the extension that it downloads

# Without the site's modules, which it needs for YAML and DuckDB alone: what they cost would double its start.
_PROGRAM = """{shebang}import sys
sys.path.insert(0, {folder!r})
sys.path += {packages!r}
from standin.program import main
sys.exit(main(__file__.removesuffix(".py")))
"""
# The plugin asks every `jot` at every call whether it is this one, and no test is about how that is answered.
_LAUNCHER = """#!/bin/sh
[ "$*" = "version" ] && exec cat "$0.version"
exec "{interpreter}" -IBS "$0.py" "$@"
"""
_START_OF_BUILD = """#!/bin/sh
exec {build} "$@"
"""
_BUILDS = (*GENERATIONS, OFFLINE)
_TOOLS = ("create", "get", "list", "notebooks", "search", "views")
_DECLARED = ("setting:cli", "variable:FERRULE_OPENNOTES_CLI", *GENERATIONS)
_READ = (
    "~/*", "~/.notes", ".", "variable:OPENNOTES_NOTEBOOK", "variable:JOT_NOTEBOOK", "~/.opennotes.json", "~/.jot.json",
    "~/.config/opennotes", "~/.config/jot",
)  # fmt: skip
_SECONDS = 60.0  # far more than any command takes


class Cli:
    """One CLI in a folder of its own. name: "opennotes" or "jot". path: the program. is_real: no stand-in."""

    def __init__(self, name: str, path: Path, *, is_real: bool) -> None:
        self.name = name
        self.path = path
        self.is_real = is_real

    @property
    def folder(self) -> Path:
        """The folder that stands on PATH."""
        return self.path.parent

    @property
    def config_name(self) -> str:
        """The name of a notebook's configuration."""
        return f".{self.name}.json"

    def behave(self, **wishes: Any) -> None:
        """Do what the stand-in's package names in its docstring, in every run from now on; nothing: be good.

        No real program can be told to, so a stand-in takes its place.
        """
        if self.is_real:
            self.is_real = False
            _write_stand_in(self.name, self.path)
        Path(f"{self.path}.behaviour.json").write_text(json.dumps({"kind": self.name, **wishes}))
        # A stand-in that does not behave has to do so from its first instruction on, so nothing answers in its place.
        self.path.write_text(_program() if wishes else _launcher())
        self.path.chmod(0o755)

    def run(
        self, *arguments: str | Path, environment: Mapping[str, str], cwd: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        """Run it as a person would, with nothing on stdin."""
        return subprocess.run(
            [self.path, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=dict(environment),
            cwd=cwd or environment["HOME"],
            timeout=_SECONDS,
            check=False,
        )


def best(name: str, folder: Path) -> Cli:
    """The real CLI of a generation that needs no network, where it has been built, else its stand-in."""
    build = OFFLINE if name == "opennotes" else name
    return real(build, folder) if is_built(build) else stand_in(name, folder)


def stand_in(name: str, folder: Path, *, file_name: str | None = None) -> Cli:
    """A stand-in in a folder of its own. name: the generation. file_name: of the program, where it has another."""
    folder.mkdir(parents=True, exist_ok=True)
    cli = Cli(name, folder / (file_name or name), is_real=False)
    _write_stand_in(name, cli.path)
    cli.behave()
    return cli


def _write_stand_in(name: str, path: Path) -> None:
    Path(f"{path}.py").write_text(_program())
    Path(f"{path}.version").write_text(_version(name))


def _launcher() -> str:
    return _LAUNCHER.format(interpreter=shlex.quote(os.path.realpath(sys.executable)))


@functools.cache
def _program() -> str:
    """The source of the stand-in's program, whose modules are compiled here, as it leaves nothing behind itself."""
    compileall.compile_dir(STAND_IN / "standin", quiet=1)
    packages = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    return _PROGRAM.format(
        shebang=shebang("-IBS", python=os.path.realpath(sys.executable)), folder=str(STAND_IN), packages=packages
    )


def copy_notebook(name: str, folder: Path, *, is_real: bool) -> None:
    """Make the notebook in a folder, called as the folder is, that the CLI or its stand-in would make there."""
    config = {**_made(name, is_real=is_real), "name": folder.name, "contexts": [str(folder)]}
    (folder / config["root"]).mkdir(exist_ok=True)
    (folder / f".{name}.json").write_text(json.dumps(config, indent=2))


@functools.cache
def _made(name: str, *, is_real: bool) -> dict[str, Any]:
    """The configuration of a notebook that the program has made."""
    with tempfile.TemporaryDirectory() as folder:
        cli = (best if is_real else stand_in)(name, Path(folder, "bin"))
        notebook = Path(folder, "notebook")
        notebook.mkdir()
        made = cli.run("notebook", "create", notebook, "--name", "notebook", environment=surroundings(Path(folder)))
        assert made.returncode == 0, made.stderr
        config: dict[str, Any] = json.loads((notebook / cli.config_name).read_text())
        return config


@functools.cache
def _version(name: str) -> str:
    """What the stand-in itself prints for `version`."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, name)
        program.write_text(_program())
        command = [os.path.realpath(sys.executable), "-IBS", str(program), "version"]
        return subprocess.check_output(command, stdin=subprocess.DEVNULL, text=True)


def is_built(name: str) -> bool:
    """Whether scripts/install-opennotes has built the real CLI. name: a generation, or OFFLINE."""
    return os.access(TOOLS / "bin" / name, os.X_OK)


def real(name: str, folder: Path) -> Cli:
    """The real CLI, which has been built, under the name of its generation in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    generation = "opennotes" if name == OFFLINE else name
    path = folder / generation
    path.write_text(_START_OF_BUILD.format(build=shlex.quote(str(TOOLS / "bin" / name))))
    path.chmod(0o755)
    return Cli(generation, path, is_real=True)


def require_built(name: str) -> None:
    """Skip the test if there is no real CLI; "elsewhere" begins the reason where the script could build none."""
    if not is_built(name):
        record = TOOLS / f"{name}.unavailable"
        why = f"elsewhere: {record.read_text().strip()}" if record.exists() else "scripts/install-opennotes was not run"
        pytest.skip(why)


def grant(config: Path) -> None:
    """Write a config.toml that lets the tools run what the programs for tests are made of, beside what they declare.

    A real CLI is one file. A stand-in is a shell script that starts Python, and a real one here a script, too.
    """
    programs = [
        *_DECLARED,
        "cat",
        "sleep",
        os.path.realpath(sys.executable),
        *(str(TOOLS / "bin" / name) for name in _BUILDS),
    ]
    reads = {"read": [*_READ, str(STAND_IN), str(TOOLS)], "programs": programs}
    lines = [f"{key} = {json.dumps(value)}" for key, value in reads.items()]
    tables = [[f"[tools.opennotes_{tool}.permissions]", *lines] for tool in _TOOLS]
    config.write_text("\n".join(line for table in tables for line in table) + "\n")


def surroundings(home: Path, *folders: Path) -> dict[str, str]:
    """The environment of a person who has configured nothing. folders: stand on PATH before the system's own."""
    return {
        "PATH": os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"]),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "LANG": "C.UTF-8",
    }
