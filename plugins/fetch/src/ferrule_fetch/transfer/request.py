"""Getting a page: one GET, and those that redirects ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule import ToolError
from ferrule.http import BodyCutOff, Client, Guard, RequestFailed, Response, UnusableURL
from ferrule_fetch.formats.magic_bytes import kind_by_type
from ferrule_fetch.formats.media import ContentType, content_type
from ferrule_fetch.transfer.http_errors import not_text, status_error
from ferrule_fetch.transfer.redirects import TooManyRedirects, get

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule_fetch.transfer.request_policy import Manners

MAX_BYTES = 10 << 20
MAX_REDIRECTS = 10

ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,*/*;q=0.5"


class Page(NamedTuple):
    """What a server gave.

    url: the last one, after redirects. missing: why there is no more of `body`, as a clause; empty where it is whole.
    size: of the whole file, in bytes; None where it is not known. content_type: the header as the server sent it.
    """

    url: str
    type: ContentType
    body: bytes
    missing: str = ""
    size: int | None = None
    content_type: str = ""


class Wanted(NamedTuple):
    """Which answers are read. accept: the header that asks for them.

    most: bytes that are read of a body of this type. is_readable: whether a type is worth reading.
    """

    accept: str = ACCEPT
    most: Callable[[ContentType], int] = lambda _: MAX_BYTES
    is_readable: Callable[[ContentType], bool] = lambda declared: declared.may_be_readable


TEXT = Wanted()


def fetch(url: str, deadline: float, guard: Guard, manners: Manners, wanted: Wanted = TEXT) -> Page:
    """Get a page, following redirects, before `deadline`, an instant of `time.monotonic()`.

    guard: judges every host, those that redirects lead to as well, before it is connected to.
    Raises ToolError: INVALID_URL, also for where a redirect leads; NETWORK_ERROR; HTTP_ERROR for a status of
    400 and above; PARSE_ERROR for what is not wanted.
    """
    try:
        headers = {"User-Agent": manners.user_agent, "Accept": wanted.accept}
        with Client(deadline, headers=headers, guard=guard) as client:
            before = None
            if manners.robots:
                from ferrule_fetch.transfer.robots import Robots

                before = Robots(client, guard, manners.user_agent).check
            there, response = get(client, url.strip(), guard, most=MAX_REDIRECTS, before=before)
            with response:
                return _page(there, response, wanted)
    except TooManyRedirects:
        raise ToolError("NETWORK_ERROR", f"Failed to fetch URL: More than {MAX_REDIRECTS} redirects") from None
    except UnusableURL:
        raise ToolError("INVALID_URL", "Invalid URL: it is malformed.") from None
    except RequestFailed as failed:
        raise ToolError("NETWORK_ERROR", f"Failed to fetch URL: {failed.reason}") from None


def _page(url: str, response: Response, wanted: Wanted) -> Page:
    if response.status >= 400:
        raise status_error(response)
    header = response.headers.get("content-type", "")
    declared = content_type(header)
    if not wanted.is_readable(declared):
        raise not_text(kind_by_type(declared.type) or "a file", declared.type, _announced(response))
    most = wanted.most(declared)
    try:
        body = response.read(most)
    except BodyCutOff as cut:
        if not cut.received:
            raise
        return Page(url, declared, cut.received, "the connection was closed before the rest had come", None, header)
    if response.complete:
        return Page(url, declared, body, "", len(body), header)
    return Page(url, declared, body, f"only its first {_in_words(most)} were read", _announced(response), header)


def _in_words(size: int) -> str:
    return f"{size:,} bytes" if size % (1 << 20) else f"{size >> 20} MiB"


def _announced(response: Response) -> int | None:
    """How long a body is that is not read to its end; None where that is not said."""
    length = response.headers.get("content-length", "")
    is_known = length.isascii() and length.isdigit() and len(length) < 16 and "content-encoding" not in response.headers
    return int(length) if is_known else None
