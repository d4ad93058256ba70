"""The process of a server, and the end of it with all that it started.

`os.posix_spawn` starts it: the module subprocess imports threading and selectors, which no call needs.
"""

from __future__ import annotations

import os
import select
import time

from ferrule_mcp.stdio.lines import Tail

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_INTERRUPT, _KILL, _BROKEN_PIPE, _TERMINATE, _FILE_TOO_LARGE = 2, 9, 13, 15, 25  # signals
_TERM_SECONDS = 0.5  # between SIGTERM and SIGKILL
_TICK_SECONDS = 0.005  # between two looks at a process that the system gives no descriptor for
_CHUNK_BYTES = 1 << 16
_MAX_LAST_READS = 32


class ServerProcess:
    """A running server, which leads a process group of its own. The descriptors do not wait.

    said: the last of its stderr, as far as that was read.

    Args:
        command: the program, as a path or a name on PATH of this process, and its arguments.
        variables: its whole environment.
        folder: the one it works in, "" for that of this process.

    Raises:
        OSError: it cannot be started.
    """

    __slots__ = ("_files", "_handle", "_number", "_status", "said", "stderr", "stdin", "stdout")

    def __init__(self, command: Sequence[str], variables: Mapping[str, str], folder: str = "") -> None:
        self.said = Tail()
        self._status: int | None = None
        self._files: set[int] = set()
        theirs: list[int] = []
        try:
            read, self.stdin = self._make_pipe(theirs, ours=1)
            self.stdout, write = self._make_pipe(theirs, ours=0)
            self.stderr, errors = self._make_pipe(theirs, ours=0)
            self._number = _spawn(command, variables, folder, (read, write, errors))
        except BaseException:
            self._close_all()
            raise
        finally:
            for file in theirs:
                os.close(file)
        self._handle = _open_handle(self._number)

    def _make_pipe(self, theirs: list[int], *, ours: int) -> tuple[int, int]:
        """Both ends of a pipe. ours: the one that stays in this process."""
        ends = os.pipe()
        theirs.append(ends[1 - ours])
        self._files.add(ends[ours])
        os.set_blocking(ends[ours], False)
        return ends

    @property
    def handle(self) -> int | None:
        """A descriptor that becomes readable when the process ends; None where the system has none."""
        return self._handle

    def read_stderr(self) -> bool:
        """Read some of its stderr; False at the end."""
        data = read_some(self.stderr)
        if data:
            self.said.feed(data)
        return data != b""

    def drain_stderr(self) -> None:
        """Read what stands on its stderr now, as far as it is one pipe full: it may go on writing."""
        for _ in range(_MAX_LAST_READS):
            before = self.said.size
            if not self.read_stderr() or self.said.size == before:
                return

    def find_status(self) -> int | None:
        """How it has ended, as `os.waitpid` says it; None while it runs.

        Where the system allows it, it is not waited for before `end`: until then, no other process and no other group
        gets its number.
        """
        if self._status is None:
            try:
                self._status = _find_status(self._number)
            except ChildProcessError:  # somebody else in this process has waited for it
                self._status = 0
        return self._status

    def await_exit(self, seconds: float) -> bool:
        """Wait for its end, reading what it writes meanwhile, so that it does not wait; whether it has ended."""
        limit = time.monotonic() + seconds
        poll = select.poll()
        for file in (self.stdout, self.stderr, self._handle):
            if file is not None:
                poll.register(file, select.POLLIN)
        while self.find_status() is None and (left := limit - time.monotonic()) > 0:
            pause = left if self._handle is not None else min(left, _TICK_SECONDS)
            for file, _ in poll.poll(pause * 1000 + 1):
                if file != self._handle and not self._drop(file):
                    poll.unregister(file)
        return self.find_status() is not None

    def _drop(self, file: int) -> bool:
        """Read some of stdout or stderr, of which the first is wanted no more; False at the end."""
        return self.read_stderr() if file == self.stderr else read_some(file) != b""

    def end(self, grace_seconds: float) -> None:
        """End it, and its group: by the end of its stdin, then by SIGTERM, then by SIGKILL.

        grace_seconds: that it may take by itself after the end of stdin; 0 for SIGKILL at once.
        """
        self._close(self.stdin)
        if grace_seconds and not self.await_exit(grace_seconds):
            self._signal_group(_TERMINATE)
            self.await_exit(_TERM_SECONDS)
        # The leader has not been waited for, so the number is still that of its group, if anything is left in it.
        self._signal_group(_KILL)
        self._reap()
        self._close_all()

    def _signal_group(self, number: int) -> None:
        try:
            os.killpg(self._number, number)
        except (ProcessLookupError, PermissionError):
            pass  # nobody is left in it, or only who has ended

    def _reap(self) -> None:
        try:
            _, status = os.waitpid(self._number, 0)
            self._status = status if self._status is None else self._status
        except ChildProcessError:
            pass

    def _close(self, file: int) -> None:
        if file in self._files:
            self._files.remove(file)
            os.close(file)

    def _close_all(self) -> None:
        for file in list(self._files):
            self._close(file)
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            os.close(handle)


def read_some(file: int) -> bytes | None:
    """What there is to read: `b""` at the end, None while nothing has come."""
    try:
        return os.read(file, _CHUNK_BYTES)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _spawn(command: Sequence[str], variables: Mapping[str, str], folder: str, files: tuple[int, int, int]) -> int:
    """The number of the new process.

    Args:
        command: the program and its arguments.
        variables: its whole environment.
        folder: the one it starts in, "" for the present one.
        files: its stdin, stdout and stderr.

    Raises:
        OSError: it cannot be started.
    """
    actions = [(os.POSIX_SPAWN_DUP2, file, number) for number, file in enumerate(files)]
    defaults = (_INTERRUPT, _BROKEN_PIPE, _TERMINATE, _FILE_TOO_LARGE)  # Python ignores two of them
    back = _change_folder(folder)
    try:
        return os.posix_spawnp(
            command[0], list(command), dict(variables), file_actions=actions,
            setpgroup=0, setsigmask=(), setsigdef=defaults,
        )  # fmt: skip
    finally:
        if back is not None:
            os.fchdir(back)
            os.close(back)


def _change_folder(folder: str) -> int | None:
    """Go to the folder that the process starts in; the descriptor of the present one, None where that is the same."""
    if not folder:
        return None
    back = os.open(".", getattr(os, "O_PATH", os.O_RDONLY))  # which needs no right to read it
    try:
        os.chdir(folder)
    except OSError:
        os.close(back)
        raise
    return back


def _find_status(process: int) -> int | None:
    if not hasattr(os, "waitid"):
        number, status = os.waitpid(process, os.WNOHANG)
        return status if number else None
    ended = os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return None
    return ended.si_status << 8 if ended.si_code == os.CLD_EXITED else ended.si_status


def _open_handle(process: int) -> int | None:
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):
        return None
