"""`ferrule serve`, once its options are read: the two transports, from the first request to an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from ferrule import config
from ferrule.errors import FerruleError
from ferrule.storage import make_folder, state_folder
from ferrule_serve import limits
from ferrule_serve.catalogue import Catalogue
from ferrule_serve.idempotency import IdempotencyKeys
from ferrule_serve.mcp.calls import make_result
from ferrule_serve.mcp.http.addresses import Address, Token
from ferrule_serve.mcp.http.connections import ConnectionLimits, Connections
from ferrule_serve.mcp.service import Service
from ferrule_serve.mcp.stdio import serve_stdio
from ferrule_serve.pool import Pool
from ferrule_serve.telemetry.recorders import together

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ferrule.installed import InventorySnapshot
    from ferrule_serve.page.call_history import CallHistory
    from ferrule_serve.pool import Recorder
    from ferrule_serve.telemetry.metrics import Metrics
    from ferrule_serve.web.trusted_names import TrustedNames

_ARTIFACTS = "artifacts"
_MAX_LOADED_AHEAD = 8  # tools; each takes a process
_ANSWER_SECONDS = 5.0  # beyond a call's deadline, in which its answer goes out


class Options(NamedTuple):
    """What the user asked for. tools: names, none meaning all. address: None for stdio. say: prints a line.

    names, origins: under which clients know the server, and of pages that may call tools from a browser.
    in_form: of schemas, None for the configured one. with_page: over HTTP, browsers are shown a page. with_metrics:
    over HTTP, Prometheus gets figures. announce: is given the URL once clients can connect. snapshot: of the tools,
    which was started before all else.
    """

    tools: tuple[str, ...]
    address: Address | None
    token: Token | None
    names: tuple[str, ...]
    origins: tuple[str, ...]
    workers: int
    per_tool: int
    calls: int
    has_sessions: bool
    in_form: str | None
    with_artifacts: bool
    with_page: bool
    with_metrics: bool
    snapshot: InventorySnapshot
    say: Callable[[str], None]
    announce: Callable[[str], None]


def serve(options: Options) -> None:
    """Serve until the client closes stdin, or a signal asks for the end. Nothing that was started is left then."""
    logging.basicConfig(level=logging.CRITICAL, stream=sys.stderr)  # what concerns the user is said in sentences here
    if options.with_artifacts:
        os.environ["FERRULE_WRAPPERS_DEFAULT"] = _ARTIFACTS
    if options.address is None:
        asyncio.run(_serve_stdio(options))
        # A thread may still wait for stdin, or for the list of tools; the interpreter would wait for that thread.
        if sys.stderr is not None:  # as it is where the client has closed it
            with contextlib.suppress(OSError):  # nobody may read it any more
                sys.stderr.flush()
        os._exit(0)
    asyncio.run(_serve_http(options, options.address))


class _RunningService:
    """Everything that is there while requests are served, by either transport."""

    def __init__(self, options: Options, *, has_sessions: bool) -> None:
        self._options = options
        self._tasks: set[asyncio.Task[None]] = set()
        self.history: CallHistory | None = None
        if options.with_page:
            from ferrule_serve.page.call_history import CallHistory

            self.history = CallHistory()
        self.metrics: Metrics | None = None
        if options.with_metrics:
            from ferrule_serve.telemetry.metrics import Metrics

            self.metrics = Metrics()
        starts = [one.start for one in (self.history, self.metrics) if one is not None]
        record = together([*starts, *_traces(options.say)])
        self.pool = Pool(options.workers, options.calls, per_tool=options.per_tool, record=record)
        self.catalogue = Catalogue(
            options.tools,
            with_artifacts=options.with_artifacts,
            on_change=lambda is_new: self.start(self._renew(is_new)),
            first=options.snapshot,
            in_form=options.in_form,
        )
        self.keys = IdempotencyKeys(options.say)
        self.service = Service(self.catalogue, self.pool, self.keys, options.say, has_sessions=has_sessions)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Look after what is served, until it is left."""
        async with self.pool, self.catalogue:
            self.start(self._report())
            self.start(self._load_ahead())
            for problem in filter(None, (_state_problem(), *_problems_of_limits())):
                self._options.say(problem)
            try:
                yield
            finally:
                self.keys.close()
                for task in list(self._tasks):
                    task.cancel()

    async def why_not_ready(self) -> list[str]:
        """Why no tool can be called now; nothing where tools can."""
        try:
            tools = await self.catalogue.served_tools()
        except FerruleError as error:
            return [error.message]
        return [] if tools else ["No tool is served."]

    async def _renew(self, is_new: bool) -> None:
        """Something was installed, removed or configured: no call is to run code from before."""
        await self.pool.renew()
        if is_new:
            self.service.subscriptions.notify()
            await self._report()

    async def _load_ahead(self) -> None:
        """Have the first call find all that it needs: with its tool loaded, where a few tools are named."""
        names = self._options.tools
        if not 0 < len(names) <= _MAX_LOADED_AHEAD:
            self.pool.prepare()
            return
        with contextlib.suppress(FerruleError):  # clients get it when they ask for tools
            self.pool.prepare(*(tool.name for tool in await self.catalogue.served_tools() if tool.name in names))

    async def _report(self) -> None:
        """Tell the user what is served, and what is not, and why."""
        if self.catalogue.failure is not None:
            self._options.say(self.catalogue.failure.message)
        for tool in await self.catalogue.unserved_tools():
            self._options.say(f"Not served: {tool.name} ({tool.state}): {tool.why}")
        names = [tool.name for tool in await self.catalogue.served_tools()]
        self._options.say(f"Serving {len(names)} {'tool' if len(names) == 1 else 'tools'}: {', '.join(names)}.")

    def start(self, work: asyncio._CoroutineLike[None]) -> None:
        """Do something beside, until the server ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _problems_of_limits() -> list[str]:
    try:
        return limits.problems(config.read())
    except FerruleError:
        return []  # each call says what is wrong with the configuration


def _state_problem() -> str:
    """Why nothing can be kept from call to call; an empty text where it can."""
    folder = state_folder()
    try:
        make_folder(folder)
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        why = error.strerror or str(error)
        return f"{folder} cannot be written to ({why}), so there is no cache, and large results are errors."


def _traces(say: Callable[[str], None]) -> list[Recorder]:
    """What makes spans of calls, where somebody wants them. say: is told what is missing for it."""
    from ferrule_serve.telemetry import traces

    if not traces.is_wanted():
        return []
    missing = traces.configure()
    if missing:
        say(missing)
        return []
    return [traces.start]


async def _serve_stdio(options: Options) -> None:
    """One client, whose requests come on stdin. stdout is the protocol's alone."""
    ending = asyncio.Event()
    running = _RunningService(options, has_sessions=True)
    async with running.run():
        _handle_signals(ending.set, running.catalogue.refresh)
        await serve_stdio(running.service, ending)


async def _serve_http(options: Options, address: Address) -> None:
    """Any number of clients, until a signal asks for the end; then running calls finish first."""
    from ferrule_serve.mcp.http.server import MAX_BODY_BYTES, PATH, Application, HttpServer, listen
    from ferrule_serve.mcp.http.streamable_http import StreamableHTTP
    from ferrule_serve.telemetry.health import Operations
    from ferrule_serve.web.trusted_names import TrustedNames

    listener = listen(address)
    host, port = listener.getsockname()[:2]
    bound = Address(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    names = TrustedNames(bound.name, (address.name, *options.names), options.origins)
    connections = Connections(ConnectionLimits.of(config.read()))
    running = _RunningService(options, has_sessions=options.has_sessions)
    async with running.run():
        page = _page_of(running, names, PATH, has_token=options.token is not None)
        running.start(running.keys.check())
        operations = Operations(running.why_not_ready, running.metrics, running.pool, names)
        mcp = StreamableHTTP(running.service, names, MAX_BODY_BYTES, has_sessions=options.has_sessions)
        app = Application(mcp, options.token, page, operations, connections, options.origins)

        def end_streams() -> None:
            running.service.subscriptions.close()
            mcp.end_streams()

        grace = config.deadline() + _ANSWER_SECONDS
        server = HttpServer(app, connections, grace=grace, on_stop=end_streams)
        _handle_signals(server.stop, running.catalogue.refresh)
        options.announce(f"http://{bound.name}:{bound.port}{PATH}")
        if page is not None:
            options.say(f"The page for people: http://{bound.name}:{bound.port}/")
        await server.serve(sockets=[listener])
    _send_traces()


def _page_of(running: _RunningService, names: TrustedNames, path: str, *, has_token: bool) -> ASGIApp | None:
    """The page for people, where it is wanted.

    Args:
        path: of MCP.
    """
    if running.history is None:
        return None
    from ferrule_serve.page.application import Protocol, make_page

    protocol = Protocol(names, path, has_token, make_result)
    return make_page(running.catalogue, running.pool, running.history, protocol)


def _send_traces() -> None:
    """Send the spans that still wait."""
    from ferrule_serve.telemetry import traces

    if traces.is_wanted():
        traces.shut_down()


def _handle_signals(end: Callable[[], None], refresh: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    loop.add_signal_handler(signal.SIGHUP, refresh)
