"""What is asked of the kernel about processes: adopt orphans, die with the parent, find and end what is left."""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_KILL, _TERMINATE = 9, 15
_STARTED_FIELD = 19  # of /proc/PID/stat, counted from the one behind the name
_LOOK_MS = 1
_END_SECONDS = 1.0  # a process that survives SIGKILL for longer hangs in the kernel, and cannot be waited for


def adopt_orphans() -> bool:
    """From now on, processes that descend from this one become its children when their parents die. Linux only."""
    return sys.platform == "linux" and control_process(_SET_CHILD_SUBREAPER, 1)


def leave_orphans() -> bool:
    """From now on, such processes go to the next one above that adopts them, and not to this one. Linux only."""
    return sys.platform == "linux" and control_process(_SET_CHILD_SUBREAPER, 0)


def die_with_parent(parent: int) -> None:
    """End this process when its parent ends, even where the parent was killed before this call. Linux only."""
    _hear_of_death(parent, _KILL)


def die_with_adopter(parent: int) -> None:
    """The same for a process that its parent is going to adopt, since the one that forked it ends at once."""
    limit = time.monotonic() + _END_SECONDS
    while sys.platform == "linux" and os.getppid() != parent and time.monotonic() < limit:
        time.sleep(0.0002)
    die_with_parent(parent)


def answer_in_copy(work: Callable[[], bytes]) -> bytes:
    """What a copy of this process finds out, which reads secrets for it; empty where it fails.

    The memory of this process goes on to processes that run code of tools.
    """
    source, answer = os.pipe()
    reader = os.fork()
    if reader == 0:
        try:
            os.write(answer, work())
        finally:
            os._exit(0)
    os.close(answer)
    with open(source, "rb") as file:
        data = file.read()
    os.waitpid(reader, 0)
    return data


def stop_with_parent(parent: int) -> None:
    """Have this process asked to end, by SIGTERM, when its parent ends, so that it can end its own first. Linux only.

    To the kernel the parent is the thread that started this process.
    """
    _hear_of_death(parent, _TERMINATE)


def children() -> set[int]:
    """The processes whose parent this one is, those that have ended and were not waited for included."""
    if sys.platform != "linux":
        return set()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return set()
    return _listed_children()


def seconds_since_start() -> float | None:
    """How long ago this process was started, by the kernel's own account; None where that is not known.

    What ran in the process before the interpreter, such as the shell that it was started by, counts too.
    """
    try:
        with open("/proc/self/stat", "rb", buffering=0) as file:
            started_ticks = int(file.readall().rpartition(b")")[2].split()[_STARTED_FIELD])
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started_ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def lower_limit(resource: int, soft: int, hard: int | None = None) -> None:
    """Set a limit of this process, as far as it is allowed to. resource: RLIMIT_…. hard: left as it is by default."""
    from resource import getrlimit, setrlimit

    present = getrlimit(resource)[1]
    limits = (soft, present if hard is None else hard)
    setrlimit(resource, limits if present < 0 else (min(limits[0], present), min(limits[1], present)))


def exit_status(child: int) -> int | None:
    """How a child has ended, see `os.waitpid`; None while it runs.

    Where the system allows it, the child is not waited for: until it is, no other process gets its number, so that it
    and its group can still be killed by it.
    """
    if not hasattr(os, "waitid"):
        process, status = os.waitpid(child, os.WNOHANG)
        return status if process else None
    ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return None
    return ended.si_status << 8 if ended.si_code == os.CLD_EXITED else ended.si_status


def kill_group(leader: int) -> None:
    """Kill a child and the process group that it leads, where it has come to lead one."""
    _try(os.killpg, leader)
    _try(os.kill, leader)


def end_descendants(child: int, others: Collection[int] = ()) -> None:
    """Kill the child, the process group that it leads, and whatever else it started, and wait until they are gone.

    others: children of this process that have nothing to do with it, and are left alone. Where orphans cannot be
    adopted, only what has stayed in the child's group is found.
    """
    limit = time.monotonic() + _END_SECONDS
    _try(os.killpg, child)
    left = {child}
    while left and time.monotonic() < limit:
        for process in left:
            _kill(process)
        left = {process for process in left if not _is_gone(process)}
        # Listed last: what a process leaves behind is among the children once that process has been waited for.
        left |= children().difference(others)
        if left:
            _await_end(min(left))


def _await_end(child: int) -> None:
    """Wait a moment for a killed child to end; what it has started meanwhile is to be killed, too."""
    try:
        file = os.pidfd_open(child)
    except (AttributeError, OSError):  # no Linux, or no descriptor is left
        time.sleep(_LOOK_MS / 5000)
        return
    import select

    try:
        poll = select.poll()
        poll.register(file, select.POLLIN)
        poll.poll(_LOOK_MS)
    finally:
        os.close(file)


def _is_gone(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _listed_children() -> set[int]:
    """From a list that most kernels keep; one thread forks, but orphans may be given to any."""
    found: set[int] = set()
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", "rb", buffering=0) as file:
                found.update(map(int, file.readall().split()))
    except OSError:
        return _found_children()
    return found


def _found_children() -> set[int]:
    """By asking each process for its parent: the fourth field of /proc/PID/stat, after a name that may hold blanks."""
    own = str(os.getpid()).encode()
    found = set()
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb", buffering=0) as file:
                    fields = file.readall().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[1:2] == [own]:
                found.add(int(entry))
    return found


def _kill(process: int) -> None:
    """Kill a process, and its group where that lies in another session, so that nothing of the caller's is in it.

    The group goes at once, with every member that is about to fork; one by one, a chain of forks could escape.
    """
    try:
        if os.getsid(process) != os.getsid(0):
            _try(os.killpg, os.getpgid(process))
    except (ProcessLookupError, PermissionError):
        pass
    _try(os.kill, process)


def _hear_of_death(parent: int, number: int) -> None:
    if sys.platform == "linux":
        control_process(_SET_PARENT_DEATH_SIGNAL, number)
        if os.getppid() != parent:
            os._exit(1)


def _try(kill: Callable[[int, int], None], whom: int) -> None:
    try:
        kill(whom, _KILL)
    except (ProcessLookupError, PermissionError):
        pass


def control_process(option: int, value: int) -> bool:
    """Set an option of this process by prctl; whether the kernel took it. Linux only."""
    return call_library("prctl", option, value, 0, 0, 0) == 0


_known: dict[str, Callable[[tuple[int, ...]], int] | None] = {}  # functions that have been looked up


def call_library(name: str, *arguments: int) -> int | None:
    """Call a function of the C library with ints; what it returns, None where the library has none of that name."""
    if name not in _known:
        _known[name] = _find(name)
    function = _known[name]
    return None if function is None else int(function(arguments))


def _find(name: str) -> Callable[[tuple[int, ...]], int] | None:
    """A function of the C library, which takes a tuple of ints."""
    try:
        # What ctypes itself calls; importing all of ctypes for one call takes a fifth of an interpreter's start.
        from _ctypes import call_function, dlopen, dlsym

        address = dlsym(dlopen(None, 0), name)  # type: ignore[arg-type] # typeshed wants a name
        return lambda arguments: call_function(address, arguments)
    except OSError:
        return None
    except (ImportError, AttributeError, TypeError):
        import ctypes

        function = getattr(ctypes.CDLL(None), name, None)
        return None if function is None else lambda arguments: function(*arguments)
