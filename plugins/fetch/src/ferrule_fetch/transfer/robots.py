"""What a site lets robots fetch: robots.txt, by RFC 9309."""

from __future__ import annotations

from typing import TYPE_CHECKING

from protego import Protego

from ferrule import ToolError
from ferrule.http import URL, Client, RequestFailed
from ferrule_fetch.transfer.redirects import TooManyRedirects, get

if TYPE_CHECKING:
    from ferrule_fetch.transfer.request_policy import RequestPolicy

_UNREAD = "without which the page is not fetched."
_MAX_REDIRECTS = 5
_MAX_BYTES = 500 << 10  # what the RFC wants to be read at least


class Robots:
    """Judges URLs by the robots.txt of their sites, each of which is asked once."""

    def __init__(self, client: Client, policy: RequestPolicy) -> None:
        self._client = client
        self._policy = policy
        self._rules: dict[str, Protego] = {}

    def check(self, url: URL) -> None:
        """Raise ToolError where the URL must not be fetched.

        INVALID_URL where the site does not allow it, since no other call with this URL can do better; NETWORK_ERROR
        or HTTP_ERROR where the site cannot be asked, which the RFC takes for a refusal as long as it lasts.
        """
        site = f"{url.scheme}://{url.authority}"
        if site not in self._rules:
            self._rules[site] = Protego.parse(self._read(site, url.authority))
        if not self._rules[site].can_fetch(str(url), self._policy.user_agent):
            raise ToolError(
                "INVALID_URL",
                f"Invalid URL: robots.txt of {url.authority} does not allow this page to be fetched.",
                hint="The administrator has set FERRULE_FETCH_ROBOTS, so that it decides; look for another source.",
            )

    def _read(self, site: str, host: str) -> str:
        """The text of a robots.txt; empty, which allows everything, if there is none."""
        try:
            _, response = get(self._client, f"{site}/robots.txt", self._policy.guard, max_redirects=_MAX_REDIRECTS)
            with response:
                if response.status >= 500:
                    message = f"HTTP {response.status}: {response.reason}".rstrip(": ")
                    raise ToolError("HTTP_ERROR", f"{message}. This is the answer for robots.txt of {host}, {_UNREAD}")
                return response.read(_MAX_BYTES).decode("utf-8", "replace") if response.status < 300 else ""
        except TooManyRedirects:
            return ""
        except RequestFailed as failed:
            message = f"Failed to fetch URL: {failed.reason}. So it is for robots.txt of {host}, {_UNREAD}"
            raise ToolError("NETWORK_ERROR", message) from None
