"""Environments of the benches' own, which have what others wrote."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

CACHE = Path(__file__).resolve().parents[1] / ".cache"


def interpreter_with(requirements: Path) -> str:
    """The interpreter of an environment that has what a file lists, which is made where it is not there yet.

    What cannot be had is left out, and whoever needs it says that it is missing.
    """
    pins = requirements.read_bytes()
    folder = CACHE / f"{requirements.stem}-{hashlib.sha256(pins).hexdigest()[:8]}"
    python = str(folder / "bin" / "python")
    if not (folder / "complete").exists():
        print("installing the peers …", file=sys.stderr)
        venv.create(folder, with_pip=True, symlinks=True)
        for line in pins.decode().splitlines():
            if line and not line.startswith("#"):
                _install(python, line, requirements)
        (folder / "complete").touch()
    return python


def _install(python: str, requirement: str, constraints: Path) -> None:
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", requirement]
    subprocess.run([*command, "--constraint", str(constraints)], check=False, stdout=sys.stderr)
