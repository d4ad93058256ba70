"""`ferrule serve`, once its options are read: the two transports, from the first request to an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import anyio
import mcp_types as types
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ferrule import config
from ferrule.errors import FerruleError
from ferrule_serve.catalogue import Catalogue
from ferrule_serve.idempotency import IdempotencyKeys
from ferrule_serve.mcp.addresses import Address, Token
from ferrule_serve.mcp.http import PATH, HttpServer, listen, make_application, security_of
from ferrule_serve.mcp.service import Service
from ferrule_serve.pool import Pool

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectSendStream

    from ferrule.installed import InventorySnapshot
    from ferrule_serve.page.call_history import CallHistory

_NO_JSON = types.ErrorData(code=types.PARSE_ERROR, message="Parse error")
_NO_REQUEST = types.ErrorData(code=types.INVALID_REQUEST, message="Invalid Request")
_ARTIFACTS = "artifacts"
_ANSWER_SECONDS = 5.0  # beyond a call's deadline, in which its answer goes out


class Options(NamedTuple):
    """What the user asked for. tools: names, none meaning all. address: None for stdio. say: prints a line.

    with_page: over HTTP, browsers are shown a page. announce: is given the URL once clients can connect. snapshot: of
    the tools, which was started before all else.
    """

    tools: tuple[str, ...]
    address: Address | None
    token: Token | None
    names: tuple[str, ...]
    workers: int
    calls: int
    has_sessions: bool
    with_artifacts: bool
    with_page: bool
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
        # A thread may still wait for a line on stdin; the interpreter would wait for that thread.
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
        self.pool = Pool(options.workers, options.calls, record=self.history.start if self.history else None)
        self.catalogue = Catalogue(
            options.tools,
            with_artifacts=options.with_artifacts,
            on_change=lambda is_new: self._start(self._renew(is_new)),
            first=options.snapshot,
        )
        self.service = Service(self.catalogue, self.pool, IdempotencyKeys(options.say), has_sessions=has_sessions)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Look after what is served, until it is left."""
        async with self.pool, self.catalogue:
            self._start(self._report())
            self._start(self._load_ahead())
            try:
                yield
            finally:
                for task in list(self._tasks):
                    task.cancel()

    async def _renew(self, is_new: bool) -> None:
        """Something was installed, removed or configured: no call is to run code from before."""
        await self.pool.renew()
        if is_new:
            await self.service.changes.notify()
            await self._report()

    async def _load_ahead(self) -> None:
        """Have the first call find a worker: with its tool loaded, where a few tools are named."""
        names = self._options.tools
        if not 0 < len(names) <= self._options.workers:
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

    def _start(self, work: asyncio._CoroutineLike[None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _serve_stdio(options: Options) -> None:
    """One client, whose requests come on stdin. stdout is the protocol's alone."""
    asked_to_end = asyncio.Event()
    running = _RunningService(options, has_sessions=True)
    async with running.run():
        _handle_signals(asked_to_end.set, running.catalogue.refresh)
        serving = asyncio.create_task(_serve_connection(running.service))
        ending = asyncio.create_task(asked_to_end.wait())
        await asyncio.wait((serving, ending), return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        running.service.changes.listen.close()  # of all subscriptions, so that nothing waits for them
    if asked_to_end.is_set():
        sys.stderr.flush()
        os._exit(0)  # as below: the reader of stdin cannot be ended in any other way


async def _serve_connection(service: Service) -> None:
    async with stdio_server() as (received, sent), anyio.create_task_group() as tasks:
        relay, readable = anyio.create_memory_object_stream[SessionMessage | Exception]()
        tasks.start_soon(_refuse_unreadable, received, relay, sent.send)
        server = service.server
        await server.run(readable, sent, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _refuse_unreadable(
    received: AsyncIterable[SessionMessage | Exception],
    relay: MemoryObjectSendStream[SessionMessage | Exception],
    send: Callable[[SessionMessage], Awaitable[None]],
) -> None:
    """Answer what is no message, which the SDK drops: its client would wait for ever. A blank line is nothing."""
    async with relay:
        async for item in received:
            if not isinstance(item, ValidationError):
                await relay.send(item)
                continue
            reason = item.errors(include_url=False)[0]
            if str(reason["input"]).strip():
                error = _NO_JSON if reason["type"] == "json_invalid" else _NO_REQUEST
                await send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))


async def _serve_http(options: Options, address: Address) -> None:
    """Any number of clients, until a signal asks for the end; then running calls finish first."""
    listener = listen(address)
    host, port = listener.getsockname()[:2]
    bound = Address(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    security = security_of(bound, (address.name, *options.names))
    running = _RunningService(options, has_sessions=options.has_sessions)
    async with running.run():
        page = None
        if running.history is not None:
            from ferrule_serve.page.application import make_page

            page = make_page(running.catalogue, running.pool, running.history, security)
        has_sessions = options.has_sessions
        app = make_application(running.service.server, security, options.token, page, has_sessions=has_sessions)
        grace = config.deadline() + _ANSWER_SECONDS
        server = HttpServer(app, grace=grace, on_stop=running.service.changes.listen.close)
        _handle_signals(server.stop, running.catalogue.refresh)
        options.announce(f"http://{bound.name}:{bound.port}{PATH}")
        if page is not None:
            options.say(f"The page for people: http://{bound.name}:{bound.port}/")
        await server.serve(sockets=[listener])


def _handle_signals(end: Callable[[], None], refresh: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    loop.add_signal_handler(signal.SIGHUP, refresh)
