"""Parent and child: plugin code runs in a process that can hurt nothing but itself.

The parent imports no plugin. It forks, and waits for the child's word until the deadline; whatever the child does
(exits, crashes, loops in C, fills memory, closes descriptors, leaves processes behind), the parent still has the real
stdout, knows what happened, and ends every process that the child started.
"""

import os
import select
import sys
import time

from ferrule import processes
from ferrule.channel import Channel, Messages
from ferrule.errors import DeadlinePassed, FerruleError, ResultInvalid, ToolCrashed
from ferrule.signals import INTERRUPTS, Signals, interruption, name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CAPTURED = 8192  # bytes of what a plugin prints that are kept
_CHUNK = 65536
_LAST_READS = 64
_SETTLE = 0.5  # seconds that a child gets to end after it has closed its end of the channel


class Outcome:
    """How a supervised piece of work ended.

    result: the JSON document it answered with, None where it failed. failure: facts as of `FerruleError.facts()`, None
    where it answered. events: what it sent for stderr. text: the first 8 KiB of what it printed. secrets: values that
    must not leave the host.
    """

    __slots__ = ("events", "failure", "result", "secrets", "text")

    def __init__(
        self,
        result: bytes | None,
        failure: dict[str, object] | None,
        events: "Sequence[dict[str, object]]" = (),
        text: bytes = b"",
        secrets: "Sequence[str]" = (),
    ) -> None:
        self.result = result
        self.failure = failure
        self.events = events
        self.text = text
        self.secrets = secrets


def supervise(
    work: "Callable[[Channel], None]",
    *,
    deadline: float,
    memory: int,
    size_limit: int,
    signals: Signals | None = None,
    private: "Sequence[int]" = (),
) -> Outcome:
    """Do a piece of work in a child and say how it ended; never raises for anything that the work does.

    work: sends its result to the channel, or raises. deadline: an instant of `time.monotonic()`. memory: MiB of
    address space. size_limit: bytes that the result may have. signals: as the caller has entered them, else they are
    handled here. private: descriptors that the child must not have.

    Every child of the calling process is taken for the work's, and is gone when this returns.
    """
    if signals is None:
        with Signals() as own:
            return _supervise(work, deadline, memory, size_limit, own, private)
    return _supervise(work, deadline, memory, size_limit, signals, private)


def _supervise(
    work: "Callable[[Channel], None]",
    deadline: float,
    memory: int,
    size_limit: int,
    signals: Signals,
    private: "Sequence[int]",
) -> Outcome:
    processes.adopt_orphans()
    channel, child_channel = os.pipe()
    text, child_text = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        signals.restore()
        _run_child(work, parent, child_channel, child_text, memory, size_limit, (*private, channel, text))
    os.close(child_channel)
    os.close(child_text)
    watch = _Watch(child, channel, text, signals, deadline, size_limit)
    try:
        failure = watch.wait()
        processes.end_descendants(child)
        watch.drain_text()
    finally:
        os.close(channel)
        os.close(text)
    return watch.outcome(failure)


class _Watch:
    """The parent's loop over the child's two pipes and the signals."""

    def __init__(self, child: int, channel: int, text: int, signals: Signals, deadline: float, size_limit: int) -> None:
        self._child = child
        self._channel = channel
        self._text = text
        self._signals = signals
        self._deadline = deadline
        self._messages = Messages(size_limit)
        self._captured = bytearray()
        self._status: int | None = None
        for file in (channel, text):
            os.set_blocking(file, False)

    def wait(self) -> FerruleError | None:
        """Wait for the child's word; the reason why there is none, or None where it came."""
        poll = select.poll()
        for file in (self._channel, self._text, self._signals.file):
            poll.register(file, select.POLLIN)
        while not self._messages.ended:
            left = self._deadline - time.monotonic()
            if left <= 0:
                return _too_late()
            ready = {file for file, _ in poll.poll(left * 1000 + 1)}
            if self._signals.interrupted:
                return self._signals.interrupted
            if self._text in ready and not self.drain_text():
                poll.unregister(self._text)
            if self._channel in ready and not self._drain_channel():
                return self._silence()
            if self._signals.file in ready and self._has_ended():
                return self._last_words()
        return None

    def drain_text(self) -> bool:
        """Read some of what the child has printed, and keep the first 8 KiB of it all; False at its end."""
        data = _read(self._text)
        if data:
            self._captured += data[: CAPTURED - len(self._captured)]
        return data != b""

    def outcome(self, reason: FerruleError | None) -> Outcome:
        """What came of it, once everything that the child started is gone."""
        messages = self._messages
        if reason is None and messages.overflow:
            reason = ResultInvalid("The tool sent more than the client reads.")
        failure = reason.facts() if reason else messages.failure
        result = None if failure else messages.result
        return Outcome(result, failure, messages.events, bytes(self._captured), messages.secrets)

    def _drain_channel(self) -> bool:
        """Read some of what the child has sent; False at its end. One piece at a time: the deadline comes first."""
        data = _read(self._channel)
        if data:
            self._messages.feed(data)
        return data != b""

    def _has_ended(self) -> bool:
        self._signals.settle()
        if self._status is None:
            process, status = os.waitpid(self._child, os.WNOHANG)
            self._status = status if process else None
        return self._status is not None

    def _last_words(self) -> FerruleError | None:
        """The child is dead: what it had sent before is still in the pipe, unless a copy of it goes on writing."""
        for _ in range(_LAST_READS):
            data = _read(self._channel)
            if not data or self._messages.ended:
                break
            self._messages.feed(data)
        return None if self._messages.ended else self._silence()

    def _silence(self) -> FerruleError:
        """Why the child has gone without a word."""
        limit = time.monotonic() + _SETTLE
        while not self._has_ended() and time.monotonic() < limit:
            time.sleep(0.001)
        if self._status is None:
            return ToolCrashed("The tool closed the descriptor on which the host waits for its answer.")
        if os.WIFSIGNALED(self._status):
            return _ended_by_signal(os.WTERMSIG(self._status))
        code = os.WEXITSTATUS(self._status)
        return ToolCrashed(f"The tool ended its process with exit code {code} before it had answered.")


def _run_child(
    work: "Callable[[Channel], None]",
    parent: int,
    channel: int,
    text: int,
    memory: int,
    size_limit: int,
    private: "Sequence[int]",
) -> None:
    """The child's whole life; never returns."""
    try:
        for file in private:
            os.close(file)
        _take_standard_streams(text)
        _stay_within(parent, memory)
        _work(work, Channel(channel, size_limit))
    finally:
        os._exit(0)


def _take_standard_streams(text: int) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(text, 1)
    os.dup2(text, 2)
    for file in (nothing, text):
        if file > 2:
            os.close(file)


def _stay_within(parent: int, memory: int) -> None:
    import resource

    processes.die_with_parent(parent)
    if sys.platform != "linux":
        os.setpgid(0, 0)  # the group is what is killed where orphans cannot be adopted
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    limit = memory << 20
    # Only the soft limit: it is lifted again for the message that says the memory was full.
    resource.setrlimit(resource.RLIMIT_AS, (limit if hard < 0 else min(limit, hard), hard))


def _work(work: "Callable[[Channel], None]", channel: Channel) -> None:
    try:
        work(channel)
    except BaseException as error:  # noqa: BLE001 - the child's last word must be its own, whatever the plugin raised
        if isinstance(error, MemoryError):
            _lift_memory_limit()
        from ferrule.crash import explain

        channel.failure(explain(error))
    finally:
        _flush()


def _lift_memory_limit() -> None:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _flush() -> None:
    """What the plugin printed and did not flush is for people to read, too."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            continue


def _read(file: int) -> bytes | None:
    """What is there to read: `b""` at the end, None where nothing has come yet."""
    try:
        return os.read(file, _CHUNK)
    except BlockingIOError:
        return None


def _too_late() -> DeadlinePassed:
    return DeadlinePassed(
        "The tool had not answered when the call's time was over.",
        hint="Ask for less, or raise FERRULE_DEADLINE (seconds) where the client waits longer.",
    )


def _ended_by_signal(number: int) -> FerruleError:
    if number in INTERRUPTS:
        return interruption(number)
    return ToolCrashed(f"The tool's process was ended by {name(number)}.")
