"""What is asked of the kernel about processes: adopt orphans, die with the parent, find and end what is left."""

import os
import sys
import time

_SET_PARENT_DEATH_SIGNAL = 1
_SET_CHILD_SUBREAPER = 36
_KILL = 9
_PATIENCE = 1.0  # seconds; a process that survives SIGKILL for longer hangs in the kernel, and cannot be waited for


def adopt_orphans() -> bool:
    """From now on, processes that descend from this one become its children when their parents die. Linux only."""
    return sys.platform == "linux" and _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int) -> None:
    """End this process when its parent ends, even where the parent was killed before this call. Linux only."""
    if sys.platform == "linux":
        _prctl(_SET_PARENT_DEATH_SIGNAL, _KILL)
        if os.getppid() != parent:
            os._exit(1)


def end_descendants(child: int) -> None:
    """Kill the child and whatever it started, also what left its process group, and wait until they are gone.

    Where orphans cannot be adopted, the child leads a process group of its own, and that is killed.
    """
    if sys.platform != "linux":
        _kill_group(child)
    _kill(child)
    limit = time.monotonic() + _PATIENCE
    while not _is_gone(child) and time.monotonic() < limit:
        time.sleep(0.0002)
    while _reap() and time.monotonic() < limit:
        for process in _children():
            _kill(process)
        time.sleep(0.0005)


def _is_gone(child: int) -> bool:
    try:
        return os.waitpid(child, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _reap() -> bool:
    """Collect every child that has ended; True where some are left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _children() -> list[int]:
    """The processes whose parent this one is; the fourth field of /proc/PID/stat, after a name that may hold blanks."""
    own = str(os.getpid()).encode()
    found = []
    for entry in os.listdir("/proc") if sys.platform == "linux" else ():
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb", buffering=0) as file:
                    fields = (file.read() or b"").rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[1:2] == [own]:
                found.append(int(entry))
    return found


def _kill(process: int) -> None:
    try:
        os.kill(process, _KILL)
    except (ProcessLookupError, PermissionError):
        pass


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, _KILL)
    except (ProcessLookupError, PermissionError):
        pass


def _prctl(option: int, value: int) -> bool:
    try:
        # What ctypes itself calls; importing all of ctypes for one system call takes a fifth of an interpreter's start.
        from _ctypes import call_function, dlopen, dlsym

        itself = dlopen(None, 0)  # type: ignore[arg-type]
        status = call_function(dlsym(itself, "prctl"), (option, value, 0, 0, 0))
    except (ImportError, AttributeError, TypeError):
        import ctypes

        status = ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    return bool(status == 0)
