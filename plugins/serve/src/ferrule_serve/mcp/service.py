"""What is served of the protocol, whatever the transport: each method by its name, in either era."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import __version__
from ferrule.errors import FerruleError
from ferrule_serve.mcp import artifacts
from ferrule_serve.mcp.calls import Calls
from ferrule_serve.mcp.exchange import read_client
from ferrule_serve.mcp.subscriptions import Subscriptions
from ferrule_serve.protocol.vocabulary import (
    ENVELOPE_VERSIONS,
    HANDSHAKE_VERSIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    LEVELS,
    METHOD_NOT_FOUND,
    SERVER_KEY,
    RequestError,
    failure,
    success,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from ferrule.text.json_types import JSONObject
    from ferrule_serve.catalogue import Catalogue, ServedTool
    from ferrule_serve.idempotency import IdempotencyKeys
    from ferrule_serve.mcp.exchange import Exchange, Peer
    from ferrule_serve.pool import Pool
    from ferrule_serve.protocol.header_parameters import HeaderParameter

    Handler = Callable[[Exchange], Awaitable[JSONObject]]

_HINTS = {
    "read_only": "readOnlyHint", "destructive": "destructiveHint", "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}  # fmt: skip
_INSTRUCTIONS = (
    "A tool answers with one JSON object, as text and as structured content, or with text, images, sound and files. A "
    "result or a file that is too large comes as a resource link to the whole, which expires; artifact_read gives it "
    "back in pages, where it is among the tools."
)
_SERVER = {"name": "ferrule", "version": __version__}
_BEFORE_HANDSHAKE = ("initialize", "ping")
_CACHEABLE = ("server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read")
_NO_CACHE = {"ttlMs": 0, "cacheScope": "private"}


class Service:
    """Serves the tools of a catalogue, whose calls a pool makes.

    Args:
        say: prints a line for the one who runs the server.
        has_sessions: whether there is a standing connection to clients of the handshake era, on which to tell of
            changes.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        pool: Pool,
        keys: IdempotencyKeys,
        say: Callable[[str], None],
        *,
        has_sessions: bool,
    ) -> None:
        self._catalogue = catalogue
        self._say = say
        self._has_sessions = has_sessions
        self.subscriptions = Subscriptions()
        self._calls = Calls(catalogue, pool, keys)
        common: dict[str, Handler] = {
            "tools/list": self._list_tools,
            "tools/call": self._calls.answer,
            "resources/list": _list_resources,
            "resources/templates/list": _list_templates,
            "resources/read": artifacts.read,
        }
        self._of_handshake: dict[str, Handler] = {**common, "ping": _pong, "logging/setLevel": _set_level}
        self._of_envelope: dict[str, Handler] = {
            **common,
            "server/discover": self._discover,
            "subscriptions/listen": self.subscriptions.listen,
        }

    async def answer(self, exchange: Exchange) -> JSONObject:
        """The message that answers a request."""
        number = exchange.request.number
        try:
            return success(number, await self._result(exchange))
        except RequestError as error:
            return failure(number, error)
        except Exception as error:  # noqa: BLE001 - one request must not end the others
            self._say(f"{exchange.request.method} could not be answered: {type(error).__name__}: {error}")
            return failure(number, RequestError(INTERNAL_ERROR, "Internal server error"))

    async def _result(self, exchange: Exchange) -> JSONObject:
        """The result of a request. Raises RequestError."""
        method, peer = exchange.request.method, exchange.peer
        if method == "initialize" and not peer.has_envelopes:
            return self._initialize(exchange)
        handler = (self._of_envelope if peer.has_envelopes else self._of_handshake).get(method)
        if handler is None:
            raise RequestError(METHOD_NOT_FOUND, "Method not found", method)
        if not peer.is_ready and method not in _BEFORE_HANDSHAKE:
            raise RequestError(INVALID_PARAMS, "The connection is not initialized: send initialize first.")
        result = await handler(exchange)
        return _complete(method, result) if peer.has_envelopes else result

    def header_parameters(self, name: object) -> Sequence[HeaderParameter]:
        """The arguments of a tool that clients repeat in headers."""
        tool = self._catalogue.known(name) if isinstance(name, str) else None
        return tool.header_parameters if tool is not None else ()

    def begin(self, peer: Peer) -> None:
        """A client of the handshake era has said that it is ready."""
        peer.is_ready = True
        if self._has_sessions:
            self.subscriptions.add(peer)

    def _initialize(self, exchange: Exchange) -> JSONObject:
        """Agree with a client of the handshake era on a release."""
        params, peer = exchange.request.params, exchange.peer
        version = params.get("protocolVersion")
        if not isinstance(version, str) or not isinstance(params.get("capabilities"), dict):
            raise RequestError(INVALID_PARAMS, "initialize wants protocolVersion, capabilities and clientInfo.")
        peer.client = read_client(params.get("clientInfo") or {}, "clientInfo")
        peer.version = version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        peer.is_ready = True
        return {"protocolVersion": peer.version, **self._introduction(told_of_changes=self._has_sessions)}

    async def _discover(self, _exchange: Exchange) -> JSONObject:
        return {"supportedVersions": list(ENVELOPE_VERSIONS), **self._introduction(told_of_changes=True)}

    def _introduction(self, *, told_of_changes: bool) -> JSONObject:
        """What a client learns first. Only what is served is declared."""
        capabilities = {
            "logging": {},
            "resources": {"listChanged": False, "subscribe": False},
            "tools": {"listChanged": told_of_changes},
        }
        return {"capabilities": capabilities, "serverInfo": _SERVER, "instructions": _INSTRUCTIONS}

    async def _list_tools(self, exchange: Exchange) -> JSONObject:
        _check_cursor(exchange)
        try:
            served = await self._catalogue.served_tools()
        except FerruleError as error:
            raise RequestError(INTERNAL_ERROR, error.message) from None
        return {"tools": [_describe(tool) for tool in served]}


def _complete(method: str, result: JSONObject) -> JSONObject:
    """The result with what each one has since 2026-07-28."""
    caching = _NO_CACHE if method in _CACHEABLE else {}
    meta = {**result.get("_meta", {}), SERVER_KEY: _SERVER}
    result = {name: value for name, value in result.items() if name != "serverInfo"}
    return {"resultType": "complete", **caching, **result, "_meta": meta}


async def _pong(_exchange: Exchange) -> JSONObject:
    return {}


async def _set_level(exchange: Exchange) -> JSONObject:
    """Remember from which level on a client of the handshake era wants log messages, as long as it is connected."""
    level = exchange.request.params.get("level")
    if level not in LEVELS:
        raise RequestError(INVALID_PARAMS, f"level has to be one of {', '.join(LEVELS)}.")
    exchange.peer.level = level
    return {}


async def _list_resources(exchange: Exchange) -> JSONObject:
    """None: an artifact is for the client that was given its link, and all clients of this server share its store."""
    _check_cursor(exchange)
    return {"resources": []}


async def _list_templates(exchange: Exchange) -> JSONObject:
    _check_cursor(exchange)
    return {"resourceTemplates": [artifacts.TEMPLATE]}


def _check_cursor(exchange: Exchange) -> None:
    if exchange.request.params.get("cursor") is not None:  # a list is given whole, so no cursor was ever handed out
        raise RequestError(INVALID_PARAMS, "There is no such cursor: the whole list comes without one.")


def _describe(tool: ServedTool) -> JSONObject:
    facts = {
        "name": tool.name,
        "title": tool.declaration.get("title"),
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output.form,
        "annotations": _annotations(tool) or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _annotations(tool: ServedTool) -> JSONObject:
    """What the tool declares. Of one whose calls a cache may leave out it is known that it changes nothing by them."""
    cached = {"read_only": True, "idempotent": True, "destructive": False} if tool.results.get("cache_seconds") else {}
    told = cached | {hint: tool.declaration[hint] for hint in _HINTS if hint in tool.declaration}
    return {_HINTS[hint]: told[hint] for hint in told}
