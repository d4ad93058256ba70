"""Running a program as a client would, and what came of it."""

import json
import os
import secrets
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ferrule_dev.testing import executable
from ferrule_testkit import PATIENCE_SECONDS, ikigai
from ferrule_testkit.processes import fork_server

SECONDS = PATIENCE_SECONDS
LATE = b"had not given its schema in time"
"""What an executable says that had not half a second for its schema."""

_CHANCES = 12
# A name that tools get without a declaration. Not FERRULE_…: those are part of what makes two calls equal.
_MARK = "PYTEST_MARK_OF_A_TEST"


Call: TypeAlias = "Callable[..., Run]"
Start: TypeAlias = "Callable[..., subprocess.Popen[bytes]]"


class Run:
    """What came of one run. left: the command lines of processes that it has left behind."""

    def __init__(self, exit_code: int, stdout: bytes, stderr: bytes, left: list[str]) -> None:
        self.exit_code = exit_code
        self.stdout = stdout
        self.stderr = stderr
        self.left = left

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on stdout, read as the client reads it; AssertionError where it is anything else."""
        assert self.stdout.endswith(b"\n"), (self.stdout, self.stderr)
        assert self.stdout.count(b"\n") == 1, self.stdout
        assert b"\0" not in self.stdout
        assert len(self.stdout) <= ikigai.CLIENT.output_bytes
        document = ikigai.parse_strictly(self.stdout)
        assert isinstance(document, dict)
        return document

    @property
    def first_line(self) -> str:
        """The first line on stderr."""
        return self.stderr.decode().partition("\n")[0]


def run(
    command: Sequence[str | Path],
    arguments: bytes = b"{}",
    *,
    environment: Mapping[str, str],
    cwd: Path | None = None,
    seconds: float = SECONDS,
) -> Run:
    """Run a program in a process group of its own, as the client does, and look for what it leaves behind.

    seconds: after which it counts as hanging.
    """
    mark = secrets.token_hex(8)
    done = subprocess.run(
        list(map(str, command)),
        input=arguments,
        capture_output=True,
        env={**environment, _MARK: mark},
        cwd=cwd,
        process_group=0,
        timeout=seconds,
        check=False,
    )
    return Run(done.returncode, done.stdout, done.stderr, marked(mark))


def print_schema(command: Sequence[str | Path], *, environment: Mapping[str, str]) -> Run:
    """Run an executable that computes its schema; one that a busy machine makes late is given other chances.

    Where forty others want the processor, all of them may be late, and the test is skipped.
    """
    for _ in range(_CHANCES):
        done = run(command, environment=environment)
        if LATE not in done.stdout + done.stderr:
            return done
    pytest.skip("elsewhere: this machine is too busy to compute a schema in half a second")


def read_output(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> str:
    """What a command prints on stdout in a folder; it has to succeed.

    Where it does not, or the test's time is over first, all that it has printed until then is shown.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        code: int | None = None
        try:
            code = subprocess.run(
                command, cwd=folder, env=environment, stdout=out, stderr=errors, stdin=subprocess.DEVNULL, check=False
            ).returncode
        finally:
            for file in (out, errors):
                file.seek(0)
            written = out.read()
            if code != 0:
                print(*command, written, errors.read(), sep="\n")
    assert code == 0, f"{command[-1]} ended with {code}; what it has printed is shown below"
    return written


def run_forked(
    executable: str | Path,
    arguments: bytes = b"{}",
    *,
    environment: Mapping[str, str],
    cwd: Path,
    packages: tuple[str, ...] = ("ferrule",),
) -> Run:
    """Run a tool's console script without starting an interpreter, where nothing but what it does is looked at.

    packages: whose modules are imported before.
    """
    if not fork_server.is_possible(environment):
        return run([executable], arguments, environment=environment, cwd=cwd)
    ended = fork_server.run(
        "ferrule.dispatch:main", [str(executable)], arguments, environment=environment, cwd=cwd, packages=packages
    )
    return Run(*ended)


def run_tool(name: str, arguments: Mapping[str, Any], *, environ: Mapping[str, str] | None = None) -> Run:
    """Call an installed tool as `ferrule_dev.testing.run_tool` does, in a fork, as `run_forked`.

    environ: variables to set for it beside those of this process, of which it has none for an interpreter.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    data = json.dumps(arguments).encode()
    return run_forked(executable(name), data, environment={**environment, **(environ or {})}, cwd=Path.cwd())


def marked(mark: str) -> list[str]:
    """The command lines of the processes that were started with this mark in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            try:
                if f"{_MARK}={mark}".encode() in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue
    return found


def wait_until_gone(mark: str) -> None:
    """Wait until no process with this mark is left; AssertionError where one stays."""
    wait_for(lambda: not marked(mark))


def mark(environment: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """A mark, and the environment with it, for a program that the caller starts itself."""
    value = secrets.token_hex(8)
    return value, {**environment, _MARK: value}


def wait_for(holds: Callable[[], object]) -> None:
    """Wait until something holds; AssertionError where it never does."""
    limit = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.01)


def full_pipe() -> tuple[int, int]:
    """The two ends of a pipe that takes not one byte more."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    try:
        while True:
            os.write(writer, b"x" * 65_536)
    except BlockingIOError:
        os.set_blocking(writer, True)
    return reader, writer
