"""What a tool tells while it runs: its events as log messages, or as progress, to the client whose call it is."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.connection import allowed_log_levels
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

_Context = ServerRequestContext[Any]

LEVELS: tuple[types.LoggingLevel, ...] = (
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency",
)  # fmt: skip
_USUAL: types.LoggingLevel = "info"
_WARNINGS = ("config_required", "wrapper_failed")
_STATE = "ferrule.level"
_WAITING = 256  # events that wait for a client which reads slowly; further ones are left out


async def set_level(context: _Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    """Remember from which level on a client of the handshake era wants log messages, as long as it is connected."""
    context.session._connection.state[_STATE] = params.level  # the SDK hands it to handlers in no other way
    return types.EmptyResult()


class Messages:
    """The way back to the client of one call. `send` is called for each event, in the order in which they happen."""

    def __init__(self, context: _Context, tool: str) -> None:
        self._context = context
        self._tool = tool
        self._progress = -math.inf
        self._events: asyncio.Queue[tuple[types.LoggingLevel, object] | Mapping[str, object] | None]
        self._events = asyncio.Queue(_WAITING + 2)

    def put(self, event: Mapping[str, object]) -> None:
        """Hand an event on; it is left out where too many wait already."""
        if self._events.qsize() < _WAITING:
            self._events.put_nowait(event)

    def printed(self, text: str) -> None:
        """Hand on what the tool printed, which is for whoever looks for a fault."""
        if text and self._events.qsize() <= _WAITING:
            self._events.put_nowait(("debug", {"printed": text}))

    def end(self) -> None:
        """Nothing comes any more: `send` returns once it has sent what waits."""
        self._events.put_nowait(None)

    async def send(self) -> None:
        """Send what is handed on, until the end."""
        while (event := await self._events.get()) is not None:
            if isinstance(event, tuple):
                await self._log(*event)
            elif event.get("kind") == "progress":
                await self._report(event)
            else:
                await self._log(_level_of(event), dict(event))

    async def _report(self, event: Mapping[str, object]) -> None:
        """Progress has to grow, says the protocol; what does not is left out. Without a token the SDK sends none."""
        progress, total, message = (event.get(name) for name in ("progress", "total", "message"))
        if not _is_number(progress) or progress <= self._progress:  # type: ignore[operator]
            return
        self._progress = progress  # type: ignore[assignment]
        await self._context.session.report_progress(
            self._progress,
            total if _is_number(total) else None,  # type: ignore[arg-type]
            message if isinstance(message, str) else None,
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
            meta: Any = self._context.meta
            return level in allowed_log_levels(version, meta)
        least = self._context.session._connection.state.get(_STATE, _USUAL)
        return LEVELS.index(level) >= LEVELS.index(least)


def _level_of(event: Mapping[str, object]) -> types.LoggingLevel:
    """The level that the event names itself, or that its kind has."""
    said = event.get("level")
    named = next((level for level in LEVELS if level == said), None)
    # Any JSON may stand there, a list too, so it is compared and never hashed.
    is_warning = event.get("kind") in _WARNINGS or event.get("event") in _WARNINGS
    return named or ("warning" if is_warning else _USUAL)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
