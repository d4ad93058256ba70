"""Public through `ferrule`: work within limits, in a copy of this process that is ended where it passes one of them."""

from __future__ import annotations

import os
import select
import time

from ferrule.errors import FerruleError, ToolError, WorkFailed
from ferrule.supervision.exception_text import is_lack_of_memory, name_and_text
from ferrule.supervision.processes import die_with_parent, kill_group, lower_limit
from ferrule.text import strict_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence
    from typing import Any, NoReturn, TypeVar

    T = TypeVar("T")
else:
    import _signal as signal  # as in `ferrule.supervision.signals`

MAX_BYTES = 16 << 20
_ERROR_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 16
_MAX_POLL_SECONDS = 86_400.0  # a poll takes no number of any size
_HEAD_BYTES = 9  # of what the child sends: the kind, and the number of bytes that follow
_RESULT, _BYTES, _ERROR, _FAILURE = b"r", b"b", b"e", b"f"  # kinds; what follows is JSON but for bytes
# Exit codes of a child that sends nothing, such as no program uses for itself.
_OUT_OF_MEMORY, _TOO_LARGE = 243, 244


def bounded(
    work: Callable[[], T],
    *,
    seconds: float,
    memory_mib: float | None = None,
    cpu_seconds: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> T:
    """Do a piece of work in a copy of this process, and return what it returns.

    It costs a fork, a few milliseconds. No other thread may hold a lock that the work needs, such as that of an import:
    it would stay locked in the copy.

    Args:
        work: returns bytes, or what JSON holds, such as texts, numbers, lists and objects; a tuple comes back as a
            list. What it changes stays in the copy, and what it has started in the copy's process group ends with it.
        seconds: from now.
        memory_mib: MiB that the copy may use, together with what it shares with this process; Linux alone holds it to
            that.
        cpu_seconds: whole seconds of the processor's time, which a busy machine does not use up.
        max_bytes: of the result, as JSON where it is not bytes. None is no limit.

    Raises:
        WorkFailed where the work passes a limit, which `limit` names, or ends in any other way. An error of ferrule
        that the work raises, such as a ToolError, is raised as a ToolError with the same code and message.
    """
    if seconds <= 0:
        raise _passed("seconds", "was given no time")
    result: T = BoundedProcess(work, memory_mib, cpu_seconds, max_bytes).result(seconds)
    return result


def run_bounded(
    works: Sequence[Callable[[], T]],
    *,
    seconds: float,
    memory_mib: float | None = None,
    cpu_seconds: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> list[T | FerruleError]:
    """Do pieces of work at the same time, each in a copy of this process.

    One that fails, or passes a limit, costs itself and no other.

    Args:
        works: what is done, see `bounded`, which has the other arguments, too.
        seconds: from now, for all of them together.
        memory_mib, cpu_seconds, max_bytes: of each of them.

    Returns:
        What each returns, in the order of the works, or the error that `bounded` would raise for it:
        WorkFailed also for one that could not be begun.
    """
    until = time.monotonic() + seconds
    outcomes: list[T | FerruleError] = [_passed("seconds", f"was ended after {seconds:g} s") for _ in works]
    begun: dict[int, tuple[int, BoundedProcess]] = {}
    poll = select.poll()
    try:
        for number, work in enumerate(works):
            try:
                process = BoundedProcess(work, memory_mib, cpu_seconds, max_bytes)
            except OSError as error:  # there is no process, or no descriptor, for it
                outcomes[number] = WorkFailed(f"The work could not be begun: {error.strerror}.")
                continue
            begun[process.file] = number, process
            poll.register(process.file, select.POLLIN)
        while begun and (left := until - time.monotonic()) > 0:
            for file, _ in poll.poll(min(left, _MAX_POLL_SECONDS) * 1000 + 1):
                number, process = begun[file]
                if process.receive():
                    poll.unregister(file)
                    del begun[file]
                    outcomes[number] = _outcome(process)
    finally:
        for _, process in begun.values():
            process.end()
    return outcomes


def _outcome(process: BoundedProcess) -> Any:
    """What has been received whole, or the error that says why there is none."""
    try:
        return process.result(None)
    except FerruleError as error:
        return error


class BoundedProcess:
    """Work that has begun in a copy of this process. The arguments are `bounded`'s.

    Either `result` or `end` has to be called, once.
    """

    def __init__(
        self,
        work: Callable[[], object],
        memory_mib: float | None = None,
        cpu_seconds: int | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._cpu_seconds = cpu_seconds
        self._max_bytes = max_bytes
        self._message = bytearray()
        self._is_over = False
        parent = os.getpid()
        self._reader, writer = os.pipe()
        try:
            self._child = os.fork()
        except OSError:
            os.close(self._reader)
            os.close(writer)
            raise
        if self._child == 0:
            os.close(self._reader)
            _be_the_child(work, parent, writer, memory_mib, cpu_seconds, max_bytes)
        os.close(writer)

    @property
    def number(self) -> int:
        """The number of the copy's process."""
        return self._child

    @property
    def file(self) -> int:
        """What is readable once the work has ended, or has begun to send its result."""
        return self._reader

    def end(self) -> None:
        """End the work, and take no result."""
        os.close(self._reader)
        kill_group(self._child)
        _wait(self._child)

    def result(self, seconds: float | None) -> Any:
        """What the work returns, see `bounded`. seconds: from now; None waits as long as it takes."""
        try:
            message = self._read(None if seconds is None else time.monotonic() + seconds)
        finally:
            os.close(self._reader)
            kill_group(self._child)
            status, used_seconds = _wait(self._child)
        if message is None:
            raise _passed("seconds", f"was ended after {seconds:g} s")
        if not _is_whole(message):
            raise self._explain(os.waitstatus_to_exitcode(status), len(message), used_seconds)
        kind, body = message[:1], message[_HEAD_BYTES:]
        if kind == _BYTES:
            return body
        try:
            value = strict_json.loads(body)
        except strict_json.MalformedJSON:
            raise WorkFailed("The work's process sent what is no JSON.") from None
        if kind == _ERROR and isinstance(value, dict):
            raise ToolError.from_facts(value)
        if kind != _RESULT:
            raise WorkFailed(str(value))
        return value

    def receive(self) -> bool:
        """Take what the copy has sent, once `file` is readable; whether that is all it sends."""
        piece = os.read(self._reader, _CHUNK_BYTES)
        self._message += piece
        is_enough = _is_whole(self._message) or len(self._message) > self._max_bytes + _ERROR_BYTES
        self._is_over = is_enough or not piece
        return self._is_over

    def _read(self, deadline: float | None) -> bytes | None:
        """What the child sends, up to the end of the message, or of the pipe; None where the deadline comes first."""
        poll = select.poll()
        poll.register(self._reader, select.POLLIN)
        while not self._is_over:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None:
                if left <= 0:
                    return None
                if not poll.poll(min(left, _MAX_POLL_SECONDS) * 1000 + 1):
                    continue
            self.receive()
        return bytes(self._message)

    def _explain(self, code: int, size: int, used_seconds: float) -> WorkFailed:
        """Why the child has ended without a whole message.

        code: negative for a signal. used_seconds: of the processor's time.
        """
        from ferrule.supervision.signals import name_signal

        if code == _OUT_OF_MEMORY:
            return _passed("memory_mib", "ran out of memory")
        if code == _TOO_LARGE or size > self._max_bytes:
            return _passed("max_bytes", f"returned more than {self._max_bytes:,} bytes")
        is_used_up = code == -signal.SIGXCPU or (code == -signal.SIGKILL and used_seconds >= (self._cpu_seconds or 0))
        if is_used_up and self._cpu_seconds is not None:
            return _passed("cpu_seconds", f"used up {self._cpu_seconds} s of the processor's time")
        how = f"was ended by {name_signal(-code)}" if code < 0 else f"ended with exit code {code}"
        return WorkFailed(f"The work's process {how} before it had returned anything.")


def _wait(child: int) -> tuple[int, float]:
    """Its status, and the seconds of the processor's time that it has used."""
    try:
        _, status, used = os.wait4(child, 0)
        return status, used.ru_utime + used.ru_stime
    except ChildProcessError:
        return 0, 0.0  # where the caller ignores SIGCHLD, the kernel keeps nothing of a child


def _is_whole(message: bytes | bytearray) -> bool:
    return len(message) >= _HEAD_BYTES + int.from_bytes(message[1:_HEAD_BYTES], "big")


def _passed(limit: str, how: str) -> WorkFailed:
    return WorkFailed(f"The work {how}.", limit=limit)


def _be_the_child(
    work: Callable[[], object],
    parent: int,
    writer: int,
    memory_mib: float | None,
    cpu_seconds: int | None,
    max_bytes: int,
) -> NoReturn:
    """Do the work, and end. Out of memory, the child says so by its exit code: it may have no room for words."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)  # the caller's event loop must not hear of the signals that come here
        die_with_parent(parent)
        os.setsid()
        _set_limits(memory_mib, cpu_seconds)
        own = os.getpid(), _identity(writer)
        kind, body = _do(work)
        if own != (os.getpid(), _identity(writer)):
            code = 1  # a copy that the work has forked, or what it has opened instead of the pipe that it closed
        elif kind in (_RESULT, _BYTES) and len(body) > max_bytes:
            code = _TOO_LARGE
        else:
            _write(writer, kind + len(body).to_bytes(_HEAD_BYTES - 1, "big"))
            _write(writer, body)
    except MemoryError:
        code = _OUT_OF_MEMORY
    finally:
        os._exit(code)


def _identity(file: int) -> tuple[int, int]:
    facts = os.fstat(file)
    return facts.st_dev, facts.st_ino


def _write(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(file, rest) :]


def _do(work: Callable[[], object]) -> tuple[bytes, bytes]:
    """Kind and body of the message that says what came of the work. Raises MemoryError."""
    try:
        result = work()
        return (_BYTES, result) if isinstance(result, bytes) else (_RESULT, strict_json.dumps(result))
    except BaseException as error:
        if is_lack_of_memory(error):
            raise MemoryError from error
        facts = _facts(error)
        if 0 < len(facts) < _ERROR_BYTES:
            return _ERROR, facts
        return _FAILURE, strict_json.dumps(f"The work raised {name_and_text(error)}.")


def _facts(error: BaseException) -> bytes:
    """The facts of an error of ferrule as JSON; nothing for any other, and where a plugin's own kind of it has none."""
    try:
        return strict_json.dumps(error.facts()) if isinstance(error, FerruleError) else b""
    except Exception:  # noqa: BLE001 - whatever a plugin's own class raises
        return b""


def _set_limits(memory_mib: float | None, cpu_seconds: int | None) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if cpu_seconds is not None:
        # SIGXCPU at the first, which says what it was; SIGKILL at the second, for work that ignores that.
        lower_limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    if memory_mib is not None:
        _limit_memory(int(memory_mib * (1 << 20)))


def _limit_memory(max_bytes: int) -> None:
    import resource

    try:
        with open("/proc/self/statm", "rb", buffering=0) as file:
            pages = file.readall().split()
    except OSError:
        return
    resident, data = int(pages[1]) * resource.getpagesize(), int(pages[5]) * resource.getpagesize()
    # The limit is on what is reserved, which is more than what is used: stacks of threads, for instance.
    lower_limit(resource.RLIMIT_DATA, data + max(0, max_bytes - resident))
