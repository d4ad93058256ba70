"""The process that has loaded one plugin, and the copies of it that take one call each.

Everything in here runs beside a plugin's code, so what it needs is taken before the plugin is loaded, which may replace
it. The process asks nothing and decides nothing but this: whether a copy of it is as good as a fresh process. One that
had other threads, children, open files or shared memory when it was loaded would lack them, or share them with the next
call; such a process takes a single call itself.
"""

from __future__ import annotations

import fcntl
import gc
import importlib
import os
import pickle
import resource  # noqa: F401 - as is what follows
import socket
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from ferrule.calls import execution  # noqa: F401 - what a call needs is imported before the plugin is
from ferrule.config import credentials_file  # noqa: F401 - what a call needs is imported before the plugin is
from ferrule.schema import arguments, schema_file  # noqa: F401 - what a call needs is imported before the plugin is
from ferrule.supervision import exception_text, processes  # noqa: F401 - what a call needs is imported before the plugin is
from ferrule.supervision.channel import Channel
from ferrule.supervision.supervisor import (
    NO_ANSWER,
    close_all_but,
    limit_memory,
    run_work,
    stay_within,
    take_standard_streams,
)
from ferrule.text import json_diagnosis, redaction, strict_json  # noqa: F401 - what a call needs is imported before the plugin is
from ferrule.tool import context  # noqa: F401 - what a call needs is imported before the plugin is
from ferrule.tool.context import ANSWER_BYTES
from ferrule.tool.loader import LoadedTool, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrule.calls.execution import Execution
    from ferrule.discovery import InstalledTool
    from ferrule.supervision.signals import Signals

# A plugin may replace these, and this end must be its own.
_close, _dup2, _exit, _fork, _getpid, _getppid = os.close, os.dup2, os._exit, os.fork, os.getpid, os.getppid
_waitpid, _write, _sleep, _loads, _recv_fds = os.waitpid, os.write, time.sleep, pickle.loads, socket.recv_fds

COPY, ITSELF = b"c", b"i"  # what takes the next call
PID_BYTES = SIZE_BYTES = 8
IMPORTED = b"m"  # the kind of the message that says what was imported
_CHUNK = 1 << 16
_MOST_NAMES, _LONGEST_NAME = 600, 100  # of modules, so that the message stays below what a channel takes


class Plugin:
    """What the process has to know. ahead: modules to import beside it. parent: who supervises it and its copies."""

    def __init__(self, tool: InstalledTool, ahead: Sequence[str], control: socket.socket, parent: int) -> None:
        self.tool = tool
        self.ahead = ahead
        self.control = control
        self.parent = parent


def live(plugin: Plugin, channel: int, text: int, signals: Signals, memory: int) -> NoReturn:
    """Load the plugin, say on the channel how that went, and where it went well, wait for calls. The child's life."""
    try:
        signals.restore()
        take_standard_streams(text)
        close_all_but(channel, plugin.control.fileno())
        stay_within(plugin.parent, memory)
        before = _open_files() - {channel}
        loaded = _loaded(plugin, Channel(channel, ANSWER_BYTES))
        if loaded is not None:
            _discard_what_is_printed()
            _close(channel)
            _take_calls(plugin, loaded, before)
    except BaseException:  # noqa: BLE001 - all that is left to say, with nothing that a plugin can have changed
        _write(channel, NO_ANSWER)
    finally:
        _exit(0)


class CallChannel(Channel):
    """A channel over which a call also says what it has imported."""

    __slots__ = ()

    def imported(self, names: Sequence[str]) -> None:
        """Say it, in the order in which it was."""
        self._send(IMPORTED, strict_json.dumps(list(names)))


def _loaded(plugin: Plugin, channel: Channel) -> LoadedTool | None:
    held = []

    def work(channel: Channel) -> None:
        held.append(load(plugin.tool))
        _import_ahead(plugin.ahead)
        gc.collect()
        gc.freeze()  # what was imported stays, and a collection in a copy writes to none of its pages
        channel.result({})

    run_work(work, channel)
    return held[0] if held else None


def _import_ahead(names: Sequence[str]) -> None:
    for name in names:
        try:
            importlib.import_module(name)
        except BaseException:  # noqa: BLE001, S112 - the call that needs it imports it itself, or fails over it
            continue
    if "ferrule.wrappers.guard" in names:
        from ferrule.wrappers.guard import load_ahead

        load_ahead()


def _open_files() -> set[int]:
    return {file for file in map(int, os.listdir("/proc/self/fd")) if _is_open(file)}


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False  # the listing's own
    return True


def _discard_what_is_printed() -> None:
    """Nobody reads it any more; what a thread of the plugin prints from now on would fill the pipe."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for file in (1, 2):
        _dup2(nothing, file)
    _close(nothing)


def _take_calls(plugin: Plugin, loaded: LoadedTool, before: set[int]) -> NoReturn:
    """Wait for lines that each bring a call, and hand them to copies, or take the call in person."""
    try:
        is_shared = _shares_memory()  # once: this process does nothing from now on that could change it
        while True:
            order, files, _, _ = _recv_fds(plugin.control, 1, 1)
            if not order or not files:
                break
            line = files[0]
            if order == ITSELF or is_shared or not _can_be_copied(before | {line}):
                plugin.control.close()
                _take_call(loaded, socket.socket(fileno=line))
            _copy(plugin, loaded, line)
            _close(line)
    finally:
        _exit(0)


def _can_be_copied(known: set[int]) -> bool:
    """Whether the plugin has no threads, children or files that a copy would lack or share."""
    try:
        is_alone = len(os.listdir("/proc/self/task")) == 1 and not processes.children()
        return is_alone and _open_files() <= known
    except Exception:  # noqa: BLE001 - a plugin may have put anything in the place of what was asked
        return False


def _shares_memory() -> bool:
    """Whether the plugin has memory, or locks, into which copies would all write."""
    try:
        with open("/proc/self/maps", "rb", buffering=0) as file:
            rights = [line.split(None, 2)[1] for line in file.readall().splitlines()]
        return any(right[1:2] == b"w" and right[3:4] == b"s" for right in rights)
    except Exception:  # noqa: BLE001 - as above
        return True


def _copy(plugin: Plugin, loaded: LoadedTool, line: int) -> None:
    """Fork a copy whose parent is the supervisor: it is orphaned at once, and that one adopts orphans."""
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
    """Say who waits, wait for the call, and make it."""
    line.sendall(_getpid().to_bytes(PID_BYTES, "big"))
    size, files, _, _ = _recv_fds(line, SIZE_BYTES, 2)
    if len(files) != 2:
        _exit(0)
    job = _received(line, int.from_bytes(size, "big"))
    line.close()
    channel, text = map(_out_of_the_way, files)
    for file in (1, 2):
        _dup2(text, file)
    _close(text)
    try:
        memory, call = _loads(job)
        _make(call, loaded, channel, memory)
    except BaseException:  # noqa: BLE001 - as above
        _write(channel, NO_ANSWER)
    finally:
        _exit(0)


def _make(call: Execution, loaded: LoadedTool, channel: int, memory: int) -> None:
    limit_memory(memory)
    gc.enable()
    before, places = set(sys.modules), list(sys.path)

    def work(channel: Channel) -> None:
        call.of_loaded(loaded, channel)
        # A name may stand for another module where the call has not yet said where to look.
        if isinstance(channel, CallChannel) and sys.path == places:
            channel.imported(_imported_since(before))

    run_work(work, CallChannel(channel, ANSWER_BYTES))


def _imported_since(before: set[str]) -> list[str]:
    """The modules that were imported by name, as far as they fit into a message."""
    try:
        modules = list(sys.modules.items())
        names = [name for name, module in modules if name not in before and getattr(module, "__spec__", None)]
        return [name for name in names if len(name) < _LONGEST_NAME][:_MOST_NAMES]
    except Exception:  # noqa: BLE001 - a plugin may have put anything there
        return []


def _received(line: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = line.recv(min(_CHUNK, size - len(data)))
        if not piece:
            _exit(0)  # whoever sent the call is gone, and it has not begun
        data += piece
    return bytes(data)


def _out_of_the_way(file: int) -> int:
    """The same file under a number above the standard streams', which no program that a tool starts inherits."""
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
    _close(file)
    return moved
