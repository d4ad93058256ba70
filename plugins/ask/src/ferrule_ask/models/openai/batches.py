"""OpenAI's Batch API: a file with the requests, a batch of it, and files with what came of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ferrule_ask.models import json_text
from ferrule_ask.models.batch_api import CANCELLED, EXPIRED, BatchResult, BatchState, Sent, list_batches, read_lines
from ferrule_ask.models.dialogue import MessageUnreadable, Response
from ferrule_ask.models.json_text import get_object, get_text, get_tokens, list_objects

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.models.batch_api import BatchRequest, Exchange

_ENDED = ("completed", "expired", "cancelled", "failed")
_LABEL = "ferrule"  # the key of a batch's metadata
_LISTED = 100  # batches of a page of the list
_CODES = {"batch_expired": EXPIRED, "batch_cancelled": CANCELLED}
_BOUNDARY = "ferrule-batch-7d1f0c3a"


class OpenAIBatches:
    """See `BatchAPI`.

    Args:
        path: behind the base URL, of one request: "/responses".
    """

    keeps_labels = True
    most_requests = 50_000
    most_bytes = 190 << 20

    def __init__(self, path: str) -> None:
        self._path = path

    async def submit(self, exchange: Exchange, url: str, requests: Sequence[BatchRequest], label: str) -> str:
        """See `BatchAPI`."""
        base = self._base(url)
        endpoint = f"/v1{self._path}"
        lines = [
            json_text.encode({"custom_id": one.name, "method": "POST", "url": endpoint, "body": one.body})
            for one in requests
        ]
        form = _form(label, b"\n".join(lines) + b"\n")
        upload = Sent(f"{base}/files", form, f"multipart/form-data; boundary={_BOUNDARY}")
        file = _identity(json_text.decode_object((await exchange(upload)).body), "file")
        wish = {"input_file_id": file, "endpoint": endpoint, "completion_window": "24h", "metadata": {_LABEL: label}}
        made = await exchange(Sent(f"{base}/batches", json_text.encode(wish)))
        return _identity(json_text.decode_object(made.body), "batch")

    async def find(self, exchange: Exchange, url: str, label: str, number: int, since: float) -> list[str]:
        """See `BatchAPI`."""
        first = f"{self._base(url)}/batches?limit={_LISTED}"
        found = await list_batches(exchange, first, "after", lambda one: _seconds(one) < since)
        mine = [one for one in found if get_object(one, "metadata").get(_LABEL) == label]
        return [identity for one in reversed(mine) if (identity := get_text(one, "id"))]

    async def look(self, exchange: Exchange, url: str, batch: str) -> BatchState:
        """See `BatchAPI`."""
        base = self._base(url)
        document = json_text.decode_object((await exchange(Sent(f"{base}/batches/{batch}"))).body)
        counts = get_object(document, "request_counts")
        done = sum(get_tokens(counts, name) or 0 for name in ("completed", "failed"))
        files = [get_text(document, name) for name in ("output_file_id", "error_file_id")]
        places = tuple(f"{base}/files/{one}/content" for one in files if one)
        status = get_text(document, "status")
        failure = _failure(document) if status == "failed" else ""
        return BatchState(status in _ENDED, done, get_tokens(counts, "total") or 0, places, failure)

    def read(self, body: bytes) -> Sequence[BatchResult]:
        """See `BatchAPI`."""
        return read_lines(body, _result)

    def _base(self, url: str) -> str:
        return url.removesuffix(self._path)


def _seconds(batch: JSONMapping) -> float:
    """When a batch was made; where it does not say so, as if it were yet to come, so that it is looked at."""
    made = batch.get("created_at")
    return made if isinstance(made, (int, float)) else math.inf


def _identity(document: JSONMapping, what: str) -> str:
    identity = get_text(document, "id")
    if identity is None:
        raise MessageUnreadable(f"is a {what} without an id")
    return identity


def _form(name: str, content: bytes) -> bytes:
    """A form with a file, as multipart/form-data has it. No line of JSON is the boundary, which has no brace."""
    head = (
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
        f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}.jsonl"\r\n'
        "Content-Type: application/jsonl\r\n\r\n"
    )
    return head.encode() + content + f"\r\n--{_BOUNDARY}--\r\n".encode()


def _failure(document: JSONMapping) -> str:
    errors = list_objects(get_object(document, "errors").get("data"))
    return next((said for one in errors if (said := get_text(one, "message"))), "It gave no reason.")


def _result(line: Mapping[str, object]) -> BatchResult | None:
    name, response, error = get_text(line, "custom_id"), get_object(line, "response"), get_object(line, "error")
    if name is None:
        return None
    status = get_tokens(response, "status_code")
    if status is not None:
        headers = {"x-request-id": get_text(response, "request_id") or ""}
        return BatchResult(name, Response(status, headers, json_text.encode(get_object(response, "body"))))
    said = get_text(error, "message") or "The batch ended before this was asked."
    return BatchResult(name, None, _CODES.get(get_text(error, "code") or "", "API_ERROR"), said)
