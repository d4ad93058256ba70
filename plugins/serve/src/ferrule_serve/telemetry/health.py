"""`/healthz`, `/readyz` and `/metrics`: for those who run the server, beside what it serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response

from ferrule.calls.server_interface import unenforced

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from ferrule_serve.pool import Pool
    from ferrule_serve.telemetry.metrics import Metrics
    from ferrule_serve.web.trusted_names import TrustedNames

HEALTH, READINESS, METRICS = "/healthz", "/readyz", "/metrics"
OPEN_PATHS = (HEALTH, READINESS)
"""Those that need no token: a balancer has none, and they say nothing of tools or calls."""

Findings = Callable[[], Awaitable[list[str]]]
"""Why the server cannot take calls now; nothing where it can."""


class Operations:
    """The three as ASGI.

    Args:
        findings: why the server is not ready.
        metrics: None where they are not served.
        names: those of the server that count for the metrics, as for MCP; a balancer may use any for the others.
    """

    def __init__(self, findings: Findings, metrics: Metrics | None, pool: Pool, names: TrustedNames) -> None:
        self._pool = pool
        self._names = names
        self._findings = findings
        self._metrics = metrics
        self.paths = (*OPEN_PATHS, METRICS) if metrics else OPEN_PATHS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a GET or HEAD for one of the paths."""
        await (await self._answer(scope))(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("Only GET.\n", status_code=405, headers={"Allow": "GET, HEAD"})
        if scope["path"] == HEALTH:
            return PlainTextResponse("ok\n")
        if scope["path"] == METRICS and self._metrics is not None:
            if refusal := self._names.refusal(Headers(scope=scope)):
                return PlainTextResponse(refusal.text, refusal.status)
            text = await self._metrics.text(self._pool)
            return Response(text, headers={"Content-Type": self._metrics.content_type})
        found = await self._findings()
        missing = unenforced(has_network=True)
        told = {"unenforced": missing} if missing else {}
        return JSONResponse({"ready": not found, "findings": found, **told}, status_code=503 if found else 200)
