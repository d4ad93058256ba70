"""What a site lets robots fetch: robots.txt, by RFC 9309."""

from __future__ import annotations

from urllib.parse import urlsplit

from protego import Protego

from ferrule import ToolError
from ferrule.http import Client, Guard, RequestFailed
from ferrule_fetch.transfer.redirects import TooManyRedirects, get

_UNREAD = "without which the page is not fetched."
_MOST_REDIRECTS = 5
_MOST_BYTES = 500 << 10  # what the RFC wants to be read at least


class Robots:
    """Judges URLs by the robots.txt of their sites, each of which is asked once."""

    def __init__(self, client: Client, guard: Guard, user_agent: str) -> None:
        self._client = client
        self._guard = guard
        self._user_agent = user_agent
        self._rules: dict[str, Protego] = {}

    def check(self, url: str) -> None:
        """Raise ToolError where the URL must not be fetched.

        INVALID_URL where the site does not allow it, since no other call with this URL can do better; NETWORK_ERROR
        or HTTP_ERROR where the site cannot be asked, which the RFC takes for a refusal as long as it lasts.
        """
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._rules:
            self._rules[site] = Protego.parse(self._read(site, parts.netloc))
        if not self._rules[site].can_fetch(url, self._user_agent):
            raise ToolError(
                "INVALID_URL",
                f"Invalid URL: robots.txt of {parts.netloc} does not allow this page to be fetched.",
                hint="The administrator has set FERRULE_FETCH_ROBOTS, so that it decides; look for another source.",
            )

    def _read(self, site: str, host: str) -> str:
        """The text of a robots.txt; empty, which allows everything, where there is none."""
        try:
            _, response = get(self._client, f"{site}/robots.txt", self._guard, most=_MOST_REDIRECTS)
            with response:
                if response.status >= 500:
                    message = f"HTTP {response.status}: {response.reason}".rstrip(": ")
                    raise ToolError("HTTP_ERROR", f"{message}. This is the answer for robots.txt of {host}, {_UNREAD}")
                return response.read(_MOST_BYTES).decode("utf-8", "replace") if response.status < 300 else ""
        except TooManyRedirects:
            return ""
        except RequestFailed as failed:
            message = f"Failed to fetch URL: {failed.reason}. So it is for robots.txt of {host}, {_UNREAD}"
            raise ToolError("NETWORK_ERROR", message) from None
