"""Programs that may leave processes behind or never end: each has a session of its own, and all of it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MARK = "MUTATION_RUN"
_PROC = Path("/proc")
_LOOK_SECONDS = 0.1
_MEMORY_LEFT = 2 << 30  # bytes that the machine keeps; a program that takes more is ended as one that hangs is


def run(argv: Sequence[str], *, folder: Path, output: Path, mark: str, limit: float) -> int | None:
    """Run a program to its end, then kill all that it left; its exit code, or None where the limit (seconds) passed.

    The mark is looked for in the environment of what is running: in the variable MUTATION_RUN, or in any path there.
    """
    with output.open("ab") as sink:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            env={**os.environ, MARK: mark},
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_hear_signals,
        )
    try:
        return _wait(process, time.monotonic() + limit)
    finally:
        _kill_all(process, mark)


def _hear_signals() -> None:
    """What a shell's background job hands down as ignored is heard again."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _wait(process: subprocess.Popen[bytes], end: float) -> int | None:
    while time.monotonic() < end and _memory_left() > _MEMORY_LEFT:
        try:
            return process.wait(_LOOK_SECONDS)
        except subprocess.TimeoutExpired:
            continue
    return None


def _memory_left() -> int:
    try:
        lines = (_PROC / "meminfo").read_text().splitlines()
    except OSError:
        return _MEMORY_LEFT + 1
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:"))


def _kill_all(process: subprocess.Popen[bytes], mark: str) -> None:
    for _ in range(20):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        left = list(_left(process.pid, mark.encode()))
        for pid in left:
            _kill(pid)
        process.poll()
        if not left:
            break
        time.sleep(0.02)
    process.wait()


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def _left(session: int, mark: bytes) -> Iterator[int]:
    """What runs in the session, or carries the mark; nothing where the system has no /proc."""
    for folder in _PROC.glob("[0-9]*"):
        try:
            fields = folder.joinpath("stat").read_bytes().rpartition(b")")[2].split()
            if fields[0] == b"Z":
                continue
            is_ours = int(fields[3]) == session or mark in folder.joinpath("environ").read_bytes()
        except OSError:
            continue
        if is_ours and int(folder.name) != os.getpid():
            yield int(folder.name)
