"""Runs of `ferrule check`, each in an environment of its own."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from ferrule_testkit.runs import Run, run

_SECONDS = 240.0  # a tool that hangs takes half a minute, on a machine that has nothing else to do


def check(target: str | Path, folder: Path, *options: str, **variables: str) -> Run:
    """Run `ferrule check` with an empty home in a folder, where its own temporary folders are made, too."""
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(folder), "TMPDIR": str(folder), "PATH": programs, **variables}
    # On a busy machine, too, there is time for all checks.
    command = [sys.executable, "-m", "ferrule", "check", target, "--seconds", str(_SECONDS), *options]
    return run(command, b"", environment=environment, cwd=folder, seconds=_SECONDS)


def in_state(done: Run, state: str) -> dict[str, str]:
    """The checks that ended so, with what is said of them."""
    [report] = json.loads(done.stdout)["targets"]
    return {one["id"]: one["message"] for one in report["checks"] if one["state"] == state}
