"""Getting a page: one GET, and those that redirects ask for."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ferrule import ToolError
from ferrule.http import BodyCutOff, Client, RequestFailed, Response, UnusableURL
from ferrule_fetch.formats.magic_bytes import kind_by_type
from ferrule_fetch.formats.media import ContentType, parse_content_type
from ferrule_fetch.transfer.http_errors import not_text, status_error
from ferrule_fetch.transfer.redirects import TooManyRedirects, get

if TYPE_CHECKING:
    from ferrule_fetch.transfer.request_policy import RequestPolicy

MAX_BYTES = 10 << 20
MAX_DOCUMENT_BYTES = 32 << 20
MAX_REDIRECTS = 10
_MAX_HEADER_CHARS = 1000
_CONVERSION_SECONDS = 6.0  # that are kept free for reading what came, and never more than half of what is left
_QUIET_SECONDS = 2.0  # after the end of a page, in which nothing comes over a connection that stays open
_ENDING_BYTES = 2048
_CLOSED = "the connection was closed before the rest had come"
_LATE = "the rest had not come in the time there was"

ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,*/*;q=0.5"


class Page(NamedTuple):
    """What a server gave.

    url: the last one, after redirects. missing: why there is no more of `body`, as a clause; empty where it is whole.
    size: of the whole file, in bytes; None where it is not known. content_type: the header,
    without invisible characters.
    """

    url: str
    type: ContentType
    body: bytes
    missing: str = ""
    size: int | None = None
    content_type: str = ""


class FetchOptions(NamedTuple):
    """Which answers are read. accept: the header that asks for them.

    max_bytes: what is read of a body of this type. is_readable: whether a type is worth reading. may_be_partial:
    whether the beginning of a body is worth having where the rest does not come.
    """

    accept: str = ACCEPT
    max_bytes: Callable[[ContentType], int] = lambda declared: MAX_DOCUMENT_BYTES if declared.is_document else MAX_BYTES
    is_readable: Callable[[ContentType], bool] = lambda declared: declared.may_be_readable
    may_be_partial: bool = True


DEFAULT_OPTIONS = FetchOptions()


def fetch(url: str, deadline: float, policy: RequestPolicy, options: FetchOptions = DEFAULT_OPTIONS) -> Page:
    """Get a page, following redirects, before `deadline`, an instant of `time.monotonic()`.

    Raises ToolError: INVALID_URL, also for where a redirect leads; NETWORK_ERROR; HTTP_ERROR for a status of
    400 and above; PARSE_ERROR for what the options do not call readable.
    """
    try:
        headers = {"User-Agent": policy.user_agent, "Accept": options.accept}
        with Client(deadline, headers=headers, guard=policy.guard) as client:
            before = None
            if policy.robots:
                from ferrule_fetch.transfer.robots import Robots

                before = Robots(client, policy).check
            there, response = get(client, url.strip(), policy.guard, max_redirects=MAX_REDIRECTS, before=before)
            with response:
                return _read_page(there, response, options, deadline)
    except TooManyRedirects:
        raise ToolError("NETWORK_ERROR", f"Failed to fetch URL: More than {MAX_REDIRECTS} redirects") from None
    except UnusableURL:
        raise ToolError("INVALID_URL", "Invalid URL: it is malformed.") from None
    except RequestFailed as failed:
        raise ToolError("NETWORK_ERROR", f"Failed to fetch URL: {failed.reason}") from None


def _read_page(url: str, response: Response, options: FetchOptions, deadline: float) -> Page:
    if response.status >= 400:
        raise status_error(response)
    header = response.headers.get("content-type", "")
    declared = parse_content_type(header)
    header = "".join(filter(str.isprintable, header))[:_MAX_HEADER_CHARS]
    if not options.is_readable(declared):
        raise not_text(kind_by_type(declared.type) or "a file", declared.type, _announced_size(response))
    max_bytes = options.max_bytes(declared)
    try:
        body = response.read(max_bytes, until=_Patience(deadline) if options.may_be_partial else None)
    except BodyCutOff as cut:
        if not cut.received or not options.may_be_partial:
            raise
        if cut.is_late and _has_ended(cut.received):
            return Page(url, declared, cut.received, "", len(cut.received), header)
        return Page(url, declared, cut.received, _LATE if cut.is_late else _CLOSED, None, header)
    if response.complete:
        return Page(url, declared, body, "", len(body), header)
    amount = f"{max_bytes:,} bytes" if max_bytes % (1 << 20) else f"{max_bytes >> 20} MiB"
    missing = f"only its first {amount} were read"
    return Page(url, declared, body, missing, _announced_size(response), header)


class _Patience:
    """Until when more of a body is waited for, as `Response.read` asks. deadline: of all that there is to do.

    Before anything has come: up to the deadline. Then as long as there is time to read what came. Once the page has
    ended, some connections stay open; a short while without a byte tells.
    """

    def __init__(self, deadline: float) -> None:
        now = time.monotonic()
        self._until = max(deadline - _CONVERSION_SECONDS, now + (deadline - now) / 2)

    def __call__(self, body: bytearray) -> float:
        if not body:
            return inf
        return min(self._until, time.monotonic() + _QUIET_SECONDS) if _has_ended(body) else self._until


def _has_ended(body: bytes | bytearray) -> bool:
    """Whether nothing but comments can follow: the page's last tag is `</html>`."""
    ending = bytes(body[-_ENDING_BYTES:]).replace(b"\0", b"").lower()  # every other byte is 0 in UTF-16
    _, tag, rest = ending.rpartition(b"</html>")
    rest = rest.lstrip()
    while rest.startswith(b"<!--"):
        rest = rest.partition(b"-->")[2].lstrip()
    return bool(tag) and not rest


def _announced_size(response: Response) -> int | None:
    """How long a body is that is not read to its end; None where that is not said."""
    length = response.headers.get("content-length", "")
    is_known = length.isascii() and length.isdigit() and len(length) < 16 and "content-encoding" not in response.headers
    return int(length) if is_known else None
