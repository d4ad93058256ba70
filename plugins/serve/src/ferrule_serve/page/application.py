"""The page's requests: who may make them, and what they are answered with. The token is checked before."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, quote

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from ferrule.errors import FerruleError, ToolUnknown
from ferrule_serve.page import views
from ferrule_serve.page.call_history import PAGE
from ferrule_serve.page.call_lines import Endpoint
from ferrule_serve.page.client_blocks import download_of
from ferrule_serve.page.event_stream import MEDIA_TYPE, EventStream, cancel_when_left
from ferrule_serve.page.form_fields import read_arguments
from ferrule_serve.page.trials import TimedEvent, Trial, TrialStore
from ferrule_serve.pool import own_arguments
from ferrule_serve.web.bodies import BodyTooLarge, ClientGone, read_body

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ferrule.calls.server_interface import Client
    from ferrule.text.json_types import JSONObject
    from ferrule_serve.catalogue import Catalogue, ServedTool
    from ferrule_serve.page.call_history import CallHistory
    from ferrule_serve.pool import CallAnswer, Pool
    from ferrule_serve.protocol.vocabulary import CallResult
    from ferrule_serve.web.trusted_names import TrustedNames

_MAX_FORM_BYTES = 4 << 20  # the largest arguments, as a form encodes them
_MAX_FIELDS = 1000
_MAX_EVENTS = 200
_MAX_FIND_CHARS = 200
_FORGOTTEN = "The page keeps its last 50 calls, as long as the server runs. This one is not among them."
_PAGE: Client = {"name": "page", "version": ""}
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


class Protocol(NamedTuple):
    """What clients of MCP have to do with the page.

    names: those that count for them. path: that they ask. has_token: whether they need one. make_result: what
    they get of an answer.
    """

    names: TrustedNames
    path: str
    has_token: bool
    make_result: Callable[[CallAnswer, ServedTool], Awaitable[CallResult]]


def make_page(catalogue: Catalogue, pool: Pool, history: CallHistory, protocol: Protocol) -> ASGIApp:
    """The page as ASGI.

    Args:
        history: of the pool's calls.
    """
    requests = _Requests(catalogue, pool, history, protocol)
    routes = [
        Route("/", requests.index),
        Route("/calls", requests.calls),
        Route("/calls/{key}", requests.trial),
        Route("/calls/{key}/blocks/{number:int}", requests.block),
        Route("/tools/{name}", requests.tool),
        Route("/tools/{name}", requests.call, methods=["POST"]),
        Route("/page/{name}", _static),
    ]
    return _Guard(Starlette(routes=routes, exception_handlers={404: _not_found}), protocol.names)


class _Guard:
    """Refuses a request for another name, as MCP's do, and gives every answer the headers that make it inert."""

    def __init__(self, app: ASGIApp, names: TrustedNames) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_ENCODED]
            await send(message)

        refusal = self._names.refusal(Headers(scope=scope))
        app = PlainTextResponse(refusal.text, refusal.status) if refusal else self._app
        await app(scope, receive, send_with_headers)


_ENCODED = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]


class _Requests:
    """Answers them. The forms' token is this process's own: only who has read the page can send one."""

    def __init__(self, catalogue: Catalogue, pool: Pool, history: CallHistory, protocol: Protocol) -> None:
        self._catalogue = catalogue
        self._pool = pool
        self._history = history
        self._protocol = protocol
        self._trials = TrialStore()
        self._token = secrets.token_urlsafe(32)

    async def index(self, request: Request) -> Response:
        """`/`, or `/?find=WORDS`."""
        failure = ""
        try:
            tools = await self._tools()
        except FerruleError as error:
            tools, failure = [], error.message
        find = request.query_params.get("find", "")[:_MAX_FIND_CHARS]
        return _html(views.show_index(tools, self._pool, self._history, failure, find))

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
            body = await read_body(request.headers.get("content-length"), request.receive, _MAX_FORM_BYTES)
            text = body.decode(errors="replace")
            form = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MAX_FIELDS))
        except BodyTooLarge:
            return _html(views.show_problem("Not called", "The form is too large.", "../"), 413)
        except ClientGone:
            return Response(status_code=400)
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
        if MEDIA_TYPE in request.headers.get("accept", ""):
            return EventStream(lambda tell: self._tell(request, tool, form, tell))
        trial = await cancel_when_left(request.receive, self._try(request, tool, form))
        return _html(self._show(tool, trial))

    async def trial(self, request: Request) -> Response:
        """`/calls/KEY`: a call of the page again, as its sender saw it."""
        found = self._trials.find(request.path_params["key"])
        if found is None:
            return _html(views.show_problem("No such call", _FORGOTTEN, "../"), 404)
        for tool in await self._tools():
            if tool.name == found.call.tool:
                return _html(self._show(tool, found))
        return _html(views.show_problem("No such tool", f"{found.call.tool} is not there any more.", "../"), 404)

    async def block(self, request: Request) -> Response:
        """`/calls/KEY/blocks/NUMBER`: the bytes of one block. A browser shows pictures, and saves all else."""
        trial = self._trials.find(request.path_params["key"])
        number = request.path_params["number"]
        blocks = trial.result["content"] if trial else []
        found = await asyncio.to_thread(download_of, blocks[number]) if number < len(blocks) else None
        if found is None:
            return _html(views.show_problem("Nothing here", _FORGOTTEN, "../../../"), 404)
        kind = "inline" if found.media_type.startswith("image/") else "attachment"
        name = quote(found.name or f"block-{number}", safe="")
        headers = {"Content-Disposition": f"{kind}; filename*=UTF-8''{name}"}
        return Response(found.body, media_type=found.media_type, headers=headers)

    async def _tell(
        self, request: Request, tool: ServedTool, form: dict[str, str], tell: Callable[[dict[str, object]], None]
    ) -> dict[str, object]:
        trial = await self._try(request, tool, form, lambda event: tell(views.event_facts(event)))
        return {"page": self._show(tool, trial).decode(), "call": trial.call.name, "key": trial.key}

    async def _try(
        self,
        request: Request,
        tool: ServedTool,
        form: dict[str, str],
        tell: Callable[[TimedEvent], None] = lambda _: None,
    ) -> Trial:
        """Call the tool.

        Args:
            tell: is called with each event as it happens.
        """
        events: list[TimedEvent] = []
        data = read_arguments(tool.input_schema, form)
        call = self._history.start_trial(tool.name, len(data))

        def take(event: JSONObject) -> None:
            timed = TimedEvent(call.age, event)
            tell(timed)
            if len(events) < _MAX_EVENTS:
                events.append(timed)

        answer = None
        try:
            answer = await self._pool.call(
                tool.installed, data, on_event=take, read=tool.read_arguments, by=PAGE, client=_PAGE
            )
        finally:
            call.finish(answer)
        sent = {name: value for name, value in form.items() if name != views.TOKEN}
        result = await self._protocol.make_result(answer, tool)
        own = _own(data, tool)
        trial = Trial(call, sent, data, own, answer, result, events, request.headers["origin"])
        self._trials.keep(trial)
        return trial

    def _show(self, tool: ServedTool, trial: Trial) -> bytes:
        endpoint = Endpoint(trial.origin + self._protocol.path, self._protocol.has_token)
        return views.show_tool(tool, self._token, views.TrialView(trial, endpoint))

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


def _own(data: bytes, tool: ServedTool) -> bytes:
    try:
        return own_arguments(data, tool.read_arguments)
    except FerruleError:
        return data


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
