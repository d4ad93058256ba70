"""What the Tavily and Exa search APIs send, and servers on loopback that behave as they do.

Both are asked by POST with a JSON object, and have no pages. The documents have the shapes of their references.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from ferrule_dev.testing import Exchange, Server
from ferrule_testkit.search.server import JSON, Hit

TAVILY_KEY = "tvly-dev-k3yOfTheTests0123456789"
EXA_KEY = "0e8a3k3y-0f7h-e7e5-75ab-0123456789ab"
PUBLISHED = "2026-01-02T03:04:05Z"


def bodies(server: Server) -> list[dict[str, Any]]:
    """The JSON objects of all requests so far."""
    return [json.loads(request.body) for request in server.requests]


def tavily_document(hits: Iterable[Hit]) -> dict[str, Any]:
    """The results of Tavily; `published_date` is null where none was found."""
    results = [
        {
            "title": hit.title,
            "url": hit.url,
            "content": hit.text,
            "score": 0.81025416,
            "raw_content": None,
            "published_date": "Fri, 02 Jan 2026 03:04:05 GMT",
        }
        for hit in hits
    ]
    return {
        "query": "q",
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": results,
        "response_time": 1.67,
        "request_id": "123e4567-e89b-12d3-a456-426614174111",
    }


def tavily_error(text: str) -> dict[str, Any]:
    """A refusal of Tavily."""
    return {"detail": {"error": text}}


def exa_document(hits: Iterable[Hit]) -> dict[str, Any]:
    """The results of Exa; `publishedDate` is missing where it is not known."""
    results = [
        {
            "id": hit.url,
            "title": hit.title,
            "url": hit.url,
            "publishedDate": "2026-01-02T03:04:05.678Z",
            "author": None,
            "highlights": [hit.text, "More of the page"],
        }
        for hit in hits
    ]
    cost = {"total": 0.007, "search": {"neural": 0.007}}
    return {"requestId": "67207943fab9832d162b5317f4cca830", "results": results, "costDollars": cost}


def exa_error(text: str, tag: str) -> dict[str, Any]:
    """A refusal of Exa."""
    return {"requestId": "67207943fab9832d162b5317f4cca830", "error": text, "tag": tag}


class Posted:
    """Pretends to be a provider that is asked by POST: a route. heeds_sites: its lists of domains have their effect."""

    def __init__(self, hits: Sequence[Hit] = (), *, heeds_sites: bool = False) -> None:
        self._hits = hits
        self._heeds_sites = heeds_sites

    def __call__(self, exchange: Exchange) -> None:
        body = json.loads(exchange.read_body())
        status, document = self._answer(body, dict(exchange.headers))
        exchange.answer(json.dumps(document).encode(), JSON, status=status)

    def _answer(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        raise NotImplementedError

    def _first(self, number: int, allowed: Sequence[str], blocked: Sequence[str]) -> list[Hit]:
        hits = [hit for hit in self._hits if not self._heeds_sites or _passes(hit.url, allowed, blocked)]
        return hits[:number]


class Tavily(Posted):
    """Pretends to be Tavily."""

    def _answer(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        if headers["Authorization"] != f"Bearer {TAVILY_KEY}":
            return 401, tavily_error("Unauthorized: missing or invalid API key.")
        if len(body["query"]) > 400:
            return 400, tavily_error("Query is too long. Max query length is 400 characters.")
        number, allowed, blocked = body["max_results"], body.get("include_domains"), body.get("exclude_domains") or []
        mode = body.get("include_domains_mode", "restrict" if allowed else None)
        if not 0 <= number <= 20 or len(allowed or []) > 300 or len(blocked) > 150 or bool(allowed) != bool(mode):
            return 400, tavily_error("Invalid request.")
        if body.get("time_range") not in (None, "day", "week", "month", "year") or body["search_depth"] != "basic":
            return 400, tavily_error("Invalid time range.")
        return 200, tavily_document(self._first(number, allowed or [], blocked))


class Exa(Posted):
    """Pretends to be Exa."""

    def _answer(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        if headers["x-api-key"] != EXA_KEY:
            return 401, exa_error("Invalid API key", "INVALID_API_KEY")
        number, allowed, blocked = body["numResults"], body.get("includeDomains"), body.get("excludeDomains")
        if not 1 <= number <= 100 or (allowed and blocked) or max(len(allowed or []), len(blocked or [])) > 1200:
            return 400, exa_error("Invalid request body", "INVALID_REQUEST_BODY")
        document = exa_document(self._first(number, allowed or [], blocked or []))
        if not body.get("contents", {}).get("highlights"):
            for one in document["results"]:
                del one["highlights"]
        return 200, document


def _passes(url: str, allowed: Sequence[str], blocked: Sequence[str]) -> bool:
    host = urlsplit(url).hostname or ""

    def is_on(patterns: Sequence[str]) -> bool:
        return any(f".{host}".endswith(f".{pattern.removeprefix('*.')}") for pattern in patterns)

    return (not allowed or is_on(allowed)) and not is_on(blocked)
