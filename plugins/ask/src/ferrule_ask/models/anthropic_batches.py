"""Anthropic's Message Batches."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule_ask.models import json_text
from ferrule_ask.models.anthropic_errors import STATUSES
from ferrule_ask.models.batch_api import CANCELLED, EXPIRED, BatchResult, BatchState, Sent, list_batches, read_lines
from ferrule_ask.models.dialogue import MessageUnreadable, Response
from ferrule_ask.models.json_text import get_object, get_text, get_tokens

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_ask.models.batch_api import BatchRequest, Exchange

_LISTED = 100  # batches of a page of the list


class AnthropicBatches:
    """See `BatchAPI`."""

    keeps_labels = False
    most_requests = 100_000
    most_bytes = 240 << 20

    async def submit(self, exchange: Exchange, url: str, requests: Sequence[BatchRequest], label: str) -> str:
        """See `BatchAPI`. The names of the requests, which the results have, are all that Anthropic keeps."""
        body = {"requests": [{"custom_id": one.name, "params": one.body} for one in requests]}
        document = json_text.decode_object((await exchange(Sent(f"{url}/batches", json_text.encode(body)))).body)
        identity = get_text(document, "id")
        if identity is None:
            raise MessageUnreadable("is a batch without an id")
        return identity

    async def find(self, exchange: Exchange, url: str, label: str, number: int, since: float) -> list[str]:
        """See `BatchAPI`. Anthropic keeps no label, so these have the right time and number of requests."""
        first = f"{url}/batches?limit={_LISTED}"
        found = []
        for one in await list_batches(exchange, first, "after_id", lambda one: _seconds(one.get("created_at")) < since):
            made, identity = _seconds(one.get("created_at")), get_text(one, "id")
            if identity and made >= since and _state(one, url).total == number:
                found.append((made, identity))
        return [identity for _, identity in sorted(found)]

    async def look(self, exchange: Exchange, url: str, batch: str) -> BatchState:
        """See `BatchAPI`."""
        return _state(json_text.decode_object((await exchange(Sent(f"{url}/batches/{batch}"))).body), url)

    def read(self, body: bytes) -> Sequence[BatchResult]:
        """See `BatchAPI`."""
        return read_lines(body, _result)


def _state(document: JSONMapping, url: str) -> BatchState:
    counts = get_object(document, "request_counts")
    numbers = [get_tokens(counts, name) or 0 for name in ("succeeded", "errored", "canceled", "expired")]
    is_ended = document.get("processing_status") == "ended"
    place = get_text(document, "results_url") or ""
    if urlsplit(place)[:2] != urlsplit(url)[:2]:  # a gateway's key goes to the gateway alone
        place = f"{url}/batches/{get_text(document, 'id')}/results"
    done = sum(numbers)
    return BatchState(is_ended, done, done + (get_tokens(counts, "processing") or 0), (place,) * is_ended)


def _result(line: Mapping[str, object]) -> BatchResult | None:
    name, result = get_text(line, "custom_id"), get_object(line, "result")
    if name is None:
        return None
    kind = get_text(result, "type")
    if kind == "succeeded":
        return BatchResult(name, Response(200, {}, json_text.encode(get_object(result, "message"))))
    if kind == "errored":
        error = get_object(result, "error")
        what = get_text(get_object(error, "error"), "type") or ""
        return BatchResult(name, Response(STATUSES.get(what, 500), {}, json_text.encode(error)))
    if kind == "expired":
        return BatchResult(name, None, EXPIRED, "The provider had not come to this within the time of a batch.")
    return BatchResult(name, None, CANCELLED, "The batch was cancelled before this was asked.")


def _seconds(text: object) -> float:
    """Seconds since 1970; of what is no time as if it were yet to come, so that it is looked at."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return math.inf


BATCHES = AnthropicBatches()
