"""The child's end of a supervised process: what it does before the work, and how it sends what came of it."""

from __future__ import annotations

import os
import sys
import time

from ferrule.supervision import processes
from ferrule.supervision.channel.channel import Channel
from ferrule.supervision.standard_streams import close_all_but

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

    from ferrule.confinement.broker.broker import Broker
    from ferrule.confinement.policy import Policy
    from ferrule.confinement.proxies.relay import Relay
    from ferrule.supervision.channel.questions import Answer, AnswerPipe, Runs
    from ferrule.supervision.environment import Replacement
    from ferrule.supervision.memory.group import MemoryGroup
    from ferrule.supervision.signals import Signals

_MAX_ARENAS_OPTION, _MAX_ARENAS = -8, 2  # of mallopt

# A plugin may replace these in os, and the child's end must be its own.
_write, _exit = os.write, os._exit

NO_ANSWER = b'\nf{"code":"INTERNAL_ERROR","message":"The tool has left nothing with which its answer could be sent."}\n'


# How the limit of the memory is lifted: what to call, and with what.
_lifted: tuple[Callable[[int, tuple[int, int]], None], int, tuple[int, int]] | None = None

_is_only_watched = False  # whether the parent alone bounds the memory of this process


class Hold:
    """What a child is held by, and what it is given, from before it is forked until it has ended.

    Args:
        deadline, memory, size_limit, policy, answer, runs: arguments of `supervise`; once `begin` has returned, the
            policy is that of the relay, if there is one. watched: the tool whose processes are watched, so that they
            use no more memory together; None where none is. group: what holds them to that, if there is one. relay:
            stands between the child and a proxy. replacement: of its environment.
    """

    __slots__ = (
        "answer", "deadline", "group", "memory", "policy", "relay", "replacement", "runs", "size_limit", "watched",
    )  # fmt: skip

    def __init__(
        self,
        deadline: float,
        memory: int,
        size_limit: int,
        policy: Policy | None = None,
        answer: Answer | None = None,
        runs: Runs | None = None,
    ) -> None:
        self.deadline = deadline
        self.memory = memory
        self.size_limit = size_limit
        self.policy = policy
        self.answer = answer
        self.runs = runs
        self.watched: str | None = None
        self.group: MemoryGroup | None = None
        self.relay: Relay | None = None
        self.replacement: Replacement | None = None

    def begin(self, environment: Mapping[str, str] | None, watched: str | None) -> None:
        """Make what is there for the child alone. Arguments see `supervise`. Raises OSError."""
        policy = self.policy
        if policy is not None and policy.proxies:
            self.relay = begin_relay(policy, self.deadline)
            policy = self.policy = self.relay.policy
        given = environment if environment is not None or policy is None else policy.environment
        if given is not None:
            from ferrule.supervision.environment import Replacement

            self.replacement = Replacement(given)
        self.watched = policy.tool if watched is None and policy is not None and policy.programs else watched
        if self.watched is not None:
            from ferrule.supervision.memory.group import make_group

            self.group = make_group(self.memory)

    def end(self) -> None:
        """Let go of that: the child has ended."""
        if self.group is not None:
            self.group.remove()
        if self.relay is not None:
            self.relay.close()


def begin_relay(policy: Policy, deadline: float) -> Relay:
    """What stands between a child with a policy with `proxies` and the proxy. Raises OSError.

    deadline: of the call, an instant of `time.monotonic()`.
    """
    from ferrule.confinement.proxies.relay import Relay

    return Relay(policy, deadline=deadline, seconds=max(0.0, deadline - time.monotonic()))


def fork_child(run: Callable[[int], None], signals: Signals, broker: Broker | None) -> tuple[int, int]:
    """Fork the child, below a guard where it may start processes: the first of the two, and the child."""
    if broker is not None and broker.judges_forks:
        from ferrule.supervision.guard import fork_below_guard, is_possible

        if is_possible():
            first, child = fork_below_guard(run, signals)
            broker.guard = first
            return first, child
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        run(parent)
    return child, child


def run_child(
    work: Callable[[Channel], None],
    signals: Signals,
    parent: int,
    files: tuple[int, int, int | None],
    hold: Hold,
) -> None:
    """The child's whole life; never returns.

    Args:
        files: of the channel, of what is printed, and of the answers, None where questions are not answered.
    """
    channel, text, answers = files
    try:
        if hold.group is not None:
            hold.group.enter()
        signals.restore()
        take_standard_streams(text)
        close_all_but(channel, *(() if answers is None else (answers,)))
        if hold.replacement is not None:
            hold.replacement.apply()
        stay_within(parent, hold.memory)
        run_work(work, Channel(channel, hold.size_limit, _answer_pipe(answers)))
    except BaseException:  # noqa: BLE001 - all that is left to say, with nothing that a plugin can have changed
        _write(channel, NO_ANSWER)
    finally:
        _exit(0)


def _answer_pipe(file: int | None) -> AnswerPipe | None:
    if file is None:
        return None
    from ferrule.supervision.channel.questions import AnswerPipe

    return AnswerPipe(file)


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


def stay_within(parent: int, memory: int) -> None:
    """End with the parent, lead a session of its own, and keep to that many MiB of address space."""
    import resource

    processes.die_with_parent(parent)
    os.setsid()  # a plugin that kills its process group kills neither the host nor the client
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _share_arenas()
    limit_memory(memory)


def _share_arenas() -> None:
    """Have the threads of this process share what they allocate memory from.

    glibc reserves 64 MiB of address space for each thread, for up to eight threads a processor, whatever they use of
    it: the sixteenth would find the default limit of a call reached. It has no effect in a copy of a process that had
    more than eight threads at once: glibc chooses the number then, once.
    """
    processes.call_library("mallopt", _MAX_ARENAS_OPTION, _MAX_ARENAS)


def limit_memory(memory: int) -> None:
    """Keep to that many MiB of address space from now on."""
    if _is_only_watched:
        return
    import resource

    # Only the soft limit: it is lifted again for the message that says the memory was full.
    processes.lower_limit(resource.RLIMIT_AS, memory << 20)
    remember_hard_limit()


def leave_memory_to_parent() -> None:
    """Have as much address space as there is, from now on: the parent watches what is used of it.

    For a process whose programs would inherit its limit, because nobody hears of them when they are started.
    """
    global _is_only_watched
    import resource

    _is_only_watched = True
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def remember_hard_limit() -> None:
    """Note how far the limit of the memory can be lifted: where the memory is full, nothing can be made."""
    global _lifted
    import resource

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    _lifted = resource.setrlimit, resource.RLIMIT_AS, (hard, hard)


def run_work(work: Callable[[Channel], None], channel: Channel) -> None:
    """Do the work, and send its outcome when everything that was printed before it is on its way."""
    try:
        work(channel)
    except BaseException as error:  # noqa: BLE001 - the child has to send an outcome, whatever the plugin raised
        _keep_failure(error, channel)
    _flush()
    attempts = sys.modules.get("ferrule.confinement.attempts")
    if attempts is not None and (refused := attempts.take()):
        channel.send_denials(refused)
    try:
        channel.finish()
    except MemoryError:  # what the message is put together from, before any of it is sent
        _make_room(channel)
        channel.finish()


def _keep_failure(error: BaseException, channel: Channel) -> None:
    """Keep what a plugin raised, as the failure to send.

    Room for that is made only where it takes some: of the descriptors that are closed then, a thread of the plugin that
    still runs may believe that they are its own, and close what was opened meanwhile.
    """
    try:
        _explain(error, channel)
    except Exception:  # noqa: BLE001 - whatever it is that the plugin has used up
        _make_room(channel)
        _explain(error, channel)


def _explain(error: BaseException, channel: Channel) -> None:
    from ferrule.supervision.exception_text import explain

    channel.failure(explain(error, channel.known_secrets))


def _make_room(channel: Channel) -> None:
    """Give back what the plugin may have used up: the limit of its memory, and its descriptors."""
    if _lifted is not None:
        setrlimit, kind, limits = _lifted
        setrlimit(kind, limits)
    close_all_but(channel.file)


def _flush() -> None:
    """What the plugin printed and did not flush is for people to read, too."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - a plugin may have put anything in a stream's place
            continue
