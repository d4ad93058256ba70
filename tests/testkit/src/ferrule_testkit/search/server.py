"""What the Brave and Google search APIs send, and servers on loopback that behave as they do.

    with Server() as server:
        server.route("*", Brave(some_hits(30)))
        ...                                     # FERRULE_BRAVE_ENDPOINT=server.url + BRAVE_PATH

The documents have the shapes that the providers' references and their users' reports show.
"""

import atexit
import functools
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from ferrule_dev.testing import Exchange, Request, Server, refused_port
from ferrule_testkit.runs import run_forked

BRAVE_PATH = "/res/v1/web/search"
GOOGLE_PATH = "/customsearch/v1"
JSON = "application/json; charset=utf-8"
BRAVE_KEY = "BSAk3yOfTheTests-0123456789"
GOOGLE_KEY = "AIzaSyK3yOfTheTests_0123456789"
ENGINE = "0123456789abcdef0"

Answer = tuple[int, Mapping[str, str], Mapping[str, Any]]  # status, headers, document


class Hit(NamedTuple):
    """One result, as it stands in the index of the pretended provider."""

    title: str
    url: str
    text: str


def some_hits(number: int, host: str = "www.example.com", *, first: int = 0) -> list[Hit]:
    """Results that tell their place."""
    return [Hit(f"Title {n}", f"https://{host}/{n}", f"Text {n}") for n in range(first, first + number)]


def params_of(request: Request) -> dict[str, str]:
    """The query string of a request."""
    return {name: values[0] for name, values in parse_qs(urlsplit(request.target).query).items()}


def asked(server: Server) -> list[dict[str, str]]:
    """The query strings of all requests so far."""
    return [params_of(request) for request in server.requests]


# ---- documents


def brave_document(hits: Iterable[Hit], *, more: bool = True) -> dict[str, Any]:
    """A page of results of Brave."""
    results = [
        {
            "title": hit.title,
            "url": hit.url,
            "description": hit.text,
            "is_source_local": False,
            "page_age": "2026-01-02T03:04:05",
            "profile": {"name": "Example", "url": hit.url},
            "meta_url": {"scheme": "https", "hostname": urlsplit(hit.url).hostname},
            "extra_snippets": ["not asked for"],
        }
        for hit in hits
    ]
    return {
        "type": "search",
        "query": {"original": "q", "more_results_available": more},
        "mixed": {"type": "mixed", "main": [{"type": "web", "index": n} for n in range(len(results))]},
        "web": {"type": "search", "results": results, "family_friendly": True},
    }


def brave_error(status: int, code: str | None, detail: str, **meta: Any) -> dict[str, Any]:
    """A refusal of Brave."""
    error = {"id": "5b6f", "status": status, "code": code, "detail": detail, "meta": meta}
    return {"type": "ErrorResponse", "error": error, "time": 1773685964}


def brave_rate_limited(*, used: int = 15, quota: int = 2000, rate: int = 1) -> dict[str, Any]:
    """Brave's refusal of one request too many."""
    return brave_error(
        429,
        "RATE_LIMITED",
        "Request rate limit exceeded for plan",
        plan="Free",
        rate_limit=rate,
        rate_current=rate,
        quota_limit=quota,
        quota_current=used,
        org_rate_limit=None,
        org_rate_current=0,
        component="rate_limiter",
    )


def google_document(hits: Iterable[Hit], *, next_start: int | None = None) -> dict[str, Any]:
    """A page of results of Google; there are no `items` where nothing was found."""
    items = [
        {
            "kind": "customsearch#result",
            "title": hit.title,
            "htmlTitle": f"<b>{hit.title}</b>",
            "link": hit.url,
            "displayLink": urlsplit(hit.url).hostname,
            "snippet": hit.text,
            "htmlSnippet": f"<b>{hit.text}</b>&nbsp;<br>",
        }
        for hit in hits
    ]
    queries: dict[str, Any] = {"request": [{"title": "Google Custom Search - q", "searchTerms": "q"}]}
    if next_start:
        queries["nextPage"] = [{"startIndex": next_start, "count": 10}]
    document = {"kind": "customsearch#search", "queries": queries, "searchInformation": {"totalResults": "1000"}}
    return {**document, "items": items} if items else document


def google_error(
    status: int,
    reason: str,
    message: str,
    *,
    name: str = "",
    domain: str = "global",
    details: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """A refusal of Google. name: the newer status, such as PERMISSION_DENIED."""
    error: dict[str, Any] = {
        "code": status,
        "message": message,
        "errors": [{"message": message, "domain": domain, "reason": reason}],
    }
    if name:
        error["status"] = name
    if details:
        error["details"] = list(details)
    return {"error": error}


def google_quota(period: str, *, retry_delay: str = "") -> dict[str, Any]:
    """Google's refusal of one query too many, `per day` or `per minute per user`."""
    message = (
        f"Quota exceeded for quota metric 'Queries' and limit 'Queries {period}' of service "
        "'customsearch.googleapis.com' for consumer 'project_number:123456789'."
    )
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": retry_delay}] if retry_delay else []
    return google_error(429, "rateLimitExceeded", message, name="RESOURCE_EXHAUSTED", details=details)


# ---- providers


class Rate:
    """A plan that takes `limit` requests in any `seconds`, and says so in Brave's headers."""

    def __init__(self, limit: int, seconds: float = 1.0, *, quota: int = 15_000) -> None:
        self.limit = limit
        self.seconds = seconds
        self.quota = quota
        self.taken: list[float] = []
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Whether one more request is within the plan now."""
        with self._lock:
            now = time.monotonic()
            if len([one for one in self.taken if one > now - self.seconds]) >= self.limit:
                return False
            self.taken.append(now)
            return True

    def headers(self) -> dict[str, str]:
        """What the plan leaves."""
        now = time.monotonic()
        left = self.limit - len([one for one in self.taken if one > now - self.seconds])
        return {
            "X-RateLimit-Limit": f"{self.limit}, {self.quota}",
            "X-RateLimit-Policy": f"{self.limit};w={self.seconds:g}, {self.quota};w=2592000",
            "X-RateLimit-Remaining": f"{max(0, left)}, {self.quota - len(self.taken)}",
            "X-RateLimit-Reset": "1, 1419704",
        }


class Brave:
    """Pretends to be Brave: a route. heeds_sites: `site:` in the query has its effect. before: called with each."""

    def __init__(
        self,
        hits: Sequence[Hit] = (),
        *,
        rate: Rate | None = None,
        key: str = BRAVE_KEY,
        heeds_sites: bool = False,
        before: Callable[[], object] = lambda: None,
    ) -> None:
        self._hits = hits
        self._rate = rate
        self._key = key
        self._heeds_sites = heeds_sites
        self._before = before

    def __call__(self, exchange: Exchange) -> None:
        self._before()
        status, headers, document = self._answer(exchange)
        exchange.answer(json.dumps(document).encode(), JSON, status=status, headers=headers)

    def _answer(self, exchange: Exchange) -> Answer:
        if exchange.headers["X-Subscription-Token"] != self._key:
            detail = "The provided subscription token is invalid."
            return 422, {}, brave_error(422, "SUBSCRIPTION_TOKEN_INVALID", detail, component="authentication")
        if self._rate and not self._rate.take():
            return 429, self._rate.headers(), brave_rate_limited(rate=self._rate.limit, quota=self._rate.quota)
        params = {name: values[0] for name, values in parse_qs(urlsplit(exchange.path).query).items()}
        size, page = int(params["count"]), int(params["offset"])
        if not 1 <= size <= 20 or not 0 <= page <= 9 or len(params["q"]) > 400 or len(params["q"].split()) > 50:
            return 422, {}, brave_error(422, "VALIDATION", "Unable to validate request parameter(s)")
        hits = self._matching(params["q"])
        chosen = hits[size * page : size * (page + 1)]
        document = brave_document(chosen, more=page < 9 and len(hits) > size * (page + 1))
        return 200, self._rate.headers() if self._rate else {}, document

    def _matching(self, text: str) -> list[Hit]:
        sites = [word.removeprefix("site:") for word in text.split() if word.startswith("site:")]
        if not sites or not self._heeds_sites:
            return list(self._hits)
        return [hit for hit in self._hits if _is_on(hit.url, sites)]


class Google:
    """Pretends to be Google: a route. heeds_sites: siteSearch has its effect."""

    def __init__(
        self, hits: Sequence[Hit] = (), *, key: str = GOOGLE_KEY, engine: str = ENGINE, heeds_sites: bool = False
    ) -> None:
        self._hits = hits
        self._key = key
        self._engine = engine
        self._heeds_sites = heeds_sites

    def __call__(self, exchange: Exchange) -> None:
        params = {name: values[0] for name, values in parse_qs(urlsplit(exchange.path).query).items()}
        status, document = self._answer(params)
        exchange.answer(json.dumps(document).encode(), JSON, status=status)

    def _answer(self, params: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        if params["key"] != self._key:
            info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            message = "API key not valid. Please pass a valid API key."
            return 400, google_error(400, "badRequest", message, name="INVALID_ARGUMENT", details=[info])
        start, num = int(params["start"]), int(params["num"])
        if params["cx"] != self._engine or start + num > 101:
            message = "Request contains an invalid argument."
            return 400, google_error(400, "badRequest", message, name="INVALID_ARGUMENT")
        hits = self._matching(params)
        more = start - 1 + num < min(len(hits), 100)
        chosen = hits[start - 1 : start - 1 + num]
        return 200, google_document(chosen, next_start=start + num if more else None)

    def _matching(self, params: Mapping[str, str]) -> list[Hit]:
        site, is_wanted = params.get("siteSearch"), params.get("siteSearchFilter") == "i"
        if not site or not self._heeds_sites:
            return list(self._hits)
        return [hit for hit in self._hits if _is_on(hit.url, [site]) == is_wanted]


def _is_on(url: str, sites: Iterable[str]) -> bool:
    host = urlsplit(url).hostname or ""
    return any(f".{host}".endswith(f".{site}") for site in sites)


# ---- the machine of the person who searches

KEYS = {"BRAVE_API_KEY": BRAVE_KEY, "GOOGLE_SEARCH_API_KEY": GOOGLE_KEY, "GOOGLE_SEARCH_ENGINE_ID": ENGINE}


def endpoints(server: Server) -> dict[str, str]:
    """The variables with which the search tools ask a server."""
    return {
        "FERRULE_BRAVE_ENDPOINT": server.url + BRAVE_PATH,
        "FERRULE_GOOGLE_ENDPOINT": server.url + GOOGLE_PATH,
        "FERRULE_SEARXNG_URL": server.url,
    }


def settings(folder: Path, server: Server) -> dict[str, str]:
    """The variables with which both tools ask a server, have keys, and keep what they learn in a folder.

    They have learned there already whose keys these are: a first call asks all that is installed, at three times the
    price of a later one.
    """
    state = folder / "state"
    if not state.exists():
        state.mkdir(parents=True, mode=0o700)
        shutil.copytree(_credential_records(), state / "credentials")
    return {
        **KEYS,
        **endpoints(server),
        "FERRULE_STATE": str(state),
        "IKIGAI_CONFIG_DIR": str(folder / "configuration"),
    }


@functools.cache
def _credential_records() -> Path:
    """The folder of the records that a first call leaves, made once in each process of the tests."""
    home = Path(tempfile.mkdtemp(prefix="records-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    environment = {
        **KEYS,
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "FERRULE_STATE": str(home / "state"),
        "FERRULE_BRAVE_ENDPOINT": f"http://127.0.0.1:{refused_port()}/",
    }
    script = Path(sys.executable).parent / "web-search-brave-tool"
    run_forked(script, b'{"query": "words"}', environment=environment, cwd=home)
    return home / "state" / "credentials"
