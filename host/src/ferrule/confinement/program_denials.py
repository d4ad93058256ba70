"""What programs have tried that the policy refuses, judged when the call is over."""

from __future__ import annotations

import os
import stat

from ferrule.confinement.named_paths import find_paths, find_relative, speaks_of_refusal
from ferrule.confinement.policy import DEVICES, Denial, readable

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrule.confinement.policy import Policy

READ, WRITE, RUN = "read", "write", "run"
_MAX_ATTEMPTS, _MAX_UNLIKELY, _MAX_PROGRAMS = 200, 100, 4096
_MAX_DENIALS = 20
_IGNORED = ("/dev/tty",)  # no call has a terminal, whatever its tool may


class Attempt:
    """What a program has tried.

    Args:
        kind: read, write or run.
        process: its number.
        is_named: whether the path is a word of its command line.
        is_new: whether the file is only made where it is not there.
    """

    __slots__ = ("is_named", "is_new", "kind", "path", "process")

    def __init__(self, kind: str, path: str, process: int, *, is_named: bool, is_new: bool) -> None:
        self.kind = kind
        self.path = path
        self.process = process
        self.is_named = is_named
        self.is_new = is_new


class ProgramDenials:
    """Collects attempts that may be refused, the last ones of each sort, and which programs have failed."""

    def __init__(self, policy: Policy, folder: str) -> None:
        from ferrule.confinement.kernel.program_paths import executed

        self._programs = executed(policy.programs)
        self._written = (*policy.write, *policy.append, *filter(None, [folder]))
        self._system = (*readable(with_others=True), *DEVICES)
        self._read = (*policy.read, *self._written, *self._programs)
        self._of_system = _beginnings(self._system)
        self._own = {READ: _beginnings(self._read), WRITE: _beginnings(self._written), RUN: ()}
        self._judged: dict[str, tuple[str, ...]] = {}
        self.clear()

    def clear(self) -> None:
        """Forget all that was noted."""
        self._likely: dict[tuple[str, str], Attempt] = {}
        self._unlikely: dict[tuple[str, str], Attempt] = {}
        self._started: set[int] = set()
        self._failed: set[int] = set()
        self._named: dict[str, None] = {}  # on the command lines of programs that have failed
        self._named_from_folder: dict[str, None] = {}

    def place_of(self, kind: str, path: str) -> str:
        """Where a path seems to lead: "" to what everybody may, "own" to what the tool may, else "other".

        No file is looked at. What a link in the folders of the system leads to, everybody may read as well.
        """
        if ".." in path.split("/"):
            return "other"
        whole = path + "/"
        if kind == READ and whole.startswith(self._of_system):
            return ""
        return "own" if whole.startswith(self._own[kind]) else "other"

    def is_program(self, process: int, parent: int) -> bool:
        """Whether a process is a program, or is about to be, which one has started."""
        return process in self._started or parent in self._started

    def add_program(self, process: int) -> None:
        """A process becomes a program."""
        if len(self._started) < _MAX_PROGRAMS:
            self._started.add(process)

    def add_failure(self, processes: Iterable[int], words: Sequence[str] = (), folder: str = "") -> None:
        """A program ends with a status that is not 0.

        Args:
            processes: its number, and that of its thread.
            words: what it was started with.
            folder: its working folder.
        """
        if len(self._failed) < _MAX_PROGRAMS:
            self._failed.update(processes)
        if len(self._named) + len(self._named_from_folder) < _MAX_ATTEMPTS:
            self._named |= dict.fromkeys(find_paths(words))
            self._named_from_folder |= dict.fromkeys(os.path.join(folder, word) for word in find_relative(words))

    def add(self, attempt: Attempt, *, is_likely: bool) -> None:
        """Note an attempt. is_likely: whether it is refused unless a link leads to what the tool may."""
        attempts, most = (self._likely, _MAX_ATTEMPTS) if is_likely else (self._unlikely, _MAX_UNLIKELY)
        key = attempt.kind, attempt.path
        known = attempts.pop(key, None)
        attempt.is_named = attempt.is_named or (known is not None and known.is_named)
        attempts[key] = attempt
        if len(attempts) > most:
            del attempts[next(iter(attempts))]

    def refused(self, said: str = "") -> tuple[list[Denial], Denial | None]:
        """What was refused, and which of it a program has most likely failed for.

        That is what stands on its command line, else what is named where it is said that something was
        refused, else what a program tried last, else a path on its command line that it may not read. And the program
        has ended with a status that is not 0. said: of the failure.
        """
        tried = [one for one in (*self._unlikely.values(), *self._likely.values()) if self._is_refused(one)]
        tried = tried[-_MAX_DENIALS:]
        failed = [one for one in tried if one.process in self._failed]
        named = [one for one in failed if one.is_named]
        likely = named[-1:] or self._find_said(said) or failed[-1:] or self._find_refused(self._named)
        found = dict.fromkeys(map(_denial, (*tried, *likely)))
        return list(found), _denial(likely[-1]) if likely else None

    def _find_said(self, said: str) -> list[Attempt]:
        """What a program may not read, of the paths that are named where a failure speaks of a refusal."""
        if not self._failed or not speaks_of_refusal(said):
            return []
        return self._find_refused(find_paths([said])) or self._find_refused({**self._named, **self._named_from_folder})

    def _find_refused(self, paths: Iterable[str]) -> list[Attempt]:
        """What no program may read of these paths, where nothing else is known of them."""
        known = {path for _, path in (*self._likely, *self._unlikely)}
        attempts = [Attempt(READ, path, 0, is_named=True, is_new=False) for path in paths if path not in known]
        return [one for one in attempts if self._is_refused(one)]

    def _is_refused(self, attempt: Attempt) -> bool:
        """Whether the policy does not allow it, and it would have succeeded otherwise, as far as the file tells."""
        path = os.path.realpath(attempt.path)
        if path in _IGNORED or (path + "/").startswith(self._allowed(attempt.kind)):
            return False
        is_there = os.path.lexists(path)
        if attempt.kind == READ:
            return is_there
        if attempt.kind == RUN:
            return is_there and _is_program(path)
        return not is_there if attempt.is_new else is_there or os.path.isdir(os.path.dirname(path))

    def _allowed(self, kind: str) -> tuple[str, ...]:
        """The beginnings of paths without links that are allowed."""
        if kind not in self._judged:
            allowed = {
                READ: (*self._system, *self._read),
                WRITE: (*self._written, *DEVICES),
                RUN: self._programs,
            }[kind]
            self._judged[kind] = _beginnings(map(os.path.realpath, allowed))
        return self._judged[kind]


def _beginnings(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path.rstrip("/") + "/" for path in paths))


def _denial(attempt: Attempt) -> Denial:
    return Denial(attempt.kind, os.path.realpath(attempt.path))


def _is_program(path: str) -> bool:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) and bool(mode & 0o111)
