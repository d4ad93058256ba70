"""Parent and child: plugin code runs in a process that can hurt nothing but itself.

The parent imports no plugin. It forks, and waits for the child's outcome until the deadline. Whatever the child does
(exits, crashes, loops in C, fills memory, closes descriptors, leaves processes behind), the parent still has the real
stdout, knows what happened, and ends every process that the child started.
"""

from __future__ import annotations

import os
import select
import time

from ferrule.errors import DeadlinePassed, FerruleError, ResultInvalid, ToolCrashed, WorkFailed
from ferrule.supervision import processes
from ferrule.supervision.channel.channel import Messages
from ferrule.supervision.channel.outcome import Outcome
from ferrule.supervision.child import Hold, fork_child, run_child
from ferrule.supervision.signals import Signals
from ferrule.supervision.standard_streams import occupy_standard_streams

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from ferrule.confinement.broker.broker import Broker
    from ferrule.confinement.policy import Denial, Policy
    from ferrule.errors import ErrorFacts
    from ferrule.supervision.channel.channel import Channel
    from ferrule.supervision.channel.questions import Answer, Desk, Runs
    from ferrule.supervision.memory.watch import MemoryWatch

    class Judge(Protocol):
        """What judges the system calls of a child, as far as its outcome depends on that."""

        @property
        def is_listening(self) -> bool:
            """Whether it has all that it needs of the child."""

        def listen(self, child: int, number: int) -> None:
            """Take the listener of the child that has this number there."""

        def explain(self, failure: ErrorFacts | None) -> tuple[ErrorFacts | None, list[Denial]]:
            """The failure, or the denial that it comes of; and all that was refused."""


CAPTURED = 12_288  # bytes of what a plugin prints that are kept: more than are shown, so that no secret is cut in half
_CHUNK_BYTES = 65_536
_REDACTION_SECONDS = 0.5  # past the deadline, for a result that came in time
_MAX_LAST_READS = 64
_EXIT_GRACE_SECONDS = 0.5  # in which a child ends that has closed its end of the channel
_EXIT_POLL_SECONDS = 0.001


# Long by its parameters, of which each is explained here and nowhere else.
def supervise(
    work: Callable[[Channel], None],
    *,
    deadline: float,
    memory: int,
    size_limit: int,
    signals: Signals | None = None,
    messages: Messages | None = None,
    policy: Policy | None = None,
    environment: Mapping[str, str] | None = None,
    secrets: Sequence[str] = (),
    answer: Answer | None = None,
    watched: str | None = None,
    runs: Runs | None = None,
) -> Outcome:
    """Do a piece of work in a child and return how it ended; never raises for anything that the work does.

    The work has none of the caller's descriptors. Whatever it starts is gone when this returns.

    Args:
        work: gives its result to the channel, or raises.
        deadline: an instant of `time.monotonic()`.
        memory: MiB of address space.
        size_limit: bytes that the result may have.
        signals: entered by the caller, else they are handled here.
        messages: takes the messages, for a caller that wants to see them as they come.
        policy: what the child is held to, before the work begins; None is nothing.
        environment: the child's whole one, instead of the policy's; nothing else of this process's is left in its
            memory.
        secrets: values in it that no output may hold.
        answer: gives the answers to what the child asks, see `ferrule.supervision.channel.questions`.
        watched: the name of a tool whose processes may use that many MiB together, as those of a policy with programs
            may.
        runs: see `Desk`.
    """
    occupy_standard_streams()
    messages = messages or Messages(size_limit)
    messages.secrets += secrets
    hold = Hold(deadline, memory, size_limit, policy, answer, runs)
    try:
        hold.begin(environment, watched)
        if signals is None:
            with Signals() as own:
                return _supervise(work, hold, own, messages)
        return _supervise(work, hold, signals, messages)
    finally:
        hold.end()


def _supervise(work: Callable[[Channel], None], hold: Hold, signals: Signals, messages: Messages) -> Outcome:
    if hold.policy is None:
        return _run_and_watch(work, hold, signals, messages)
    from ferrule.supervision.confined_work import ConfinedWork

    with ConfinedWork(work, hold.policy, hold.relay) as confined:
        return _run_and_watch(confined, hold, signals, messages, confined.broker())


def _run_and_watch(
    work: Callable[[Channel], None],
    hold: Hold,
    signals: Signals,
    messages: Messages,
    broker: Broker | None = None,
) -> Outcome:
    processes.adopt_orphans()
    others = processes.children()
    channel, child_channel = os.pipe()
    text, child_text = os.pipe()
    child_answers, answers = os.pipe() if hold.answer is not None else (None, None)
    desk = _open_desk(hold, answers, others)

    def run(parent: int) -> None:
        run_child(work, signals, parent, (child_channel, child_text, child_answers), hold)

    first, child = fork_child(run, signals, broker)
    _close(child_channel, child_text, child_answers)
    watch = ChildWatch(child, channel, text, signals, hold.deadline, messages, broker, desk, guard=first)
    if hold.watched is not None:
        from ferrule.supervision.memory.watch import MemoryWatch

        watch.memory = MemoryWatch(first, hold.memory, hold.watched, others, group=hold.group, member=child)
    try:
        failure = watch.wait()
        if desk is not None:
            messages.secrets += desk.close()
            messages.refusals += desk.refusals
        if first != child:
            processes.kill_group(child)
        processes.end_descendants(first, others)
        watch.drain_text()
    finally:
        _close(channel, text, answers)
        if broker is not None:
            broker.close()
    return watch.outcome(failure)


def _open_desk(hold: Hold, answers: int | None, others: set[int]) -> Desk | None:
    """Where the child's questions are answered. answers: the pipe to which the answers are written, if any are."""
    if hold.answer is None or answers is None:
        return None
    from ferrule.supervision.channel.questions import Desk

    return Desk(hold.answer, answers, others, hold.runs)


def _close(*files: int | None) -> None:
    for file in files:
        if file is not None:
            os.close(file)


class ChildOutput:
    """What a child sends and prints, and the outcome that comes of it. Who reads it waits for it as they like.

    Args:
        child: its process.
        channel, text: the ends from which its messages and what it prints are read.
        deadline: an instant of `time.monotonic()`.
        messages: what takes the messages.
        judge: what judges the child's system calls, where it is held to a policy. memory: what looks at the memory of
            its processes, where that is bounded.
    """

    def __init__(
        self,
        child: int,
        channel: int,
        text: int,
        signals: Signals,
        deadline: float,
        messages: Messages,
        judge: Judge | None = None,
    ) -> None:
        self._child = child
        self._channel = channel
        self._text = text
        self._signals = signals
        self._deadline = deadline
        self._messages = messages
        self._judge = judge
        self.memory: MemoryWatch | None = None
        self._captured = bytearray()
        for file in (channel, text):
            os.set_blocking(file, False)

    def drain_text(self) -> bool:
        """Read some of what the child has printed, and keep the first 12 KiB of it all; False at its end."""
        data = _read(self._text)
        if data:
            self._captured += data[: CAPTURED - len(self._captured)]
        return data != b""

    def drain_channel(self) -> bool:
        """Read some of what the child has sent; False at its end. One piece at a time: the deadline comes first."""
        data = _read(self._channel)
        if data:
            self._messages.feed(data)
            if self._judge is not None and self._messages.listener is not None and not self._judge.is_listening:
                self._judge.listen(self._child, self._messages.listener)
        return data != b""

    def drain_rest(self) -> bool:
        """Read what a dead child had sent before; True where its outcome is in it. A copy of it may go on writing."""
        for _ in range(_MAX_LAST_READS):
            data = _read(self._channel)
            if not data or self._messages.ended:
                break
            self._messages.feed(data)
        return self._messages.ended

    def outcome(self, reason: FerruleError | None) -> Outcome:
        """The outcome, once everything that the child started is gone. reason: what `wait` returned."""
        messages = self._messages
        if reason is None and messages.excess is not None:
            reason = ResultInvalid(messages.excess)
        result: bytes | None
        failure: ErrorFacts | None
        result, failure = (None, reason.facts()) if reason else (messages.result, messages.failure)
        wrapper = messages.active_wrapper if isinstance(reason, ToolCrashed | DeadlinePassed) else None
        if wrapper is not None and reason is not None:
            from ferrule.supervision.termination import name_wrapper, wrapper_failed

            result, failure = messages.preliminary or (None, name_wrapper(wrapper, reason).facts())
            messages.events.append(wrapper_failed(wrapper, reason.message))
        denied: Sequence[Denial] = ()
        said = None if reason else failure
        if self._judge is not None:
            failure, denied = self._judge.explain(failure)
        is_said = failure is said
        if messages.denials:
            from ferrule.supervision.channel.outcome_redaction import with_reported

            denied = with_reported(denied, messages.denials)
        if messages.secrets:
            from ferrule.supervision.channel.outcome_redaction import redact_denial, redact_outcome

            try:
                result, failure = redact_outcome(result, failure, messages.secrets, self._go_on)
            except FerruleError as error:
                result, failure = None, error.facts()
            denied = [redact_denial(one, messages.secrets) for one in denied]
        return Outcome(
            result, failure, messages.events, bytes(self._captured), messages.secrets, denied,
            is_said=is_said, refused=messages.refusals,
        )  # fmt: skip

    def _go_on(self) -> None:
        """Raises what ends the call while its outcome is worked on, which may take longer than the deadline leaves."""
        if interrupted := self._signals.interrupted:
            raise interrupted
        if time.monotonic() > self._deadline + _REDACTION_SECONDS:
            raise _deadline_passed()

    def explain(self, status: int | None) -> FerruleError:
        """Why a process that has not answered has ended, by `os.waitpid`; None: it has closed the channel."""
        from ferrule.supervision.termination import explain_status

        return (self.memory and self.memory.explain_end()) or explain_status(status)


class ChildWatch(ChildOutput):
    """The parent's loop over the child's two pipes and the signals.

    Args:
        child: a process that is waited for by no one else.
        broker: judges its system calls, where it is held to a policy.
        desk: answers its questions.
        guard: the process between this one and the child, which ends as the child does.
    """

    def __init__(
        self,
        child: int,
        channel: int,
        text: int,
        signals: Signals,
        deadline: float,
        messages: Messages,
        broker: Broker | None = None,
        desk: Desk | None = None,
        *,
        guard: int | None = None,
    ) -> None:
        super().__init__(child, channel, text, signals, deadline, messages, broker)
        self._waited_for = child if guard is None else guard
        self._broker = broker
        self._desk = desk
        self._status: int | None = None

    def wait(self) -> FerruleError | None:
        """Wait for the child's outcome; why there is none, or None where it came."""
        poll = select.poll()
        broker = self._broker
        of_broker = () if broker is None else (broker.file,)
        for file in (self._channel, self._text, *self._signals.files, *of_broker):
            poll.register(file, select.POLLIN)
        while not self._messages.ended:
            left = self._deadline - time.monotonic()
            if left <= 0:
                return _deadline_passed()
            if self.memory is not None and self.memory.due is not None:
                left = min(left, max(0.0, self.memory.due - time.monotonic()))
            ready = {file for file, _ in poll.poll(left * 1000 + 1)}
            if self._signals.interrupted:
                return self._signals.interrupted
            if self.memory is not None and (too_much := self.memory.check()):
                return too_much
            if broker is not None and broker.file in ready:
                broker.answer()
            if self._text in ready and not self.drain_text():
                poll.unregister(self._text)
            if self._channel in ready and not self.drain_channel():
                return self._explain_silence()
            if failure := self._answer_questions(poll, ready):
                return failure
            if (self._signals.file in ready and self._has_ended()) or self._status is not None:
                return self._read_rest()
        return None

    def _answer_questions(self, poll: select.poll, ready: set[int]) -> FerruleError | None:
        """Go on with the answers to what the child has asked; why that is not possible.

        While an answer is being given, nothing that the child sends is read: the secrets in it are not known yet.
        """
        desk, questions = self._desk, self._messages.questions
        if desk is None:
            return ToolCrashed("The tool's process asked for what it was not offered.") if questions else None
        before = desk.file
        try:
            if before is not None and before in ready:
                self._messages.secrets += desk.advance()
            while questions and desk.file is None and not self._messages.ended:
                desk.begin(questions.pop(0))
        except FerruleError as error:
            return error
        except OSError as error:
            return WorkFailed(f"What the tool's process asked could not be answered ({error.strerror}).")
        if desk.file != before:
            poll.unregister(self._channel if before is None else before)
            poll.register(self._channel if desk.file is None else desk.file, select.POLLIN)
        return None

    def _has_ended(self) -> bool:
        self._signals.settle()
        if self._status is None:
            self._status = processes.exit_status(self._waited_for)
        return self._status is not None

    def _read_rest(self) -> FerruleError | None:
        """What a dead child had sent. No answer to it is waited for; the secrets of those given count."""
        if self._desk is not None:
            self._messages.secrets += self._desk.close()
        return None if self.drain_rest() else self._explain_silence()

    def _explain_silence(self) -> FerruleError:
        """Why the child has ended, or closed its end, without an outcome.

        A program in its place closes that end, too. Its calls are judged on, since it would wait for that.
        """
        limit = time.monotonic() + _EXIT_GRACE_SECONDS
        judged = [] if self._broker is None else [self._broker.file]
        while not self._has_ended() and time.monotonic() < limit:
            if select.select(judged, [], [], _EXIT_POLL_SECONDS)[0] and self._broker is not None:
                self._broker.answer()
        return self.explain(self._status)


def _deadline_passed() -> FerruleError:
    from ferrule.supervision.termination import deadline_passed

    return deadline_passed()


def _read(file: int) -> bytes | None:
    """What is there to read: `b""` at the end, None where nothing has come yet."""
    try:
        return os.read(file, _CHUNK_BYTES)
    except BlockingIOError:
        return None
