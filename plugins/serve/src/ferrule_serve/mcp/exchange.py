"""A request that is being answered: whose it is, and the way back to its client."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ferrule_serve.protocol.vocabulary import DEFAULT_VERSION, ENVELOPE_VERSIONS, notification

if TYPE_CHECKING:
    from collections.abc import Mapping

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
