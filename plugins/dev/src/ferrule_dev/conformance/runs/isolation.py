"""Surroundings that only the kernel can make: no network, and a full disk.

Each is made between fork and exec, by functions to be called in the new process. Where the kernel does not allow it,
`why_always_network` and `why_no_full_disk` says why.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import resource
import select
import signal
import socket
import struct
import sys
import warnings
from collections.abc import Callable, Iterable
from functools import cache

_NEW_NAMESPACE = {"mount": 0x00020000, "user": 0x10000000, "network": 0x40000000}
_PRIVATE_AND_BELOW = 0x40000 | 0x4000
_SET_INTERFACE_FLAGS = 0x8914
_INTERFACE_IS_UP = 0x1
_FILLED_BYTES = 1 << 16
_DISK = "size=64k,mode=0700"
_TRIAL_SECONDS = 10.0  # a kernel that takes longer for a name space does not give one


@cache
def why_always_network() -> str | None:
    """Why a process cannot be started without a network; None where it can."""
    return _try_in_child(leave_network)


@cache
def why_no_full_disk() -> str | None:
    """Why no small disk can be mounted; None where it can."""
    return _try_in_child(lambda: _mount_disk("/tmp"))  # noqa: S108 - of a process that ends at once


def leave_network() -> None:
    """Give this process a network of its own, with nothing but a loopback interface. Raises OSError."""
    _unshare("network")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("16sh14x", b"lo", _INTERFACE_IS_UP)
        fcntl.ioctl(any_socket, _SET_INTERFACE_FLAGS, request)


def fill_disk(folder: str, folders: Iterable[str], files: Iterable[str], channel: socket.socket) -> None:
    """Mount a small disk at a folder, for this process alone, with folders and empty files in it, and fill it.

    The files are empty, since overwriting one that has content makes room. The disk's descriptor is sent through the
    channel, since nobody else can see what is on it. Raises OSError.
    """
    _mount_disk(folder)
    for one in folders:
        os.mkdir(os.path.join(folder, one))
    for path in files:
        os.close(os.open(os.path.join(folder, path), os.O_CREAT | os.O_WRONLY, 0o600))
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    with open(os.path.join(folder, ".full"), "wb", buffering=0) as file:
        try:
            while file.write(bytes(_FILLED_BYTES)):
                pass
        except OSError:
            pass  # which is the point
    socket.send_fds(channel, [b"d"], [descriptor])
    os.close(descriptor)


def refuse_file_content() -> None:
    """Let this process create files, and write nothing into them: each write fails with EFBIG."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # which survives exec; by default the signal would end the process
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _mount_disk(folder: str) -> None:
    _unshare("mount")
    _call("mount", b"none", b"/", None, _PRIVATE_AND_BELOW, None)
    _call("mount", b"tmpfs", os.fsencode(folder), b"tmpfs", 0, _DISK.encode())


def _unshare(kind: str) -> None:
    """Enter a new namespace; where that is not allowed, in a user namespace, in which the user stays who it is."""
    user, group = os.getuid(), os.getgid()
    try:
        _call("unshare", _NEW_NAMESPACE[kind])
        return
    except PermissionError:
        _call("unshare", _NEW_NAMESPACE["user"] | _NEW_NAMESPACE[kind])
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: bytes | int | None) -> None:
    whole = [ctypes.c_ulong(one) if isinstance(one, int) and name == "mount" else one for one in arguments]
    if getattr(_library(), name)(*whole) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _try_in_child(work: Callable[[], None]) -> str | None:
    if sys.platform != "linux":
        return f"{sys.platform} has no namespaces"
    _library()
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, whose locks the child does not take
        child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - it ends here, whatever it was
            os.write(writing, (getattr(error, "strerror", None) or str(error) or "no reason").encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        poll = select.poll()
        poll.register(file, select.POLLIN)
        if not poll.poll(_TRIAL_SECONDS * 1000):
            os.kill(child, signal.SIGKILL)  # and nobody waits for it: it may hang in the kernel
            return f"the kernel has not done it within {_TRIAL_SECONDS:.0f} s"
        reason = file.read()
    os.waitpid(child, 0)
    return f"the kernel does not allow it here ({reason.decode()})" if reason else None
