"""What the kernel tells of programs that a tool has started: what they open, change and run, and how they end.

Of files that are closed when a program starts another one, as interpreters open theirs, what is read is not told: it
would cost a tool that starts one of them more than the rest of its call.

The kernel makes all of these calls, and Landlock refuses what the policy does not allow. Here it is noted what may
have been refused; whether it was is judged when the call is over. So nothing here waits for a file, and what another
thread changes meanwhile in the memory that is read here makes no difference to what a program can do.
"""

from __future__ import annotations

import os

from ferrule.confinement.broker.family import find_family
from ferrule.confinement.kernel.program_paths import loaders
from ferrule.confinement.program_denials import READ, RUN, WRITE, Attempt, ProgramDenials

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.confinement.broker.supervised_process import SupervisedProcess
    from ferrule.confinement.later import Later
    from ferrule.confinement.policy import Denial, Policy

    Check = Callable[[], None]
    Method = Callable[[SupervisedProcess, Check, list[int]], "int | Later"]

_GO_ON = -1
_NOT_PERMITTED, _KILL = 1, 9
_MAX_TOLD = 5_000  # calls of one tool call that are looked at; programs that go on are not told of any more
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_TRUNC
_MAKING = os.O_CREAT
_ONLY_A_PLACE = 0o10000000  # O_PATH: neither read nor written
_HERE = -100
_MASK = 0xFFFF_FFFF
_MAX_WORDS_BYTES, _MAX_COMMAND_LINES = 1 << 16, 64

_Place = tuple[int, int]  # which arguments are the folder (the working folder for one below 0) and the path
_MADE: dict[str, tuple[_Place, ...]] = {
    "mkdir": ((-1, 0),),
    "mknod": ((-1, 0),),
    "symlink": ((-1, 1),),
    "mkdirat": ((0, 1),),
    "mknodat": ((0, 1),),
    "symlinkat": ((1, 2),),
}
_CHANGED: dict[str, tuple[_Place, ...]] = {
    "unlink": ((-1, 0),),
    "rmdir": ((-1, 0),),
    "truncate": ((-1, 0),),
    "rename": ((-1, 0), (-1, 1)),
    "link": ((-1, 0), (-1, 1)),
    "unlinkat": ((0, 1),),
    "renameat": ((0, 1), (2, 3)),
    "renameat2": ((0, 1), (2, 3)),
    "linkat": ((0, 1), (2, 3)),
}


class ProgramCalls:
    """methods: by the name of the call."""

    def __init__(self, policy: Policy, folder: str, deny: Callable[[str, str], None] | None = None) -> None:
        """folder: for the temporary files of the call. deny: is told what was refused here, and where."""
        self._deny = deny
        self._loaders = loaders()
        self._denials = ProgramDenials(policy, folder)
        self._policy = policy
        self._count = 0
        self._words: dict[int, frozenset[str]] = {}  # of the command lines of programs
        self.methods: dict[str, Method] = {
            "open": lambda process, _, given: self._open(process, _HERE, given[0], given[1]),
            "creat": lambda process, _, given: self._open(process, _HERE, given[0], os.O_WRONLY | _MAKING),
            "openat": lambda process, _, given: self._open(process, given[0], given[1], given[2]),
            "openat2": self._open_by_structure,
            "execve": self._run,
            "exit_group": self._end,
            "brk": self._begin,
            "set_tid_address": self._begin,
        }
        for is_new, table in ((True, _MADE), (False, _CHANGED)):
            for name, places in table.items():
                self.methods[name] = self._changing(places, is_new=is_new)

    def begin(self) -> None:
        """Another call begins, of which nothing was told so far."""
        self._count = 0
        self._words.clear()
        self._denials.clear()

    def refused(self, said: str) -> tuple[list[Denial], Denial | None]:
        """See `ProgramDenials`."""
        return self._denials.refused(said)

    def _is_told(self) -> bool:
        self._count += 1
        return self._count <= _MAX_TOLD

    def _open(self, process: SupervisedProcess, folder: int, address: int, flags: int) -> int:
        if self._is_told() and not flags & _ONLY_A_PLACE:
            kind = WRITE if flags & (_WRITING | _MAKING) else READ
            self._note(process, kind, folder, address, is_new=bool(flags & _MAKING) and not flags & _WRITING)
        return _GO_ON

    def _begin(self, process: SupervisedProcess, check: Check, _given: list[int]) -> int:
        """A program begins. The dynamic loader as a program is ended: it would run any file as one.

        It has to be executable, since it is part of each program. Its path in the call that starts it could change once
        it was read. What a process runs does not, and the loader has opened nothing before it makes this call.
        """
        if self._is_loader(process.thread):
            words = _words_of(process.thread)
            check()
            os.kill(process.thread, _KILL)
            if self._deny:
                self._deny(RUN, next((word for word in words if word.startswith("/")), "the dynamic loader"))
        return _GO_ON

    def _is_loader(self, thread: int) -> bool:
        """Whether a process runs it by itself. As a program's own, it is another file that the process runs."""
        try:
            facts = os.stat(f"/proc/{thread}/exe")
        except OSError:
            return False
        return (facts.st_dev, facts.st_ino) in self._loaders

    def _open_by_structure(self, process: SupervisedProcess, _check: Check, given: list[int]) -> int:
        flags = int.from_bytes(process.read(given[2], 8), "little")
        return self._open(process, given[0], given[1], flags)

    def _changing(self, places: tuple[_Place, ...], *, is_new: bool) -> Method:
        def change(process: SupervisedProcess, _check: Check, given: list[int]) -> int:
            if self._is_told():
                for folder, path in places:
                    self._note(process, WRITE, _HERE if folder < 0 else given[folder], given[path], is_new=is_new)
            return _GO_ON

        return change

    def _run(self, process: SupervisedProcess, check: Check, given: list[int]) -> int:
        """A program is started: it gets back the address space that the process does without which starts it."""
        check()
        number, parent = find_family(process.thread)
        if number and number != process.thread:
            # The process would become the one of this thread, to which no signal is sent when its parent ends.
            raise OSError(_NOT_PERMITTED, "only of a process's first thread")
        lift_limit(process.thread)
        if self._is_told():
            if self._denials.is_program(number, parent):  # of others' attempts the process that makes them tells
                self._note(process, RUN, _HERE, given[0], is_new=False)
            self._denials.add_program(number)
            self._words.pop(number, None)
        return _GO_ON

    def _end(self, process: SupervisedProcess, _check: Check, given: list[int]) -> int:
        if given[0] & 0xFF:
            number = find_family(process.thread)[0]
            self._denials.add_failure({process.thread, number}, _words_of(process.thread), _folder_of(process.thread))
        return _GO_ON

    def _words_of(self, process: int) -> frozenset[str]:
        """What a program was started with: a file that it was told by its name is most likely why it fails."""
        if process not in self._words:
            if len(self._words) >= _MAX_COMMAND_LINES:
                self._words.clear()
            self._words[process] = frozenset(_words_of(process))
        return self._words[process]

    def _note(self, process: SupervisedProcess, kind: str, folder: int, address: int, *, is_new: bool) -> None:
        """Note what may be refused; what cannot be read is not noted, and the kernel says what is wrong with it."""
        try:
            given = os.fsdecode(process.read_path(address))
            path = _absolute(process.thread, folder, given)
        except OSError:
            return
        place = self._denials.place_of(kind, path) if path else ""
        if place == "own":
            self._denials.add(Attempt(kind, path, process.thread, is_named=False, is_new=is_new), is_likely=False)
        elif place:
            number = find_family(process.thread)[0]
            is_named = not self._words_of(number).isdisjoint((given, path, os.path.normpath(path)))
            self._denials.add(Attempt(kind, path, number, is_named=is_named, is_new=is_new), is_likely=True)


def lift_limit(process: int) -> None:
    """Give a process all the address space that it may have: what is bounded for programs is what they use."""
    from resource import RLIMIT_AS, prlimit

    try:
        hard = prlimit(process, RLIMIT_AS)[1]
        prlimit(process, RLIMIT_AS, (hard, hard))
    except (OSError, ValueError):
        return  # it has ended, or is another user's


def _absolute(thread: int, folder: int, path: str) -> str:
    if not path or path.startswith("/"):
        return path
    number = folder & _MASK
    where = "cwd" if number == _HERE & _MASK else f"fd/{number}"
    return os.path.join(os.readlink(f"/proc/{thread}/{where}"), path)


def _folder_of(thread: int) -> str:
    """The working folder of a program."""
    try:
        return os.readlink(f"/proc/{thread}/cwd")
    except OSError:
        return ""


def _words_of(process: int) -> list[str]:
    """What a program was started with, behind its own name."""
    try:
        with open(f"/proc/{process}/cmdline", "rb", buffering=0) as file:
            return os.fsdecode(file.read(_MAX_WORDS_BYTES)).split("\0")[1:-1]
    except OSError:
        return []
