"""The system calls that are answered by the supervising process, each as one function from its arguments."""

from __future__ import annotations

import os

from ferrule.confinement.broker.family import count_descendants
from ferrule.confinement.broker.file_attributes import FileAttributes
from ferrule.confinement.kernel.system_calls import CLOCKS, NAMING, NUMBERS
from ferrule.confinement.policy import Denial

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.confinement.broker.named_processes import NamedProcesses
    from ferrule.confinement.broker.program_calls import ProgramCalls
    from ferrule.confinement.broker.socket_calls import SocketCalls, Watch
    from ferrule.confinement.broker.supervised_process import SupervisedProcess
    from ferrule.confinement.later import Later
    from ferrule.confinement.policy import Policy
    from ferrule.confinement.proxies.relay import Relay

    Check = Callable[[], None]
    Method = Callable[[SupervisedProcess, Check, list[int]], "int | Later"]

_MAX_DENIALS = 50
_TRY_AGAIN, _NOT_PERMITTED = 11, 1
_PROCESSES_OF_PROGRAMS = 64  # that programs may start at a time, beside the call's own
_GO_ON = -1
_MASK = 0xFFFF_FFFF
_OF_SOCKETS = ("connect", "sendto", "sendmsg", "sendmmsg", "bind", "listen")
_SIGNAL, _MEMORY, _WORKING_FOLDER, _DESCRIPTORS, _HANDLERS, _PROCESS_FILE, _UNTIL_IT_RUNS = (
    0xFF, 0x100, 0x200, 0x400, 0x800, 0x1000, 0x4000,
)  # fmt: skip
_SEMAPHORES, _STORAGE, _TELL_PARENT, _CLEAR, _DETACHED, _TELL_CHILD, _IO = (
    0x4_0000, 0x8_0000, 0x10_0000, 0x20_0000, 0x40_0000, 0x100_0000, 0x8000_0000,
)  # fmt: skip
CLONE_FLAGS = (
    _SIGNAL | _MEMORY | _WORKING_FOLDER | _DESCRIPTORS | _HANDLERS | _PROCESS_FILE | _UNTIL_IT_RUNS | _SEMAPHORES
    | _STORAGE | _TELL_PARENT | _CLEAR | _DETACHED | _TELL_CHILD | _IO
)  # fmt: skip
"""What a process is made with. Not among them: another parent than its maker, tracing, name spaces."""


class NotifiedCalls:
    """What is answered to each system call that the kernel reports.

    methods: by the number of the call. Each gets the process, a check, and six arguments; it raises OSError. The check
    raises where the process has ended; it is made between reading memory and using it.

    Args:
        child: the process that was started first, and has started no other one yet.
        watch: see `SocketCalls`.
        adopts: whether what the child leaves behind becomes a child of this process, and not of its own.
        guard: the parent of the child, of which it becomes a child, if there is one.
        relay: to a proxy.
    """

    def __init__(
        self,
        policy: Policy,
        folder: str,
        child: int,
        watch: Watch,
        *,
        adopts: bool = True,
        guard: int | None = None,
        relay: Relay | None = None,
    ) -> None:
        self._relay = relay
        self._policy = policy
        self._child = child
        self._watch = watch
        self._guard = guard
        adopts = adopts and guard is None
        self.denials: list[Denial] = []
        self._adopts = adopts
        self._others = count_descendants(os.getpid(), depth=1) - 1 if adopts else 0
        self._attributes = FileAttributes((*policy.write, *policy.append, *filter(None, [folder])), self.deny)
        self._sockets: SocketCalls | None = None
        self._named: NamedProcesses | None = None
        self.programs = _calls_of_programs(policy, folder, self.deny)
        self.methods = {NUMBERS[name]: method for name, method in self._find_methods().items() if name in NUMBERS}

    def _find_methods(self) -> dict[str, Method]:
        """What answers each call that the filter tells of; what answers those of programs goes before the rest."""
        named: dict[str, Method] = {
            "clone": self._clone,
            "fork": self._fork,
            "vfork": self._fork,
            **self._attributes.methods,
        }
        if self.programs is not None:
            named |= self.programs.methods
        named |= {name: self._of_processes(name) for name in (*NAMING, *CLOCKS, "capget")}
        named |= {name: self._of_sockets(name) for name in _OF_SOCKETS}
        return named

    def begin(self) -> None:
        """Another call begins, to which nothing was refused so far."""
        self.denials.clear()
        if self.programs is not None:
            self.programs.begin()
        if self._sockets is not None:
            self._sockets.begin()

    def close(self) -> None:
        """Let go of everything."""
        if self._sockets is not None:
            self._sockets.close()

    def deny(self, kind: str, what: str) -> None:
        """Remember what was refused."""
        denial = Denial(kind, what)
        if denial not in self.denials and len(self.denials) < _MAX_DENIALS:
            self.denials.append(denial)

    def _of_sockets(self, name: str) -> Method:
        """A method that is loaded when the call first reaches for the network."""

        def method(process: SupervisedProcess, check: Check, arguments: list[int]) -> int | Later:
            if self._sockets is None:
                from ferrule.confinement.broker.socket_calls import SocketCalls

                relayed = self._note_relayed if self._relay else None
                self._sockets = SocketCalls(self._policy, self.deny, self._watch, relayed)
            made: int | Later = getattr(self._sockets, name)(process, check, arguments)
            return made

        return method

    def _of_processes(self, name: str) -> Method:
        """A method that is loaded when the call first asks for a process by its number."""

        def method(process: SupervisedProcess, check: Check, arguments: list[int]) -> int | Later:
            if self._named is None:
                from ferrule.confinement.broker.named_processes import NamedProcesses

                self._named = NamedProcesses(self._child)
            return self._named.methods[name](process, check, arguments)

        return method

    def _note_relayed(self, port: int) -> None:
        if self._relay is not None:
            self._relay.note(port, self._child)

    def _clone(self, process: SupervisedProcess, check: Check, arguments: list[int]) -> int:
        """As `_fork`, with flags of an allowlist."""
        if arguments[0] & _MASK & ~CLONE_FLAGS:
            raise OSError(_NOT_PERMITTED, "not permitted")
        return self._fork(process, check, arguments)

    def _fork(self, _process: SupervisedProcess, _check: Check, _arguments: list[int]) -> int:
        """Let the kernel do it, while there are not too many. Its arguments stand in registers."""
        most = self._policy.processes + (_PROCESSES_OF_PROGRAMS if self._policy.programs else 0)
        if not most:  # as of a filter, about which the process itself tells
            raise OSError(_NOT_PERMITTED, "not permitted")
        orphans = count_descendants(os.getpid(), depth=1) - self._others - 1 if self._adopts else 0
        if self._guard is not None:
            orphans = count_descendants(self._guard) - count_descendants(self._child) - 1
        if count_descendants(self._child) + max(0, orphans) >= most:
            self.deny("fork", f"more than {most} processes")
            raise OSError(_TRY_AGAIN, "too many processes")
        return _GO_ON


def _calls_of_programs(policy: Policy, folder: str, deny: Callable[[str, str], None]) -> ProgramCalls | None:
    """What is told of programs, for a tool that may start any."""
    if not policy.programs:
        return None
    from ferrule.confinement.broker.program_calls import ProgramCalls

    return ProgramCalls(policy, folder, deny)
