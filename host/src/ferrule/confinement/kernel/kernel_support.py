"""What this system can hold a call to."""

from __future__ import annotations

import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

_BAD_DESCRIPTOR = 9  # EBADF
_ACTION_IS_THERE, _NOTIFICATION_SIZES = 2, 3


class Support:
    """What the kernel of this machine can hold a process to.

    Args:
        landlock_abi: the version, 0 for none.
        seccomp: filters.
        notifications: calls that a supervisor judges.
        missing: sentences about what is not held here, each of which begins with what it is about.
    """

    __slots__ = ("landlock_abi", "missing", "notifications", "seccomp")

    def __init__(self, landlock_abi: int, seccomp: bool, notifications: bool, missing: Sequence[str]) -> None:
        self.landlock_abi = landlock_abi
        self.seccomp = seccomp
        self.notifications = notifications
        self.missing = list(missing)


_known: list[Support] = []


def support() -> Support:
    """What this system holds; it is asked once in a process."""
    if not _known:
        _known.append(_find())
    return _known[0]


def _find() -> Support:
    if sys.platform != "linux":
        return Support(
            0, seccomp=False, notifications=False, missing=[f"Nothing is held on {sys.platform}, only on Linux."]
        )
    from ferrule.confinement.kernel.system_calls import IS_KNOWN, MACHINE

    if not IS_KNOWN:
        return _nothing(f"Nothing is held on {MACHINE} processors.")
    from ferrule.confinement.kernel.landlock import NET_VERSION, SCOPE_VERSION, version

    abi = version()
    seccomp, notifications = _has_filters(), _has_notifications()
    missing = []
    if not abi:
        missing.append("Files and ports are not held: the kernel has no Landlock.")
    elif abi < NET_VERSION:
        missing.append("TCP ports are not held: the kernel's Landlock does not know them.")
    if not seccomp:
        missing.append("Sockets, programs and processes are not held: the kernel has no seccomp filters.")
    elif not notifications:
        missing.append("Addresses are not held: the kernel cannot have a supervisor judge connections.")
    if 0 < abi < SCOPE_VERSION and not seccomp:
        missing.append("Signals are not held: the kernel's Landlock does not know them.")
    return Support(abi, seccomp=seccomp, notifications=notifications, missing=missing)


def _nothing(why: str) -> Support:
    return Support(0, seccomp=False, notifications=False, missing=[why])


def _has_filters() -> bool:
    from ferrule.confinement.kernel.filter_program import KILL

    return _knows_action(KILL)


def _has_notifications() -> bool:
    """Whether calls can be judged, and the descriptors that it takes can be had."""
    from ferrule.confinement.kernel.filter_program import NOTIFY
    from ferrule.confinement.kernel.system_calls import NUMBERS, buffer, call

    if not _knows_action(NOTIFY):
        return False
    try:
        call(NUMBERS["seccomp"], _NOTIFICATION_SIZES, 0, buffer(bytes(6)))
        call(NUMBERS["pidfd_getfd"], -1, 0, 0)
    except OSError as error:
        return error.errno == _BAD_DESCRIPTOR
    return False


def _knows_action(action: int) -> bool:
    from ferrule.confinement.kernel.system_calls import NUMBERS, buffer, call

    try:
        call(NUMBERS["seccomp"], _ACTION_IS_THERE, 0, buffer(action.to_bytes(4, "little")))
    except OSError:
        return False
    return True
