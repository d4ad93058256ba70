"""The cookies of one host."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    import httpx

    from ferrule.http.headers import Raw
    from ferrule.http.urls import URL

_ANY_BYTES = "latin-1"  # a cookie goes back byte by byte as it came


class Cookies:
    """Gives a host its own cookies back.

    Whatever domain they claim, no other host gets them. They are read once another request follows, because most
    answers that set cookies are the last, and reading them takes httpx.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self._unread: list[tuple[URL, list[Raw]]] = []
        self._jar: httpx.Cookies | None = None

    def keep(self, url: URL, headers: Iterable[Raw]) -> None:
        """Keep what an answer sets. headers: all that it has."""
        found = [(name, value) for name, value in headers if name.lower() == b"set-cookie"]
        if found:
            self._unread.append((url, found))

    def added_to(self, headers: list[Raw], url: URL) -> list[Raw]:
        """The headers of a request, with its cookies, unless it has some of its own."""
        if self._jar is None and not self._unread:
            return headers
        from ferrule.http.httpx_library import httpx

        if self._jar is None:
            self._jar = httpx.Cookies()
        for asked, found in self._unread:
            answer = httpx.Response(200, headers=found, request=_request(asked, []))
            answer.headers.encoding = _ANY_BYTES
            self._jar.extract_cookies(answer)
        self._unread.clear()
        request = _request(url, headers)
        self._jar.set_cookie_header(request)
        return request.headers.raw


def _request(url: URL, headers: list[Raw]) -> httpx.Request:
    from ferrule.http.httpx_library import httpx

    # without a Host, httpx would decode the name for IDNA 2008, which does not know them all
    request = httpx.Request("GET", str(url), headers=headers or {"Host": url.authority})
    request.headers.encoding = _ANY_BYTES
    return request
