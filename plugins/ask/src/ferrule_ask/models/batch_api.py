"""What asking in batches needs to know of a maker of models: how many requests go in one, and what comes back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol
from urllib.parse import quote

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.models.dialogue import Response

CANCELLED, EXPIRED = "CANCELLED", "TIMEOUT"


class BatchRequest(NamedTuple):
    """One request of a batch. name: which it has in the results, too. body: as it is sent alone."""

    name: str
    body: JSONMapping


class BatchResult(NamedTuple):
    """What came of one request: a response as it would have had alone, or a code and a sentence that say why not."""

    name: str
    response: Response | None
    code: str = ""
    sentence: str = ""


class BatchState(NamedTuple):
    """How far a batch is. done, total: numbers of requests. places: URLs of its results.

    failure: a sentence of the provider, where it has refused the batch as a whole.
    """

    is_ended: bool
    done: int
    total: int
    places: tuple[str, ...] = ()
    failure: str = ""


class Sent(NamedTuple):
    """What is sent. body: None for GET."""

    url: str
    body: bytes | None = None
    content_type: str = "application/json"


Exchange = Callable[[Sent], Awaitable["Response"]]
"""Sends something with the provider's headers. Raises CallFailed for what is not answered with the status 200."""


class BatchAPI(Protocol):
    """The batches of one maker.

    most_requests, most_bytes: of one batch. keeps_labels: whether `find` finds the batches with a label, and no others;
    else what it finds are batches that may be meant.
    """

    keeps_labels: bool
    most_requests: int
    most_bytes: int

    async def submit(self, exchange: Exchange, url: str, requests: Sequence[BatchRequest], label: str) -> str:
        """Send a batch, and return its id.

        Args:
            url: where one of its requests would be sent alone.
            label: by which `find` knows it, as far as the provider keeps such.
        """

    async def find(self, exchange: Exchange, url: str, label: str, number: int, since: float) -> list[str]:
        """The ids of batches made since then, the earliest first: those of this label, or of this number of requests.

        Args:
            since: seconds since 1970. Pages of the list that are older are not read.
        """

    async def look(self, exchange: Exchange, url: str, batch: str) -> BatchState:
        """How far a batch is."""

    def read(self, body: bytes) -> Sequence[BatchResult]:
        """The results at one of its places."""


async def list_batches(
    exchange: Exchange, first: str, cursor: str, is_over: Callable[[JSONMapping], bool]
) -> list[JSONObject]:
    """The batches of a list that comes in pages, the newest first.

    Args:
        exchange: sends a request.
        first: the URL of the first page.
        cursor: the parameter that takes the id of the last batch of the page before.
        is_over: whether a batch is too old, and so those after it.
    """
    from ferrule_ask.models import json_text

    found: list[JSONObject] = []
    seen: set[str] = set()  # ids that ended a page: a server that does not know the cursor sends the first one for ever
    url = first
    while True:
        document = json_text.decode_object((await exchange(Sent(url))).body)
        page = [one for one in json_text.list_objects(document.get("data")) if one.get("id")]
        last = str(page[-1]["id"]) if page else ""
        if last in seen:
            return found
        found += page
        if document.get("has_more") is not True or not page or is_over(page[-1]):
            return found
        seen.add(last)
        url = f"{first}&{cursor}={quote(last, safe='')}"


def read_lines(body: bytes, read: Callable[[Mapping[str, object]], BatchResult | None]) -> list[BatchResult]:
    """The results in JSON lines; a line that is none is left out."""
    from ferrule_ask.models import json_text
    from ferrule_ask.models.dialogue import MessageUnreadable

    results = []
    for line in body.split(b"\n"):
        try:
            result = read(json_text.decode_object(line)) if line.strip() else None
        except MessageUnreadable:
            continue
        if result is not None:
            results.append(result)
    return results
