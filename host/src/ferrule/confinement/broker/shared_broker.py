"""The broker of a process that makes copies of itself, each of which is judged for itself."""

from __future__ import annotations

from ferrule.confinement.broker.broker import GO_ON, Broker, explain
from ferrule.confinement.broker.family import find_family
from ferrule.confinement.broker.notified_calls import NotifiedCalls
from ferrule.confinement.kernel.system_calls import NUMBERS

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.confinement.broker.socket_calls import Watch
    from ferrule.confinement.later import Later
    from ferrule.confinement.policy import Denial, Policy
    from ferrule.confinement.proxies.relay import Relay
    from ferrule.errors import ErrorFacts

_FORKS = frozenset(NUMBERS[name] for name in ("clone", "fork", "vfork") if name in NUMBERS)
_MAX_GENERATIONS = 64


class SharedBroker(Broker):
    """Answers the calls of one process, of its copies, and of all that these start.

    The filter of the process is inherited by its copies, so that there is one listener for all of them. Which copy has
    made a call is told by the number of the process that comes with it, or that of a process that it descends from.
    """

    _linger_seconds = 0.0  # calls of others wait meanwhile

    def __init__(self, policy: Policy, folder: str = "", relay: Relay | None = None) -> None:
        super().__init__(policy, folder, relay)
        self._forks = 0
        self._copies: dict[int, CopyBroker] = {}

    def expect_fork(self) -> None:
        """Let the process make one more copy of itself."""
        self._forks += 1

    def expect_no_fork(self) -> None:
        """Let it make none, whatever was expected and has not been made."""
        self._forks = 0

    def add(self, process: int, folder: str) -> CopyBroker:
        """Judge a copy for itself from now on. folder: for its temporary files. The process itself may be one."""
        made = self._copies[process] = CopyBroker(self._policy, folder, process, self.watch, self._relay)
        return made

    def remove(self, process: int) -> None:
        """The copy has ended, with all that it had started."""
        copy = self._copies.pop(process, None)
        if copy is not None:
            copy.close()
        self._give_up(self._is_abandoned)

    def close(self) -> None:
        """See `Broker.close`, with what the calls of copies have opened."""
        for copy in self._copies.values():
            copy.close()
        super().close()

    def _make(self, identity: int, thread: int, number: int, arguments: list[int]) -> int | Later:
        if self._forks and thread == self._child and number in _FORKS:
            self._forks -= 1
            return GO_ON
        return super()._make(identity, thread, number, arguments)

    def _calls_of(self, thread: int) -> NotifiedCalls:
        copy = self._find(thread)
        return super()._calls_of(thread) if copy is None else copy.calls()

    def _owner(self, thread: int) -> int:
        copy = self._find(thread)
        return super()._owner(thread) if copy is None else copy.process

    def _find(self, thread: int) -> CopyBroker | None:
        number = thread
        for _ in range(_MAX_GENERATIONS):
            if number in self._copies or number in (0, self._child):
                break
            process, parent = find_family(number)
            number = process if process in self._copies else parent
        return self._copies.get(number)


class CopyBroker:
    """What was refused to one copy. It stands instead of a `Broker` where the copy's process is watched."""

    is_listening = True  # by the broker of the process that it is a copy of

    def __init__(self, policy: Policy, folder: str, process: int, watch: Watch, relay: Relay | None = None) -> None:
        self._relay = relay
        self._policy = policy
        self._folder = folder
        self.process = process
        self._watch = watch
        self._calls: NotifiedCalls | None = None

    def listen(self, child: int, number: int) -> None:
        """Take nothing: a copy has no listener of its own, whatever it sends."""

    def begin(self) -> None:
        """A call begins, to which nothing was refused so far."""
        if self._calls is not None:
            self._calls.begin()
        if self._relay is not None:
            self._relay.take(self.process)

    def explain(self, failure: ErrorFacts | None) -> tuple[ErrorFacts | None, list[Denial]]:
        """See `Broker.explain`."""
        calls = self._calls
        known = [*(calls.denials if calls else ()), *(self._relay.take(self.process) if self._relay else ())]
        return explain(self._policy, known, calls.programs if calls else None, failure)

    def calls(self) -> NotifiedCalls:
        """What judges the copy's system calls."""
        if self._calls is None:
            self._calls = NotifiedCalls(
                self._policy, self._folder, self.process, self._watch, adopts=False, relay=self._relay
            )
        return self._calls

    def close(self) -> None:
        """Let go of what its calls have opened."""
        if self._calls is not None:
            self._calls.close()
