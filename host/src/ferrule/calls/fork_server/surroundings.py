"""What the tools that are loaded have in common: what is waited for, the limits, and the ends of processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ferrule import config
from ferrule.calls.fork_server.answer_rehearsal import AnswerRehearsal
from ferrule.calls.fork_server.import_profile import ImportProfile
from ferrule.errors import CallInterrupted, FerruleError
from ferrule.supervision import processes

if TYPE_CHECKING:
    from ferrule.calls.call import Job
    from ferrule.calls.fork_server.lookups import Lookups
    from ferrule.calls.fork_server.poll_loop import PollLoop, Timer
    from ferrule.config import Configuration
    from ferrule.confinement.policy import Policy
    from ferrule.confinement.proxies.relay import Relay
    from ferrule.discovery import InstalledTool
    from ferrule.plugin.surroundings import Surroundings as GivenSurroundings
    from ferrule.supervision.channel.channel import Messages
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.supervision.confined_work import ConfinedCopies
    from ferrule.supervision.signals import Signals
    from ferrule.supervision.zygote import Zygote


_AGAIN_SECONDS = 1.0

BeginHandler = Callable[["InstalledTool"], object]


class RunningWork(Protocol):
    """A job in its process, see `copies.WatchedWork`."""

    def stop(self, reason: FerruleError | None) -> None:
        """End the work, unless it has ended."""

    def handle_exit(self) -> None:
        """Its process has ended."""


class LeavingProcess(Protocol):
    """A process that can be ended, see `copies.WatchedProcess`."""

    def end(self, when_gone: Callable[[], None]) -> None:
        """Kill it with its group, and then do something."""


class Request:
    """A job that waits for a process, or runs in one.

    Args:
        done: gets its outcome, once.
        given: the host's answers to its process, by the caller's variables.

    variant: differs between requests for one tool that different processes have to take. on_begin: is called when a
    process is about to get the job. give_up: takes it back, while it waits, for a reason.
    """

    def __init__(
        self,
        job: Job,
        messages: Messages,
        deadline: float,
        done: Callable[[Outcome], None],
        given: GivenSurroundings,
    ) -> None:
        self.job = job
        self.given = given
        self.messages = messages
        self.deadline = deadline
        self.work: RunningWork | None = None
        self.is_done = False
        self.begun = 0.0  # an instant of `time.monotonic()`
        self._done: Callable[[Outcome], None] | None = done
        self.timer: Timer | None = None
        self.variant: object = None
        self.on_begin: BeginHandler | None = None
        self.give_up: Callable[[FerruleError], None] | None = None

    def finish(self, outcome: Outcome) -> None:
        """The outcome is there.

        From then on the request holds none of its functions: what is left of a call goes at once, and does
        not wait for a collection, by which time some megabytes of calls would have come together.
        """
        if self.timer is not None:
            self.timer.cancel()
        done, self._done = self._done, None
        self.on_begin = self.give_up = None
        if done is not None:
            self.is_done = True
            done(outcome)


class ServerOptions(NamedTuple):
    """How a server wants its calls made.

    calls: that a plugin, or a copy used again, takes. idle_seconds: after which an unused plugin is ended. way: how the
    journal names the server. answer_bytes: that an answer may have, by the configuration; 65,534 where it is None.
    keeps: whether tools that say so hold something from one call to the next.
    """

    calls: int = 1000
    idle_seconds: float = 60.0
    way: str = "serve"
    answer_bytes: Callable[[Configuration], int] | None = None
    keeps: bool = False


class Surroundings:
    """What each tool is given.

    known: children of this process that calls have not left behind. confined: what has a folder that has to go.
    """

    def __init__(
        self, loop: PollLoop, signals: Signals, options: ServerOptions, lookups: Lookups, zygote: Zygote
    ) -> None:
        self.loop = loop
        self.signals = signals
        self.options = options
        self.lookups = lookups
        self.profile = ImportProfile()
        self.answers = AnswerRehearsal()
        self.zygote = zygote
        self.known: set[int] = {zygote.process}
        self.confined: set[ConfinedCopies] = set()
        self._leaving: set[LeavingProcess] = set()
        self._looks_again: Timer | None = None
        self._when_settled: list[Callable[[], None]] = []

    @property
    def is_settled(self) -> bool:
        """Whether no process is being ended."""
        return not self._leaving

    def wrappers(self) -> tuple[str, ...]:
        """The names of the wrappers that are on."""
        try:
            return tuple(self.lookups.configuration().wrappers())
        except FerruleError:
            return ()

    def begin_relay(self, policy: Policy, when_ended: Callable[[], None]) -> Relay | None:
        """What stands between a process, with its copies, and a proxy; None where the policy has none.

        when_ended: is called where it ends by itself. Raises OSError.
        """
        if not policy.proxies:
            return None
        from ferrule.confinement.proxies.relay import Relay

        relay = Relay(policy, deadline=None, seconds=config.deadline())
        self.known.add(relay.process)

        def read() -> None:
            if not relay.read():
                self.loop.unwatch(relay.file)
                when_ended()

        self.loop.watch(relay.file, read)
        return relay

    def end_relay(self, relay: Relay | None) -> None:
        """It is needed no more, if it was there."""
        if relay is not None and relay.process in self.known:
            self.known.discard(relay.process)
            self.loop.unwatch(relay.file)
            relay.close()

    def end_strays(self) -> None:
        """End what calls have left behind: each copy adopts its orphans, so they come here when it is gone."""
        try:
            strays = processes.children() - self.known
            if strays:
                processes.end_descendants(strays.pop(), self.known)
        except OSError:  # no descriptor is left to look, so this looks again in a moment
            if self._looks_again is None:
                self._looks_again = self.loop.call_at(time.monotonic() + _AGAIN_SECONDS, self._look_again)

    def _look_again(self) -> None:
        self._looks_again = None
        self.end_strays()

    def leave(self, process: LeavingProcess, and_then: Callable[[], None] | None = None) -> None:
        """End a process that is not needed any more."""
        self._leaving.add(process)

        def handle_gone() -> None:
            self._leaving.discard(process)
            if and_then is not None:
                and_then()
            self._tell_if_settled()

        process.end(handle_gone)

    def when_settled(self, tell: Callable[[], None]) -> None:
        """Do something once no process is being ended."""
        self._when_settled.append(tell)
        self._tell_if_settled()

    def _tell_if_settled(self) -> None:
        if not self._leaving:
            waiting, self._when_settled = self._when_settled, []
            for tell in waiting:
                tell()


def interruption() -> CallInterrupted:
    """Why a call has no outcome that was cancelled."""
    return CallInterrupted("The call was cancelled before the tool had answered.")
