"""Which URLs are fetched: those that can be read in one way only."""

from __future__ import annotations

from ferrule import ToolError
from ferrule.http import URL, UnusableURL, parse

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.http import Guard

MAX_URL_CHARS = 8192  # more would leave no room for the page in the answer


def check(url: str, guard: Guard | None = None) -> URL:
    """Return the URL as it is to be requested.

    guard: judges the host, too, as far as that goes without its addresses. Raises ToolError INVALID_URL, which says
    what is wrong.
    """
    url = url.strip(" \t\r\n")
    try:
        if len(url) > MAX_URL_CHARS:
            raise UnusableURL(f"it is longer than {MAX_URL_CHARS:,} characters")
        found = parse(url, strict=True)
    except UnusableURL as error:
        hint = "Send a whole URL, such as https://example.com/page"
        raise ToolError("INVALID_URL", f"Invalid URL: {error.reason}.", hint=hint) from None
    if guard:
        guard(found.host, [])
    return found
