"""A connection to a server by the SDK: asynchronous, and for one task. `ferrule_mcp.remote.session` is for callers."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING, Self

import anyio
import httpx2
from mcp import ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import HEADER_MISMATCH, DiscoverResult, Implementation, PaginatedRequestParams, ServerCapabilities
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from ferrule import __version__
from ferrule.http import AsyncHTTPXTransport
from ferrule_mcp.remote.recorded_dispatcher import (
    CALL,
    LIST,
    RecordedDispatcher,
    decline_inputs,
    find_left_out,
    is_input_required,
    tools_in,
)
from ferrule_mcp.remote.watched_transport import Watch, WatchedTransport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractContextManager
    from types import TracebackType

    from mcp.client.session import LoggingFnT
    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import InputResponses

    from ferrule import JSONObject
    from ferrule.http import Guard

_MAX_PAGES = 100
_MAX_TOOLS = 5_000
_PAUSES_SECONDS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # before a server is called again that asks for it
_REFUSED = (401, 403)


class Connection:
    """One server, by one SDK session. It is entered and left in one task.

    Args:
        url: of the server.
        deadline: an instant of `time.monotonic()`, by which everything ends.
        guard: judges every address.
        auth: adds what the server has to know of the caller; None for nothing.
        watch: what goes wrong is kept there.
        on_log: is called for each log message of the server.

    Attributes:
        left_out: the names of listed tools that must not be called.
    """

    def __init__(
        self,
        url: str,
        *,
        deadline: float,
        guard: Guard,
        auth: httpx2.Auth | None,
        watch: Watch,
        on_log: LoggingFnT | None = None,
    ) -> None:
        self._url = url
        self._deadline = deadline
        self._transport = WatchedTransport(AsyncHTTPXTransport(deadline, guard=guard), watch)
        self._auth = auth
        self._watch = watch
        self.left_out: list[str] = []
        self._on_log = on_log
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        """Make the session. Nothing is sent yet."""
        async with AsyncExitStack() as stack:
            client = httpx2.AsyncClient(transport=self._transport, auth=self._auth, timeout=None)
            await stack.enter_async_context(client)
            transport = streamable_http_client(self._url, http_client=client, max_sse_event_size=None)
            read, write = await stack.enter_async_context(transport)
            self._dispatcher = RecordedDispatcher(read, write)
            self.session = await stack.enter_async_context(
                ClientSession(
                    dispatcher=self._dispatcher,
                    logging_callback=self._on_log,
                    log_level="info" if self._on_log else None,
                    client_info=Implementation(name="ferrule", version=__version__),
                )
            )
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the session at the server, where it has one, and close every connection."""
        try:
            await self._stack.__aexit__(kind, error, trace)
        except* anyio.BrokenResourceError:
            pass  # a reply that came meanwhile, which the SDK could hand to nobody any more

    async def greet(self, era: str) -> None:
        """Agree on a version of the protocol.

        era: the version that the server is known to speak, "" where it is not known. Raises MCPError, TimeoutError.
        """
        with self._limit():
            if era in MODERN_PROTOCOL_VERSIONS:
                self.session.adopt(_make_discovery(era))
            elif era:
                await self.session.initialize()
            else:
                await self._find_era()

    async def list_tools(self) -> list[JSONObject]:
        """All tools, as the server describes them. Raises MCPError, TimeoutError."""
        with self._limit():
            return await self._list_pages()

    async def call(self, name: str, arguments: JSONObject, on_progress: ProgressFnT | None) -> JSONObject:
        """The result of a call, as the server sent it.

        A server may ask to be called again, and may ask something of the user, which is declined. The result still asks
        where it cannot be answered so. Raises MCPError, TimeoutError.
        """
        pauses = list(_PAUSES_SECONDS)
        answers: InputResponses | None = None
        state: str | None = None
        with self._limit():
            while True:
                call = partial(self.session.call_tool, name, arguments, progress_callback=on_progress)
                await self._call_listed(partial(call, input_responses=answers, request_state=state))
                result = self._dispatcher.answered[CALL]
                answers = decline_inputs(result) if is_input_required(result) else None
                if answers is None or not pauses:
                    return result
                await anyio.sleep(0 if answers else pauses[0])
                pauses.pop(0)
                answers, state = answers or None, result.get("requestState")

    async def _call_listed(self, call: Callable[[], Awaitable[object]]) -> None:
        """Call, and once more where some arguments have to stand in headers, too: the list says which."""
        try:
            await call()
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
            await self._list_pages()
            await call()

    async def _list_pages(self) -> list[JSONObject]:
        tools: list[JSONObject] = []
        cursors: set[str] = set()
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._list_page(cursor)
            tools += page["tools"]
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or cursor in cursors or len(tools) >= _MAX_TOOLS:
                break
            cursors.add(cursor)
        return tools[:_MAX_TOOLS]

    async def _list_page(self, cursor: str | None) -> JSONObject:
        """One page, without the tools that must not be called: those that ask for headers that cannot be sent."""
        kept = await self.session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        names = {tool.name for tool in kept.tools}
        page = self._dispatcher.answered[LIST]
        self.left_out += find_left_out(page, names)
        return {**page, "tools": [tool for tool in tools_in(page) if tool.get("name") in names]}

    async def _find_era(self) -> None:
        try:
            await self.session.discover()
        except (MCPError, ValidationError, RuntimeError):  # whatever an older server makes of the question
            exchange = self._watch.exchange
            if self._watch.reason or self._watch.refusal or (exchange and exchange.status in _REFUSED):
                raise
            await self.session.initialize()

    def _limit(self) -> AbstractContextManager[anyio.CancelScope]:
        return anyio.fail_after(max(0.0, self._deadline - time.monotonic()))


def _make_discovery(era: str) -> DiscoverResult:
    return DiscoverResult(
        supported_versions=[era],
        capabilities=ServerCapabilities(),
        result_type="complete",
        ttl_ms=0,
        cache_scope="private",
    )
