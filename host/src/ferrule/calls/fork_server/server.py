"""What a server that makes calls of tools stands on."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING

from ferrule.calls.fork_server import renderer
from ferrule.calls.fork_server.call import ServedCall
from ferrule.calls.fork_server.child import plugin_process
from ferrule.calls.fork_server.child.imports import import_for_calls
from ferrule.calls.fork_server.child.rehearsal import rehearse
from ferrule.calls.fork_server.lookups import Lookups
from ferrule.calls.fork_server.plugins import Plugins
from ferrule.calls.fork_server.poll_loop import PollLoop
from ferrule.calls.fork_server.surroundings import ServerOptions, Surroundings
from ferrule.errors import FerruleError
from ferrule.plugin.runs import begin_run
from ferrule.supervision import processes
from ferrule.supervision.channel.questions import RUN_KIND
from ferrule.supervision.guard import go_on_below_guard
from ferrule.supervision.signals import Signals
from ferrule.supervision.zygote import Zygote

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from ferrule.calls.caller import Caller
    from ferrule.calls.fork_server.call import AnswerHandler, EventHandler
    from ferrule.calls.fork_server.facts import Client, ServerFacts
    from ferrule.calls.fork_server.surroundings import BeginHandler
    from ferrule.config import Configuration
    from ferrule.discovery import InstalledTool


class ForkServer:
    """Makes calls of all tools, any number at a time, in forks of processes that have loaded them.

    It is entered in a process that has just begun and has no threads, as the first thing that this does. It loads no
    plugin: that does a process of its own for each tool, of which copies are forked for the calls. All of it happens in
    one thread, while `run` runs: what else the server reads or writes, it waits for in `loop`. When it is left, all
    that it started has ended.

    loop: waits for descriptors and instants. stdin: a descriptor of what was stdin of this process, which reads nothing
    by itself any more.
    """

    def __init__(self, options: ServerOptions | None = None) -> None:
        self.loop = PollLoop()
        self.stdin = -1
        self._options = options or ServerOptions()
        self._lookups = Lookups()
        self._calls: set[ServedCall] = set()

    def __enter__(self) -> Self:
        """Go on in a child of this process, below a guard. Raises OSError."""
        go_on_below_guard()
        gc.disable()
        import_for_calls()
        self.stdin = _take_stdin()
        processes.adopt_orphans()
        rehearse({name: {} for name in _wrappers()})
        gc.freeze()
        gc.enable()
        begins = {plugin_process.KIND: plugin_process.begin, renderer.KIND: renderer.begin}
        zygote = Zygote({**begins, RUN_KIND: begin_run(os.getpid())})
        self._signals = Signals().__enter__()
        self._surroundings = Surroundings(self.loop, self._signals, self._options, self._lookups, zygote)
        self._plugins = Plugins(self._surroundings)
        # Without the process that forks no tool can be loaded. What is watched first is looked at first, so that no
        # call begins after that.
        self.loop.watch(zygote.file, self.loop.stop)
        self.loop.watch(self._signals.file, self._handle_signal)
        return self

    def __exit__(self, *_: object) -> None:
        self._plugins.end()
        self._signals.__exit__()
        os.close(self.stdin)

    @property
    def is_stopping(self) -> bool:
        """Whether no call can begin any more: a signal to stop has come, or the process that forks has ended."""
        return self._signals.has_come or self.loop.is_stopped

    def run(self) -> None:
        """Make calls until `stop`, a signal to stop, or the end of the process that forks."""
        self.loop.run()

    def stop(self) -> None:
        """Let `run` return. Calls that run are ended when the server is left, and have no answer."""
        self.loop.stop()

    def call(
        self,
        tool: str,
        arguments: bytes | FerruleError,
        on_answer: AnswerHandler,
        *,
        on_event: EventHandler | None = None,
        seconds: float | None = None,
        client: Client | None = None,
        caller: Caller | None = None,
        on_begin: BeginHandler | None = None,
    ) -> ServedCall:
        """Begin a call; every failure is an answer, too, in the shape of the tool's own.

        Args:
            tool: its name.
            arguments: one JSON object; of a caller, also why there is none.
            on_answer: gets the `CallAnswer`, once, maybe before this returns.
            on_event: gets each event of the tool as one JSON object, without secrets.
            seconds: that the call may take, else the configured deadline.
            client: who asks, for the journal.
            caller: who has the call made, where its variables, folder and so on count instead of the server's.
            on_begin: is called with the tool when a process is about to get the arguments of that.
        """
        ended = self._calls.discard
        call = ServedCall(self._plugins, self._surroundings, on_event, on_answer, ended, caller, on_begin)
        self._calls.add(call)
        call.start(tool, arguments, seconds, client)
        return call

    def find_tool(self, tool: str) -> InstalledTool:
        """The tool of that name that may run. Raises as a call does."""
        return self._lookups.tool(tool, self._lookups.configuration())

    def configuration(self) -> Configuration:
        """The admin's settings as they are now. Raises ConfigurationMalformed."""
        return self._lookups.configuration()

    def can_repeat(self, tool: InstalledTool) -> bool:
        """Whether the tool says that a call which may have done its work can be made again."""
        return self._lookups.can_repeat(tool)

    def is_lasting(self, tool: str) -> bool:
        """Whether the tool holds something between calls. Raises as a call does."""
        return self._lookups.is_lasting(self.find_tool(tool))

    def prepare(self, tool: str) -> None:
        """Load a tool before its first call. The call says what is wrong with one that cannot be loaded."""
        try:
            settings = self._lookups.configuration()
            found = self._lookups.tool(tool, settings)
            self._plugins.prepare(found, self._lookups.policy(found, settings), settings.memory(found.name))
        except (FerruleError, OSError):
            pass

    def renew(self, tool: str | None, when_done: Callable[[], None]) -> None:
        """Make no call from code that was loaded before now. tool: its name, None for all of them.

        Calls that run go on. when_done: is called when no idle process has the old code.
        """
        self._lookups.forget()
        self._plugins.renew(tool, when_done)

    def facts(self) -> ServerFacts:
        """What is loaded, and in which processes."""
        return {"plugins": self._plugins.facts(), "is_idle": not self._calls and self._plugins.is_idle}

    def _handle_signal(self) -> None:
        self._signals.settle()
        if self._signals.has_come:
            self.loop.stop()
        else:
            self._plugins.handle_children()


def _take_stdin() -> int:
    """Put nothing instead of stdin, so that no process has it that is forked; a descriptor of what it was."""
    stdin, nothing = os.dup(0), os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.close(nothing)
    return stdin


def _wrappers() -> list[str]:
    """The names of the wrappers that are on, as a copy of this process has read them.

    The configuration holds settings that are not for every tool, and plugins' processes come from this one's memory.
    """
    # One that cannot be read is told by each call.
    found = processes.answer_in_copy(lambda: "\n".join(Lookups().configuration().wrappers()).encode())
    return found.decode().splitlines()
