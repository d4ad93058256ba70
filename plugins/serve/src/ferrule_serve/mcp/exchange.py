"""Requests that are being answered: whose each is, the way back to its client, and which of them can be cancelled.

Since 2026-07-28 a request has an envelope: who asks, by which release, and what the headers have to repeat of it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ferrule_serve.protocol.header_parameters import decode
from ferrule_serve.protocol.vocabulary import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    DEFAULT_VERSION,
    ENVELOPE_VERSIONS,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    LEVEL_KEY,
    LEVELS,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    RequestError,
    notification,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrule.calls.server_interface import Client
    from ferrule.text.json_types import JSONObject
    from ferrule_serve.mcp.inbound import Request
    from ferrule_serve.protocol.vocabulary import RequestId


DEFAULT_LEVEL = "info"


class Channel(Protocol):
    """Takes messages to a client."""

    @property
    def is_full(self) -> bool:
        """Whether the client reads so slowly that what it can do without is left out."""

    def send(self, message: JSONObject) -> None:
        """Send a message after those before; it is lost where the client has gone."""


@dataclass(eq=False)
class Peer:
    """What is known of a client: of a connection in the handshake era, else of one request.

    level: from which on it wants log messages, None for none. channel: for what belongs to no request, None where there
    is none. is_ready: whether it may ask for more than the handshake.
    """

    version: str = DEFAULT_VERSION
    client: Client | None = None
    level: str | None = DEFAULT_LEVEL
    channel: Channel | None = None
    is_ready: bool = False

    @property
    def has_envelopes(self) -> bool:
        """Whether each of its requests says who asks."""
        return self.version in ENVELOPE_VERSIONS


@dataclass(eq=False)
class Exchange:
    """One request. idempotency_key: that a balancer has given it, empty without one; None where none can be between.

    headers: of HTTP, by their names in small letters.
    """

    request: Request
    peer: Peer
    channel: Channel
    idempotency_key: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    meta: JSONObject = field(init=False)

    def __post_init__(self) -> None:
        meta = self.request.params.get("_meta")
        self.meta = meta if isinstance(meta, dict) else {}

    @property
    def progress_token(self) -> RequestId | None:
        """Under which the client wants to be told of progress, None where it does not."""
        token = self.meta.get("progressToken")
        return token if isinstance(token, int | str) and not isinstance(token, bool) else None

    def notify(self, method: str, params: JSONObject) -> None:
        """Tell the client something before it is answered."""
        self.channel.send(notification(method, params))


class RunningRequests:
    """The tasks that answer, by the ids of their requests. One that was never begun is forgotten like the others.

    A client may use an id again before it is answered; then both are meant by it.
    """

    def __init__(self) -> None:
        self._numbers: dict[asyncio.Task[Any], RequestId] = {}

    def keep(self, number: RequestId, task: asyncio.Task[Any]) -> None:
        """Remember a request until it is answered."""
        self._numbers[task] = number
        task.add_done_callback(self._forget)

    def cancel(self, number: object) -> None:
        """End what a client does not want any more. number: as it says; any other than an id of a request is none."""
        for task, own in list(self._numbers.items()):
            if own == number and type(own) is type(number):
                task.cancel()

    def cancel_all(self) -> list[RequestId]:
        """End all of them. The ids of those that are not answered."""
        return [number for task, number in list(self._numbers.items()) if task.cancel()]

    async def wait(self) -> None:
        """Wait until none is left."""
        await asyncio.gather(*self._numbers, return_exceptions=True)

    def __len__(self) -> int:
        return len(self._numbers)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._numbers.pop(task, None)


VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "mcp-protocol-version", "mcp-method", "mcp-name"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def has_envelope(params: JSONObject) -> bool:
    """Whether a request carries one, whole or in part."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def read_envelope(request: Request, headers: Mapping[str, str] | None = None) -> Peer:
    """Who asks. headers: of HTTP, by their names in small letters. Raises RequestError for what is missing or wrong."""
    meta = request.params.get("_meta")
    if not isinstance(meta, dict):
        raise RequestError(
            INVALID_PARAMS, f"params._meta has to be an object with {VERSION_KEY!r} and {CAPABILITIES_KEY!r}."
        )
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise RequestError(INVALID_PARAMS, f"params._meta lacks {', '.join(missing)}.")
    version, level = meta[VERSION_KEY], meta.get(LEVEL_KEY)
    if headers is not None:
        _check_headers(request, version, headers)
    if not isinstance(version, str):
        raise RequestError(INVALID_PARAMS, f"{VERSION_KEY} has to be a string.")
    check_version(version)
    if not isinstance(meta[CAPABILITIES_KEY], dict):
        raise RequestError(INVALID_PARAMS, f"{CAPABILITIES_KEY} has to be an object.")
    if level is not None and level not in LEVELS:
        raise RequestError(INVALID_PARAMS, f"{LEVEL_KEY} has to be one of {', '.join(LEVELS)}.")
    return Peer(version, read_client(meta.get(CLIENT_KEY), CLIENT_KEY), level, is_ready=True)


def read_client(facts: object, key: str) -> Client | None:
    """The client as it names itself, None where it does not. Raises RequestError for what is no such name."""
    if facts is None:
        return None
    if isinstance(facts, dict):
        name, version = facts.get("name"), facts.get("version")
        if isinstance(name, str) and isinstance(version, str):
            return {"name": name, "version": version}
    raise RequestError(INVALID_PARAMS, f"{key} has to be an object with a name and a version.")


def check_version(version: str) -> None:
    """Raise RequestError for a release without a handshake that is not served."""
    if version not in ENVELOPE_VERSIONS:
        raise unsupported(version)


def unsupported(version: object) -> RequestError:
    """The error for a release that is not served."""
    asked = {"requested": version} if isinstance(version, str) else {}
    facts = {"supported": list(ENVELOPE_VERSIONS), **asked}
    return RequestError(UNSUPPORTED_VERSION, "Unsupported protocol version", facts)


def find_repeated(headers: Sequence[tuple[bytes, bytes]]) -> str | None:
    """The header on which requests are sent to servers that stands there twice: two readers could differ on it."""
    names = [name.decode("latin-1") for name, _ in headers]
    return next((name for name in (VERSION_HEADER, METHOD_HEADER, NAME_HEADER) if names.count(name) > 1), None)


def _check_headers(request: Request, version: object, headers: Mapping[str, str]) -> None:
    """A balancer decides by the headers and the tool is called by the body, so they have to say the same."""
    if headers.get(VERSION_HEADER) is None or headers.get(VERSION_HEADER) != version:
        raise mismatch(VERSION_HEADER, "the envelope's version")
    if headers.get(METHOD_HEADER) != request.method:
        raise mismatch(METHOD_HEADER, "the method of the body")
    key = _NAMED_BY.get(request.method, "")
    named = request.params.get(key)
    if named is not None and decode(headers.get(NAME_HEADER)) != named:
        raise mismatch(NAME_HEADER, f"the {key} of the body")


def mismatch(header: str, other: str) -> RequestError:
    """The error for a header that says something else than the body."""
    return RequestError(HEADER_MISMATCH, f"The header {header} does not match {other}.")
