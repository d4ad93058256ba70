"""Workers that have loaded tools ahead, and the calls that are shared out among them.

The serving process imports no plugin and never forks: each worker is a process of its own that supervises its calls,
and a call costs neither an interpreter's start nor an import.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self, TypedDict

from ferrule.errors import CallNotTaken, FerruleError, InputMalformed, WorkerLost
from ferrule.text import strict_json
from ferrule_serve.failure_renderer import FailureRenderer
from ferrule_serve.snapshots import tool_environment
from ferrule_serve.worker import CallAnswer, EventHandler, Worker

if TYPE_CHECKING:
    from ferrule.calls.server_interface import InstalledTool
    from ferrule.text.json_types import JSONMapping

Admission = Callable[[], Awaitable[None]]
"""What a call waits for when it is its turn; what this raises is the call's failure."""

__all__ = ["Admission", "CallAnswer", "CallRecord", "EventHandler", "Pool", "PoolStats"]

_MAX_PASSES = 8  # times that a queued call lets others go first, because a worker has their tool loaded
_MAX_ATTEMPTS = 3  # workers that may be lost before a call has begun
_LOADING_SECONDS = 0.2  # in which a worker that is loading a plugin is expected to be idle again


class CallRecord(Protocol):
    """A call that is remembered by the server."""

    def finish(self, answer: CallAnswer | None) -> None:
        """Take the answer; None where there is none, since the caller has gone."""


Recorder = Callable[[str, str, int], CallRecord]
"""Makes a record of the tool's name, of what asked for the call, and of the bytes of the arguments."""


class WorkerStats(TypedDict):
    """process: the worker's id. plugin_process: the id of the process that has loaded the tool."""

    process: int | None
    tool: str | None
    plugin_process: int | None
    calls: int
    is_idle: bool


class PoolStats(NamedTuple):
    """queued: calls that wait."""

    workers: list[WorkerStats]
    queued: int
    running: int
    answered: int


class _QueueEntry(NamedTuple):
    """A call that waits for a worker."""

    tool: str
    turn: asyncio.Future[Worker]


class Pool:
    """Calls tools, in at most `workers` processes at a time.

    calls: after which a plugin is loaded anew. idle: seconds after which an unused worker is ended. queue: calls that
    may wait. environment: of the workers and the tools, else this process's own without FERRULE_SERVE_TOKEN. record:
    makes a record of each call, where the server remembers them.
    """

    def __init__(
        self,
        workers: int = 8,
        calls: int = 1000,
        idle: float = 60.0,
        *,
        queue: int = 1000,
        environment: Mapping[str, str] | None = None,
        record: Recorder | None = None,
    ) -> None:
        self._max_workers = workers
        self._max_calls = calls
        self._idle_seconds = idle
        self._max_queued = queue
        self._environment = tool_environment() if environment is None else environment
        self._record = record
        self._failures = FailureRenderer(self._environment)
        self._workers: set[Worker] = set()
        self._idle: list[Worker] = []  # the one that was used last comes last
        self._queue: deque[_QueueEntry] = deque()
        self._passed_over = 0
        self._answered = self._running = 0
        self._is_closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def call(
        self,
        tool: InstalledTool | str,
        arguments: JSONMapping | bytes,
        *,
        seconds: float | None = None,
        on_event: EventHandler | None = None,
        may_begin: Admission | None = None,
        by: str = "MCP",
    ) -> CallAnswer:
        """Call a tool. Every failure is an answer too, in the tool's own shape.

        tool: by its name, or as it was found; it is looked up for each call, as an executable does. arguments: a JSON
        object, or one as bytes. seconds: that the call may take once it begins, else the configured deadline. on_event:
        gets each event of the tool as it happens. may_begin: is waited for when it is the call's turn; what it raises
        is the call's failure, and no tool is called. by: what asks for the call, for its record. Cancelling ends the
        tool's process, and all that it has started.
        """
        name, installed = (tool, None) if isinstance(tool, str) else (tool.name, tool)
        try:
            data = arguments if isinstance(arguments, bytes) else _encode(arguments)
        except InputMalformed as error:
            return await self._render_failure(error, installed)
        record = self._record(name, by, len(data)) if self._record else None
        answer = None
        try:
            answer = await self._call(name, data, seconds, on_event, may_begin)
            self._answered += 1
        except FerruleError as error:
            answer = await self._render_failure(error, installed)
        finally:
            if record is not None:
                record.finish(answer)
        return answer

    async def _render_failure(self, error: FerruleError, tool: InstalledTool | None) -> CallAnswer:
        """A failure that no worker has seen, in the tool's own shape."""
        return CallAnswer(await self._failures.document(error, tool), is_error=True, text="", seconds=0.0)

    def prepare(self, *tools: str) -> None:
        """Load tools ahead of their first call, as many as there are workers; without names, start one worker."""
        for tool in (tools or (None,))[: max(0, self._max_workers - len(self._workers))]:
            self._start(tool)

    async def renew(self, tool: str | None = None) -> None:
        """Serve no call from code that was loaded before now. tool: None for all of them.

        Calls that run go on. When this returns, no process that is idle has the old code.
        """
        self._failures.forget()
        chosen = [worker for worker in self._workers if tool is None or worker.tool in (tool, None)]
        leaving = [worker for worker in chosen if worker in self._idle]
        for worker in chosen:
            self._retire(worker)
        await asyncio.gather(*(worker.wait_until_gone() for worker in leaving))

    def stats(self) -> PoolStats:
        """What the workers are doing."""
        workers: list[WorkerStats] = [
            {
                "process": worker.process_id,
                "tool": worker.tool,
                "plugin_process": worker.facts["process"] if worker.facts else None,
                "calls": worker.facts["calls"] if worker.facts else 0,
                "is_idle": worker in self._idle,
            }
            for worker in self._workers
        ]
        return PoolStats(workers, len(self._queue), self._running, self._answered)

    async def close(self, *, grace_seconds: float = 0.0) -> None:
        """Take no more calls, and end all that run after the grace, in which they may end by themselves."""
        self._is_closed = True
        limit = asyncio.get_running_loop().time() + grace_seconds
        while (self._running or self._queue) and asyncio.get_running_loop().time() < limit:
            await asyncio.sleep(0.01)
        while self._queue:
            _fail(self._queue.popleft().turn, _closing_error())
        while self._workers or self._tasks:
            for worker in self._workers:
                worker.hang_up()
            await asyncio.wait([*self._tasks, *(asyncio.ensure_future(one.wait_until_gone()) for one in self._workers)])

    async def _call(
        self,
        tool: str,
        arguments: bytes,
        seconds: float | None,
        on_event: EventHandler | None,
        may_begin: Admission | None,
    ) -> CallAnswer:
        for _ in range(_MAX_ATTEMPTS):
            worker = await self._get_worker(tool)
            try:
                if may_begin is not None:
                    await self._admit(worker, may_begin)
                    may_begin = None  # once is enough, however many workers are lost before it begins
                return await worker.call(tool, arguments, seconds, on_event)
            except WorkerLost as lost:
                if self._is_closed:
                    raise _closing_error() from None
                if lost.has_begun:
                    raise
            finally:
                self._running -= 1
        raise CallNotTaken(f"{_MAX_ATTEMPTS} processes have ended before the call had begun.")

    async def _admit(self, worker: Worker, may_begin: Admission) -> None:
        try:
            await may_begin()
        except BaseException:
            self._handle_idle(worker)
            raise

    async def _get_worker(self, tool: str) -> Worker:
        """A worker that makes no other call: best one that has the tool loaded. It counts as running from now on."""
        if self._is_closed:
            raise _closing_error()
        if len(self._queue) >= self._max_queued:
            raise CallNotTaken(
                f"{len(self._queue):,} calls are waiting already, and no more are taken.", hint="Call again later."
            )
        worker = self._take_idle_worker(tool)
        if worker is not None:
            self._running += 1
            return worker
        queued = _QueueEntry(tool, asyncio.get_running_loop().create_future())
        self._queue.append(queued)
        self._start_where_needed()
        soon = asyncio.get_running_loop().call_later(_LOADING_SECONDS, self._start_another, queued)
        try:
            return await queued.turn
        except asyncio.CancelledError:
            self._give_up(queued)
            raise
        finally:
            soon.cancel()

    def _start_another(self, queued: _QueueEntry) -> None:
        """Start one more for a call that still waits: a plugin may take long to be loaded anew."""
        if queued in self._queue and len(self._workers) < self._max_workers and not self._is_closed:
            self._start()

    def _take_idle_worker(self, tool: str) -> Worker | None:
        """One that has the tool loaded, or nothing; another's only where no more workers may be started."""
        having = [worker for worker in self._idle if worker.tool == tool]
        empty = [worker for worker in self._idle if worker.tool is None]
        others = self._idle[:1] if len(self._workers) >= self._max_workers else []
        for worker in (*having[::-1], *empty, *others):
            self._idle.remove(worker)
            return worker
        return None

    def _give_up(self, queued: _QueueEntry) -> None:
        if queued in self._queue:
            self._queue.remove(queued)
        elif queued.turn.done() and not queued.turn.cancelled() and queued.turn.exception() is None:
            self._running -= 1
            self._handle_idle(queued.turn.result())  # its turn came in the very moment in which it was cancelled

    def _start_where_needed(self) -> None:
        starting = len(self._workers) - self._running - len(self._idle)
        if len(self._workers) < self._max_workers and starting < len(self._queue):
            self._start()

    def _start(self, tool: str | None = None) -> None:
        worker = Worker(self._handle_idle, self._handle_end)
        self._workers.add(worker)
        self._run_task(self._start_process(worker, tool))

    def _run_task(self, work: Coroutine[object, object, None]) -> None:
        """Do something while calls go on; closing waits for it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start_process(self, worker: Worker, tool: str | None) -> None:
        try:
            worker.first_tool = tool
            await worker.start(self._max_calls, self._environment)
        except OSError as error:
            self._workers.discard(worker)
            if self._idle:
                self._handle_idle(self._idle.pop(0))  # it has another tool loaded, and a new one is not to be had
            while self._queue and not self._workers:
                failure = CallNotTaken(f"No process could be started for the call: {error.strerror}.")
                _fail(self._queue.popleft().turn, failure)
        if self._is_closed and not self._queue:
            worker.hang_up()

    def _handle_idle(self, worker: Worker) -> None:
        if worker.is_retired or worker.is_lost or (self._is_closed and not self._queue):
            worker.hang_up()
            return
        if worker.first_tool is not None:
            tool, worker.first_tool = worker.first_tool, None
            worker.prepare(tool)
            return
        queued = self._take_next(worker.tool)
        if queued is not None:
            self._running += 1  # here: what waits goes on a moment later, and closing must not come between
            queued.turn.set_result(worker)
            return
        self._idle.append(worker)
        if not worker.is_watched:
            worker.is_watched = True
            self._watch(worker, self._idle_seconds)

    def _watch(self, worker: Worker, seconds: float) -> None:
        """End it where it is idle by then, and has been for long enough."""
        asyncio.get_running_loop().call_later(seconds + 0.01, self._end_if_unused, worker)

    def _take_next(self, tool: str | None) -> _QueueEntry | None:
        """The call that has waited longest; for a while, the one that has waited longest for what is loaded."""
        # A call that was cancelled in this very moment has not yet left the queue.
        self._queue = deque(queued for queued in self._queue if not queued.turn.done())
        if not self._queue:
            return None
        chosen = self._queue[0]
        if self._passed_over < _MAX_PASSES:
            chosen = next((queued for queued in self._queue if queued.tool == tool), chosen)
        self._passed_over = 0 if chosen is self._queue[0] else self._passed_over + 1
        self._queue.remove(chosen)
        return chosen

    def _end_if_unused(self, worker: Worker) -> None:
        is_idle = worker in self._idle
        unused = asyncio.get_running_loop().time() - worker.idle_since if is_idle else 0.0
        if is_idle and unused >= self._idle_seconds:
            self._retire(worker)
        elif worker in self._workers:
            self._watch(worker, self._idle_seconds - unused)

    def _retire(self, worker: Worker) -> None:
        """End a worker when it makes no call."""
        worker.is_retired = True
        if worker in self._idle:
            self._idle.remove(worker)
            worker.hang_up()

    def _handle_end(self, worker: Worker) -> None:
        self._workers.discard(worker)
        self._run_task(worker.wait_until_gone())
        if worker in self._idle:
            self._idle.remove(worker)
        if self._queue and not worker.facts:
            _fail(self._queue.popleft().turn, CallNotTaken("A worker ended before it could take the call."))
        if self._queue and not self._is_closed:
            self._start_where_needed()


def _encode(arguments: JSONMapping) -> bytes:
    """The arguments as an executable reads them. A client's parser may let numbers pass that are none."""
    try:
        return strict_json.dumps(arguments)
    except strict_json.Unrepresentable as error:
        raise InputMalformed(f"The arguments are not valid JSON: {error}.") from None


def _fail(turn: asyncio.Future[Worker], error: FerruleError) -> None:
    if not turn.done():
        turn.set_exception(error)


def _closing_error() -> CallNotTaken:
    return CallNotTaken("The server is stopping, and takes no more calls.")
