"""A server on loopback that behaves as the Messages API does, or worse: what `ferrule_ask` is tested against.

    with ModelServer(calls("web_search_brave", {"query": "BTC"}), says("It is 95,234 dollars.")) as server:
        ...                                      # ANTHROPIC_BASE_URL=server.url, ANTHROPIC_API_KEY=MODEL_KEY
    assert server.bodies[1]["tool_choice"] == {"type": "none"}
    assert not server.refused

A script is a list of replies, one a request, or a function of the request that returns a reply. A request that the
API would refuse is refused with the API's sentence, which `refused` keeps, and uses up nothing of the script. A request
past the script's end gets a 400 that says so. Every reply can be made to misbehave:

    after(0.1, says("…"))  dripping(says("…"), 0.02)  silent("head")  reset(says("…"), "body")  zipped(says("…"))
    failure(429, retry_after=1)  failure(529, should_retry=False)  page("<h1>Bad gateway</h1>", 502)

The fixture `model_server` (in the conftest.py of the root) is one such server, without a script:
`model_server.script(says("…"))` gives it one.
"""

import gzip
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal, Self, TypeAlias

from ferrule_dev.testing.http_server import HTML, Exchange, Server
from ferrule_testkit.model.rules import VERSIONS, Refusal, refusal_of_body, refusal_of_headers

MODEL_KEY = "sk-ant-api03-k3yOfTheTests_0123456789"
PATH = "/v1/messages"
JSON = "application/json"
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_ids = count(1)
_BODY_LIMIT = 32 * 1024 * 1024


@dataclass
class ModelRequest:
    """A request that has arrived. number: from 0. headers: names in small letters. arrived, ended: time.monotonic().

    wall: time.time() when it arrived.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    raw: bytes
    arrived: float
    number: int
    ended: float | None = None
    wall: float = 0.0

    @property
    def body(self) -> Any:
        """The body read as JSON; None where it is none."""
        try:
            return json.loads(self.raw)
        except ValueError:
            return None

    @property
    def question(self) -> str:
        """The text of the first user message."""
        content = self.body["messages"][0]["content"]
        return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)

    @property
    def is_second(self) -> bool:
        """Whether it brings a tool's result; False where its client went before the body had come."""
        return self.body is not None and len(self.body["messages"]) > 1


@dataclass(frozen=True)
class Reply:
    """What is answered, in which manner, and after how many seconds."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = JSON
    manner: Callable[[Exchange, "Reply"], None] | None = None
    seconds: float = 0.0


Step: TypeAlias = "Reply | Callable[[ModelRequest], Reply]"


# ---- replies


def says(text: str, *, stop_reason: str = "end_turn", **usage: Any) -> Reply:
    """An answer in one text block. usage: `input_tokens`, `output_tokens` and others."""
    return message({"type": "text", "text": text}, stop_reason=stop_reason, **usage)


def calls(name: str, arguments: Mapping[str, Any], *, text: str = "", id: str = "", **usage: Any) -> Reply:
    """The wish to call one tool, after some text."""
    said = [{"type": "text", "text": text}] if text else []
    return message(*said, tool_use(name, arguments, id=id), stop_reason="tool_use", **usage)


def tool_use(name: str, arguments: Mapping[str, Any], *, id: str = "") -> dict[str, Any]:
    """A block that calls a tool, as the API sends it."""
    name_of_call = id or f"toolu_{next(_ids):024d}"
    return {"type": "tool_use", "id": name_of_call, "name": name, "input": arguments, "caller": {"type": "direct"}}


def message(
    *content: Mapping[str, Any],
    stop_reason: str | None = "end_turn",
    stop_details: Mapping[str, Any] | None = None,
    model: str = "claude-sonnet-5-5",
    **usage: int,
) -> Reply:
    """A whole message, with any content blocks."""
    tokens = {"input_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 10}
    document = {
        "id": f"msg_{next(_ids):024d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": stop_details,
        "usage": {**tokens, **usage, "service_tier": "standard", "inference_geo": "not_available"},
    }
    return Reply(json.dumps(document).encode())


def failure(
    status: int,
    text: str = "It failed.",
    *,
    kind: str = "",
    retry_after: float | str | None = None,
    retry_after_ms: float | str | None = None,
    should_retry: bool | None = None,
) -> Reply:
    """An error of the API. kind: its `type`, where the status does not decide it."""
    number = f"req_{next(_ids):024d}"
    error = {"type": kind or _KINDS.get(status, "api_error"), "message": text}
    wishes = {
        "retry-after": retry_after,
        "retry-after-ms": retry_after_ms,
        "x-should-retry": None if should_retry is None else str(should_retry).lower(),
    }
    headers = {name: str(value) for name, value in wishes.items() if value is not None}
    return Reply(json.dumps({"type": "error", "error": error, "request_id": number}).encode(), status, headers)


def page(body: str | bytes, status: int = 200, content_type: str = HTML) -> Reply:
    """An answer that is no API's, such as a proxy's page."""
    return Reply(body.encode() if isinstance(body, str) else body, status, content_type=content_type)


# ---- manners


def after(seconds: float, reply: Reply) -> Reply:
    """The reply, late."""
    return replace(reply, seconds=seconds)


def zipped(reply: Reply) -> Reply:
    """The reply, compressed, whether the client wants it or not."""
    return replace(reply, body=gzip.compress(reply.body), headers={**reply.headers, "Content-Encoding": "gzip"})


def dripping(reply: Reply, every: float = 0.02) -> Reply:
    """The reply, byte by byte, its headers included; then spaces, until the client goes or the server is closed."""

    def drip(exchange: Exchange, reply: Reply) -> None:
        length = str(len(reply.body) + 1_000_000)
        head = f"HTTP/1.1 {reply.status} OK\r\nContent-Type: {reply.content_type}\r\nContent-Length: {length}\r\n\r\n"
        for byte in head.encode() + reply.body:
            if exchange.server.closing.wait(every):
                return
            exchange.send(bytes([byte]))
        exchange.drip(b" ", every)

    return replace(reply, manner=drip)


def silent(where: Literal["start", "head", "body"] = "start", reply: Reply | None = None) -> Reply:
    """Nothing more until the server is closed: from the start on, after the headers, or after half the body."""

    def hang(exchange: Exchange, reply: Reply) -> None:
        if where != "start":
            _send(exchange, replace(reply, body=reply.body[: len(reply.body) // 2 if where == "body" else 0]), reply)
        exchange.hang()

    return replace(reply or says("never seen"), manner=hang)


def reset(reply: Reply | None = None, where: Literal["start", "body"] = "start") -> Reply:
    """The connection reset, before anything is answered or after half the body."""

    def cut(exchange: Exchange, reply: Reply) -> None:
        if where == "body":
            _send(exchange, replace(reply, body=reply.body[: len(reply.body) // 2]), reply)
        exchange.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        exchange.close_connection = True
        os.close(exchange.connection.detach())  # close() would wait for whoever still holds the socket as a file

    return replace(reply or says("never seen"), manner=cut)


def _send(exchange: Exchange, part: Reply, whole: Reply) -> None:
    exchange.answer(
        part.body,
        part.content_type,
        status=part.status,
        headers={"Content-Length": str(len(whole.body)), **part.headers},
    )
    exchange.wfile.flush()


# ---- the server


class ModelServer:
    """The server. steps: its script. keys: that it takes. prefix: stands before /v1/messages. models: None is any.

    requests: all that arrived. refused: what the API would have said against any of them. peak: the most requests
    that were being answered at one time.
    """

    def __init__(
        self,
        *steps: Step,
        keys: tuple[str, ...] = (MODEL_KEY,),
        prefix: str = "",
        models: tuple[str, ...] | None = None,
        seconds: float = 0.0,
    ) -> None:
        self._server = Server()
        self._lock = threading.Lock()
        self._now = 0
        self._keys = keys
        self._models = models
        self._seconds = seconds
        self._thinking: set[str] = set()
        self._path = prefix + PATH
        self.peak = 0
        self.requests: list[ModelRequest] = []
        self.refused: list[str] = []
        self.url = self._server.url + prefix
        self.script(*steps)
        self._server.route("*", self._exchange)

    def script(self, *steps: Step) -> None:
        """Answer the requests from now on with these, one after the other; a lone function answers all of them."""
        self._answer_all = steps[0] if len(steps) == 1 and not isinstance(steps[0], Reply) else None
        self._steps = list(steps)

    def always(self, reply: Reply) -> None:
        """Answer all requests from now on with the same reply."""
        self.script(lambda request: reply)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all requests so far, read as JSON."""
        return [request.body for request in self.requests]

    @property
    def left(self) -> int:
        """How many steps of the script were not used."""
        return 0 if self._answer_all else len(self._steps)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__(None, None, None)

    def _exchange(self, exchange: Exchange) -> None:
        request = self._arrived(exchange)
        try:
            reply = self._reply_to(request)
            if exchange.server.closing.wait(reply.seconds + self._seconds):
                return
            number = {"request-id": f"req_{request.number:024d}"}
            reply = replace(reply, headers={**number, **reply.headers})
            (reply.manner or (lambda exchange, reply: _send(exchange, reply, reply)))(exchange, reply)
        finally:
            with self._lock:
                self._now -= 1
                request.ended = time.monotonic()

    def _arrived(self, exchange: Exchange) -> ModelRequest:
        length = int(exchange.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in exchange.headers.items()}
        now, body = time.monotonic(), exchange.rfile.read(length)
        with self._lock:
            self._now += 1
            self.peak = max(self.peak, self._now)
            request = ModelRequest(
                exchange.command, exchange.path, headers, body, now, len(self.requests), wall=time.time()
            )
            self.requests.append(request)
        return request

    def _reply_to(self, request: ModelRequest) -> Reply:
        refusal = self._refusal(request)
        with self._lock:
            if refusal is None and not self._answer_all and not self._steps:
                refusal = Refusal(400, "invalid_request_error", "The script of this server has come to its end.")
            if refusal:
                self.refused.append(refusal.message)
                return failure(refusal.status, refusal.message, kind=refusal.kind)
            step = self._answer_all or self._steps.pop(0)
        reply = step if isinstance(step, Reply) else step(request)
        self._remember_thinking(reply)
        return reply

    def _refusal(self, request: ModelRequest) -> Refusal | None:
        if request.target.partition("?")[0] != self._path:
            return Refusal(404, "not_found_error", "Not found")
        if request.method != "POST":
            return Refusal(405, "invalid_request_error", "Method Not Allowed")
        if len(request.raw) > _BODY_LIMIT:
            return Refusal(413, "request_too_large", "Request exceeds the maximum size")
        return (
            refusal_of_headers(request.headers, self._keys)
            or refusal_of_body(request.body, request.headers.get("anthropic-version", VERSIONS[0]))
            or self._refusal_of_model(request.body)
            or self._refusal_of_thinking(request.body)
        )

    def _refusal_of_model(self, body: Mapping[str, Any]) -> Refusal | None:
        if self._models is None or body["model"] in self._models:
            return None
        return Refusal(404, "not_found_error", f"model: {body['model']}")

    def _refusal_of_thinking(self, body: Mapping[str, Any]) -> Refusal | None:
        for place, one in enumerate(body["messages"]):
            for block in one["content"] if one["role"] == "assistant" else []:
                if "thinking" in block["type"] and json.dumps(block, sort_keys=True) not in self._thinking:
                    text = (
                        f"messages.{place}: `thinking` or `redacted_thinking` blocks in the latest assistant message "
                        "cannot be modified. These blocks must remain as they were in the original response."
                    )
                    return Refusal(400, "invalid_request_error", text)
        return None

    def _remember_thinking(self, reply: Reply) -> None:
        if reply.status == 200 and b"thinking" in reply.body:
            content = json.loads(reply.body)["content"]
            self._thinking |= {json.dumps(one, sort_keys=True) for one in content if "thinking" in one["type"]}
