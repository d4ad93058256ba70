"""Clients that are told of another list of tools: those that listen for it, and those of the handshake era."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from weakref import WeakSet

from ferrule_serve.protocol.vocabulary import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    SUBSCRIPTION_KEY,
    RequestError,
    notification,
)

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject
    from ferrule_serve.mcp.exchange import Exchange, Peer

_MAX_LISTENERS = 1024
_CHANGED = "notifications/tools/list_changed"
_FLAG = "toolsListChanged"


class Subscriptions:
    """Who is told, and of what: that the list of tools is another one is all that ever changes."""

    def __init__(self) -> None:
        self._listeners: dict[Exchange, asyncio.Future[None]] = {}
        self._peers: WeakSet[Peer] = WeakSet()
        self._is_closed = False

    def add(self, peer: Peer) -> None:
        """A client of the handshake era is ready; it is told as long as its connection is there."""
        self._peers.add(peer)

    async def listen(self, exchange: Exchange) -> JSONObject:
        """`subscriptions/listen`: the answer comes when the server ends, or where the client does not read."""
        asked = exchange.request.params.get("notifications")
        if not isinstance(asked, dict):
            raise RequestError(INVALID_PARAMS, "Invalid request parameters: notifications has to be an object.")
        if len(self._listeners) >= _MAX_LISTENERS:
            raise RequestError(INTERNAL_ERROR, "Subscription limit reached")
        meta = {SUBSCRIPTION_KEY: exchange.request.number}
        agreed = {_FLAG: True} if asked.get(_FLAG) is True else {}
        ended = asyncio.get_running_loop().create_future()
        exchange.notify("notifications/subscriptions/acknowledged", {"_meta": meta, "notifications": agreed})
        self._listeners[exchange] = ended
        if self._is_closed:
            _end(ended)
        try:
            await ended
        finally:
            del self._listeners[exchange]
        return {"_meta": meta}

    def notify(self) -> None:
        """Tell all who want to know that the list of tools is another one."""
        for exchange, ended in list(self._listeners.items()):
            if exchange.request.params["notifications"].get(_FLAG) is not True:
                continue
            if exchange.channel.is_full:
                _end(ended)
            else:
                exchange.notify(_CHANGED, {"_meta": {SUBSCRIPTION_KEY: exchange.request.number}})
        for peer in list(self._peers):
            if peer.channel is not None and not peer.channel.is_full:
                peer.channel.send(notification(_CHANGED, {}))

    def close(self) -> None:
        """End all subscriptions in order; one that begins later ends at once, or the server would wait for it."""
        self._is_closed = True
        for ended in self._listeners.values():
            _end(ended)


def _end(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)
