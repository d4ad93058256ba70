"""The client and its answers."""

import ssl
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Self

from ferrule.http.connections import PORTS, Connections
from ferrule.http.deadline import Guard, Resolver, resolve
from ferrule.http.failures import CUT_OFF, RESET, BodyCutOff, RequestFailed, as_request_failed
from ferrule.http.httpx_library import httpx
from ferrule.http.inflate import ACCEPTED, decoder
from ferrule.retrying import retry_after

MAX_BODY = 10 << 20  # bytes

_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; ferrule)", "Accept": "*/*", "Accept-Encoding": ACCEPTED}


class Client:
    """Sends requests that all end by `deadline`, an instant of `time.monotonic()`; a context manager.

    headers: sent with every request; they replace the client's own of the same name. tls: instead of the
    context that the environment and the system give. resolver: finds the addresses of a host. guard:
    is called with each host that is asked for, first without addresses, and again with all that it has, before any of
    them is connected to; it raises ToolError to refuse. Through a proxy the addresses are those that are known here,
    if any; they need not be those that the proxy connects to.
    """

    def __init__(
        self,
        deadline: float,
        *,
        headers: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        resolver: Resolver = resolve,
        guard: Guard | None = None,
    ) -> None:
        self._connections = Connections(deadline, resolver, guard, tls)
        self._headers = headers
        self._cookies = httpx.Cookies()
        self._cookies_host = b""

    def open(
        self,
        method: str,
        url: str,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> "Response":
        """Send a request, and return once the head of the answer is there. Close the response after use.

        params: the query, instead of the URL's own. Raises RequestFailed, or UnusableURL.
        """
        with as_request_failed():
            target = httpx.URL(url)
            _check(target)
            all_headers = self._merged(target, headers)
            request = httpx.Request(method, target, params=params, headers=all_headers, content=content)
            self._cookies_for(request.url.raw_host).set_cookie_header(request)
            # httpx.Client would work out where a redirect leads, even when told not to follow it, and raise
            # where that is nowhere
            response = self._connections.send(request)
            self._cookies.extract_cookies(response)
        return Response(response)

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _merged(self, url: httpx.URL, headers: Mapping[str, str] | None) -> httpx.Headers:
        # httpx would write the same Host, but only after it has decoded the name for IDNA 2008
        merged = httpx.Headers({"Host": url.netloc.decode("ascii"), **_HEADERS})
        try:
            merged.update(self._headers)
            merged.update(headers)
        except UnicodeError:  # it quotes the value, which may be a key
            raise RequestFailed("The request cannot be written as HTTP") from None
        return merged

    def _cookies_for(self, host: bytes) -> httpx.Cookies:
        if host != self._cookies_host:  # a cookie never goes to another host, whatever domain it claims
            self._cookies_host, self._cookies = host, httpx.Cookies()
        return self._cookies


def _check(url: httpx.URL) -> None:
    """Raise InvalidURL for what httpx takes for a URL, and nobody can send."""
    # raw_host, here and wherever a host is needed: `host` fails for names that IDNA 2008 does not know, as 💩.la
    if url.scheme not in PORTS or not url.raw_host or not 0 < (url.port or PORTS[url.scheme]) < 1 << 16:
        raise httpx.InvalidURL("neither http nor https, or without a host or port that there can be")


class Response:
    """The answer to a request.

    status: the HTTP status. url: what was requested. headers: a mapping in which letter case does not matter.
    complete: False once `read` has left out what came after its limit. A context manager, which closes it.
    """

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.url = str(response.url)
        self.headers: Mapping[str, str] = response.headers
        self.complete = True

    @property
    def reason(self) -> str:
        """The status in words, such as "Not Found"; the server's own words only where no standard has any."""
        try:
            return HTTPStatus(self.status).phrase
        except ValueError:
            return "".join(filter(str.isprintable, self._response.reason_phrase))[:80]

    @property
    def retry_after(self) -> float | None:
        """Seconds after which the server wants to be asked again; None where it does not say."""
        return retry_after(self.headers)

    def read(self, limit: int = MAX_BODY) -> bytes:
        """The body, without its content encoding, cut after `limit` bytes; can be called once.

        Raises RequestFailed where it does not arrive whole and in time; BodyCutOff has what had come of it.
        """
        body = bytearray()
        try:
            self._read_into(body, limit)
        except RequestFailed as failed:
            if failed.reason in (CUT_OFF, RESET):
                raise BodyCutOff(failed.reason, bytes(body)) from None
            raise
        return bytes(body)

    def _read_into(self, body: bytearray, limit: int) -> None:
        received = 0
        decode = decoder(self.headers.get("content-encoding", ""))
        with self:
            for chunk in self._chunks(body):
                received += len(chunk)
                body += decode.feed(chunk, limit + 1 - len(body))
                if len(body) > limit or received > limit:  # what arrives counts too: it may decode to nothing
                    self.complete = False
                    del body[limit:]
                    return
        if not decode.finished:
            raise RequestFailed(CUT_OFF)

    def close(self) -> None:
        """Leave the rest of the body where it is."""
        self._response.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _chunks(self, body: bytearray) -> Iterator[bytes]:
        chunks = self._response.iter_raw()
        while True:
            with as_request_failed(f"the body was still arriving, {len(body):,} bytes had come"):
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk
