"""What went wrong with a page, as an error of a kind: what a model, or a program, decides by what to do next."""

from __future__ import annotations

from contextlib import contextmanager
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule import ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_URL = 300  # characters that are shown


class Kind(NamedTuple):
    """A kind of error. code: for `error_code`. action: for `suggestedAction`."""

    name: str
    code: str
    action: str
    retryable: bool = False


VALIDATION = Kind("validation", "INVALID_URL", "inform_user")
NETWORK = Kind("network", "NETWORK_ERROR", "retry_after_delay", retryable=True)
BLOCKED = Kind("blocked", "BLOCKED", "inform_user")
NOT_FOUND = Kind("not_found", "NOT_FOUND", "inform_user")
EMPTY = Kind("content_empty", "NO_CONTENT", "inform_user")
AUTH = Kind("auth_required", "AUTH_REQUIRED", "inform_user")
RATE_LIMITED = Kind("rate_limited", "RATE_LIMIT", "retry_after_delay", retryable=True)
CONFIG = Kind("config", "MISSING_EXTRA", "inform_user")

_OF_STATUS = {
    401: AUTH,
    402: AUTH,
    403: BLOCKED,
    404: NOT_FOUND,
    408: NETWORK,
    410: NOT_FOUND,
    425: NETWORK,
    429: RATE_LIMITED,
    451: BLOCKED,
}
_OF_CODE = {"INVALID_URL": VALIDATION, "NETWORK_ERROR": NETWORK, "HTTP_ERROR": NETWORK, "PARSE_ERROR": EMPTY}
_SAID_BEFORE = ("Invalid URL: ", "Failed to fetch URL: ", "Failed to parse HTML: ")
_UNTOLD_WAIT = 60  # seconds, as advice where the server names none


def problem(kind: Kind, url: str, detail: str = "", *, retry_after: float | None = None) -> ToolError:
    """The error of a kind. detail: a clause that says more. retry_after: seconds, where the server said them."""
    details: dict[str, Any] = {"kind": kind.name, "retryable": kind.retryable or retry_after is not None}
    if retry_after is not None:
        details["retryAfterSeconds"] = ceil(retry_after)
    details["suggestedAction"] = kind.action
    if detail:
        details["detail"] = detail
    message = _sentence(kind, shown(url), detail, details.get("retryAfterSeconds", _UNTOLD_WAIT))
    return ToolError(kind.code, message, details=details)


@contextmanager
def told(url: str) -> Iterator[None]:
    """Raise what fetching and converting the page raise, as an error of a kind."""
    try:
        yield
    except ToolError as error:
        if error.details and "kind" in error.details:
            raise
        raise _translated(error, url) from None


def shown(url: str) -> str:
    """A URL as an error quotes it: without its query, which may hold a key, and without a password."""
    bare = url.strip().partition("#")[0]
    address, mark, _ = bare.partition("?")
    scheme, slashes, rest = address.partition("//")
    host, slash, path = rest.partition("/")
    address = f"{scheme}//…@{host.rpartition('@')[2]}{slash}{path}" if slashes and "@" in host else address
    return address[:_LONGEST_URL] + ("?…" if mark else "")


def _translated(error: ToolError, url: str) -> ToolError:
    detail = error.message
    for beginning in _SAID_BEFORE:
        detail = detail.removeprefix(beginning)
    kind = _kind_of(error)
    hint = error.hint if kind is not VALIDATION else None  # whose message ends with a hint of its own
    detail = " ".join(filter(None, [detail, hint])).rstrip(".")
    return problem(kind, url, detail, retry_after=error.retry_after)


def _kind_of(error: ToolError) -> Kind:
    """By the status where there is one, else by the code: what a message says is for people."""
    status = getattr(error, "status", None)
    if status is None:
        return _OF_CODE.get(error.code, NETWORK)
    if getattr(error, "is_challenge", False):
        return BLOCKED
    return _OF_STATUS.get(status, NETWORK if status >= 500 else VALIDATION)


def _sentence(kind: Kind, url: str, detail: str, wait: int) -> str:
    sentences = {
        VALIDATION: f"URL rejected for {url}: {detail}. Provide a valid public http(s) URL.",
        NETWORK: f"Network error on {url}: {detail}. Check connectivity.",
        BLOCKED: f"Blocked: {url} uses bot detection. Try an alternative source — its content can't be read directly.",
        NOT_FOUND: f"Not found: {url} returned 404/410 — the page does not exist. Check the URL.",
        EMPTY: f"No content extracted from {url}{_because(detail)}. May need browser rendering.",
        AUTH: f"Auth required: {url} is behind a login wall.",
        RATE_LIMITED: f"Rate limited on {url}. Retry in {wait} seconds.",
        CONFIG: f"Scrape failed: {detail}.",
    }
    return sentences[kind]


def _because(detail: str) -> str:
    return f": {detail}" if detail else ""
