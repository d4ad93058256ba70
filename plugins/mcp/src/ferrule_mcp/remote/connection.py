"""A connection to a server by the SDK: asynchronous, and for one task. `ferrule_mcp.remote.session` is for callers."""

from __future__ import annotations

import time
from contextlib import AsyncExitStack
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
from ferrule_mcp.remote.recorded_dispatcher import CALL, LIST, RecordedDispatcher
from ferrule_mcp.remote.watched_transport import Watch, WatchedTransport

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from mcp.client.session import LoggingFnT
    from mcp.shared.dispatcher import ProgressFnT

    from ferrule import JSONObject
    from ferrule.http import Guard

_MAX_PAGES = 100
_MAX_TOOLS = 5_000


class Connection:
    """One server, by one SDK session. It is entered and left in one task.

    Args:
        url: of the server.
        deadline: an instant of `time.monotonic()`, by which everything ends.
        guard: judges every address.
        auth: adds what the server has to know of the caller; None for nothing.
        watch: what goes wrong is kept there.
        on_log: is called for each log message of the server.
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
        await self._stack.__aexit__(kind, error, trace)

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
        """The result of a call, as the server sent it. Raises MCPError, TimeoutError."""
        with self._limit():
            try:
                await self.session.call_tool(name, arguments, progress_callback=on_progress)
            except MCPError as error:
                if error.code != HEADER_MISMATCH:
                    raise
                # Some arguments have to stand in headers, too. The list says which.
                await self._list_pages()
                await self.session.call_tool(name, arguments, progress_callback=on_progress)
        return self._dispatcher.answered[CALL]

    async def _list_pages(self) -> list[JSONObject]:
        tools: list[JSONObject] = []
        cursors: set[str] = set()
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self._list_page(cursor)
            listed = page.get("tools")
            tools += [tool for tool in listed if isinstance(tool, dict)] if isinstance(listed, list) else []
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str) or cursor in cursors or len(tools) >= _MAX_TOOLS:
                break
            cursors.add(cursor)
        return tools[:_MAX_TOOLS]

    async def _list_page(self, cursor: str | None) -> JSONObject:
        try:
            await self.session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
        except ValidationError:
            if LIST not in self._dispatcher.answered:
                raise
        return self._dispatcher.answered[LIST]

    async def _find_era(self) -> None:
        try:
            await self.session.discover()
        except (MCPError, ValidationError, RuntimeError):  # whatever an older server makes of the question
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
