"""Getting a page: one GET, and those that redirects ask for."""

from typing import NamedTuple
from urllib.parse import urldefrag, urljoin

from ferrule import ToolError
from ferrule.http import Client, RequestFailed, Response, UnusableURL
from ferrule_fetch.address import check
from ferrule_fetch.media import ContentType, content_type

MAX_BYTES = 10 << 20
MAX_REDIRECTS = 10

_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; ferrule-fetch)",
    "Accept": "text/html,application/xhtml+xml,text/markdown;q=0.9,text/plain;q=0.9,*/*;q=0.5",
}
_REDIRECTS = (301, 302, 303, 307, 308)


class Page(NamedTuple):
    """What a server gave. url: the last one, after redirects. complete: False where MAX_BYTES cut `body`."""

    url: str
    type: ContentType
    body: bytes
    complete: bool


def fetch(url: str, deadline: float) -> Page:
    """Get a page, following redirects, before `deadline`, an instant of `time.monotonic()`.

    Raises ToolError: INVALID_URL, also for where a redirect leads; NETWORK_ERROR; HTTP_ERROR for a status of
    400 and above; PARSE_ERROR for what is no text.
    """
    try:
        with Client(deadline, headers=_HEADERS) as client:
            return _follow(client, url.strip())
    except UnusableURL:
        raise ToolError("INVALID_URL", "Invalid URL: it is malformed.") from None
    except RequestFailed as failed:
        raise ToolError("NETWORK_ERROR", f"Failed to fetch URL: {failed.reason}") from None


def _follow(client: Client, url: str) -> Page:
    for redirects in range(MAX_REDIRECTS + 1):
        with client.open("GET", check(url)) as response:
            target = response.headers.get("location", "") if response.status in _REDIRECTS else ""
            if not target:
                return _page(response.url if redirects else url, response)
        url = _redirected(url, target)
    raise ToolError("NETWORK_ERROR", f"Failed to fetch URL: More than {MAX_REDIRECTS} redirects")


def _redirected(url: str, target: str) -> str:
    """Where a redirect leads. The fragment stays unless the target has its own, as in a browser."""
    try:
        there = check(urljoin(url, target))
    except (ValueError, ToolError) as error:
        why = error.message if isinstance(error, ToolError) else "Invalid URL: its host is malformed."
        raise ToolError("INVALID_URL", f"The server redirects to an {why[0].lower()}{why[1:]}") from None
    fragment = urldefrag(url).fragment
    return f"{there}#{fragment}" if fragment and "#" not in there else there


def _page(url: str, response: Response) -> Page:
    if response.status >= 400:
        raise ToolError("HTTP_ERROR", f"HTTP {response.status}: {response.reason}".rstrip(": "))
    declared = content_type(response.headers.get("content-type", ""))
    if not declared.may_be_text:
        raise not_text(declared.type)
    body = response.read(MAX_BYTES)
    return Page(url, declared, body, response.complete)


def not_text(kind: str) -> ToolError:
    """The error for an answer that has no text to show; `kind` says what it is."""
    return ToolError("PARSE_ERROR", f"Failed to parse HTML: the server sent {kind}, which is not text")
