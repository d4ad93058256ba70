"""The process between the supervising one and a child that may start others: it ends them where the first is killed.

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
    from collections.abc import Callable

    from ferrule.supervision.signals import Signals

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


def _guard(run: Callable[[int], object], signals: Signals, parent: int, told: int) -> None:
    """The guard's whole life; never returns. parent: a descriptor for the supervising process."""
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
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(max(status, 0))
