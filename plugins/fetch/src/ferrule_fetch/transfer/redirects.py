"""Requests and the redirects that they are answered with."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

from ferrule import ToolError
from ferrule_fetch.addresses.url import MAX_LENGTH, check

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.http import Client, Guard, Response

_REDIRECTS = (301, 302, 303, 307, 308)


class TooManyRedirects(Exception):
    """The last redirect that may be followed led to one more."""


def get(
    client: Client, url: str, guard: Guard, *, most: int, before: Callable[[str], None] | None = None
) -> tuple[str, Response]:
    """Return the answer to a GET, after at most `most` redirects, and the URL that gave it. Close it after use.

    guard: judges every host before it is connected to. before: called with every URL before it is asked for, which it
    may refuse. Bodies of redirects are not read. Raises TooManyRedirects, and ToolError INVALID_URL.
    """
    asked = check(url, guard)
    for redirects in range(most + 1):
        if before:
            before(asked)
        response = client.open("GET", asked)
        location = response.headers.get("location", "") if response.status in _REDIRECTS else ""
        if not location:
            # percent-encoding may make it so long that no answer has room for it
            there = response.url if len(response.url) <= MAX_LENGTH else asked
            return there if redirects else url, response
        response.close()
        asked = _redirected(asked, location, guard)
    raise TooManyRedirects


def _redirected(url: str, target: str, guard: Guard) -> str:
    """Where a redirect leads. The fragment stays unless the target has its own, as in a browser."""
    try:
        there = check(urljoin(url, target), guard)
    except (ValueError, ToolError) as error:
        why = error.message if isinstance(error, ToolError) else "Invalid URL: its host is malformed."
        raise ToolError("INVALID_URL", f"The server redirects to an {why[0].lower()}{why[1:]}") from None
    fragment = urldefrag(url).fragment
    return f"{there}#{fragment}" if fragment and "#" not in there else there
