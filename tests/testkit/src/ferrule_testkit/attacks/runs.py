"""Attacks through one way in a process of its own, as this user or an ordinary one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from ferrule import confinement
from ferrule_testkit.attacks import ordinary_user

SECONDS = 600.0
NAMES_OF_USERS = ("me", "nobody")
USERS = pytest.mark.parametrize("user", NAMES_OF_USERS)
ORDINARY, OTHER = NAMES_OF_USERS[::-1] if os.geteuid() == 0 else NAMES_OF_USERS
"""The ordinary user, who makes every attack, and the other one: root, where root runs the tests."""
HELD = pytest.mark.skipif(
    bool(confinement.support().missing),
    reason="elsewhere: this kernel lacks " + ", ".join(confinement.support().missing),
)


def report(way: str, *names: str, user: str = "me") -> dict[str, Any]:
    """What came of attacks through one way, in a process of its own, so that they can do nothing to this one."""
    folder = Path(tempfile.mkdtemp(prefix="f"))  # with a short path, since paths of sockets are short
    folder.chmod(0o755)
    try:
        return _put_through(way, folder, names, user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put_through(way: str, folder: Path, names: tuple[str, ...], user: str) -> dict[str, Any]:
    scene = folder / "s"
    scene.mkdir()
    command = ["-m", "ferrule_testkit.attacks", way, str(scene), *names]
    if user == "nobody":
        if os.geteuid():
            pytest.skip("only root can be somebody else")
        os.chown(scene, ordinary_user.NOBODY, ordinary_user.NOBODY)
        done = ordinary_user.run(command, folder, seconds=SECONDS)
    else:
        done = subprocess.run(
            [sys.executable, *command],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            start_new_session=True,
            timeout=SECONDS,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((scene / "report.json").read_text())
    return found
