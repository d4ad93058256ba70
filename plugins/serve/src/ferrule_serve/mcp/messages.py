"""What a tool says while it runs: its events as log messages, or as progress, to the client whose call it is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeGuard

from ferrule_serve.mcp.exchange import DEFAULT_LEVEL
from ferrule_serve.pool import QUEUED
from ferrule_serve.protocol.vocabulary import LEVELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.text.json_types import JSONObject
    from ferrule_serve.mcp.exchange import Exchange


class Messages:
    """The way back to the client of one call. What is put goes out before the answer, in its order.

    It is left out where the client reads too slowly.
    """

    def __init__(self, exchange: Exchange, tool: str) -> None:
        self._exchange = exchange
        self._tool = tool
        self._progress = -math.inf

    def put(self, event: Mapping[str, object]) -> None:
        """Hand an event on.

        That it waits is not told to one whose balancer may send it elsewhere, which ends with the first event.
        """
        if event.get("event") == QUEUED and self._exchange.idempotency_key:
            return
        if event.get("event") == "progress":
            self._report(event)
        else:
            self._log(_level_of(event), dict(event))

    def put_printed(self, text: str) -> None:
        """Hand on what the tool printed, which helps to find a fault."""
        if text:
            self._log("debug", {"printed": text})

    def _report(self, event: Mapping[str, object]) -> None:
        """Progress has to grow, says the protocol; what does not is left out."""
        progress, token = event.get("progress"), self._exchange.progress_token
        if token is None or not _is_number(progress) or progress <= self._progress:
            return
        self._progress = progress
        told: JSONObject = {"progressToken": token, "progress": progress}
        if _is_number(total := event.get("total")):
            told["total"] = total
        if isinstance(message := event.get("message"), str):
            told["message"] = message
        self._send("notifications/progress", told)

    def _log(self, level: str, data: object) -> None:
        least = self._exchange.peer.level
        if least is not None and LEVELS.index(level) >= LEVELS.index(least):
            self._send("notifications/message", {"level": level, "logger": self._tool, "data": data})

    def _send(self, method: str, params: JSONObject) -> None:
        if not self._exchange.channel.is_full:
            self._exchange.notify(method, params)


def _level_of(event: Mapping[str, object]) -> str:
    """The level that the event names itself, or that its name has."""
    said = event.get("level")
    named = next((level for level in LEVELS if level == said), None)
    # Any JSON may stand there, a list too, so it is compared and never hashed.
    is_warning = event.get("kind") == "config_required" or event.get("event") == "wrapper_failed"
    return named or ("warning" if is_warning else DEFAULT_LEVEL)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
