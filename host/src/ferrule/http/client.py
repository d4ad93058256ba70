"""The client and its answers."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Self

from ferrule.http.connections.connections import Connections
from ferrule.http.cookies import Cookies
from ferrule.http.errors import BodyCutOff, RequestFailed
from ferrule.http.headers import Headers, RawHeader, merge_headers
from ferrule.http.inflate import ACCEPTED_ENCODINGS, decoder
from ferrule.http.reasons import CUT_OFF, RESET, TIMEOUT, as_request_failed
from ferrule.http.resolution import Guard, Resolver, resolve
from ferrule.http.retry_after import parse_retry_after
from ferrule.http.urls import URL, parse

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator, Mapping

    from ferrule.http.httpcore_library import httpcore

MAX_BODY_BYTES = 10 << 20
"""The bytes of a decoded body that `Response.read` returns at most, by default."""

_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; ferrule)", "Accept": "*/*", "Accept-Encoding": ACCEPTED_ENCODINGS}


class Client:
    """Sends requests that all end by `deadline`, an instant of `time.monotonic()`; a context manager.

    Args:
        headers: sent with every request; they replace the client's own of the same name.
        tls: instead of the context that the environment and the system give.
        resolver: finds the addresses of a host.
        guard: is called with each host that is asked for, first without addresses, and again with all that it has,
            before any of them is connected to; it raises ToolError to refuse. Through a proxy the addresses are those
            that are known here, if any; they need not be those that the proxy connects to.
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
        self._headers = headers or {}
        self._cookies = Cookies("")

    def open(
        self,
        method: str,
        url: str | URL,
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> Response:
        """Send a request, and return once the head of the answer is there. Close the response after use.

        Args:
            url: as text, or what `parse` has made of it.
            params: the query, instead of that of a text.

        Raises:
            RequestFailed, or UnusableURL.
        """
        with as_request_failed():
            target = parse(url, params) if isinstance(url, str) else url
            every = self._merge(target, _framing(method, content), headers or {})
            cookies = self._cookies_for(target.host)
            answer = self._connections.send(method.upper(), target, cookies.add_to(every, target), content)
            cookies.keep(target, answer.headers)
        return Response(str(target), answer)

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _merge(self, url: URL, framing: Mapping[str, str], headers: Mapping[str, str]) -> list[RawHeader]:
        try:
            return merge_headers({"Host": url.authority}, _HEADERS, framing, self._headers, headers)
        except UnicodeError:  # it quotes the value, which may be a key
            raise RequestFailed("The request cannot be written as HTTP") from None

    def _cookies_for(self, host: str) -> Cookies:
        if host != self._cookies.host:
            self._cookies = Cookies(host)
        return self._cookies


def _framing(method: str, content: bytes | None) -> dict[str, str]:
    """The header that says how long the body is; none for a method that needs no body and has none."""
    is_expected = method.upper() in ("POST", "PUT", "PATCH")
    return {"Content-Length": str(len(content or b""))} if content or is_expected else {}


class Response:
    """The answer to a request.

    status: the HTTP status. url: what was requested. headers: a mapping in which letter case does not matter.
    complete: False once `read` has left out what came after its limit. A context manager, which closes it.
    """

    def __init__(self, url: str, answer: httpcore.Response) -> None:
        self._answer = answer
        self.status = answer.status
        self.url = url
        self.headers: Mapping[str, str] = Headers(answer.headers)
        self.complete = True

    @property
    def reason(self) -> str:
        """The status in words, such as "Not Found"; the server's own words only where no standard has any."""
        from http import HTTPStatus

        try:
            return HTTPStatus(self.status).phrase
        except ValueError:
            phrase: bytes = self._answer.extensions.get("reason_phrase", b"")
            return "".join(filter(str.isprintable, phrase.decode("ascii", "ignore")))[:80]

    @property
    def retry_after(self) -> float | None:
        """Seconds after which the server wants to be asked again; None where it does not say."""
        return parse_retry_after(self.headers)

    def read(self, limit: int = MAX_BODY_BYTES, *, until: Callable[[bytearray], float] | None = None) -> bytes:
        """The body, without its content encoding, cut after `limit` bytes; can be called once.

        until: is given what has come each time that more has to be waited for, and returns the instant of
        `time.monotonic()` at which the waiting ends, if the client's deadline does not come first. Raises RequestFailed
        where the body does not arrive whole and in time; BodyCutOff has what had come of it.
        """
        body = bytearray()
        try:
            self._read_into(body, limit, until)
        except RequestFailed as failed:
            is_late = failed.reason.startswith(TIMEOUT)
            if is_late or failed.reason in (CUT_OFF, RESET):
                raise BodyCutOff(failed.reason, bytes(body), is_late=is_late) from None
            raise
        return bytes(body)

    def _read_into(self, body: bytearray, limit: int, until: Callable[[bytearray], float] | None) -> None:
        received = 0
        decode = decoder(self.headers.get("content-encoding", ""))
        with self:
            for chunk in self._chunks(body, until):
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
        self._answer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _chunks(self, body: bytearray, until: Callable[[bytearray], float] | None) -> Iterator[bytes]:
        stream = self._answer.extensions["network_stream"].get_extra_info("deadline_stream")
        chunks = self._answer.iter_stream()
        while True:
            stream.read_until = until(body) if until else inf
            with as_request_failed(f"the body was still arriving, {len(body):,} bytes had come"):
                chunk = next(chunks, None)
            if chunk is None:
                stream.read_until = inf  # the connection may be used again
                return
            yield chunk
