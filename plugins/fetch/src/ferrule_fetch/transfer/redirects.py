"""Requests and the redirects that they are answered with."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urldefrag, urljoin

from ferrule import ToolError
from ferrule.http import URL, Client, Guard, Response, parse
from ferrule_fetch.addresses import MAX_URL_CHARS, check

_STATUSES = (301, 302, 303, 307, 308)


class TooManyRedirects(Exception):
    """The last redirect that may be followed led to one more."""


def get(
    client: Client, url: str, guard: Guard, *, max_redirects: int, before: Callable[[URL], None] | None = None
) -> tuple[str, Response]:
    """Return the answer to a GET, after at most `max_redirects`, and the URL that gave it. Close it after use.

    Args:
        guard: judges every host before it is connected to.
        before: called with every URL before it is asked for, which it may refuse. Bodies of redirects are not read.

    Raises:
        TooManyRedirects, and ToolError INVALID_URL.
    """
    text, target = url, check(url, guard)
    for redirects in range(max_redirects + 1):
        if before:
            before(target)
        response = client.open("GET", target)
        location = response.headers.get("location", "") if response.status in _STATUSES else ""
        if not location:
            # percent-encoding may make it so long that no answer has room for it
            there = response.url if len(response.url) <= MAX_URL_CHARS else text
            return there if redirects else url, response
        response.close()
        text, target = _follow(text, location, guard)
    raise TooManyRedirects


def _follow(url: str, location: str, guard: Guard) -> tuple[str, URL]:
    """Where a redirect leads, as it is written there. The fragment stays unless it has its own, as in a browser."""
    try:
        there = urljoin(url, location).strip(" \t\r\n")
        target = check(there, guard)
    except (ValueError, ToolError) as error:
        why = error.message if isinstance(error, ToolError) else "Invalid URL: its host is malformed."
        raise ToolError("INVALID_URL", f"The server redirects to an {why[0].lower()}{why[1:]}") from None
    fragment = urldefrag(url).fragment
    if fragment and "#" not in there:
        there = f"{there}#{fragment}"
        target = parse(there, strict=True)
    return there, target
