"""The OpenNotes CLI for tests: the real ones where scripts/install-opennotes could build them, and their stand-ins."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[2]
TOOLS = PROJECT / ".tools"
STAND_IN = PROJECT / "plugins" / "opennotes" / "tests"
GENERATIONS = ("opennotes", "jot")

_LAUNCHER = """#!{interpreter} -I
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, {folder!r})
from standin.program import main
sys.exit(main(__file__))
"""
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
        """Have a stand-in do what its package's docstring names, in every run from now on; nothing: be good."""
        assert not self.is_real
        Path(f"{self.path}.behaviour.json").write_text(json.dumps({"kind": self.name, **wishes}))

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


def stand_in(name: str, folder: Path, *, file_name: str | None = None) -> Cli:
    """A stand-in in a folder of its own. name: the generation. file_name: of the program, where it has another."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (file_name or name)
    path.write_text(_LAUNCHER.format(interpreter=sys.executable, folder=str(STAND_IN)))
    path.chmod(0o755)
    cli = Cli(name, path, is_real=False)
    cli.behave()
    return cli


def is_built(name: str) -> bool:
    """Whether scripts/install-opennotes has built the real CLI."""
    return os.access(TOOLS / "bin" / name, os.X_OK)


def real(name: str, folder: Path) -> Cli:
    """The real CLI, which has been built, linked from a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).symlink_to(TOOLS / "bin" / name)
    return Cli(name, folder / name, is_real=True)


def why_not_built(name: str) -> str:
    """Why there is no real CLI; begins with "elsewhere" where the script has tried and was refused."""
    record = TOOLS / f"{name}.unavailable"
    return f"elsewhere: {record.read_text().strip()}" if record.exists() else "scripts/install-opennotes was not run"


def surroundings(home: Path, *folders: Path) -> dict[str, str]:
    """The environment of a person who has configured nothing. folders: stand on PATH before the system's own."""
    return {
        "PATH": os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"]),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "LANG": "C.UTF-8",
    }
