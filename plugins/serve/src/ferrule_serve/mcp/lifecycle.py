"""`ferrule serve`, once its options are read: the two transports, from the first request to an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from mcp.server.stdio import stdio_server

from ferrule.config import configuration
from ferrule.errors import FerruleError
from ferrule_serve.catalogue import Catalogue
from ferrule_serve.idempotency import IdempotencyKeys
from ferrule_serve.mcp.addresses import Address, Names, Token
from ferrule_serve.mcp.http import PATH, HttpServer, application, listening, security_of
from ferrule_serve.mcp.service import Service
from ferrule_serve.pool import Pool

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from ferrule.admin.snapshot import InventorySnapshot
    from ferrule_serve.page.recent import ObservedPool

_ARTIFACTS = "artifacts"
_BESIDE_A_CALL = 5.0  # seconds beyond a call's deadline in which its answer goes out


@dataclass(frozen=True)
class Options:
    """What the admin asked for. tools: names, none meaning all. address: None for stdio. say: tells a person a line.

    with_page: over HTTP, browsers are shown a page. announce: is given the URL once clients can connect. survey: of the
    tools, which has begun before all else.
    """

    tools: tuple[str, ...] = ()
    address: Address | None = None
    token: Token | None = None
    names: tuple[str, ...] = ()
    workers: int = 8
    calls: int = 1000
    has_sessions: bool = False
    with_artifacts: bool = True
    with_page: bool = False
    survey: InventorySnapshot | None = None
    say: Callable[[str], None] = field(default=lambda _line: None)
    announce: Callable[[str], None] = field(default=lambda _url: None)


def serve(options: Options) -> None:
    """Serve until the client closes stdin, or a signal asks for the end. Nothing that was started is left then."""
    logging.basicConfig(level=logging.CRITICAL, stream=sys.stderr)  # what concerns a person is said in sentences here
    if options.with_artifacts:
        os.environ["FERRULE_WRAPPERS_DEFAULT"] = _ARTIFACTS
    if options.address is None:
        asyncio.run(_over_stdio(options))
        # A thread may still wait for a line on stdin; the interpreter would wait for that thread.
        sys.stderr.flush()
        os._exit(0)
    asyncio.run(_over_http(options, options.address))


class _Running:
    """Everything that is there while requests are served, whatever brings them."""

    def __init__(self, options: Options, *, has_sessions: bool) -> None:
        self._options = options
        self._telling: set[asyncio.Task[None]] = set()
        self.pool = _pool(options)
        self.catalogue = Catalogue(
            options.tools, with_artifacts=options.with_artifacts, on_change=self._changed, first=options.survey
        )
        self.service = Service(self.catalogue, self.pool, IdempotencyKeys(options.say), has_sessions=has_sessions)

    async def __aenter__(self) -> _Running:
        self._stack = AsyncExitStack()
        self._stack.push_async_callback(self.pool.close)
        await self._stack.enter_async_context(self.catalogue)
        self._later(self._report())
        self._later(self._load_ahead())
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in list(self._telling):
            task.cancel()
        await self._stack.aclose()

    def _changed(self, is_new: bool) -> None:
        """Something was installed, removed or configured: no call is to run code from before."""
        self._later(self._renew(is_new))

    async def _renew(self, is_new: bool) -> None:
        await self.pool.renew()
        if is_new:
            await self.service.changes.tell()
            await self._report()

    async def _load_ahead(self) -> None:
        """Have the first call find a worker: with its tool loaded, where a few are served that somebody has named."""
        names = self._options.tools
        if not 0 < len(names) <= self._options.workers:
            self.pool.prepare()
            return
        with contextlib.suppress(FerruleError):  # which is told to whoever asks for tools
            self.pool.prepare(*(tool.name for tool in await self.catalogue.served() if tool.name in names))

    async def _report(self) -> None:
        """Tell the person what is served, and what is not, and why."""
        if self.catalogue.failure is not None:
            self._options.say(self.catalogue.failure.message)
        for tool in await self.catalogue.others():
            self._options.say(f"Not served: {tool.name} ({tool.state}): {tool.why}")
        names = [tool.name for tool in await self.catalogue.served()]
        self._options.say(f"Serving {len(names)} {'tool' if len(names) == 1 else 'tools'}: {', '.join(names)}.")

    def _later(self, work: asyncio._CoroutineLike[None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)


async def _over_stdio(options: Options) -> None:
    """One client, whose requests come on stdin. stdout is the protocol's alone."""
    asked_to_end = asyncio.Event()
    async with _Running(options, has_sessions=True) as running:
        _on_signals(asked_to_end.set, running.catalogue.refresh)
        serving = asyncio.create_task(_one_connection(running.service))
        ending = asyncio.create_task(asked_to_end.wait())
        await asyncio.wait((serving, ending), return_when=asyncio.FIRST_COMPLETED)
        ending.cancel()
        running.service.changes.close()
    if asked_to_end.is_set():
        sys.stderr.flush()
        os._exit(0)  # as below: the reader of stdin cannot be ended in any other way


async def _one_connection(service: Service) -> None:
    async with stdio_server() as (reading, writing):
        server = service.server
        await server.run(reading, writing, server.create_initialization_options())


async def _over_http(options: Options, address: Address) -> None:
    """Any number of clients, until a signal asks for the end; then running calls finish first."""
    listener = listening(address)
    host, port = listener.getsockname()[:2]
    bound = Address(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    names = Names(bound, (address.name, *options.names))
    async with _Running(options, has_sessions=options.has_sessions) as running:
        page = _page(running, names) if options.with_page else None
        app = application(running.service.server, names, options.token, has_sessions=options.has_sessions, page=page)
        grace = configuration.deadline() + _BESIDE_A_CALL
        server = HttpServer(app, grace=grace, on_stop=running.service.changes.close)
        _on_signals(server.stop, running.catalogue.refresh)
        options.announce(f"http://{bound.name}:{bound.port}{PATH}")
        if page is not None:
            options.say(f"The page for people: http://{bound.name}:{bound.port}/")
        await server.serve(sockets=[listener])


def _pool(options: Options) -> Pool:
    """The pool that makes the calls; one that remembers the last ones, where there is a page to show them."""
    if not options.with_page:
        return Pool(workers=options.workers, calls=options.calls)
    from ferrule_serve.page.recent import ObservedPool

    return ObservedPool(workers=options.workers, calls=options.calls)


def _page(running: _Running, names: Names) -> ASGIApp:
    from ferrule_serve.page.application import page

    return page(running.catalogue, cast("ObservedPool", running.pool), security_of(names))


def _on_signals(end: Callable[[], None], refresh: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    loop.add_signal_handler(signal.SIGHUP, refresh)
