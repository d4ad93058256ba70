"""The process that has loaded one plugin, and its forks, each of which takes one call.

Everything in here shares a process with a plugin's code, so what it needs is taken before the plugin is loaded, which
may replace it. The process decides nothing but this: whether a fork of it is as good as a fresh process. One that had
other threads, children, open files or shared memory when it was loaded would lack them, or share them with the next
call; such a process takes a single call itself.
"""

from __future__ import annotations

import fcntl
import gc
import os
import pickle
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ferrule.calls.server_interface import (
    ANSWER_BYTES,
    NO_ANSWER,
    Channel,
    close_all_but,
    import_ahead,
    limit_memory,
    load,
    processes,
    run_work,
    stay_within,
    take_standard_streams,
)

if TYPE_CHECKING:
    from ferrule.calls.server_interface import Execution, InstalledTool, LoadedTool, Signals

# A plugin may replace these, and this end must be its own.
_close, _dup2, _exit, _fork, _getpid, _getppid = os.close, os.dup2, os._exit, os.fork, os.getpid, os.getppid
_waitpid, _write, _sleep, _loads, _recv_fds = os.waitpid, os.write, time.sleep, pickle.loads, socket.recv_fds

FORK, SELF = b"f", b"s"  # what takes the next call
PID_BYTES = SIZE_BYTES = 8
_CHUNK_BYTES = 1 << 16
_MAX_MODULES, _MAX_NAME_CHARS = 600, 100  # so that the message stays below what a channel takes


class Plugin(NamedTuple):
    """What the process has to know. modules: to import with it. parent: the supervisor's process."""

    tool: InstalledTool
    modules: Sequence[str]
    control: socket.socket
    parent: int


def main(plugin: Plugin, channel: int, text: int, signals: Signals, memory_mib: int) -> NoReturn:
    """Load the plugin, say on the channel how that went, and where it went well, wait for calls. The child's life."""
    try:
        signals.restore()
        take_standard_streams(text)
        close_all_but(channel, plugin.control.fileno())
        stay_within(plugin.parent, memory_mib)
        before = _open_files() - {channel}
        loaded = _load(plugin, Channel(channel, ANSWER_BYTES))
        if loaded is not None:
            _discard_what_is_printed()
            _close(channel)
            _take_calls(plugin, loaded, before)
    except BaseException:  # noqa: BLE001 - all that is left to say, with nothing that a plugin can have changed
        _write(channel, NO_ANSWER)
    finally:
        _exit(0)


def _load(plugin: Plugin, channel: Channel) -> LoadedTool | None:
    held = []

    def work(channel: Channel) -> None:
        held.append(load(plugin.tool))
        import_ahead(plugin.modules)
        gc.collect()
        gc.freeze()  # what was imported stays, and a collection in a fork writes to none of its pages
        channel.result({})

    run_work(work, channel)
    return held[0] if held else None


def _open_files() -> set[int]:
    return {file for file in map(int, os.listdir("/proc/self/fd")) if _is_open(file)}


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False  # the listing's own
    return True


def _discard_what_is_printed() -> None:
    """The pipe is read no more; what a thread of the plugin prints from now on would fill it."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for file in (1, 2):
        _dup2(nothing, file)
    _close(nothing)


def _take_calls(plugin: Plugin, loaded: LoadedTool, before: set[int]) -> NoReturn:
    """Wait for lines that each bring a call, and hand each to a fork, or take the call in this process."""
    try:
        is_shared = _shares_memory()  # once: this process does nothing from now on that could change it
        while True:
            order, files, _, _ = _recv_fds(plugin.control, 1, 1)
            if not order or not files:
                break
            line = files[0]
            if order == SELF or is_shared or not _can_be_forked(before | {line}):
                plugin.control.close()
                _take_call(loaded, socket.socket(fileno=line))
            _fork_call(plugin, loaded, line)
            _close(line)
    finally:
        _exit(0)


def _can_be_forked(known: set[int]) -> bool:
    """Whether the plugin has no threads, children or files that a fork would lack or share."""
    try:
        is_alone = len(os.listdir("/proc/self/task")) == 1 and not processes.children()
        return is_alone and _open_files() <= known
    except Exception:  # noqa: BLE001 - a plugin may have put anything in the place of what was asked
        return False


def _shares_memory() -> bool:
    """Whether the plugin has memory, or locks, into which forks would all write."""
    try:
        with open("/proc/self/maps", "rb", buffering=0) as file:
            rights = [line.split(None, 2)[1] for line in file.readall().splitlines()]
        return any(right[1:2] == b"w" and right[3:4] == b"s" for right in rights)
    except Exception:  # noqa: BLE001 - as above
        return True


def _fork_call(plugin: Plugin, loaded: LoadedTool, line: int) -> None:
    """Fork a process whose parent is the supervisor: it is orphaned at once, and that one adopts orphans."""
    middle = _fork()
    if middle:
        with suppress(ChildProcessError):  # a plugin may ignore SIGCHLD, and then there is nothing to wait for
            _waitpid(middle, 0)
        return
    try:
        middle = _getpid()
        if _fork() == 0:
            plugin.control.close()
            while _getppid() == middle:
                _sleep(0.0002)
            processes.die_with_parent(plugin.parent)
            os.setsid()
            _take_call(loaded, socket.socket(fileno=line))
    finally:
        _exit(0)


def _take_call(loaded: LoadedTool, line: socket.socket) -> NoReturn:
    """Say which process waits, wait for the call, and make it."""
    line.sendall(_getpid().to_bytes(PID_BYTES, "big"))
    size, files, _, _ = _recv_fds(line, SIZE_BYTES, 2)
    if len(files) != 2:
        _exit(0)
    job = _receive(line, int.from_bytes(size, "big"))
    line.close()
    channel, text = map(_move_above_standard_streams, files)
    for file in (1, 2):
        _dup2(text, file)
    _close(text)
    try:
        memory_mib, execution = _loads(job)
        _run(execution, loaded, channel, memory_mib)
    except BaseException:  # noqa: BLE001 - as above
        _write(channel, NO_ANSWER)
    finally:
        _exit(0)


def _run(execution: Execution, loaded: LoadedTool, channel: int, memory_mib: int) -> None:
    limit_memory(memory_mib)
    gc.enable()
    before, places = set(sys.modules), list(sys.path)

    def work(channel: Channel) -> None:
        execution.run_loaded(loaded, channel)
        # A name may stand for another module where the call has not yet said where to look.
        if sys.path == places:
            channel.send_imports(_imports_since(before))

    run_work(work, Channel(channel, ANSWER_BYTES))


def _imports_since(before: set[str]) -> list[str]:
    """The modules that were imported by name, as far as they fit into a message."""
    try:
        modules = list(sys.modules.items())
        names = [name for name, module in modules if name not in before and getattr(module, "__spec__", None)]
        return [name for name in names if len(name) < _MAX_NAME_CHARS][:_MAX_MODULES]
    except Exception:  # noqa: BLE001 - a plugin may have put anything there
        return []


def _receive(line: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = line.recv(min(_CHUNK_BYTES, size - len(data)))
        if not piece:
            _exit(0)  # the worker that sent the call is gone, and it has not begun
        data += piece
    return bytes(data)


def _move_above_standard_streams(file: int) -> int:
    """The same file under a number above the standard streams', which no program that a tool starts inherits."""
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
    _close(file)
    return moved
