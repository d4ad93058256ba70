"""One run of the CLI: no shell, nothing to read, a short list of variables, bounded output, and an end in time."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Literal, NamedTuple

from ferrule_opennotes import errors

if TYPE_CHECKING:
    import subprocess

    from ferrule import Context

_MAX_OUTPUT_BYTES = 8 << 20  # bytes of stdout, and as many of stderr; and of every file that it writes
_ADDRESS_SPACE_BYTES = 4 << 30  # bytes that the program may reserve
_EXIT_GRACE_SECONDS = 0.5  # seconds between SIGTERM and SIGKILL
_RESERVE_SECONDS = 0.8  # seconds before the call's deadline that are kept for ending the program, and for the answer

_LOCALE = ("ALL", "COLLATE", "CTYPE", "MESSAGES", "MONETARY", "NUMERIC", "TIME")
_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"),
    *("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"),
    *(f"LC_{name}" for name in _LOCALE),
)

Kind = Literal["opennotes", "jot"]


class Program(NamedTuple):
    """A program that answers as the OpenNotes CLI does. path: absolute. kind: the name it calls itself by."""

    path: str
    kind: Kind


class Output(NamedTuple):
    """How a run ended. exit_code: negative where a signal ended it. Bytes that are not UTF-8 are replaced."""

    stdout: str
    stderr: str
    exit_code: int


def run(
    program: Program,
    arguments: Sequence[str],
    context: Context,
    *,
    cwd: str,
    notebook: str | None = None,
    limit: float | None = None,
) -> Output:
    """Run the CLI to its end, whatever its exit code is.

    Args:
        arguments: given as they are, so what a user wrote belongs behind `--` or into `--flag=value`.
        cwd: the folder it runs in.
        notebook: the absolute folder of the notebook it works on.
        limit: seconds; the call's deadline is one in any case.

    Raises:
        ToolError CLI_FAILED where it cannot be started or writes too much, and ProgramTimeout (QUERY_TIMEOUT) where it
        takes too long.
    """
    flags = [b"--notebook=" + os.fsencode(notebook)] if notebook is not None else []
    command = [os.fsencode(program.path), *flags, *(text.encode() for text in arguments)]
    seconds = context.remaining() - _RESERVE_SECONDS
    seconds = seconds if limit is None else min(limit, seconds)
    if seconds <= 0:
        raise errors.ProgramTimeout(shorten_command(command), seconds)
    return _collect_output(command, cwd, seconds)


def shorten_command(command: Sequence[bytes]) -> list[str]:
    """A command as an error may show it: each argument cut where it is long."""
    texts = [argument.decode(errors="replace") for argument in command]
    return [text if len(text) <= 200 else f"{text[:200]}…" for text in texts]


def make_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """What the CLI sees of the environment. OPENNOTES_NOTEBOOK would beat --notebook, and keys are not for it."""
    kept = {name: value for name, value in variables.items() if name in _VARIABLES}
    return kept | {"TERM": "dumb", "NO_COLOR": "1"}


def _collect_output(command: Sequence[bytes], cwd: str, seconds: float) -> Output:
    """Run a command with its output in files, which what it leaves behind may hold open without being waited for."""
    from subprocess import TimeoutExpired

    try:
        with _open_unnamed() as stdout, _open_unnamed() as stderr:
            process = _start(command, cwd, stdout, stderr)
            try:
                process.wait(seconds)
            finally:
                _end(process)
            out, err = (os.pread(file.fileno(), _MAX_OUTPUT_BYTES + 1, 0) for file in (stdout, stderr))
    except TimeoutExpired:
        raise errors.ProgramTimeout(shorten_command(command), seconds) from None
    except OSError as error:
        raise errors.cli_failed(f"it cannot be started: {error.strerror}", shorten_command(command)) from None
    if max(len(out), len(err)) > _MAX_OUTPUT_BYTES:
        raise errors.cli_failed(f"it wrote more than {_MAX_OUTPUT_BYTES >> 20} MiB", shorten_command(command))
    return Output(out.decode(errors="replace"), err.decode(errors="replace"), process.returncode)


def _open_unnamed() -> IO[bytes]:
    """A file that is gone when it is closed. The module tempfile imports too much for it."""
    path = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"ferrule-opennotes-{os.urandom(8).hex()}")  # noqa: S108 - it is new
    file = open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "rb+")  # noqa: SIM115 - the caller closes it
    os.unlink(path)
    return file


def _start(command: Sequence[bytes], cwd: str, stdout: IO[bytes], stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    from subprocess import DEVNULL, Popen

    with _limits():
        return Popen(command, stdin=DEVNULL, stdout=stdout, stderr=stderr, cwd=cwd, env=make_environment(os.environ))


@contextmanager
def _limits() -> Iterator[None]:
    """Give what is started meanwhile as much to write as is read, and the address space that Go with DuckDB needs.

    A call's own limit is on what is reserved, and such a program reserves more than a gibibyte that it never uses.
    """
    import resource

    def allow(kind: int, most: int) -> None:
        hard = kept[kind][1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))

    kept = {kind: resource.getrlimit(kind) for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE)}
    try:
        if 0 <= kept[resource.RLIMIT_AS][0] < _ADDRESS_SPACE_BYTES:
            allow(resource.RLIMIT_AS, _ADDRESS_SPACE_BYTES)
        allow(resource.RLIMIT_FSIZE, _MAX_OUTPUT_BYTES + 1)
        yield
    finally:
        for kind, limits in kept.items():
            resource.setrlimit(kind, limits)


def _end(process: subprocess.Popen[bytes]) -> None:
    """See to it that the program is gone."""
    from subprocess import TimeoutExpired

    for stop in (process.terminate, process.kill):
        if process.poll() is None:
            stop()
            with suppress(TimeoutExpired):
                process.wait(_EXIT_GRACE_SECONDS)
