"""The cookies of one host."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from email.message import Message
    from http.cookiejar import CookieJar

    from ferrule.http.headers import RawHeader
    from ferrule.http.urls import URL

_ANY_BYTES = "latin-1"  # a cookie goes back byte by byte as it came


class Cookies:
    """Gives a host its own cookies back.

    Whatever domain they claim, no other host gets them. They are read once another request follows, because most
    answers that set cookies are the last, and what reads them takes long to import.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self._unread: list[tuple[URL, list[RawHeader]]] = []
        self._jar: CookieJar | None = None

    def keep(self, url: URL, headers: Iterable[RawHeader]) -> None:
        """Keep what an answer sets. headers: all that it has."""
        found = [(name, value) for name, value in headers if name.lower() == b"set-cookie"]
        if found:
            self._unread.append((url, found))

    def add_to(self, headers: list[RawHeader], url: URL) -> list[RawHeader]:
        """The headers of a request, with its cookies, unless it has some of its own."""
        has_own = any(name.lower() == b"cookie" for name, _ in headers)
        if has_own or (self._jar is None and not self._unread):
            return headers
        from urllib.request import Request

        request = Request(str(url))  # noqa: S310 - the jar reads it; it is never opened
        self._read_jar().add_cookie_header(request)
        cookie = request.get_header("Cookie")
        return [*headers, (b"Cookie", cookie.encode(_ANY_BYTES))] if cookie else headers

    def _read_jar(self) -> CookieJar:
        """The jar, once all that came is in it."""
        from email.message import Message
        from http.cookiejar import CookieJar
        from urllib.request import Request

        if self._jar is None:
            self._jar = CookieJar()
        for url, found in self._unread:
            headers = Message()
            for name, value in found:
                headers[name.decode(_ANY_BYTES)] = value.decode(_ANY_BYTES)
            self._jar.extract_cookies(_Answer(headers), Request(str(url)))  # type: ignore[arg-type]  # noqa: S310 - as above
        self._unread.clear()
        return self._jar


class _Answer(NamedTuple):
    """All that a jar asks of an HTTPResponse."""

    headers: Message

    def info(self) -> Message:
        return self.headers
