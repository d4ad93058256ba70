"""One run of the CLI: no shell, nothing to read, a short list of variables, bounded output, and an end in time."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from ferrule import Context, ToolError
from ferrule_opennotes import errors

if TYPE_CHECKING:
    import subprocess

_MAX_OUTPUT_BYTES = 8 << 20  # bytes of stdout
_MAX_ERROR_BYTES = 64 << 10  # bytes of stderr that are kept
_MAX_PIPE_BYTES = 1 << 20  # bytes that a pipe can hold on Linux, as an unprivileged user may set it
_MAX_ARGUMENT_BYTES = 131_071  # bytes that Linux takes in one argument, without the NUL that ends it
_ADDRESS_SPACE_BYTES = 4 << 30  # bytes that the program may reserve
_CHUNK_BYTES = 1 << 16
_EXIT_GRACE_SECONDS = 0.5  # seconds between SIGTERM and SIGKILL
_RESERVE_SECONDS = 0.8  # seconds before the call's deadline that are kept for ending the program, and for the answer
_POLL_SECONDS = 0.05  # seconds between two looks whether the program has ended

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


class ProgramTimeout(ToolError):
    """The program had not ended in time, and has been ended. Callers that know what that means raise another error."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        error = errors.cli_timeout(command, round(max(seconds, 0), 1))
        super().__init__(error.code, error.message, hint=error.hint, details=error.details)
        self.seconds = seconds


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

    arguments: given as they are, so what a user wrote belongs behind `--` or into `--flag=value`. cwd: the folder it
    runs in. notebook: the absolute folder of the notebook it works on. limit: seconds; the call's deadline is one in
    any case. Raises ToolError INVALID_INPUT for an argument that no program can be given, CLI_FAILED where it cannot be
    started or writes too much, and ProgramTimeout (QUERY_TIMEOUT) where it takes too long.
    """
    flags = [b"--notebook=" + os.fsencode(notebook)] if notebook is not None else []
    command = [os.fsencode(program.path), *flags, *map(_encode, arguments)]
    seconds = context.remaining() - _RESERVE_SECONDS
    seconds = seconds if limit is None else min(limit, seconds)
    if seconds <= 0:
        raise ProgramTimeout(shorten_command(command), seconds)
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
    limit_at = time.monotonic() + seconds
    process = _start(command, cwd)
    try:
        stdout, stderr = _drain(process, limit_at)
        _wait(process, limit_at)
    except TimeoutError:
        raise ProgramTimeout(shorten_command(command), seconds) from None
    except _OutputOverflow:
        raise errors.cli_failed(f"it wrote more than {_MAX_OUTPUT_BYTES >> 20} MiB", shorten_command(command)) from None
    finally:
        _end(process)
    return Output(stdout.decode(errors="replace"), stderr.decode(errors="replace"), process.returncode)


class _OutputOverflow(Exception):
    """More came than is read."""


def _encode(text: str) -> bytes:
    """An argument in bytes; ToolError INVALID_INPUT for one that the system would refuse."""
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise _make_refusal("holds half of a surrogate pair, which is no character") from None
    if b"\0" in data:
        raise _make_refusal("holds a NUL character, which no program can be given")
    if len(data) > _MAX_ARGUMENT_BYTES:
        raise _make_refusal(f"is {len(data):,} bytes long; a program can be given {_MAX_ARGUMENT_BYTES:,} at most")
    return data


def _make_refusal(reason: str) -> ToolError:
    return ToolError("INVALID_INPUT", f"An argument for the OpenNotes CLI {reason}.")


def _start(command: Sequence[bytes], cwd: str) -> subprocess.Popen[bytes]:
    from subprocess import DEVNULL, PIPE, Popen

    variables = make_environment(os.environ)
    try:
        with _address_space():
            return Popen(command, bufsize=0, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, cwd=cwd, env=variables)
    except OSError as error:
        raise errors.cli_failed(f"it cannot be started: {error.strerror}", shorten_command(command)) from None


@contextmanager
def _address_space() -> Iterator[None]:
    """Give what is started meanwhile the address space that a Go program with DuckDB in it needs.

    A call's own limit is on what is reserved, and such a program reserves more than a gibibyte that it never uses.
    """
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY or soft >= _ADDRESS_SPACE_BYTES:
        yield
        return
    most = _ADDRESS_SPACE_BYTES if hard == resource.RLIM_INFINITY else min(_ADDRESS_SPACE_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _drain(process: subprocess.Popen[bytes], limit_at: float) -> tuple[bytes, bytes]:
    """All that the program writes until it closes both pipes, or has ended: what it left behind may hold them open."""
    out, err = _Pipe(process.stdout, _MAX_OUTPUT_BYTES), _Pipe(process.stderr, _MAX_ERROR_BYTES)
    poll = select.poll()
    for pipe in (out, err):
        poll.register(pipe.descriptor, select.POLLIN)
    open_pipes = {pipe.descriptor: pipe for pipe in (out, err)}
    while open_pipes and process.poll() is None:
        left = limit_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        for descriptor, _ in poll.poll(min(left, _POLL_SECONDS) * 1000 + 1):
            if not open_pipes[descriptor].read():
                poll.unregister(descriptor)
                del open_pipes[descriptor]
        if out.is_too_much:
            raise _OutputOverflow
    for pipe in open_pipes.values():
        pipe.read_what_is_there()
    if out.is_too_much:
        raise _OutputOverflow
    return out.join(), err.join()


class _Pipe:
    """The reading end of a pipe. most: bytes that are kept; what comes after them is read and dropped."""

    def __init__(self, stream: object, most: int) -> None:
        self.descriptor: int = stream.fileno()  # type: ignore[attr-defined]
        self._most = most
        self._pieces: list[bytes] = []
        self._length = 0
        os.set_blocking(self.descriptor, False)

    @property
    def is_too_much(self) -> bool:
        return self._length > self._most

    def read(self) -> bool:
        """Read once; False at the end of the stream."""
        try:
            piece = os.read(self.descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return True
        if not self.is_too_much:
            self._pieces.append(piece)
        self._length += len(piece)
        return bool(piece)

    def read_what_is_there(self) -> None:
        """Read what an ended program can have left in the pipe, and no more: another one may still be writing."""
        most = self._length + _MAX_PIPE_BYTES
        before = -1
        while before < self._length < most:
            before = self._length
            self.read()

    def join(self) -> bytes:
        return b"".join(self._pieces)[: self._most]


def _wait(process: subprocess.Popen[bytes], limit_at: float) -> None:
    import subprocess

    try:
        process.wait(max(0.0, limit_at - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise TimeoutError from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """See to it that the program is gone, and close its pipes, so that what it started meets a broken one."""
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()
    if process.poll() is not None:
        return
    for stop in (process.terminate, process.kill):
        stop()
        with suppress(TimeoutError):
            _wait(process, time.monotonic() + _EXIT_GRACE_SECONDS)
            return
