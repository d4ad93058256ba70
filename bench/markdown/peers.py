"""The converters that can be had here, each started in an environment that has it."""

import contextlib
import hashlib
import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

from markdown.converters import FLOORS, OURS, PEERS
from markdown.packages import CACHE
from markdown.workers import Unavailable, Worker

REQUIREMENTS = Path(__file__).resolve().parent.parent / "peers.txt"


class Converters:
    """Workers by the names of their converters. wanted: parts of names, one of which a name must hold."""

    def __init__(self, wanted: Iterable[str] = ("",)) -> None:
        self._wanted = tuple(wanted)
        self._unavailable: set[str] = set()

    def all(self, stack: contextlib.ExitStack, *, floors: bool = False) -> list[Worker]:
        """Ours on every parser that is installed, then the peers; floors: and the least that a conversion can cost."""
        names = [*OURS, *PEERS, *(FLOORS if floors else ())]
        return [worker for name in names if (worker := self.one(name, stack))]

    def one(self, name: str, stack: contextlib.ExitStack) -> Worker | None:
        """A single one; None where it is not wanted or cannot be had, which is said once."""
        if name in self._unavailable or not any(part in name for part in self._wanted):
            return None
        try:
            return stack.enter_context(Worker(name, sys.executable if name in OURS else environment()))
        except (Unavailable, subprocess.CalledProcessError) as problem:
            print(f"{name} cannot be measured here: {problem}", file=sys.stderr)
            self._unavailable.add(name)
            return None


def environment() -> str:
    """The interpreter of an environment that has the peers, which is made where it is not there yet."""
    pins = REQUIREMENTS.read_bytes()
    folder = CACHE / f"peers-{hashlib.sha256(pins).hexdigest()[:8]}"
    python = str(folder / "bin" / "python")
    if not (folder / "complete").exists():
        print("installing the peers …", file=sys.stderr)
        venv.create(folder, with_pip=True, symlinks=True)
        for line in pins.decode().splitlines():
            if line and not line.startswith("#"):
                _install(python, line)
        (folder / "complete").touch()
    return python


def _install(python: str, requirement: str) -> None:
    """Install one of the peers. One that cannot be had is left out; its worker will say that it is missing."""
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
    constraints = ["--constraint", str(REQUIREMENTS)]
    subprocess.run([*command, *constraints], check=False, stdout=sys.stderr)
