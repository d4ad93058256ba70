"""The page's requests: who may make them, and what they are answered with. The token is checked before."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Coroutine
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecurityMiddleware,
    TransportSecuritySettings,
)
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from ferrule.errors import FerruleError, ToolUnknown
from ferrule_serve.page import views
from ferrule_serve.page.form_fields import read_arguments

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ferrule.text.json_types import JSONObject
    from ferrule_serve.catalogue import Catalogue, ServedTool
    from ferrule_serve.page.call_history import CallHistory
    from ferrule_serve.pool import Pool

_MAX_FORM_BYTES = 4 << 20  # the largest arguments, as a form encodes them
_MAX_FIELDS = 1000
_MAX_EVENTS = 200
_STATIC = {"page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # without any, a browser sends its own form with the origin "null"
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def make_page(catalogue: Catalogue, pool: Pool, history: CallHistory, security: TransportSecuritySettings) -> ASGIApp:
    """The page as ASGI. history: of the pool's calls. security: the names that count, as for MCP."""
    requests = _Requests(catalogue, pool, history)
    routes = [
        Route("/", requests.index),
        Route("/calls", requests.calls),
        Route("/tools/{name}", requests.tool),
        Route("/tools/{name}", requests.call, methods=["POST"]),
        Route("/page/{name}", _static),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={404: _not_found},
        middleware=[Middleware(RequestBodyLimitMiddleware, max_body_size=_MAX_FORM_BYTES)],
    )
    return _Guard(app, security)


class _Guard:
    """Refuses a request for another name, as MCP's do, and gives every answer the headers that make it inert."""

    def __init__(self, app: ASGIApp, security: TransportSecuritySettings) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(security)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_ENCODED]
            await send(message)

        refusal = await self._security.validate_request(Request(scope))
        await (refusal or self._app)(scope, receive, send_with_headers)


_ENCODED = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]


class _Requests:
    """Answers them. The forms' token is this process's own: only who has read the page can send one."""

    def __init__(self, catalogue: Catalogue, pool: Pool, history: CallHistory) -> None:
        self._catalogue = catalogue
        self._pool = pool
        self._history = history
        self._token = secrets.token_urlsafe(32)

    async def index(self, _request: Request) -> Response:
        """`/`."""
        failure = ""
        try:
            tools = await self._tools()
        except FerruleError as error:
            tools, failure = [], error.message
        return _html(views.show_index(tools, self._pool, self._history, failure))

    async def calls(self, _request: Request) -> Response:
        """`/calls`."""
        return _html(views.show_calls(self._pool, self._history))

    async def tool(self, request: Request) -> Response:
        """`/tools/NAME`."""
        try:
            return _html(views.show_tool(await self._tool(request), self._token))
        except FerruleError as error:
            return _html(views.show_problem("No such tool", error.message, "../"), 404)

    async def call(self, request: Request) -> Response:
        """The form of `/tools/NAME`, filled."""
        try:
            text = (await request.body()).decode(errors="replace")
            form = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS))
        except ValueError:
            return _html(views.show_problem("Not called", f"A form has {_MAX_FIELDS} fields at most.", "../"), 400)
        if not self._is_own(request, form):
            message = "The form was not sent by this page, or the server was started anew. Load the page again."
            return _html(views.show_problem("Not called", message, "../"), 403)
        try:
            tool = await self._tool(request)
            await self._catalogue.find(tool.name)
        except FerruleError as error:
            return _html(views.show_problem("Not called", error.message, "../"), 404)
        trial = await _cancel_when_left(request, self._try(tool, form))
        return _html(views.show_tool(tool, self._token, trial))

    async def _try(self, tool: ServedTool, form: dict[str, str]) -> views.PageTrial:
        events: list[JSONObject] = []

        def keep_first(event: JSONObject) -> None:
            if len(events) < _MAX_EVENTS:
                events.append(event)

        data = read_arguments(tool.input_schema, form)
        answer = await self._pool.call(tool.installed, data, on_event=keep_first, by="page")
        return views.PageTrial(answer, form, events)

    def _is_own(self, request: Request, form: dict[str, str]) -> bool:
        """Whether a page of this very server was filled: other pages of the same machine have an origin that MCP takes.

        A browser sends `Origin` with every form; it is what stands in `Host`, whatever is between the two.
        """
        host = request.headers.get("host")
        is_same = request.headers.get("origin") in (f"http://{host}", f"https://{host}")
        return is_same and hmac.compare_digest(form.get(views.TOKEN, "").encode(), self._token.encode())

    async def _tools(self) -> list[ServedTool]:
        return [*await self._catalogue.served_tools(), *await self._catalogue.unserved_tools()]

    async def _tool(self, request: Request) -> ServedTool:
        name = request.path_params["name"]
        for tool in await self._tools():
            if tool.name == name:
                return tool
        raise ToolUnknown(f"Unknown tool: {name!r}.")


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        return await _not_found(request, None)
    return Response(files(__package__).joinpath("static", name).read_bytes(), media_type=_STATIC[name])


async def _not_found(request: Request, _error: object) -> Response:
    root = "../" * (request.url.path.count("/") - 1)
    return _html(views.show_problem("Nothing here", "There is no such page.", root), 404)


def _html(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="text/html")


async def _cancel_when_left(request: Request, work: Coroutine[object, object, views.PageTrial]) -> views.PageTrial:
    """Do the work, which is cancelled where the browser leaves: its call ends then."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_wait_until_left(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _wait_until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
