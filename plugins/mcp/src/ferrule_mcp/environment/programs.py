"""Installers, run to their end: their lines as they come, and nothing of them left when they are stopped."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread, current_thread, main_thread

from ferrule_mcp.environment.record import InstallFailed

OnLine = Callable[[str], None]

_MAX_SECONDS = 1_800.0
_GRACE_SECONDS = 5.0
_SIGNAL_EXIT = 128
_MAX_LINES = 2_000  # that are kept for a message
_SUMMARY_LINES = 6
_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f]")
_ERROR = re.compile(r"(?:npm )?error\b", re.IGNORECASE)
_NOISE = re.compile(r"npm error (?:A complete log|code |404 *$|errno|syscall)|npm (?:warn|notice)|\s*$", re.IGNORECASE)
_OF_EACH_PACKAGE = re.compile(r" ?[+~-] \S+==|Using Python |up to date in|npm warn EBADENGINE|\s*$")
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
        """The lines that say why, as one text: those from the first error on."""
        at = next((number for number, line in enumerate(self.lines) if _ERROR.match(line)), 0)
        found = [line for line in self.lines[at:] if not _NOISE.match(line)] or list(self.lines)
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
    process = _start(words, folder)
    lines: list[str] = []
    late = Event()
    watcher = Thread(target=_watch, args=(process, seconds, late), daemon=True)
    watcher.start()
    try:
        for line in process.stdout or ():
            lines.append(clean_line(line))
            del lines[:-_MAX_LINES]
            if not _OF_EACH_PACKAGE.match(lines[-1]):
                on_line(lines[-1])
    finally:
        _end(process)
        watcher.join()
    if late.is_set():
        raise InstallFailed(f"{Path(words[0]).name} has not ended after {seconds:.0f} seconds.", hint="Try again.")
    if process.returncode:
        raise ProgramFailed(lines)


def _start(words: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    """Start a program as the leader of a group, so that all that it starts can be ended with it."""
    try:
        return subprocess.Popen(
            words, cwd=folder, env=read_variables(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise InstallFailed(f"{words[0]} cannot be started: {error.strerror}.", hint="Install it again.") from None


def _watch(process: subprocess.Popen[str], seconds: float, late: Event) -> None:
    """End what the program has left running as soon as it has ended: it would hold the pipe that is read."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        late.set()
    _signal_group(process, signal.SIGKILL)


@contextmanager
def leave_on_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise SystemExit in the block, as SIGINT raises KeyboardInterrupt, so that it cleans up.

    A handler that somebody else has set stays, and so do those of a program whose main thread this is not.
    """
    taken = []
    if current_thread() is main_thread():
        taken = [one for one in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(one) is signal.SIG_DFL]
    for one in taken:
        signal.signal(one, _leave)
    try:
        yield
    finally:
        for one in taken:
            signal.signal(one, signal.SIG_DFL)


def _leave(number: int, _frame: object) -> None:
    raise SystemExit(_SIGNAL_EXIT + number)


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
    """End the program, gently at first, where it still runs."""
    if process.stdout and process.poll() is None and sys.exc_info()[0] is not None:
        _signal_group(process, signal.SIGTERM)
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            _signal_group(process, signal.SIGKILL)
    process.wait()
    if process.stdout:
        process.stdout.close()


def _signal_group(process: subprocess.Popen[str], number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return
