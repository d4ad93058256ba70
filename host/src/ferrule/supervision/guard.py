"""A process that ends what others have started, where the one that supervises them is killed.

A process ends with its parent where it asks the kernel for that; what a plugin's programs start does not ask. So they
are adopted by a process that nothing of the plugin reaches, and that outlives the supervising one by so much.
"""

from __future__ import annotations

import errno
import os
import select

from ferrule.supervision import processes
from ferrule.supervision.standard_streams import close_all_but

TYPE_CHECKING = False

if TYPE_CHECKING:
    import signal
    from collections.abc import Callable

    from ferrule.supervision.signals import Signals
else:
    import _signal as signal  # as in `ferrule.supervision.signals`

_NUMBER_BYTES = 8
_NOT_STARTED = 1  # exit code


def is_possible() -> bool:
    """Whether this system has what a guard needs."""
    return hasattr(os, "pidfd_open") and hasattr(os, "waitid")


def fork_below_guard(run: Callable[[int], object], signals: Signals) -> tuple[int, int]:
    """Fork a guard, and a child below it that runs something; the two processes. The child's parent is the guard.

    run: gets the guard's process, and never returns. The guard ends as the child does. Raises OSError.
    """
    parent = os.pidfd_open(os.getpid())
    source, told = os.pipe()
    try:
        guard = os.fork()
        if guard == 0:
            _guard(run, signals, parent, told)
        os.close(told)
        told = -1
        child = int.from_bytes(os.read(source, _NUMBER_BYTES), "big")
        if not child:
            os.waitpid(guard, 0)
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return guard, child
    finally:
        for file in (parent, source, told):
            if file >= 0:
                os.close(file)


def go_on_below_guard() -> None:
    """Go on in a child of this process, which from now on only waits, and ends what the child has left behind.

    For a program of its own that has just begun. The process that was started ends as its child does; where it is
    killed, the child is asked to end. Raises OSError.
    """
    if not is_possible():
        return
    own = os.getpid()
    processes.adopt_orphans()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # who starts it may ignore that, and then no child is waited for
    child = os.fork()
    if child == 0:
        processes.leave_orphans()
        processes.stop_with_parent(own)
        return
    try:
        for number in (signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # which the child gets, too
        nothing = os.open(os.devnull, os.O_RDWR)
        for file in (0, 1):
            os.dup2(nothing, file)
        close_all_but()
        status = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        processes.end_descendants(child)
        if status is not None:
            _end_as(status.si_status if status.si_code == os.CLD_EXITED else -status.si_status)
    finally:
        os._exit(_NOT_STARTED)


def _guard(run: Callable[[int], object], signals: Signals, parent: int, told: int) -> None:
    """The guard's whole life; never returns.

    Args:
        parent: a descriptor for the supervising process.
    """
    try:
        os.setsid()  # whoever kills the group of the supervising process leaves this one to end the others
        processes.adopt_orphans()
        own = os.getpid()
        child = os.fork()
        if child == 0:
            run(own)
        signals.restore()
        os.write(told, child.to_bytes(_NUMBER_BYTES, "big"))
        close_all_but(parent)
        _wait(parent, child)
    finally:
        os._exit(_NOT_STARTED)


def _wait(parent: int, child: int) -> None:
    """Until the child has ended, as which this process then ends; or until there is nobody whom it works for."""
    ended = os.pidfd_open(child)
    poll = select.poll()
    for file in (parent, ended):
        poll.register(file, select.POLLIN)
    ready = {file for file, _ in poll.poll()}
    if parent in ready:
        processes.end_descendants(child)
        return
    _end_as(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _end_as(code: int) -> None:
    """End this process with an exit code, or by minus the number of a signal."""
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(max(code, 0))
