"""A server on loopback with the batches of Anthropic and of OpenAI, in the shapes that they document.

    with BatchServer(lambda body: {"text": "Oslo"}) as server:
        ...                                  # ANTHROPIC_BASE_URL=server.url, OPENAI_BASE_URL=server.url + "/v1"
    assert [len(one.requests) for one in server.batches] == [3]

A batch ends at once, or where `go_on` is cleared, once it is set. What becomes of a request is what the function of its
body says: `says(text)`, `calls(name, arguments)`, or one of EXPIRED, CANCELLED, ERRORED,
UNREADABLE: with the status 200, and no answer in it.
"""

import json
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, Self
from urllib.parse import parse_qsl

from ferrule_dev.testing.http_server import Exchange, Server

EXPIRED, CANCELLED, ERRORED, UNREADABLE = "expired", "canceled", "errored", "unreadable"
_MADE = 4070912645.100435  # the second of January 2099
_PAGE = 20  # batches of a list, where the request does not say how many
_FILE = re.compile(rb'filename="[^"]*"\r\n.*?\r\n\r\n(.*)\r\n--', re.DOTALL)
Outcome = str | Mapping[str, Any]


def says(text: str) -> dict[str, Any]:
    """An answer."""
    return {"text": text}


def calls(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The wish to call a tool."""
    return {"tool": name, "arguments": dict(arguments)}


@dataclass
class Batch:
    """A batch that was sent. requests: their bodies, by name. made: seconds since 1970."""

    id: str
    kind: str
    requests: dict[str, Any]
    label: str = ""
    endpoint: str = ""
    made: float = _MADE


@dataclass
class Fault:
    """What comes instead of an answer to requests with this method, whose paths end so. What they ask for is done.

    status: None where the connection is cut; with 200 what comes is no JSON. times: of requests; the others go well.
    """

    method: str
    path: str
    status: int | None = None
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)

    def takes(self, method: str, path: str) -> bool:
        """Whether this is a request that fails; it is counted."""
        meant = self.times > 0 and method == self.method and path.endswith(self.path)
        self.times -= meant
        return meant


class BatchServer:
    """The server. seen: method and path of each request.

    go_on: cleared, no batch ends. made: set once a batch is there. faults: what fails, the first that fits.
    refuse: a sentence with which OpenAI fails whole batches. repeats_page: a list has one page, which comes again.
    """

    def __init__(self, outcome: Callable[[Any], Outcome]) -> None:
        self._server = Server()
        self._server.route("*", self._exchange)
        self._outcome = outcome
        self._ids = count(1)
        self._files: dict[str, bytes] = {}
        self.url = self._server.url
        self.batches: list[Batch] = []
        self.seen: list[tuple[str, str]] = []
        self.keys: set[str] = set()
        self.go_on, self.made = threading.Event(), threading.Event()
        self.go_on.set()
        self.faults: list[Fault] = []
        self.refuse = ""
        self.repeats_page = False

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__(None, None, None)

    def _exchange(self, exchange: Exchange) -> None:
        length = int(exchange.headers.get("Content-Length") or 0)
        data = exchange.rfile.read(length)
        path, _, query = exchange.path.partition("?")
        self.seen.append((exchange.command, path))
        self.keys.add(exchange.headers.get("Authorization", ""))
        answer = self._answer(exchange.command, path, data, dict(parse_qsl(query)))
        fault = next((one for one in self.faults if one.takes(exchange.command, path)), None)
        if fault is not None:
            _fail(exchange, fault)
        elif answer is None:
            error = {"type": "error", "error": {"type": "not_found_error", "message": "Not found"}}
            exchange.answer(json.dumps(error).encode(), "application/json", status=404)
        elif isinstance(answer, bytes):
            exchange.answer(answer, "application/x-jsonl")
        else:
            exchange.answer(json.dumps(answer).encode(), "application/json")

    def _answer(self, method: str, path: str, data: bytes, query: Mapping[str, str]) -> Any:
        if path == "/v1/files" and method == "POST":
            return self._keep(data)
        if path in ("/v1/messages/batches", "/v1/batches"):
            kind = "anthropic" if "messages" in path else "openai"
            if method == "POST":
                return self._make(kind, json.loads(data))
            return self._list([one for one in reversed(self.batches) if one.kind == kind], query)
        if found := re.fullmatch(r"/v1/files/(.+)/content", path):
            return self._files.get(found[1])
        found = re.fullmatch(r"/v1/(?:messages/)?batches/([^/]+)(/results)?", path)
        batch = next((one for one in self.batches if found and one.id == found[1]), None)
        if batch is None:
            return None
        return self._lines(batch, _anthropic_line) if found and found[2] else self._state(batch)

    def _list(self, batches: list[Batch], query: Mapping[str, str]) -> dict[str, Any]:
        """A page of the list, the newest first, from the batch on that comes after the one named."""
        after, most = query.get("after_id") or query.get("after"), int(query.get("limit", _PAGE))
        ids = [one.id for one in batches]
        start = ids.index(after) + 1 if after and not self.repeats_page else 0
        page = [self._state(one) for one in batches[start : start + most]]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {"first_id": None, "last_id": None}
        return {"data": page, "has_more": self.repeats_page or start + most < len(batches), **ends}

    def _keep(self, data: bytes) -> dict[str, Any]:
        found = _FILE.search(data)
        name = f"file-{next(self._ids):024d}"
        self._files[name] = found[1] if found else b""
        return {"id": name, "object": "file", "bytes": len(data), "purpose": "batch", "filename": "requests.jsonl"}

    def _make(self, kind: str, wish: Any) -> dict[str, Any]:
        number = f"{next(self._ids):024d}"
        if kind == "anthropic":
            batch = Batch(f"msgbatch_{number}", kind, {one["custom_id"]: one["params"] for one in wish["requests"]})
        else:
            lines = [json.loads(line) for line in self._files[wish["input_file_id"]].splitlines() if line]
            requests = {one["custom_id"]: one["body"] for one in lines}
            assert {one["url"] for one in lines} == {wish["endpoint"]}
            label = (wish.get("metadata") or {}).get("ferrule", "")
            batch = Batch(f"batch_{number}", kind, requests, label, wish["endpoint"])
        self.batches.append(batch)
        self.made.set()
        return self._state(batch)

    def _state(self, batch: Batch) -> dict[str, Any]:
        is_ended = self.go_on.is_set()
        return self._message_batch(batch, is_ended) if batch.kind == "anthropic" else self._batch(batch, is_ended)

    def _message_batch(self, batch: Batch, is_ended: bool) -> dict[str, Any]:
        made = datetime.fromtimestamp(batch.made, UTC).isoformat()
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        for body in batch.requests.values():
            outcome = self._outcome(body) if is_ended else "processing"
            counts["succeeded" if outcome == UNREADABLE or not isinstance(outcome, str) else outcome] += 1
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": "ended" if is_ended else "in_progress",
            "request_counts": counts,
            "ended_at": made if is_ended else None,
            "created_at": made,
            "expires_at": made,
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{self.url}/v1/messages/batches/{batch.id}/results" if is_ended else None,
        }

    def _batch(self, batch: Batch, is_ended: bool) -> dict[str, Any]:
        outcomes = [self._outcome(body) for body in batch.requests.values()]
        state = "failed" if self.refuse else "completed"
        if EXPIRED in outcomes:
            state = "expired"
        output, errors = f"file-o{batch.id}", f"file-e{batch.id}"
        failing = (EXPIRED, CANCELLED, ERRORED)
        good = {name: one for name, one in batch.requests.items() if self._outcome(one) not in failing}
        bad = {name: one for name, one in batch.requests.items() if name not in good}
        if is_ended and not self.refuse:
            self._files[output] = self._lines(Batch(batch.id, "openai", good, endpoint=batch.endpoint), _openai_line)
            self._files[errors] = self._lines(Batch(batch.id, "openai", bad, endpoint=batch.endpoint), _openai_line)
        message = {"code": "token_limit_exceeded", "message": self.refuse, "param": None, "line": None}
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": batch.endpoint,
            "errors": {"object": "list", "data": [message]} if self.refuse else None,
            "input_file_id": "file-in",
            "completion_window": "24h",
            "status": state if is_ended else "in_progress",
            "output_file_id": output if is_ended and good and not self.refuse else None,
            "error_file_id": errors if is_ended and bad and not self.refuse else None,
            "created_at": int(batch.made),
            "request_counts": {
                "total": len(outcomes),
                "completed": len(good) * is_ended,
                "failed": len(bad) * is_ended,
            },
            "metadata": {"ferrule": batch.label},
        }

    def _lines(self, batch: Batch, line: Callable[[Any, Outcome], dict[str, Any]]) -> bytes:
        # In another order than they were sent in, as both document.
        names = sorted(batch.requests, reverse=True)
        lines = [{"custom_id": one, **line(batch.requests[one], self._outcome(batch.requests[one]))} for one in names]
        return "".join(f"{json.dumps(one)}\n" for one in lines).encode()


def _fail(exchange: Exchange, fault: Fault) -> None:
    if fault.status is None:
        exchange.close_connection = True
        return
    error = {"type": "error", "error": {"type": "api_error", "message": "Not now."}}
    body = b"<html>" if fault.status == 200 else json.dumps(error).encode()
    exchange.answer(body, "application/json", status=fault.status, headers=fault.headers)


def _anthropic_line(body: Any, outcome: Outcome) -> dict[str, Any]:
    if outcome == ERRORED:
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": "Bad."}, "request_id": "req_1"}
        return {"result": {"type": "errored", "error": error}}
    if outcome == UNREADABLE:
        return {"result": {"type": "succeeded", "message": {"id": "msg_1", "type": "message"}}}
    if isinstance(outcome, str):
        return {"result": {"type": outcome}}
    content: dict[str, Any] = {"type": "text", "text": outcome.get("text", "")}
    if "tool" in outcome:
        content = {"type": "tool_use", "id": "toolu_1", "name": outcome["tool"], "input": outcome["arguments"]}
    message = {
        "id": "msg_014VwiXbi91y3JMjcpyGBHX5",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [content],
        "stop_reason": "tool_use" if "tool" in outcome else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1000, "output_tokens": 100, "service_tier": "batch"},
    }
    return {"result": {"type": "succeeded", "message": message}}


def _openai_line(body: Any, outcome: Outcome) -> dict[str, Any]:
    if outcome == EXPIRED:
        error = {"code": "batch_expired", "message": "This request could not be executed before the window expired."}
        return {"id": "batch_req_1", "response": None, "error": error}
    if outcome == CANCELLED:
        return {"id": "batch_req_1", "response": None, "error": {"code": "batch_cancelled", "message": "Cancelled."}}
    if outcome == UNREADABLE:
        broken = {"id": "resp_1", "status": "failed", "error": {"code": "server_error", "message": "Sorry."}}
        return {"id": "batch_req_1", "response": {"status_code": 200, "request_id": "r", "body": broken}, "error": None}
    if isinstance(outcome, str):
        failed = {"error": {"message": "Bad.", "type": "invalid_request_error", "param": None, "code": None}}
        return {"id": "batch_req_1", "response": {"status_code": 400, "request_id": "r", "body": failed}, "error": None}
    done = _chat(body, outcome) if "messages" in body else _response(body, outcome)
    return {"id": "batch_req_1", "response": {"status_code": 200, "request_id": "req_c", "body": done}, "error": None}


def _response(body: Any, outcome: Mapping[str, Any]) -> dict[str, Any]:
    text = {"type": "output_text", "text": outcome.get("text", ""), "annotations": []}
    item: dict[str, Any] = {"type": "message", "id": "m", "role": "assistant", "content": [text]}
    if "tool" in outcome:
        arguments = json.dumps(outcome["arguments"])
        item = {"type": "function_call", "id": "f", "call_id": "c1", "name": outcome["tool"], "arguments": arguments}
    usage = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}
    return {"id": "resp_1", "status": "completed", "model": body["model"], "output": [item], "usage": usage}


def _chat(body: Any, outcome: Mapping[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": outcome.get("text")}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": body["model"],
        "choices": [choice],
        "usage": usage,
    }
