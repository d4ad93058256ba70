"""The calls that run at a time, and those that wait for their turn.

The serving process imports no plugin and never forks: a process of its own supervises all calls, each of which runs in
a process that has loaded the tool ahead, and a call costs neither an interpreter's start nor an import.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from ferrule.calls.server_interface import CallAnswer
from ferrule.errors import FerruleError, InputMalformed, ServerBusy, ToolError, WorkerLost
from ferrule.installed import join_environ
from ferrule.text import strict_json
from ferrule_serve import journal
from ferrule_serve.failure_renderer import FailureRenderer
from ferrule_serve.kept_call import call_kept
from ferrule_serve.snapshots import tool_environment
from ferrule_serve.supervisor_link import EventHandler, SupervisorLink

if TYPE_CHECKING:
    from ferrule.calls.server_interface import Client, ServerFacts
    from ferrule.discovery import InstalledTool
    from ferrule.text.json_types import JSONMapping, JSONObject

    ArgumentReader = Callable[[JSONObject], JSONObject]

Admission = Callable[[], Awaitable[None]]
"""What a call waits for when it is its turn; what this raises is the call's failure."""

__all__ = ["QUEUED", "Admission", "CallAnswer", "CallRecord", "EventHandler", "Pool", "PoolStats", "own_arguments"]

QUEUED = "queued"
"""The event of a call that has to wait for its turn."""

_MAX_ATTEMPTS = 3  # supervisors that may be lost before a call has begun


class CallRecord(Protocol):
    """A call that is remembered by the server."""

    def finish(self, answer: CallAnswer | None) -> None:
        """Take the answer; None if there is none, since the caller has gone."""


Recorder = Callable[[str, str, int], CallRecord]
"""Makes a record of the tool's name, of what asked for the call, and of the bytes of the arguments."""


class PoolStats(NamedTuple):
    """queued: calls that wait. supervisor: the id of the process that supervises them, None if there is none."""

    queued: int
    running: int
    answered: int
    supervisor: int | None


class _QueueEntry(NamedTuple):
    """A call that waits for its turn."""

    tool: str
    turn: asyncio.Future[None]


class Pool:
    """Calls tools, at most `workers` calls at a time, and at most `per_tool` of one tool.

    Args:
        calls: after which a plugin is loaded anew.
        idle: seconds after which an unused plugin is ended.
        queue: calls that may wait.
        environment: of the tools, else this process's own without FERRULE_SERVE_TOKEN.
        record: makes a record of each call, where the server remembers them.
    """

    def __init__(
        self,
        workers: int = 64,
        calls: int = 1000,
        idle: float = 60.0,
        *,
        per_tool: int = 48,
        queue: int = 1000,
        environment: Mapping[str, str] | None = None,
        record: Recorder | None = None,
    ) -> None:
        self._max_running = workers
        self._max_of_a_tool = per_tool
        self._max_calls = calls
        self._idle_seconds = idle
        self._max_queued = queue
        self._environment = tool_environment() if environment is None else environment
        self._record = record
        self._kept_environment = join_environ(self._environment)
        self._failures = FailureRenderer(self._environment)
        self._link: SupervisorLink | None = None
        self._starting: asyncio.Task[SupervisorLink] | None = None
        self._queue: deque[_QueueEntry] = deque()
        self._running: Counter[str] = Counter()
        self._answered = 0
        self._is_closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # Long by its parameters, of which each is explained here and nowhere else.
    async def call(
        self,
        tool: InstalledTool | str,
        arguments: JSONMapping | bytes,
        *,
        seconds: float | None = None,
        on_event: EventHandler | None = None,
        may_begin: Admission | None = None,
        read: ArgumentReader | None = None,
        by: str = "MCP",
        client: Client | None = None,
    ) -> CallAnswer:
        """Call a tool. Every failure is an answer too, in the tool's own shape.

        Args:
            tool: by its name, or as it was found; it is looked up for each call, as an executable does.
            arguments: a JSON object, or one as bytes.
            seconds: that the call may take once it begins, else the configured deadline.
            on_event: gets each event of the tool as it happens, and one with the place in the queue where it has to
                wait.
            may_begin: is waited for when it is the call's turn; what it raises is the call's failure, and no tool is
                called.
            read: makes the tool's own arguments of those that are sent, if these are others; what it raises is the
                call's failure too.
            by: what asks for the call, for its record.
            client: the MCP client that does, for the journal. Cancelling ends the tool's process, and all that it has
                started.
        """
        name, installed = (tool, None) if isinstance(tool, str) else (tool.name, tool)
        try:
            data = arguments if isinstance(arguments, bytes) else _encode(arguments)
        except InputMalformed as error:
            return await self._render_failure(error, installed)
        began = asyncio.get_running_loop().time()
        record = self._record(name, by, len(data)) if self._record else None
        answer = None
        try:
            own = own_arguments(data, read)
            try:
                await self._wait_for_turn(name, on_event)
            except asyncio.CancelledError:
                waited = asyncio.get_running_loop().time() - began
                self._do_later(journal.write_failure(tool, _cancelled(), (len(data), 0), client, waited))
                raise
            answer = await self._call(name, own, seconds, on_event, may_begin, client)
            self._answered += 1
        except FerruleError as error:
            answer = await self._render_failure(error, installed)
            sizes = len(data), len(answer.document)
            await journal.write_failure(tool, error, sizes, client, asyncio.get_running_loop().time() - began)
        finally:
            if record is not None:
                record.finish(answer)
        return answer

    async def _render_failure(self, error: FerruleError, tool: InstalledTool | None) -> CallAnswer:
        """A failure that no supervisor has seen, in the tool's own shape."""
        return CallAnswer(await self._failures.document(error, tool), is_error=True, text="", seconds=0.0)

    def prepare(self, *tools: str) -> None:
        """Load tools ahead of their first call; without names, start the process that supervises calls."""
        self._do_later(self._prepare(tools))

    def _do_later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def renew(self, tool: str | None = None) -> None:
        """Serve no call from code that was loaded before now. tool: None for all of them.

        Calls that run go on. When this returns, no process that is idle has the old code.
        """
        self._failures.forget()
        if self._link is not None:
            await self._link.renew(tool)

    def stats(self) -> PoolStats:
        """How many calls run and wait."""
        running = sum(self._running.values())
        return PoolStats(len(self._queue), running, self._answered, self._link.process_id if self._link else None)

    async def facts(self) -> ServerFacts:
        """What is loaded, and in which processes."""
        if self._link is None:
            return {"plugins": [], "is_idle": True}
        try:
            return await self._link.facts()
        except WorkerLost:
            return {"plugins": [], "is_idle": True}

    async def close(self, *, grace_seconds: float = 0.0) -> None:
        """Take no more calls, and end all that run after the grace, in which they may end by themselves."""
        self._is_closed = True
        limit = asyncio.get_running_loop().time() + grace_seconds
        while (self._running.total() or self._queue) and asyncio.get_running_loop().time() < limit:
            await asyncio.sleep(0.01)
        while self._queue:
            _fail(self._queue.popleft().turn, _closing_error())
        if self._starting is not None:
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._link is not None:
            link = self._link
            link.hang_up()
            await link.wait_until_gone()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _call(
        self,
        tool: str,
        arguments: bytes,
        seconds: float | None,
        on_event: EventHandler | None,
        may_begin: Admission | None,
        client: Client | None,
    ) -> CallAnswer:
        """Make a call whose turn it is."""
        try:
            if may_begin is not None:
                await may_begin()
            kept = await call_kept(tool, arguments, seconds, on_event, self._kept_environment)
            if kept is not None:
                return kept
            for _ in range(_MAX_ATTEMPTS):
                link = self._link if self._link is not None and not self._link.is_lost else await self._get_link()
                try:
                    return await link.call(tool, arguments, seconds, on_event, client)
                except WorkerLost as lost:
                    if self._is_closed:
                        raise _closing_error() from None
                    if lost.has_begun:
                        raise
            raise ServerBusy(f"{_MAX_ATTEMPTS} processes have ended before the call had begun.")
        finally:
            self._end_turn(tool)

    async def _wait_for_turn(self, tool: str, on_event: EventHandler | None) -> None:
        """Wait until the call may run. It counts as running from then on."""
        if self._is_closed:
            raise _closing_error()
        if not self._queue and self._has_room(tool):
            self._running[tool] += 1
            return
        if len(self._queue) >= self._max_queued:
            raise ServerBusy(
                f"{len(self._queue):,} calls are waiting already, and no more are taken.", hint="Call again later."
            )
        queued = _QueueEntry(tool, asyncio.get_running_loop().create_future())
        self._queue.append(queued)
        self._let_begin()
        if on_event is not None and not queued.turn.done():
            on_event(self._told(tool))
        try:
            await queued.turn
        except asyncio.CancelledError:
            if queued in self._queue:
                self._queue.remove(queued)
            elif queued.turn.done() and not queued.turn.cancelled() and queued.turn.exception() is None:
                self._end_turn(tool)  # its turn came in the very moment in which it was cancelled
            raise

    def _told(self, tool: str) -> dict[str, object]:
        """The event of a call that waits."""
        ahead = len(self._queue) - 1
        text = f"{tool} waits for its turn: {self._running.total()} calls run, {ahead} wait before it."
        return {"event": QUEUED, "level": "info", "ahead": ahead, "message": text}

    def _has_room(self, tool: str) -> bool:
        return self._running.total() < self._max_running and self._running[tool] < self._max_of_a_tool

    def _end_turn(self, tool: str) -> None:
        self._running[tool] -= 1
        if not self._running[tool]:
            del self._running[tool]
        self._let_begin()

    def _let_begin(self) -> None:
        """Let those begin for which there is room, in their order; a tool that has all it may have holds up none."""
        if not self._queue or self._running.total() >= self._max_running:
            return
        for queued in list(self._queue):
            if queued.turn.done() or self._has_room(queued.tool):
                self._queue.remove(queued)
                if not queued.turn.done():  # one that was cancelled in this very moment has not left the queue yet
                    self._running[queued.tool] += 1
                    queued.turn.set_result(None)

    async def _prepare(self, tools: tuple[str, ...]) -> None:
        try:
            link = await self._get_link()
        except ServerBusy:
            return  # each call says so
        for tool in tools:
            link.prepare(tool)

    async def _get_link(self) -> SupervisorLink:
        """The process that supervises calls, which is started if there is none."""
        if self._link is not None and not self._link.is_lost:
            return self._link
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        try:
            return await asyncio.shield(self._starting)
        except OSError as error:
            raise ServerBusy(f"No process could be started for the call: {error.strerror}.") from None

    async def _start(self) -> SupervisorLink:
        link = SupervisorLink(self._handle_end)
        try:
            await link.start(self._max_calls, self._idle_seconds, self._environment)
            if not link.is_lost:
                self._link = link
        finally:
            self._starting = None
        return link

    def _handle_end(self, link: SupervisorLink) -> None:
        if link is self._link:
            self._link = None
        task = asyncio.create_task(link.wait_until_gone())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _encode(arguments: JSONMapping) -> bytes:
    """The arguments as an executable reads them. A client's parser may let numbers pass that are none."""
    try:
        return strict_json.dumps(arguments)
    except strict_json.Unrepresentable as error:
        raise InputMalformed(f"The arguments are not valid JSON: {error}.") from None


def own_arguments(data: bytes, read: ArgumentReader | None) -> bytes:
    """The tool's own arguments. What is no JSON object stays as it is: the call says what is wrong with it.

    Raises what read raises.
    """
    try:
        return data if read is None else strict_json.dumps(read(strict_json.loads_object(data)))
    except strict_json.MalformedJSON:
        return data


def _cancelled() -> ToolError:
    """What the journal has of a call that is cancelled while it waits: the code is that of one which runs."""
    return ToolError("CANCELLED", "The client cancelled the call.")


def _fail(turn: asyncio.Future[None], error: FerruleError) -> None:
    if not turn.done():
        turn.set_exception(error)


def _closing_error() -> ServerBusy:
    return ServerBusy("The server is stopping, and takes no more calls.")
