"""Parent and child: plugin code runs in a process that can hurt nothing but itself.

The parent imports no plugin. It forks, and waits for the child's outcome until the deadline. Whatever the child does
(exits, crashes, loops in C, fills memory, closes descriptors, leaves processes behind), the parent still has the real
stdout, knows what happened, and ends every process that the child started.
"""

from __future__ import annotations

import os
import select
import sys
import time

from ferrule.errors import DeadlinePassed, FerruleError, ResultInvalid, ToolCrashed
from ferrule.supervision import processes
from ferrule.supervision.channel import Channel, Messages
from ferrule.supervision.signals import Signals, name
from ferrule.supervision.standard_streams import occupy_standard_streams

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from ferrule.errors import ErrorFacts
    from ferrule.text.json_types import JSONObject

# A plugin may replace these in os, and the child's end must be its own.
_write, _exit = os.write, os._exit

NO_ANSWER = b'\nf{"code":"INTERNAL_ERROR","message":"The tool has left nothing with which its answer could be sent."}\n'
CAPTURED = 12_288  # bytes of what a plugin prints that are kept: more than are shown, so that no secret is cut in half
_CHUNK_BYTES = 65_536
_MAX_LAST_READS = 64
_EXIT_GRACE_SECONDS = 0.5  # in which a child ends that has closed its end of the channel
_EXIT_POLL_SECONDS = 0.001


class Outcome:
    """How a supervised piece of work ended: with a result or with a failure.

    result: one JSON document, None where the work failed. failure: why, as of `FerruleError.facts()`, None where there
    is a result. Neither holds a secret. events: JSON objects for stderr. text: the first 12 KiB that the work printed.
    Events and text may hold secrets; these values must not leave the host. wrapper: the name of the wrapper in whose
    code the process died before the tool had an outcome, None for every other end.
    """

    __slots__ = ("events", "failure", "result", "secrets", "text", "wrapper")

    def __init__(
        self,
        result: bytes | None,
        failure: ErrorFacts | None,
        events: Sequence[JSONObject] = (),
        text: bytes = b"",
        secrets: Sequence[str] = (),
        wrapper: str | None = None,
    ) -> None:
        self.result = result
        self.failure = failure
        self.events = events
        self.text = text
        self.secrets = secrets
        self.wrapper = wrapper


def supervise(
    work: Callable[[Channel], None],
    *,
    deadline: float,
    memory: int,
    size_limit: int,
    signals: Signals | None = None,
    messages: Messages | None = None,
) -> Outcome:
    """Do a piece of work in a child and return how it ended; never raises for anything that the work does.

    work: gives its result to the channel, or raises. deadline: an instant of `time.monotonic()`. memory: MiB of
    address space. size_limit: bytes that the result may have. signals: entered by the caller, else they are handled
    here. messages: takes the messages, for a caller that wants to see them as they come.

    The work has none of the caller's descriptors. Whatever it starts is gone when this returns.
    """
    occupy_standard_streams()
    messages = messages or Messages(size_limit)
    if signals is None:
        with Signals() as own:
            return _supervise(work, deadline, memory, size_limit, own, messages)
    return _supervise(work, deadline, memory, size_limit, signals, messages)


def _supervise(
    work: Callable[[Channel], None],
    deadline: float,
    memory: int,
    size_limit: int,
    signals: Signals,
    messages: Messages,
) -> Outcome:
    processes.adopt_orphans()
    others = processes.children()
    channel, child_channel = os.pipe()
    text, child_text = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _run_child(work, signals, parent, child_channel, child_text, memory, size_limit)
    os.close(child_channel)
    os.close(child_text)
    watch = ChildWatch(child, channel, text, signals, deadline, messages)
    try:
        failure = watch.wait()
        processes.end_descendants(child, others)
        watch.drain_text()
    finally:
        os.close(channel)
        os.close(text)
    return watch.outcome(failure)


class ChildWatch:
    """The parent's loop over the child's two pipes and the signals.

    child: a process that is waited for by no one else. channel, text: the ends from which its messages and what it
    prints are read. deadline: an instant of `time.monotonic()`. messages: what takes the messages.
    """

    def __init__(
        self, child: int, channel: int, text: int, signals: Signals, deadline: float, messages: Messages
    ) -> None:
        self._child = child
        self._channel = channel
        self._text = text
        self._signals = signals
        self._deadline = deadline
        self._messages = messages
        self._captured = bytearray()
        self._status: int | None = None
        for file in (channel, text):
            os.set_blocking(file, False)

    def wait(self) -> FerruleError | None:
        """Wait for the child's outcome; why there is none, or None where it came."""
        poll = select.poll()
        for file in (self._channel, self._text, *self._signals.files):
            poll.register(file, select.POLLIN)
        while not self._messages.ended:
            left = self._deadline - time.monotonic()
            if left <= 0:
                return _deadline_passed()
            ready = {file for file, _ in poll.poll(left * 1000 + 1)}
            if self._signals.interrupted:
                return self._signals.interrupted
            if self._text in ready and not self.drain_text():
                poll.unregister(self._text)
            if self._channel in ready and not self._drain_channel():
                return self._explain_silence()
            if self._signals.file in ready and self._has_ended():
                return self._read_rest()
        return None

    def drain_text(self) -> bool:
        """Read some of what the child has printed, and keep the first 12 KiB of it all; False at its end."""
        data = _read(self._text)
        if data:
            self._captured += data[: CAPTURED - len(self._captured)]
        return data != b""

    def outcome(self, reason: FerruleError | None) -> Outcome:
        """The outcome, once everything that the child started is gone. reason: what `wait` returned."""
        messages = self._messages
        if reason is None and messages.overflow:
            reason = ResultInvalid("The tool sent more than the client reads.")
        result: bytes | None
        failure: ErrorFacts | None
        result, failure = (None, reason.facts()) if reason else (messages.result, messages.failure)
        wrapper = messages.active_wrapper if isinstance(reason, ToolCrashed | DeadlinePassed) else None
        if wrapper is not None and reason is not None:
            result, failure = messages.preliminary or (None, _of_wrapper(wrapper, reason).facts())
            messages.events.append(wrapper_failed(wrapper, reason.message))
        if messages.secrets:
            result, failure = _redacted(result, failure, messages.secrets)
        has_crashed = isinstance(reason, ToolCrashed) and messages.preliminary is None
        culprit = wrapper if has_crashed else None
        return Outcome(result, failure, messages.events, bytes(self._captured), messages.secrets, culprit)

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

    def _read_rest(self) -> FerruleError | None:
        """The child is dead: what it had sent before is still in the pipe, unless a copy of it goes on writing."""
        for _ in range(_MAX_LAST_READS):
            data = _read(self._channel)
            if not data or self._messages.ended:
                break
            self._messages.feed(data)
        return None if self._messages.ended else self._explain_silence()

    def _explain_silence(self) -> FerruleError:
        """Why the child has ended, or closed its end, without an outcome."""
        limit = time.monotonic() + _EXIT_GRACE_SECONDS
        while not self._has_ended() and time.monotonic() < limit:
            time.sleep(_EXIT_POLL_SECONDS)
        if self._status is None:
            return ToolCrashed("The tool closed the descriptor on which the host waits for its answer.")
        if os.WIFSIGNALED(self._status):
            return _ended_by_signal(os.WTERMSIG(self._status))
        code = os.WEXITSTATUS(self._status)
        if code == 0:
            return ToolCrashed("The tool ended its process, or closed all descriptors, before it had answered.")
        return ToolCrashed(f"The tool ended its process with exit code {code} before it had answered.")


def _run_child(
    work: Callable[[Channel], None],
    signals: Signals,
    parent: int,
    channel: int,
    text: int,
    memory: int,
    size_limit: int,
) -> None:
    """The child's whole life; never returns."""
    try:
        signals.restore()
        take_standard_streams(text)
        close_all_but(channel)
        stay_within(parent, memory)
        run_work(work, Channel(channel, size_limit))
    except BaseException:  # noqa: BLE001 - all that is left to say, with nothing that a plugin can have changed
        _write(channel, NO_ANSWER)
    finally:
        _exit(0)


def take_standard_streams(text: int) -> None:
    """stdin is empty, and what is printed goes to the host, in UTF-8 whatever the locale is."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for file, source in enumerate((nothing, text, text)):
        os.dup2(source, file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - it is the child's for good
    sys.stdout = _printing_to(1)
    sys.stderr = _printing_to(2)


def _printing_to(file: int) -> TextIO:
    # A line is handed on at once, so that it is there when the process dies with the next one.
    return open(file, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def close_all_but(*kept: int) -> None:
    """Close every descriptor that does not belong to the child: the real stdout, and what the client has left open."""
    try:
        files = [int(name) for name in os.listdir("/dev/fd")]
    except OSError:
        files = list(range(256))
    for file in files:
        if file > 2 and file not in kept:
            try:
                os.close(file)
            except OSError:
                continue  # the listing's own descriptor


def stay_within(parent: int, memory: int) -> None:
    """End with the parent, lead a session of its own, and keep to that many MiB of address space."""
    import resource

    processes.die_with_parent(parent)
    os.setsid()  # a plugin that kills its process group kills neither the host nor the client
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    limit_memory(memory)


def limit_memory(memory: int) -> None:
    """Keep to that many MiB of address space from now on."""
    import resource

    # Only the soft limit: it is lifted again for the message that says the memory was full.
    processes.lower_limit(resource.RLIMIT_AS, memory << 20)


def run_work(work: Callable[[Channel], None], channel: Channel) -> None:
    """Do the work, and send its outcome when everything that was printed before it is on its way."""
    try:
        work(channel)
    except BaseException as error:  # noqa: BLE001 - the child has to send an outcome, whatever the plugin raised
        channel.failure(_explain(error, channel))
    _flush()
    channel.finish()


def _explain(error: BaseException, channel: Channel) -> FerruleError:
    """What a plugin raised, as a failure.

    Room for that is made only where it takes some: of the descriptors that are closed then, a thread of the plugin that
    still runs may believe that they are its own, and close what was opened meanwhile.
    """
    try:
        return _import_and_explain(error, channel)
    except Exception:  # noqa: BLE001 - whatever it is that the plugin has used up
        _make_room(channel)
        return _import_and_explain(error, channel)


def _import_and_explain(error: BaseException, channel: Channel) -> FerruleError:
    from ferrule.supervision.exception_text import explain

    return explain(error, channel.known_secrets)


def _make_room(channel: Channel) -> None:
    """Give back what the plugin may have used up: its descriptors, and the limit of its memory."""
    import resource

    close_all_but(channel.file)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _flush() -> None:
    """What the plugin printed and did not flush is for people to read, too."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - a plugin may have put anything in a stream's place
            continue


def _read(file: int) -> bytes | None:
    """What is there to read: `b""` at the end, None where nothing has come yet."""
    try:
        return os.read(file, _CHUNK_BYTES)
    except BlockingIOError:
        return None


def _redacted(
    result: bytes | None, failure: ErrorFacts | None, secrets: Sequence[str]
) -> tuple[bytes | None, ErrorFacts | None]:
    """The outcome without secrets."""
    from ferrule.text.redaction import redact_json, redact_value

    if result is not None:
        return redact_json(result, secrets), None
    return None, redact_value(failure, secrets)


def wrapper_failed(wrapper: str, error: str) -> JSONObject:
    """The event that says why a wrapper counts as absent."""
    return {"event": "wrapper_failed", "wrapper": wrapper, "error": error}


def _of_wrapper(wrapper: str, reason: FerruleError) -> FerruleError:
    """The same failure, of which the tool is innocent."""
    if isinstance(reason, DeadlinePassed):
        return DeadlinePassed(
            f"The wrapper {wrapper} had not let the tool begin when the call's time was over.",
            hint="Switch it off, with `enabled = false` in its table or in FERRULE_WRAPPERS.",
        )
    return reason


def _deadline_passed() -> DeadlinePassed:
    return DeadlinePassed(
        "The tool had not answered when the call's time was over.",
        hint="Ask for less, or raise FERRULE_DEADLINE (seconds) where the client waits longer.",
    )


def _ended_by_signal(number: int) -> FerruleError:
    return ToolCrashed(f"The tool's process was ended by {name(number)}.")
