"""What went wrong with a page, as an error of a kind, by which a model or a program decides what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from typing import NamedTuple

from ferrule import JSONObject, ToolError

_MAX_URL_CHARS = 300


class Kind(NamedTuple):
    """A kind of error. code: for `error_code`. action: for `suggestedAction`. text: for the message, of url, detail,
    because (the detail after a colon, if there is one) and wait (seconds)."""

    name: str
    code: str
    text: str
    action: str = "inform_user"
    retryable: bool = False


_BLOCKED = "Blocked: {url} uses bot detection. Try an alternative source — its content can't be read directly."
_REFUSED = "Blocked: {url} refuses this request (HTTP 403). It does not say why. Try an alternative source."
_NOT_FOUND = "Not found: {url} returned 404/410 — the page does not exist. Check the URL."
_NETWORK = "Network error on {url}: {detail}. Check connectivity."
_WITHHELD = "Blocked: {url} is withheld for legal reasons (HTTP 451). Try an alternative source."
_SERVER = "Network error on {url}: {detail}."  # the detail says whether to ask again
_RATE_LIMITED = "Rate limited on {url}. Retry in {wait} seconds."
VALIDATION = Kind("validation", "INVALID_URL", "URL rejected for {url}: {detail}. Provide a valid public http(s) URL.")
NETWORK = Kind("network", "NETWORK_ERROR", _NETWORK, "retry_after_delay", retryable=True)
BLOCKED = Kind("blocked", "BLOCKED", _BLOCKED)
REFUSED = Kind("blocked", "BLOCKED", _REFUSED)
WITHHELD = Kind("blocked", "BLOCKED", _WITHHELD)
SERVER = Kind("network", "NETWORK_ERROR", _SERVER, "retry_after_delay", retryable=True)
REJECTED = Kind("validation", "INVALID_URL", "Request rejected for {url}: {detail}.")
NOT_FOUND = Kind("not_found", "NOT_FOUND", _NOT_FOUND)
EMPTY = Kind("content_empty", "NO_CONTENT", "No content extracted from {url}{because}. May need browser rendering.")
UNREADABLE = Kind("content_empty", "NO_CONTENT", "No content extracted from {url}{because}.")
PAYMENT = Kind("auth_required", "AUTH_REQUIRED", "Payment required: {url} answers HTTP 402.")
AUTH = Kind("auth_required", "AUTH_REQUIRED", "Auth required: {url} is behind a login wall.")
RATE_LIMITED = Kind("rate_limited", "RATE_LIMIT", _RATE_LIMITED, "retry_after_delay", retryable=True)
CONFIG = Kind("config", "MISSING_EXTRA", "Scrape failed: {detail}.")

_KIND_BY_STATUS = {
    401: AUTH,
    402: PAYMENT,
    403: REFUSED,
    451: WITHHELD,
    **dict.fromkeys((404, 410), NOT_FOUND),
    **dict.fromkeys((408, 425), SERVER),
    429: RATE_LIMITED,
}
_KIND_BY_CODE = {
    "INVALID_URL": VALIDATION,
    "NETWORK_ERROR": NETWORK,
    "HTTP_ERROR": SERVER,
    "PARSE_ERROR": UNREADABLE,
    "MISSING_EXTRA": CONFIG,
}
_PREFIXES = ("Invalid URL: ", "Failed to fetch URL: ", "Failed to parse HTML: ")
_DEFAULT_WAIT_SECONDS = 60  # as advice where the server names none


def page_error(kind: Kind, url: str, detail: str = "", *, retry_after: float | None = None) -> ToolError:
    """The error of a kind.

    Args:
        detail: a clause that says more.
        retry_after: seconds, where the server said them.
    """
    details: JSONObject = {"kind": kind.name, "retryable": kind.retryable or retry_after is not None}
    if retry_after is not None:
        details["retryAfterSeconds"] = ceil(retry_after)
    details["suggestedAction"] = kind.action
    if detail:
        details["detail"] = detail
    wait = details.get("retryAfterSeconds", _DEFAULT_WAIT_SECONDS)
    because = f": {detail}" if detail else ""
    message = kind.text.format(url=_without_secrets(url), detail=detail, because=because, wait=wait)
    return ToolError(kind.code, message, details=details)


@contextmanager
def translate_errors(url: str) -> Iterator[None]:
    """Raise what fetching and converting the page raise, as an error of a kind."""
    try:
        yield
    except ToolError as error:
        if error.details and "kind" in error.details:
            raise
        raise _translate(error, url) from error.__cause__  # by which the host knows what is missing


def _without_secrets(url: str) -> str:
    """A URL as an error quotes it: without its query, which may hold a key, and without a password."""
    bare = url.strip().partition("#")[0]
    address, mark, _ = bare.partition("?")
    scheme, slashes, rest = address.partition("//")
    host, slash, path = rest.partition("/")
    address = f"{scheme}//…@{host.rpartition('@')[2]}{slash}{path}" if slashes and "@" in host else address
    return address[:_MAX_URL_CHARS] + ("?…" if mark else "")


def _translate(error: ToolError, url: str) -> ToolError:
    detail = error.message
    for prefix in _PREFIXES:
        detail = detail.removeprefix(prefix)
    kind = _kind_of(error)
    hint = error.hint if kind is not VALIDATION else None  # whose message ends with a hint of its own
    detail = " ".join(filter(None, [detail, hint])).rstrip(".")
    return page_error(kind, url, detail, retry_after=error.retry_after)


def _kind_of(error: ToolError) -> Kind:
    """By the status if there is one, else by the code: what a message says is for people."""
    status = getattr(error, "status", None)
    if status is None:
        return _KIND_BY_CODE.get(error.code, NETWORK)
    if getattr(error, "is_challenge", False):
        return BLOCKED
    return _KIND_BY_STATUS.get(status, SERVER if status >= 500 else REJECTED)
