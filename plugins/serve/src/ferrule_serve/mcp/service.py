"""The MCP server: which requests it answers, and with what. Transports are elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import mcp_types as types
from mcp import MCPError
from mcp.server import Server
from mcp.server.lowlevel import NotificationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from ferrule import __version__
from ferrule.errors import FerruleError
from ferrule_serve.mcp.artifacts import TEMPLATE, read
from ferrule_serve.mcp.calls import Calls
from ferrule_serve.mcp.messages import set_level

if TYPE_CHECKING:
    from mcp.server.connection import Connection
    from mcp.server.models import InitializationOptions

    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_serve.catalogue import Catalogue, ServedTool
    from ferrule_serve.idempotency import IdempotencyKeys
    from ferrule_serve.mcp.messages import Context
    from ferrule_serve.pool import Pool

_INSTRUCTIONS = (
    "Each tool answers with one JSON object, as text and as structured content. A result that is too large comes as a "
    "resource link to the whole, which expires; artifact_read gives it back in pages, where it is among the tools."
)


class Changes:
    """The clients to notify of other tools: of a subscription since 2026-07-28, all that are connected before.

    listen: answers `subscriptions/listen`. has_sessions: earlier clients are among them.
    """

    def __init__(self, *, has_sessions: bool) -> None:
        self._bus = InMemorySubscriptionBus()
        self._has_sessions = has_sessions
        self._connections: WeakSet[Connection] = WeakSet()
        self.listen = ListenHandler(self._bus)

    async def add_connection(self, context: Context, _params: types.NotificationParams) -> None:
        """A client of the handshake era is ready; it is notified as long as the connection is there."""
        if self._has_sessions:
            self._connections.add(context.session._connection)  # the SDK hands it to handlers in no other way

    async def notify(self) -> None:
        """Notify all clients that asked for it: the list of tools is another one."""
        await self._bus.publish(ToolsListChanged())
        for connection in list(self._connections):
            await connection.send_tool_list_changed()


class Service:
    """Serves the tools of a catalogue, whose calls a pool makes.

    has_sessions: whether there is a standing connection to clients of the handshake era, on which to tell of changes.
    """

    def __init__(self, catalogue: Catalogue, pool: Pool, keys: IdempotencyKeys, *, has_sessions: bool) -> None:
        self._catalogue = catalogue
        self.changes = Changes(has_sessions=has_sessions)
        self.server = McpServer(
            "ferrule",
            version=__version__,
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=Calls(catalogue, pool, keys).answer,
            on_list_resources=_list_resources,
            on_list_resource_templates=_list_templates,
            on_read_resource=read,
            on_subscriptions_listen=self.changes.listen,
            get_tool_input_schema=catalogue.schema_of,
        )
        self.server.notifies_changes = has_sessions
        self.server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
        self.server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self.changes.add_connection
        )

    async def _list_tools(
        self, _context: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        try:
            served = await self._catalogue.served_tools()
        except FerruleError as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=error.message) from None
        return types.ListToolsResult(tools=[_describe(tool) for tool in served])


class McpServer(Server[Any]):
    """The SDK's server, which declares those notifications alone that it sends, over each of its transports."""

    notifies_changes = False

    def get_capabilities(self, *args: Any, **options: Any) -> types.ServerCapabilities:
        """As the SDK has them, which takes a server of subscriptions to serve all kinds of them."""
        capabilities = super().get_capabilities(*args, **options)
        capabilities.resources = types.ResourcesCapability(subscribe=False, list_changed=False)
        return capabilities

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, JSONObject] | None = None,
        extensions: dict[str, JSONObject] | None = None,
    ) -> InitializationOptions:
        """As the SDK makes them, which knows of no way to say this once for all transports."""
        options = notification_options or NotificationOptions(tools_changed=self.notifies_changes)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


async def _list_resources(_context: Context, _params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    """None: an artifact is for the client that was given its link, and all clients of this server share its store."""
    return types.ListResourcesResult(resources=[])


async def _list_templates(
    _context: Context, _params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=[TEMPLATE])


def _describe(tool: ServedTool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        annotations=_annotations(tool.results),
    )


def _annotations(results: JSONMapping) -> types.ToolAnnotations | None:
    """What is known: a tool whose calls a cache may leave out changes nothing by them. Of the others nothing is."""
    if not results.get("cache_seconds"):
        return None
    return types.ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False)
