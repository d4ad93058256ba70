"""The supervising process's part: it answers the system calls that a filter cannot judge, and makes them itself.

It never lets such a call go on where what it has judged stands in memory, because another thread could change that in
between. A connection is made on another descriptor of the same socket, so that it is the call's own.
"""

from __future__ import annotations

import os
import select
from _struct import Struct  # struct is but its name
from fcntl import ioctl
from time import monotonic

from ferrule.confinement.kernel.system_calls import NUMBERS, call
from ferrule.confinement.policy import Denial

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferrule.confinement.broker.notified_calls import NotifiedCalls
    from ferrule.confinement.broker.program_calls import ProgramCalls
    from ferrule.confinement.later import Later
    from ferrule.confinement.policy import Policy
    from ferrule.confinement.proxies.relay import Relay
    from ferrule.errors import ErrorFacts

_notification, _response = Struct("<QIIiIQ6Q"), Struct("<QqiI")
_RECEIVE, _SEND, _IS_VALID = 0xC050_2100, 0xC018_2101, 0x4008_2102
_SET_FLAGS, _WAKES_AT_ONCE = 0x4008_2104, 1  # since Linux 6.6
_CONTINUE = 1
_NO_CALL, _BAD_DESCRIPTOR, _BAD_ADDRESS, _NO_ROOM, _NO_FILE = 38, 9, 14, 105, 0xFFFF_FFFF
_MAX_SECONDS_AT_ONCE = 0.01
_MAX_WAITING = 128  # calls of one owner, each of which takes up to four descriptors of the supervisor
_SHARE = 5  # of the descriptors that this process may have, one in so many calls that wait, of all owners together
_ENDED = select.EPOLLHUP | select.EPOLLERR

_DENIED, _CRASHED = "PERMISSION_DENIED", "INTERNAL_ERROR"
_HAVE_OTHER_REASONS = ("TIMEOUT", "INVALID_INPUT", "AUTH_MISSING", "OUT_OF_MEMORY", "RESULT_NOT_STORED")
"""Codes of failures that no program has caused by what it was refused."""

GO_ON = -1
"""What a method of `NotifiedCalls` returns where the kernel is to make the call: its arguments are no memory, or it is
only told of, and Landlock judges it."""


_brokers: list[Broker] = []  # of this process, which have its descriptors together


class Broker:
    """Answers the calls of one child and of all that it starts. file: what a poll waits for.

    denials: what was refused, as it happened.
    """

    # For the next call: a program that starts opens hundreds of files, and going back to what else is waited for
    # costs more than an answer. The least that a poll can wait.
    _linger_seconds = 0.001

    def __init__(self, policy: Policy, folder: str = "", relay: Relay | None = None) -> None:
        """folder: for the temporary files of the call. relay: to a proxy, which refuses on its own."""
        self._waiting = select.epoll()
        self.file = self._waiting.fileno()
        self._listener: int | None = None
        self._policy = policy
        self._folder = folder
        self._relay = relay
        self._child = 0
        self.guard: int | None = None  # the process that adopts what the child leaves behind
        self._calls: NotifiedCalls | None = None
        self._later: dict[int, tuple[int, int, Later]] = {}  # with the call's identity, and whose it is
        self._watched: dict[int, Callable[[], None]] = {}
        _brokers.append(self)

    @property
    def denials(self) -> list[Denial]:
        """What was refused."""
        return [] if self._calls is None else self._calls.denials

    @property
    def judges_forks(self) -> bool:
        """Whether the child may start processes."""
        return bool(self._policy.processes or self._policy.programs)

    @property
    def is_listening(self) -> bool:
        """Whether it has had a listener."""
        return self._listener is not None

    def listen(self, child: int, number: int) -> None:
        """Take the listener that a child has under a number. The child waits in a call until it is answered."""
        try:
            process = call(NUMBERS["pidfd_open"], child, 0)
            try:
                self._listener = call(NUMBERS["pidfd_getfd"], process, number, 0)
            finally:
                os.close(process)
            self._waiting.register(self._listener, select.EPOLLIN)
        except OSError:
            self._listener = -1  # it has ended, or sent what is no number: nothing is answered
        else:
            _share_processor(self._listener)
        self._child = child

    def answer(self) -> None:
        """Answer what can be answered now, for a short time: there are deadlines to look after."""
        limit = monotonic() + _MAX_SECONDS_AT_ONCE
        while ready := self._waiting.poll(self._linger_seconds, 8):
            # New calls come last: for their sake, others can be given up, whose files get other meanings then.
            for file, event in sorted(ready, key=lambda one: one[0] == self._listener):
                if file == self._listener:
                    self._answer_next(event)
                elif file in self._later:
                    self._finish(file)
                elif file in self._watched:
                    self._watched[file]()
            if monotonic() > limit:
                return

    def explain(self, failure: ErrorFacts | None) -> tuple[ErrorFacts | None, list[Denial]]:
        """A failure with the address that was refused, and all that was denied, as far as it is known here.

        A call that has crashed after something was refused to it is said to have failed for that; so is one that
        fails after a program was refused something and has failed, too.
        """
        known = [*self.denials, *(self._relay.take(self._child) if self._relay else ())]
        return explain(self._policy, known, self._calls.programs if self._calls else None, failure)

    def close(self) -> None:
        """Let go of everything. Calls that wait fail, as all later ones do."""
        if self in _brokers:
            _brokers.remove(self)
        self._give_up(lambda _: True)
        if self._calls is not None:
            self._calls.close()
        if self._listener is not None and self._listener >= 0:
            os.close(self._listener)
            self._listener = -1
        self._waiting.close()

    def watch(self, file: int, act: Callable[[], None] | None) -> None:
        """Call a function whenever there is something to read from a descriptor; None: no more."""
        if act is None:
            del self._watched[file]
            self._waiting.unregister(file)
        else:
            self._watched[file] = act
            self._waiting.register(file, select.EPOLLIN)

    def _answer_next(self, event: int) -> None:
        if self._listener is None or not event & select.EPOLLIN:
            if event & _ENDED and self._listener is not None:
                self._waiting.unregister(self._listener)
            return
        memory = bytearray(_notification.size)
        try:
            ioctl(self._listener, _RECEIVE, memory)
        except OSError:
            return  # the thread that asked has ended
        identity, thread, _, number, _, _, *arguments = _notification.unpack(memory)
        self._respond(identity, lambda: self._make(identity, thread, number, arguments), lambda: self._owner(thread))

    def _make(self, identity: int, thread: int, number: int, arguments: list[int]) -> int | Later:
        if number == NUMBERS["fchmod"] and arguments[0] & _NO_FILE == _NO_FILE:
            raise OSError(_BAD_DESCRIPTOR, "no file")  # by which the child finds out that somebody answers
        method = self._calls_of(thread).methods.get(number)
        if method is None:
            raise OSError(_NO_CALL, "no such call")
        from ferrule.confinement.broker.supervised_process import SupervisedProcess

        return method(SupervisedProcess(thread), lambda: self._require_valid(identity), arguments)

    def _calls_of(self, _thread: int) -> NotifiedCalls:
        """What most calls do without."""
        if self._calls is None:
            from ferrule.confinement.broker.notified_calls import NotifiedCalls

            self._calls = NotifiedCalls(
                self._policy, self._folder, self._child, self.watch, guard=self.guard, relay=self._relay
            )
        return self._calls

    def _owner(self, _thread: int) -> int:
        """The process that was started first of those that the thread belongs to, and that are judged together."""
        return self._child

    def _require_valid(self, identity: int) -> None:
        """Raise OSError where the thread has ended meanwhile, and its number may be another one's."""
        if self._listener is not None:
            ioctl(self._listener, _IS_VALID, identity.to_bytes(8, "little"))

    def _respond(self, identity: int, make: Callable[[], int | Later], owner: Callable[[], int]) -> None:
        """Make a call and send what came of it; one that takes a while is looked at again when its file is ready.

        owner: says whose it is.
        """
        try:
            value = make()
        except OSError as error:
            self._send(identity, 0, error.errno or 1)
            return
        except Exception:  # noqa: BLE001 - a call that nobody expected, such as one with an address that is none
            self._send(identity, 0, _BAD_ADDRESS)
            return
        if isinstance(value, int):
            self._send(identity, value, 0)
            return
        whose = owner()
        if self._has_room(whose):
            self._later[value.file] = identity, whose, value
            self._waiting.register(value.file, value.events)
        else:
            value.leave()
            value.give_up()
            self._send(identity, 0, _NO_ROOM)

    def _has_room(self, owner: int) -> bool:
        """Whether one more of its calls can wait, once those whose threads have ended do so no more."""
        if self._count(owner) >= _MAX_WAITING:
            self._give_up(self._is_abandoned)
        return self._count(owner) < _MAX_WAITING and self._has_descriptors(owner)

    def _has_descriptors(self, owner: int) -> bool:
        """Whether this process can wait for one more call: else the owner with the most of them has one less."""
        if sum(len(broker._later) for broker in _brokers) < _most_waiting():
            return True
        counts = [(broker._count(one), broker, one) for broker in _brokers for one in broker._owners()]
        _, broker, largest = max(counts, key=lambda count: count[0])
        if (broker, largest) == (self, owner):
            return False
        broker._refuse_oldest(largest)
        return True

    def _owners(self) -> set[int]:
        return {owner for _, owner, _ in self._later.values()}

    def _refuse_oldest(self, owner: int) -> None:
        file, (identity, _, later) = next(item for item in self._later.items() if item[1][1] == owner)
        self._forget(file, later)
        later.give_up()
        self._send(identity, 0, _NO_ROOM)

    def _count(self, owner: int) -> int:
        return sum(one == owner for _, one, _ in self._later.values())

    def _give_up(self, is_given_up: Callable[[int], bool]) -> None:
        """Let go of those calls that wait and of which that is true, by their identity."""
        for file, (identity, _, later) in list(self._later.items()):
            if is_given_up(identity):
                self._forget(file, later)
                later.give_up()

    def _is_abandoned(self, identity: int) -> bool:
        """Whether the thread that made a call has ended."""
        try:
            self._require_valid(identity)
        except OSError:
            return True
        return False

    def _finish(self, file: int) -> None:
        identity, owner, later = self._later[file]
        self._forget(file, later)
        self._respond(identity, later.finish, lambda: owner)

    def _forget(self, file: int, later: Later) -> None:
        """Not by closing alone: the call's own descriptor would keep the file among those that are waited for."""
        del self._later[file]
        self._waiting.unregister(file)
        later.leave()

    def _send(self, identity: int, value: int, error: int) -> None:
        flags = _CONTINUE if value == GO_ON else 0
        answer = _response.pack(identity, 0 if flags else value, -error, flags)
        try:
            ioctl(self._listener or 0, _SEND, answer)
        except OSError:
            return  # the thread that asked has ended


def _share_processor(listener: int) -> None:
    """Have the kernel answer on the processor on which a call waits: one of the two waits for the other at any time."""
    try:
        ioctl(listener, _SET_FLAGS, _WAKES_AT_ONCE)
    except OSError:
        return  # an older kernel wakes the other one wherever there is room


def _most_waiting() -> int:
    from resource import RLIMIT_NOFILE, getrlimit

    most = getrlimit(RLIMIT_NOFILE)[0]
    return most // _SHARE if most >= 0 else 1 << 20


def explain(
    policy: Policy, known: Sequence[Denial], programs: ProgramCalls | None, failure: ErrorFacts | None
) -> tuple[ErrorFacts | None, list[Denial]]:
    """See `Broker.explain`.

    Args:
        known: what was refused, as it happened.
        programs: what was told of programs.
    """
    denials, code = list(known), failure["code"] if failure else ""
    said = failure["message"] if failure else ""
    of_programs, likely = ([], None) if programs is None else programs.refused(said)
    denials += [one for one in of_programs if one not in denials]
    told = denial_in(failure) if failure and code == _DENIED else None
    if told is not None and told not in denials and told.what:
        denials.append(told)
    culprit = next((one for one in reversed(known) if told is None or one.kind == told.kind), None)
    is_explained = code == _DENIED if told is None else told.what != ""
    if failure is None or is_explained:
        return failure, denials
    from ferrule.confinement.errors import denied

    if culprit is not None and (told is not None or code == _CRASHED):
        return denied(policy, culprit).facts(), denials
    if likely is None or code in _HAVE_OTHER_REASONS:
        return failure, denials
    return denied(policy, likely, instead_of=failure).facts(), denials


def denial_in(failure: ErrorFacts) -> Denial | None:
    """What a failure says that was denied; a plugin may have written it."""
    facts = failure.get("details")
    inner = facts.get("denied") if isinstance(facts, dict) else None
    if not isinstance(inner, dict) or not all(isinstance(inner.get(name), str) for name in ("kind", "what")):
        return None
    return Denial(inner["kind"], inner["what"])
