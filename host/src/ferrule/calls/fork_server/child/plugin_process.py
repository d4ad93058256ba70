"""The process that has loaded one plugin, and its copies, each of which takes a call, or one after the other.

Everything in here shares a process with a plugin's code, so what it needs is taken before the plugin is loaded, which
may replace it. The process decides nothing but this: whether a copy of it is as good as a fresh process. One that had
other threads, children, open files or shared memory when it was loaded would lack them, or share them with the next
call; such a process takes a single call itself. Libraries that compute start threads when they are imported and end
them before a fork, to start them again when they are used: where threads alone are in the way, one fork is tried first.
"""

from __future__ import annotations

import fcntl
import gc
import os
import pickle
import socket
import struct
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from ferrule.calls.fork_server.child.imports import import_ahead, register_ahead
from ferrule.calls.fork_server.child.state_check import (
    StateCheck,
    await_end_of_threads,
    can_be_copied,
    has_children,
    has_threads,
    is_bare,
    open_files,
)
from ferrule.errors import FerruleError
from ferrule.plugin.hooks.context import ANSWER_BYTES
from ferrule.plugin.hooks.lasting_state import Lasting
from ferrule.plugin.loader import load
from ferrule.supervision import processes
from ferrule.supervision.channel.channel import Channel
from ferrule.supervision.channel.questions import AnswerPipe
from ferrule.supervision.child import NO_ANSWER, limit_memory, run_work, stay_within, take_standard_streams
from ferrule.supervision.environment import Replacement
from ferrule.supervision.memory.group import enter_group
from ferrule.supervision.standard_streams import close_all_but

if TYPE_CHECKING:
    from ferrule.calls.execution import Execution
    from ferrule.discovery import InstalledTool
    from ferrule.plugin.loader import LoadedTool
    from ferrule.supervision.confined_work import ConfinedCopies

# A plugin may replace these, and this end must be its own.
_close, _dup2, _exit, _fork, _getpid, _setsid = os.close, os.dup2, os._exit, os.fork, os.getpid, os.setsid
_waitpid, _write, _loads, _recv_fds, _WNOHANG = os.waitpid, os.write, pickle.loads, socket.recv_fds, os.WNOHANG
_adopt_orphans, _die_with_parent = processes.adopt_orphans, processes.die_with_parent

KIND = b"p"
FORK, SELF, REAP = b"f", b"s", b"r"  # orders: what takes the next call, and whose status is asked for
TRY_FORK = b"t"  # the order to fork once for nothing, which may end the threads of libraries
NUMBER_BYTES = 8  # of an order's process, behind the letter
ANSWER = struct.Struct(">cqi")
"""The order that is answered, the process, and its status (-1: not known). A fork that failed is process 0.

The answer to `TRY_FORK` has process 1 where the process can be copied from now on, else 0.
"""
AS_BEFORE = b"+"  # of a copy that may take another call: what it sends on its line after a result
CAN_BE_COPIED, HAS_THREADS = b'{"can_be_copied":true}', b'{"has_threads":true}'
"""What the process says once it has loaded: HAS_THREADS where these alone are in the way."""
_CHUNK_BYTES = 1 << 16
_SIZE_BYTES = 8
_FILES = 4  # of a copy: the line, the channel, what is printed, and the answers to its questions; then, its group
_MAX_MODULES, _MAX_NAME_CHARS = 600, 100  # so that the message stays below what a channel takes


class Stay(IntEnum):
    """What becomes of a copy that has made a call."""

    NONE = 0  # it ends
    REUSABLE = 1  # it takes the next one, where it is as it was before
    LASTING = 2  # it takes all others, while the tool holds something in it


class Plugin(NamedTuple):
    """What the process has to know.

    modules: to import with it. parent: the supervisor's process. stay: what becomes of a copy after its call.
    wrappers: the names of those that are on. memory_mib: of the process. confined: what it is held to.
    """

    tool: InstalledTool
    modules: Sequence[str]
    parent: int
    stay: Stay
    wrappers: Sequence[str]
    memory_mib: int
    confined: ConfinedCopies


class _Loaded:
    """What is loaded, and what was open before.

    check: of the copies that are used again, None where none is. is_lasting: see `Stay`.
    """

    def __init__(self, tool: LoadedTool, plugin: Plugin, before: set[int]) -> None:
        self.tool, self.confined = tool, plugin.confined
        self.check: StateCheck | None = None
        self.is_lasting = False
        self._stay, self._before = plugin.stay, before

    def prepare_copies(self) -> bool:
        """Make what copies need; False where the process cannot be copied."""
        if not can_be_copied(self._before):
            return False
        if self._stay is Stay.REUSABLE:
            self.check = StateCheck(self.tool.tool.module)
        self.is_lasting = self._stay is Stay.LASTING
        gc.collect()
        gc.freeze()  # what was imported stays, and a collection in a copy writes to none of its pages
        return True

    def has_only_threads(self) -> bool:
        """Whether threads are all that keeps the process from being copied."""
        return has_threads() and is_bare(self._before)


def begin(files: Sequence[int]) -> NoReturn:
    """Load the plugin, say on the channel how that went, and where it went well, wait for calls.

    The process's whole life. files: for orders, of which the first is a `Plugin`, for the channel, and for what is
    printed; and of a group for its memory, if there is one.
    """
    number, channel, text, *groups = files
    try:
        _enter(groups)
        take_standard_streams(text)
        close_all_but(channel, number)
        control = socket.socket(fileno=number)
        plugin: Plugin = _loads(_receive(control, int.from_bytes(_receive(control, _SIZE_BYTES), "big")))
        Replacement(plugin.confined.policy.environment or {}).apply()
        stay_within(plugin.parent, plugin.memory_mib)
        _adopt_orphans()
        own = Channel(channel, ANSWER_BYTES)
        plugin.confined.hold(own)  # nothing of the plugin has run by now
        before = open_files()
        loaded = _load(plugin, own, before)
        processes.leave_orphans()  # those of calls are for the supervisor, who ends them
        if loaded is not None:
            _discard_what_is_printed()
            _close(channel)
            _take_orders(control, loaded)
    except BaseException:  # noqa: BLE001 - all that is left to say, with nothing that a plugin can have changed
        _write(channel, NO_ANSWER)
    finally:
        _exit(0)


def _load(plugin: Plugin, channel: Channel, before: set[int]) -> _Loaded | None:
    held: list[_Loaded] = []

    def work(channel: Channel) -> None:
        tool = load(plugin.tool)
        import_ahead(plugin.modules)
        register_ahead(tool, plugin.wrappers)
        loaded = _Loaded(tool, plugin, before)
        is_copied = loaded.prepare_copies()
        held.append(loaded)
        if not is_copied and loaded.has_only_threads():
            channel.result({"has_threads": True})
        else:
            channel.result({"can_be_copied": is_copied})

    run_work(work, channel)
    return held[0] if held else None


def _discard_what_is_printed() -> None:
    """The pipe is read no more; what a thread of the plugin prints from now on would fill it."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    for file in (1, 2):
        _dup2(nothing, file)
    _close(nothing)


def _take_orders(control: socket.socket, loaded: _Loaded) -> NoReturn:
    """Wait for orders: hand the next call to a copy, take it in this process, or say how a copy has ended."""
    ended: dict[int, int] = {}
    try:
        while True:
            order, files, _, _ = _recv_fds(control, 1 + NUMBER_BYTES, _FILES + 1)
            if len(order) != 1 + NUMBER_BYTES:
                break
            kind, process = order[:1], int.from_bytes(order[1:], "big")
            _reap(ended)
            if kind == SELF and len(files) == _FILES:
                control.close()
                _adopt_orphans()  # as a copy does
                _take_calls(loaded, files)
            elif kind == FORK and len(files) >= _FILES:
                process = _fork_copy(control, loaded, files)
                for file in files:
                    _close(file)
                control.sendall(ANSWER.pack(FORK, process, 0))  # after which this process is paused
            elif kind == TRY_FORK:
                control.sendall(ANSWER.pack(TRY_FORK, _try_fork(loaded), 0))
            elif kind == REAP:
                control.sendall(ANSWER.pack(REAP, process, ended.pop(process, -1)))
            if len(ended) > 1000:
                ended.clear()
    finally:
        _exit(0)


def _reap(ended: dict[int, int]) -> None:
    """Take the statuses of the copies that have ended."""
    try:
        while True:
            process, status = _waitpid(-1, _WNOHANG)
            if not process:
                return
            ended[process] = status
    except ChildProcessError:  # none is left, or the plugin ignores SIGCHLD, and then there is nothing to wait for
        return


def _try_fork(loaded: _Loaded) -> int:
    """Fork once, for nothing but what libraries do before a fork; 1 where the process can be copied now, else 0."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are threads is known
            process = _fork()
        if not process:
            _exit(0)
        _waitpid(process, 0)
        await_end_of_threads()
        return int(loaded.prepare_copies())
    except Exception:  # noqa: BLE001 - a plugin may have put anything there, and the process still takes its one call
        return 0


def _fork_copy(control: socket.socket, loaded: _Loaded, files: Sequence[int]) -> int:
    """Fork a copy; its process, 0 where none is to be had."""
    parent = _getpid()
    try:
        process = _fork()
    except OSError:
        return 0
    if process:
        return process
    try:
        control.close()
        _die_with_parent(parent)
        _adopt_orphans()  # all that the calls start stays below the copy, as long as that lives
        _setsid()
        _enter(files[_FILES:])
        _take_calls(loaded, files[:_FILES], loaded.confined.narrow())
    finally:
        _exit(0)


def _enter(groups: Sequence[int]) -> None:
    """Put this process into its group, where it is given one."""
    for file in groups:
        enter_group(file)
        _close(file)


def _take_calls(loaded: _Loaded, files: Sequence[int], folder: str = "") -> NoReturn:
    """Wait for a call, and make it; for another one where the copy is as it was before.

    folder: for the temporary files of this copy.
    """
    number, channel, text, answer_file = map(_move_above_standard_streams, files)
    answers = AnswerPipe(answer_file)  # one for all calls: what comes late for one is not the next one's
    line = socket.socket(fileno=number)
    for file in (1, 2):
        _dup2(text, file)
    _close(text)
    check, lasting = loaded.check, _LastingTools(loaded.tool) if loaded.is_lasting else None
    try:
        gc.enable()
        if check is not None:
            check.begin(folder)
        while True:
            size = _receive(line, _SIZE_BYTES)
            memory_mib, execution = _loads(_receive(line, int.from_bytes(size, "big")))
            if lasting is not None:
                may_stay = lasting.run(execution, (channel, answers), memory_mib)
            elif check is None:
                line.close()
                _run(execution, loaded, (channel, answers), memory_mib)
                break
            else:
                may_stay = _run(execution, loaded, (channel, answers), memory_mib)
            del execution
            # Nobody waits for this: the answer has been sent.
            if not may_stay or (check is not None and check.find_changes()):
                break
            line.sendall(AS_BEFORE)
    except BaseException:  # noqa: BLE001 - as above
        _write(channel, NO_ANSWER)
    finally:
        _exit(0)


def _run(execution: Execution, loaded: _Loaded, ends: tuple[int, AnswerPipe], memory_mib: int) -> bool:
    """Make a call; whether the process may take another one, as far as that is quickly found.

    Args:
        ends: of the pipes: the channel, and the answers to questions.
    """
    channel, answers = ends
    limit_memory(memory_mib)
    before, places = len(sys.modules), list(sys.path)
    may_stay = False

    def work(channel: Channel) -> None:
        nonlocal may_stay
        with nullcontext() if execution.caller is None else execution.caller.taken_over():
            execution.run_loaded(loaded.tool, channel)
        # A name may stand for another module where the call has not yet said where to look.
        if len(sys.modules) > before and sys.path == places:
            channel.keep_imports(_imports_since(before))
        if loaded.check is not None and not has_children():
            may_stay = True
            channel.keep_check()

    run_work(work, Channel(channel, execution.answer_bytes, answers))
    return may_stay


class _LastingTools:
    """The tools of one distribution, in the one process that makes their calls. first: the one that is loaded."""

    def __init__(self, first: LoadedTool) -> None:
        self._tools = {first.tool.name: first}
        self._lasting = Lasting()

    def run(self, execution: Execution, ends: tuple[int, AnswerPipe], memory_mib: int) -> bool:
        """Make a call; whether the process takes another one: it does while the tool holds something in it."""
        channel, answers = ends
        limit_memory(memory_mib)
        run_work(partial(self._work, execution), Channel(channel, execution.answer_bytes, answers))
        return self._lasting.held is not None

    def _work(self, execution: Execution, channel: Channel) -> None:
        execution.lasting = self._lasting
        try:
            with nullcontext() if execution.caller is None else execution.caller.taken_over():
                execution.run_loaded(self._load(execution.tool), channel)
        except FerruleError:
            raise
        except BaseException:
            self._lasting.end()  # nobody knows what an error that was not foreseen has left behind
            raise
        finally:
            if self._lasting.held is not None:
                channel.keep_check()

    def _load(self, tool: InstalledTool) -> LoadedTool:
        if tool.name not in self._tools:
            self._tools[tool.name] = load(tool)
        return self._tools[tool.name]


def _imports_since(before: int) -> list[str]:
    """The modules that were imported by name when there were so many, as far as they fit into a message.

    They are those that were put there last. To hold all names from before would cost a copy a page for each few.
    """
    try:
        new = [name for name, _ in zip(reversed(sys.modules), range(len(sys.modules) - before), strict=False)]
        names = [name for name in reversed(new) if getattr(sys.modules.get(name), "__spec__", None)]
        return [name for name in names if len(name) < _MAX_NAME_CHARS][:_MAX_MODULES]
    except Exception:  # noqa: BLE001 - a plugin may have put anything there
        return []


def _receive(line: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = line.recv(min(_CHUNK_BYTES, size - len(data)))
        if not piece:
            _exit(0)  # no call comes any more
        data += piece
    return bytes(data)


def _move_above_standard_streams(file: int) -> int:
    """The same file under a number above the standard streams', which no program that a tool starts inherits."""
    moved = fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 3)
    _close(file)
    return moved
