"""Plugin of pytest: signals as a terminal would have them, and no process or folder that outlives the tests.

A suite that a shell starts in the background, or that CI starts without a terminal, inherits that SIGINT is ignored;
under nohup, SIGHUP. Programs leave such a signal ignored, so tests that send it would wait in vain.

pytest keeps the folders of three runs and removes older ones at its end, which takes minutes after whole runs of these
tests, with some hundred thousand files each. What has just been written is removed in seconds.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

_PATIENCE_SECONDS = 5.0


def pytest_configure() -> None:
    """Handle both signals here, so that every program that a test starts begins with their defaults."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End what the tests have left running, name it, and fail for it; remove the run's folder where all have passed."""
    factory = getattr(session.config, "_tmp_path_factory", None)
    if factory is None or os.environ.get("PYTEST_XDIST_WORKER"):
        return
    folder = str(factory.getbasetemp())
    limit = time.monotonic() + _PATIENCE_SECONDS
    while (left := _processes_of(folder)) and time.monotonic() < limit:
        time.sleep(0.05)
    for process, command in left.items():
        print(f"\nLeft running by the tests, and killed: {command} ({process})")
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    if left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if session.exitstatus == pytest.ExitCode.OK and session.config.option.basetemp is None:
        with suppress(RecursionError):  # of folders in folders that a test has made; pytest removes them later
            shutil.rmtree(folder, ignore_errors=True)


def _processes_of(folder: str) -> dict[int, str]:
    """Process ids and command lines of all other processes that have to do with a folder."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        if entry.name != str(os.getpid()) and _concerns(entry, folder.encode()):
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
            found[int(entry.name)] = command.decode(errors="replace")
    return found


def _concerns(entry: Path, folder: bytes) -> bool:
    try:
        facts = (entry / "environ").read_bytes() + (entry / "cmdline").read_bytes() + bytes((entry / "cwd").readlink())
    except OSError:  # it has ended meanwhile, or is somebody else's
        return False
    return folder + b"/" in facts
