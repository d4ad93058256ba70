"""The folder that stands for the package index: the wheels of the project, and those of all that they require.

The latter are downloaded once for each version of Python, into the cache of pytest, until constraints.txt changes.
"""

from __future__ import annotations

import fcntl
import functools
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferrule_testkit import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = ("3.11", "3.12", "3.13")
CONSTRAINTS = PROJECT / "constraints.txt"
NEW_TOOL = "weather"  # of the package ferrule-weather, which `ferrule new` makes; the pages speak of it
_SECONDS = 600.0  # that anything may take on a busy machine
# What pages have a user install beside: the installer, what builds and tests a package, what extras bring.
_BESIDE = (
    *("pip", "setuptools", "wheel", "hatchling", "editables", "hiredis", "httpx", "msgspec", "prometheus-client"),
    *("anthropic", "build", "mcp", "mypy", "pytest", "ruff", "twine"),
)
_CODE = "import sys; print('%d.%d' % sys.version_info[:2])"
_PLACES = ("~/.pyenv/versions/{}*/bin/python3", "~/.local/share/uv/python/cpython-{}*/bin/python3")


def projects() -> dict[str, Path]:
    """The folder of each distribution by its name, the host first."""
    folders = [PROJECT / "host", *sorted(path.parent for path in PROJECT.glob("plugins/*/pyproject.toml"))]
    return {tomllib.loads((one / "pyproject.toml").read_text())["project"]["name"]: one for one in folders}


@functools.cache
def find_python(version: str) -> str | None:
    """An interpreter of this version that is no virtual environment's: on PATH, or where pyenv and uv put theirs."""
    own = os.path.realpath(sys.executable)
    found = [path for place in _PLACES for path in sorted(glob.glob(os.path.expanduser(place.format(version))))]
    for path in (own, shutil.which(f"python{version}"), *found):
        if path and _answer([path, "-c", _CODE]) == version:
            return path
    return None


def _answer(command: Sequence[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False).stdout.strip()
    except OSError:
        return ""


class Offer:
    """The folder that installers take packages from. folder: where it is made. cache: what outlives the run."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self._folder = folder
        key = hashlib.sha256(CONSTRAINTS.read_bytes()).hexdigest()[:12]
        self._house = cache / f"wheels-{key}"
        self.uv_cache = cache / "uv"

    def for_python(self, version: str) -> Path:
        """The folder, once it has all that this version of Python needs."""
        with locked(self._folder / "offer.lock"):
            wheels = self._folder / "wheels"
            if not wheels.exists():
                self._build(wheels)
        with locked(self._house.parent / f"{self._house.name}.lock"):
            stamp = self._house / f"{version}-{_requirements()}.complete"
            if not stamp.exists():
                self._download(version, wheels)
                stamp.touch()
            for wheel in self._house.glob("*.whl"):
                if not (wheels / wheel.name).exists():
                    (wheels / wheel.name).symlink_to(wheel)
        return wheels

    def _build(self, wheels: Path) -> None:
        part = wheels.with_name("wheels.part")
        for project in projects().values():
            _build_wheel(project, part)
        _run([sys.executable, "-m", "ferrule", "new", NEW_TOOL, "--to", str(self._folder)])
        _build_wheel(self._folder / f"ferrule-{NEW_TOOL}", part)
        part.rename(wheels)

    def _download(self, version: str, wheels: Path) -> None:
        """What the wheels require, as wheels, and what installers put into each environment."""
        self._house.mkdir(exist_ok=True)
        own = [str(path) for path in sorted(wheels.glob("ferrule*.whl"))]
        python = find_python(version)
        assert python is not None
        command = [sys.executable, "-m", "pip", "--python", python, "download", "--quiet", "--only-binary", ":all:"]
        _run([*command, "--constraint", str(CONSTRAINTS), "--dest", str(self._house), *own, *_BESIDE])
        for wheel in self._house.glob("ferrule*.whl"):
            wheel.unlink()


def _requirements() -> str:
    """What changes whenever a distribution requires something else."""
    text = repr(_BESIDE) + "".join((folder / "pyproject.toml").read_text() for folder in projects().values())
    return hashlib.sha256(text.encode()).hexdigest()[:12]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one worker of pytest in at a time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build_wheel(project: Path, folder: Path) -> None:
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], cwd=project)


def _run(command: Sequence[str], cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=_SECONDS, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
