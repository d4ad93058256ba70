"""What the process of a plugin, and the copies below it, are held by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.supervision.confined_work import ConfinedCopies
from ferrule.supervision.memory.group import make_group

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.calls.fork_server.surroundings import Surroundings
    from ferrule.confinement.broker.shared_broker import CopyBroker, SharedBroker
    from ferrule.confinement.policy import Policy
    from ferrule.confinement.proxies.relay import Relay
    from ferrule.supervision.channel.outcome import Outcome
    from ferrule.supervision.memory.group import MemoryGroup


class Confinement:
    """A policy and what it takes to hold a process and its copies to it, from before the process to after the last one.

    memory_mib: of each process. work: what the process is sent, once it is begun. broker: judges their system calls,
    None where nothing has to be judged here.
    """

    def __init__(self, surroundings: Surroundings, policy: Policy, memory_mib: int) -> None:
        self.policy = policy
        self.memory_mib = memory_mib
        self.broker: SharedBroker | None = None
        self._surroundings = surroundings
        self._relay: Relay | None = None
        self._copies: ConfinedCopies | None = None

    @property
    def may_start_processes(self) -> bool:
        """Whether the plugin may."""
        return bool(self.policy.processes or self.policy.programs)

    def begin_relay(self, when_ended: Callable[[], None]) -> None:
        """Start what stands between the processes and a proxy, if there is one. Raises OSError.

        when_ended: is called where it ends by itself.
        """
        self._relay = self._surroundings.begin_relay(self.policy, when_ended)

    def make_group(self) -> MemoryGroup | None:
        """A group for one process of a tool that may start programs; None where there can be none, or need not be."""
        return make_group(self.memory_mib) if self.policy.programs else None

    def begin(self) -> ConfinedCopies:
        """Begin to judge what the process does; what this sends to it, which holds itself to that. Raises OSError."""
        copies = self._copies = ConfinedCopies(self.policy if self._relay is None else self._relay.policy)
        self._surroundings.confined.add(copies)
        self.broker = copies.broker(self._relay)
        if self.broker is not None:
            self._surroundings.loop.watch(self.broker.file, self.broker.answer)
        return copies

    def expect_copy(self) -> None:
        """A copy of the process is about to be forked."""
        if self.broker is not None:
            self.broker.expect_fork()

    def expect_no_copy(self) -> None:
        """None is to be forked now, whatever was expected."""
        if self.broker is not None:
            self.broker.expect_no_fork()

    def refuse_process(self) -> Outcome:
        """What comes of a plugin that has started a process without leave."""
        from ferrule.confinement.denials import FORK
        from ferrule.confinement.errors import denied
        from ferrule.confinement.policy import Denial
        from ferrule.supervision.channel.outcome import Outcome

        return Outcome(None, denied(self.policy, Denial(FORK, "")).facts())

    def add(self, process: int, *, is_copy: bool) -> CopyBroker | None:
        """Judge a process that takes calls; what judges its system calls. is_copy: else, it is the plugin's own."""
        if self.broker is None or self._copies is None:
            return None
        return self.broker.add(process, self._copies.folder_of(process if is_copy else None))

    def remove(self, process: int) -> None:
        """A copy has ended."""
        if self.broker is not None:
            self.broker.remove(process)
        if self._copies is not None:
            self._copies.remove(process)

    def end(self) -> None:
        """All have ended: let go of the broker, the relay and the folder."""
        broker, self.broker = self.broker, None
        if broker is not None:
            self._surroundings.loop.unwatch(broker.file)
            broker.close()
        self._surroundings.end_relay(self._relay)
        copies, self._copies = self._copies, None
        if copies is not None:
            self._surroundings.confined.discard(copies)
            copies.remove()
