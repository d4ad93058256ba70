"""One run of an executable: how it is started, what becomes of it, and that nothing of it is left afterwards."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO

from ferrule.admin.author_interface import Signals, processes
from ferrule_dev.conformance.runs import isolation
from ferrule_dev.conformance.runs.surroundings import FILES, FOLDERS, written_below

PIPE, CLOSED, UNREAD = "pipe", "closed", "unread"
MAX_READ_BYTES = 4 << 20  # of each stream; the rest is read and thrown away
_CHUNK_BYTES = 65_536
_POLL_SECONDS = 0.002
_AFTER_SIGNAL_SECONDS = 8.0


@dataclass
class Start:
    """How an executable is started.

    data: what comes on stdin. stdin: `pipe`, which is closed after the data; or `closed`. held_open: stdin stays open
    after the data. stdout: `pipe`, `unread` for a pipe without a reader, or `closed`. environ: all of its variables.
    seconds: after which it is late, and ended. signal_after: seconds after which its group gets SIGTERM.
    settle_seconds: that stdout may stay open, and other processes may be there, after the end of what was started.
    surroundings: `no-network`, `full-disk` (its folder is a full disk) or `no-content` (files stay empty).
    """

    path: str
    folder: str
    work: str
    environ: dict[str, str]
    arguments: tuple[str, ...] = ()
    data: bytes = b""
    stdin: str = PIPE
    held_open: bool = False
    stdout: str = PIPE
    seconds: float = 30.0
    signal_after: float | None = None
    settle_seconds: float = 1.0
    surroundings: str | None = None


@dataclass
class End:
    """What became of a run.

    exit_code: negative for the signal that ended it; None where it was late. seconds: until it had ended and its stdout
    was at its end. unread: bytes of the input that it did not read. leftovers: processes that were there after it had
    ended, as `sleep 100`. signalled: whether the signal came while it ran. disk: of a full disk, what is
    on it. problem: why it could not be started.
    """

    output: bytes = b""
    errors: bytes = b""
    output_bytes: int = 0
    error_bytes: int = 0
    exit_code: int | None = None
    seconds: float = 0.0
    unread: int = 0
    leftovers: list[str] = field(default_factory=list)
    signalled: bool = False
    disk: dict[str, int] = field(default_factory=dict)
    problem: str | None = None

    @property
    def is_late(self) -> bool:
        """Whether it had not ended when its time was over."""
        return self.exit_code is None and self.problem is None


def run(start: Start) -> End:
    """Start an executable, wait for its end, and end what is left of it. Raises CallInterrupted."""
    return run_together([start])[0]


def run_together(starts: list[Start]) -> list[End]:
    """Start executables at the same time, and wait for all of them.

    Processes that other threads of this process start meanwhile are taken for theirs, and ended.

    Raises CallInterrupted.
    """
    processes.adopt_orphans()
    others = processes.children()
    with Signals() as signals:
        runs = []
        try:
            for one in starts:
                runs.append(_Run(one))
            while not signals.interrupted and any(one.is_open for one in runs):
                _step(runs, signals)
            leftovers = [] if signals.interrupted else _leftovers(runs, others)
        finally:
            for started in runs:
                started.finish(others)
        if signals.interrupted:
            raise signals.interrupted
    if runs:
        runs[0].end.leftovers = leftovers
    return [one.end for one in runs]


class _Run:
    """One started executable, with what has come of it so far."""

    def __init__(self, start: Start) -> None:
        self.start = start
        self.end = End()
        self.process: subprocess.Popen[bytes] | None = None
        self._left = memoryview(start.data)
        self._files: dict[int, Callable[[], None]] = {}
        self._channel: tuple[socket.socket, socket.socket] | None = None
        self._disk: int | None = None
        self._began = time.monotonic()
        self._signalled_at: float | None = None
        self._ended_at: float | None = None
        self.is_open = True
        try:
            self._start()
        except (OSError, subprocess.SubprocessError) as error:
            self.end.problem = getattr(error, "strerror", None) or str(error)
            self.is_open = False

    def _start(self) -> None:
        start = self.start
        if start.surroundings == "full-disk":
            self._channel = socket.socketpair()
        stdout = subprocess.PIPE
        if start.stdout == UNREAD:
            reading, stdout = os.pipe()
            os.close(reading)
        try:
            with warnings.catch_warnings():
                # Of threads, which do not matter here: what runs between fork and exec takes no lock of theirs.
                warnings.simplefilter("ignore", DeprecationWarning)
                self.process = self._open(stdout)
        finally:
            if start.stdout == UNREAD:
                os.close(stdout)
        self._receive_disk()
        self._watch()

    def _open(self, stdout: int) -> subprocess.Popen[bytes]:
        start = self.start
        return subprocess.Popen(
            [start.path, *start.arguments],
            stdin=subprocess.PIPE if start.stdin == PIPE else None,
            stdout=None if start.stdout == CLOSED else stdout,
            stderr=subprocess.PIPE,
            cwd=start.work,
            env=start.environ,
            process_group=0,
            bufsize=0,
            preexec_fn=self._prepare if self._needs_preparation() else None,
        )

    def _needs_preparation(self) -> bool:
        start = self.start
        return start.surroundings is not None or CLOSED in (start.stdin, start.stdout)

    def _prepare(self) -> None:
        """In the new process, before it becomes the tool."""
        start = self.start
        for file, state in ((0, start.stdin), (1, start.stdout)):
            if state == CLOSED:
                os.close(file)
        if start.surroundings == "no-network":
            isolation.leave_network()
        elif start.surroundings == "full-disk" and self._channel:
            isolation.fill_disk(start.folder, FOLDERS, FILES, self._channel[1])
            os.chdir(start.work)
        elif start.surroundings == "no-content":
            isolation.refuse_file_content()

    def _receive_disk(self) -> None:
        if self._channel:
            self._channel[0].settimeout(1.0)
            _, files, _, _ = socket.recv_fds(self._channel[0], 1, 1)
            self._disk = files[0] if files else None

    def _watch(self) -> None:
        assert self.process is not None  # noqa: S101 - for mypy; it has been started
        for stream, name in ((self.process.stdout, "output"), (self.process.stderr, "errors")):
            if stream is not None:
                self._files[stream.fileno()] = self._reader(stream, name)
        stdin = self.process.stdin
        if stdin is not None:
            os.set_blocking(stdin.fileno(), False)
            self._files[stdin.fileno()] = self._write
            if not self._left:
                self._end_input()

    def register(self, poll: select.poll) -> None:
        """Have a poll wait for the streams that are open."""
        stdin = (
            self.process.stdin.fileno() if self.process and self.process.stdin and not self.process.stdin.closed else -1
        )
        for file in self._files:
            poll.register(file, select.POLLOUT if file == stdin else select.POLLIN)

    def handle(self, file: int) -> None:
        """Read or write what can be; unknown descriptors are others'."""
        if file in self._files:
            self._files[file]()

    def advance(self) -> float:
        """Signal it or end it when it is time; the seconds until there is something to do again."""
        now = time.monotonic() - self._began
        process = self.process
        if process is None:
            return 60.0
        if process.poll() is not None and self._has_ended(now):
            self.end.exit_code = process.returncode
            self.end.seconds = now
            self.is_open = False
            return 0.0
        if self._signalled_at is None and self.start.signal_after is not None and now >= self.start.signal_after:
            self._send_signal(process, now)
        limit = self.start.seconds if self._signalled_at is None else self._signalled_at + _AFTER_SIGNAL_SECONDS
        if now >= limit:
            self.end.seconds = now
            self.is_open = False
            return 0.0
        next_event = limit if self._signalled_at is not None else min(limit, self.start.signal_after or limit)
        if self._ended_at is not None:
            next_event = min(next_event, self._ended_at + self.start.settle_seconds)
        return _POLL_SECONDS if not self._reads() else max(next_event - now, 0.0)

    def _has_ended(self, now: float) -> bool:
        """Whether nothing more can come: what was started has ended, and nobody else holds its streams for long."""
        self._ended_at = self._ended_at or now
        return not self._reads() or now - self._ended_at >= self.start.settle_seconds

    def _send_signal(self, process: subprocess.Popen[bytes], now: float) -> None:
        self._signalled_at = now
        if process.returncode is None:
            self.end.signalled = True
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass

    def _reads(self) -> bool:
        """Whether a stream may still bring something. stdin does not count."""
        stdin = self.process.stdin if self.process else None
        writing = stdin.fileno() if stdin is not None and not stdin.closed else -1
        return any(file != writing for file in self._files)

    def _reader(self, stream: IO[bytes], name: str) -> Callable[[], None]:
        collected = bytearray()
        file = stream.fileno()

        def read() -> None:
            chunk = os.read(file, _CHUNK_BYTES)
            if not chunk:
                del self._files[file]
                return
            collected.extend(chunk[: MAX_READ_BYTES - len(collected)])
            setattr(self.end, name, bytes(collected))
            count = "output_bytes" if name == "output" else "error_bytes"
            setattr(self.end, count, getattr(self.end, count) + len(chunk))

        return read

    def _write(self) -> None:
        assert self.process is not None  # noqa: S101 - for mypy; it has been started
        assert self.process.stdin is not None  # noqa: S101 - for mypy; it has been started
        try:
            self._left = self._left[os.write(self.process.stdin.fileno(), self._left[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:
            self.end.unread = len(self._left)
            self._left = memoryview(b"")
            self._end_input(close=True)
            return
        if not self._left:
            self._end_input()

    def _end_input(self, *, close: bool = False) -> None:
        assert self.process is not None  # noqa: S101 - for mypy; it has been started
        assert self.process.stdin is not None  # noqa: S101 - for mypy; it has been started
        self._files.pop(self.process.stdin.fileno(), None)
        if close or not self.start.held_open:
            self.process.stdin.close()

    def finish(self, others: set[int]) -> None:
        """End what is left, and close everything."""
        if self.process is not None:
            # One that has been waited for is not asked to end: another process may have its number by now.
            left = {self.process.pid} if self.process.returncode is None else processes.children().difference(others)
            if left:
                processes.end_descendants(left.pop(), others)
            self.process.poll()
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                if stream is not None:
                    stream.close()
        if self._disk is not None:
            self.end.disk = {name: size for name, size in written_below(self._disk).items() if name != ".full"}
            os.close(self._disk)
        for one in self._channel or ():
            one.close()


def _step(runs: list[_Run], signals: Signals) -> None:
    """Wait for whatever comes first, and deal with it."""
    poll = select.poll()
    poll.register(signals.file, select.POLLIN)
    wait = 60.0
    for one in runs:
        if one.is_open:
            wait = min(wait, one.advance())
    for one in runs:
        if one.is_open:
            one.register(poll)
    for file, _ in poll.poll(wait * 1000):
        if file == signals.file:
            signals.settle()
        for one in runs:
            if one.is_open:
                one.handle(file)


def _leftovers(runs: list[_Run], others: set[int]) -> list[str]:
    """What is still there after all have ended; only what stays for a moment counts. None where one was late."""
    if any(one.end.exit_code is None for one in runs):
        return []
    until = time.monotonic() + max(one.start.settle_seconds for one in runs)
    while True:
        left = {one: _command(one) for one in processes.children().difference(others)}
        alive = {one: command for one, command in left.items() if command is not None}
        if not alive or time.monotonic() >= until:
            return sorted(alive.values())
        time.sleep(_POLL_SECONDS)


def _command(process: int) -> str | None:
    """The command line of a process; None for one that has ended and was not waited for."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            if file.read().rpartition(b")")[2].split()[:1] == [b"Z"]:
                return None
        with open(f"/proc/{process}/cmdline", "rb") as file:
            words = file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return None
    return (words or "a process without a name")[:120]
