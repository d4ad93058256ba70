"""Getting a page: one GET, and those that redirects ask for."""

from typing import NamedTuple

from ferrule import ToolError
from ferrule.http import BodyCutOff, Client, Guard, RequestFailed, Response, UnusableURL
from ferrule_fetch.formats.media import ContentType, content_type
from ferrule_fetch.formats.signatures import kind_by_type
from ferrule_fetch.transfer.following import TooManyRedirects, get
from ferrule_fetch.transfer.manners import Manners
from ferrule_fetch.transfer.refusals import not_text, status_error

MAX_BYTES = 10 << 20
MAX_REDIRECTS = 10

_ACCEPT = "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,*/*;q=0.5"


class Page(NamedTuple):
    """What a server gave.

    url: the last one, after redirects. missing: why there is no more of `body`, as a clause; empty where it is whole.
    size: of the whole file, in bytes; None where it is not known.
    """

    url: str
    type: ContentType
    body: bytes
    missing: str = ""
    size: int | None = None


def fetch(url: str, deadline: float, guard: Guard, manners: Manners) -> Page:
    """Get a page, following redirects, before `deadline`, an instant of `time.monotonic()`.

    guard: judges every host, those that redirects lead to as well, before it is connected to.
    Raises ToolError: INVALID_URL, also for where a redirect leads; NETWORK_ERROR; HTTP_ERROR for a status of
    400 and above; PARSE_ERROR for what is no text.
    """
    try:
        with Client(deadline, headers={"User-Agent": manners.user_agent, "Accept": _ACCEPT}, guard=guard) as client:
            before = None
            if manners.robots:
                from ferrule_fetch.transfer.robots import Robots

                before = Robots(client, guard, manners.user_agent).check
            there, response = get(client, url.strip(), guard, most=MAX_REDIRECTS, before=before)
            with response:
                return _page(there, response)
    except TooManyRedirects:
        raise ToolError("NETWORK_ERROR", f"Failed to fetch URL: More than {MAX_REDIRECTS} redirects") from None
    except UnusableURL:
        raise ToolError("INVALID_URL", "Invalid URL: it is malformed.") from None
    except RequestFailed as failed:
        raise ToolError("NETWORK_ERROR", f"Failed to fetch URL: {failed.reason}") from None


def _page(url: str, response: Response) -> Page:
    if response.status >= 400:
        raise status_error(response)
    declared = content_type(response.headers.get("content-type", ""))
    if not declared.may_be_readable:
        raise not_text(kind_by_type(declared.type) or "a file", declared.type, _announced(response))
    try:
        body = response.read(MAX_BYTES)
    except BodyCutOff as cut:
        if not cut.received:
            raise
        return Page(url, declared, cut.received, "the connection was closed before the rest had come")
    if response.complete:
        return Page(url, declared, body, size=len(body))
    return Page(url, declared, body, f"only its first {MAX_BYTES >> 20} MiB were read", _announced(response))


def _announced(response: Response) -> int | None:
    """How long a body is that is not read to its end; None where that is not said."""
    length = response.headers.get("content-length", "")
    is_known = length.isascii() and length.isdigit() and len(length) < 16 and "content-encoding" not in response.headers
    return int(length) if is_known else None
