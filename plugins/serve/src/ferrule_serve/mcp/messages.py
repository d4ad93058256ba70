"""What a tool says while it runs: its events as log messages, or as progress, to the client whose call it is."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any, TypeGuard

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.connection import allowed_log_levels
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

Context = ServerRequestContext[Any]
"""What the SDK hands to the handler of a request; the state that it may carry is not used here."""

LEVELS: tuple[types.LoggingLevel, ...] = (
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
)  # fmt: skip
_DEFAULT_LEVEL: types.LoggingLevel = "info"
_STATE = "ferrule.level"
_MAX_QUEUED = 256  # events that wait for a client which reads slowly; further ones are left out


async def set_level(context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    """Remember from which level on a client of the handshake era wants log messages, as long as it is connected."""
    context.session._connection.state[_STATE] = params.level  # the SDK hands it to handlers in no other way
    return types.EmptyResult()


class Messages:
    """The way back to the client of one call. `send` is called for each event, in the order in which they happen."""

    def __init__(self, context: Context, tool: str) -> None:
        self._context = context
        self._tool = tool
        self._progress = -math.inf
        self._events: asyncio.Queue[tuple[types.LoggingLevel, object] | Mapping[str, object] | None]
        self._events = asyncio.Queue(_MAX_QUEUED + 2)

    def put(self, event: Mapping[str, object]) -> None:
        """Hand an event on; it is left out where too many wait already."""
        if self._events.qsize() < _MAX_QUEUED:
            self._events.put_nowait(event)

    def put_printed(self, text: str) -> None:
        """Hand on what the tool printed, which helps to find a fault."""
        if text and self._events.qsize() <= _MAX_QUEUED:
            self._events.put_nowait(("debug", {"printed": text}))

    def end(self) -> None:
        """Nothing comes any more: `send` returns once it has sent what waits."""
        self._events.put_nowait(None)

    async def send(self) -> None:
        """Send what is handed on, until the end."""
        while (event := await self._events.get()) is not None:
            if isinstance(event, tuple):
                await self._log(*event)
            elif event.get("event") == "progress":
                await self._report(event)
            else:
                await self._log(_level_of(event), dict(event))

    async def _report(self, event: Mapping[str, object]) -> None:
        """Progress has to grow, says the protocol; what does not is left out. Without a token the SDK sends none."""
        progress, total, message = (event.get(name) for name in ("progress", "total", "message"))
        if not _is_number(progress) or progress <= self._progress:
            return
        self._progress = progress
        await self._context.session.report_progress(
            progress, total if _is_number(total) else None, message if isinstance(message, str) else None
        )

    async def _log(self, level: types.LoggingLevel, data: object) -> None:
        if not self._wants(level):
            return
        params = types.LoggingMessageNotificationParams(level=level, logger=self._tool, data=data)
        notification = types.LoggingMessageNotification(params=params)
        await self._context.session.send_notification(notification, related_request_id=self._context.request_id)

    def _wants(self, level: types.LoggingLevel) -> bool:
        version = self._context.protocol_version
        if version in MODERN_PROTOCOL_VERSIONS:
            return level in allowed_log_levels(version, self._context.meta)
        least = self._context.session._connection.state.get(_STATE, _DEFAULT_LEVEL)
        return LEVELS.index(level) >= LEVELS.index(least)


def _level_of(event: Mapping[str, object]) -> types.LoggingLevel:
    """The level that the event names itself, or that its name has."""
    said = event.get("level")
    named = next((level for level in LEVELS if level == said), None)
    # Any JSON may stand there, a list too, so it is compared and never hashed.
    is_warning = event.get("kind") == "config_required" or event.get("event") == "wrapper_failed"
    return named or ("warning" if is_warning else _DEFAULT_LEVEL)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
