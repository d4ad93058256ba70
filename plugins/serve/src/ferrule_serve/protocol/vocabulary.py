"""What the Model Context Protocol names: its releases, codes and keys, and the shapes of what goes over the wire.

Two eras are served. In the handshake era, a client says once who it is (`initialize`), and a connection remembers it.
Since 2026-07-28 each request carries that itself, in an envelope below `_meta`, and there is nothing to remember.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, TypedDict

if TYPE_CHECKING:
    from typing import NotRequired

    from ferrule.text.json_types import JSONObject

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE_VERSIONS: Final = ("2026-07-28",)
DEFAULT_VERSION: Final = "2025-03-26"
"""Of a request over HTTP that names none, as the releases before headers named it."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022
RESOURCE_NOT_FOUND: Final = -32002
"""Of the handshake era; since then it is `INVALID_PARAMS`."""
REQUEST_CANCELLED: Final = -32800
"""For a request of the handshake era over HTTP, whose stream only an answer ends."""

_KEYS = "io.modelcontextprotocol/"
VERSION_KEY: Final = _KEYS + "protocolVersion"
CLIENT_KEY: Final = _KEYS + "clientInfo"
CAPABILITIES_KEY: Final = _KEYS + "clientCapabilities"
LEVEL_KEY: Final = _KEYS + "logLevel"
SERVER_KEY: Final = _KEYS + "serverInfo"
SUBSCRIPTION_KEY: Final = _KEYS + "subscriptionId"

LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""Of log messages, from the least."""

RequestId = int | str


class RequestError(Exception):
    """An error of the protocol: the request gets it instead of a result. data: more about it, None for nothing."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def facts(self) -> JSONObject:
        """As it goes over the wire."""
        data = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": self.message, **data}


class Contents(TypedDict):
    """The contents of a resource: `text`, or `blob` in base64."""

    uri: str
    mimeType: str
    text: NotRequired[str]
    blob: NotRequired[str]
    _meta: NotRequired[dict[str, str]]


class Block(TypedDict):
    """One block of content. type: `text`, `image`, `audio`, `resource` or `resource_link`, which have the other keys.

    data: in base64. size: bytes of what is linked.
    """

    type: str
    text: NotRequired[str]
    data: NotRequired[str]
    mimeType: NotRequired[str]
    resource: NotRequired[Contents]
    uri: NotRequired[str]
    name: NotRequired[str]
    description: NotRequired[str]
    size: NotRequired[int]
    _meta: NotRequired[dict[str, str]]


class CallResult(TypedDict):
    """The result of `tools/call`."""

    content: list[Block]
    isError: bool
    structuredContent: NotRequired[dict[str, Any]]


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def encode(message: JSONObject) -> bytes:
    """A message as one line of JSON. What tools say in it has been read as strict JSON before.

    What could be read may still be nested too deeply to be written around: such an answer becomes an error. Raises
    RecursionError for what is no answer.
    """
    try:
        return _ENCODER.encode(message).encode()
    except RecursionError:
        if "id" not in message:
            raise
        return encode(failure(message["id"], RequestError(INTERNAL_ERROR, "The answer is nested too deeply.")))


def notification(method: str, params: JSONObject) -> JSONObject:
    """A message that asks for no answer."""
    return {"jsonrpc": "2.0", "method": method, "params": params}


def success(number: RequestId, result: JSONObject) -> JSONObject:
    """The answer to a request that could be answered."""
    return {"jsonrpc": "2.0", "id": number, "result": result}


def failure(number: RequestId | None, error: RequestError) -> JSONObject:
    """The answer to a request that could not. number: None where its id is not known."""
    return {"jsonrpc": "2.0", "id": number, "error": error.facts()}
