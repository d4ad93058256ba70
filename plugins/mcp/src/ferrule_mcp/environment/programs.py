"""Installers, run to their end: their lines as they come, and nothing of them left when they are stopped."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Timer

from ferrule_mcp.environment.record import InstallFailed

OnLine = Callable[[str], None]

_MAX_SECONDS = 1_800.0
_GRACE_SECONDS = 5.0
_MAX_LINES = 2_000  # that are kept for a message
_SUMMARY_LINES = 6
_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_NOISE = re.compile(r"npm error (?:A complete log|code |404 *$|errno|syscall)|npm (?:warn|notice)|\s*$", re.IGNORECASE)
_OF_EACH_PACKAGE = re.compile(
    r" ?[+~-] \S+==|Using Python |up to date in|npm warn EBADENGINE|\s*$"
)  # lines that nobody reads
_FOREIGN = (
    "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV", "CONDA_PREFIX", "PIP_TARGET", "PIP_PREFIX", "PIP_USER",
    "PIP_REQUIRE_VIRTUALENV", "UV_PROJECT_ENVIRONMENT", "UV_SYSTEM_PYTHON", "UV_TARGET", "UV_PREFIX",
    "npm_config_prefix", "npm_config_global", "npm_config_local_prefix",
)  # fmt: skip
"""Variables that would lead an installer into another environment."""


class ProgramFailed(Exception):
    """An installer ended with another code than 0. lines: the last ones that it wrote, without logins."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines

    @property
    def summary(self) -> str:
        """The lines that say why, as one text."""
        found = [line for line in self.lines if not _NOISE.match(line)] or list(self.lines)
        return " ".join(line.removeprefix("npm error ").strip() for line in found[-_SUMMARY_LINES:])


def run_program(words: Sequence[str], folder: Path, on_line: OnLine, seconds: float = _MAX_SECONDS) -> None:
    """Run a program in a folder, with no input, until it ends; all that it has started ends with it.

    Args:
        words: the program and its arguments.
        folder: where it runs.
        on_line: gets the lines of its output, without colours and logins, and without those of each package.
        seconds: after which it is stopped.

    Raises:
        ProgramFailed: it ended with another code than 0.
        InstallFailed: it could not be started, or took too long.
    """
    lines: list[str] = []
    try:
        process = subprocess.Popen(
            words, cwd=folder, env=read_variables(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise InstallFailed(f"{words[0]} cannot be started: {error.strerror}.", hint="Install it again.") from None
    timer = Timer(seconds, _signal_group, (process, signal.SIGKILL))
    timer.start()
    try:
        for line in process.stdout or ():
            lines.append(clean_line(line))
            del lines[:-_MAX_LINES]
            if not _OF_EACH_PACKAGE.match(lines[-1]):
                on_line(lines[-1])
        code = process.wait()
    finally:
        is_late = not timer.is_alive()
        timer.cancel()
        _end(process)
    if is_late:
        raise InstallFailed(f"{Path(words[0]).name} has not ended after {seconds:.0f} seconds.", hint="Try again.")
    if code:
        raise ProgramFailed(lines)


def clean_line(line: str) -> str:
    """A line of an installer without colours, control characters and the logins of addresses."""
    return _LOGIN.sub("", _CONTROL.sub("", line)).rstrip()


def find_uv() -> str | None:
    """The path of uv: on PATH, or where a package has brought it."""
    found = shutil.which("uv")
    own = Path(sys.executable).with_name("uv")
    return found or (str(own) if os.access(own, os.X_OK) else None)


def read_variables() -> Mapping[str, str]:
    """The user's variables, which say where packages come from, without those that name another environment."""
    kept = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    return {**kept, "NO_COLOR": "1", "PYTHONNOUSERSITE": "1", "npm_config_update_notifier": "false"}


def _end(process: subprocess.Popen[str]) -> None:
    """End what is left of the group: on an interruption all of it, otherwise what the program has left behind."""
    if process.poll() is None:
        _signal_group(process, signal.SIGTERM)
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    _signal_group(process, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()


def _signal_group(process: subprocess.Popen[str], number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return
