"""Transports for httpx, or for its successor httpx2, that end by one instant and judge every address.

They serve the library that a request is of, and import neither.
"""

from __future__ import annotations

import ssl
import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from ferrule.http.connections.connections import Connections
from ferrule.http.errors import UnusableURL
from ferrule.http.httpcore_library import httpcore
from ferrule.http.reasons import reason_of
from ferrule.http.resolution import Guard, Resolver, resolve
from ferrule.http.urls import URL, parse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from types import ModuleType

    import httpx
    import httpx2

    class _Transport(httpx.BaseTransport, httpx2.BaseTransport):
        def handle_request(self, request: Any) -> Any: ...
        def __enter__(self) -> Self: ...

    class _AsyncTransport(httpx.AsyncBaseTransport, httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: Any) -> Any: ...
        async def __aenter__(self) -> Self: ...
else:
    _Transport = _AsyncTransport = object

_FAILURES = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    ssl.SSLError,
)


class HTTPXTransport(_Transport):
    """The `transport` of an `httpx.Client` or `httpx2.Client`, also of one that an SDK is given.

        client = httpx.Client(transport=HTTPXTransport(context.deadline, guard=AddressGuard()))

    Everything ends by `deadline`, an instant of `time.monotonic()`, and by the client's own timeouts where they are
    shorter.

    Args:
        guard, tls, resolver: as for `Client`. Proxies and certificates are those that the environment names, whatever
            the client says of `verify` and `trust_env`. A failure is the library's own exception, with a reason as
            RequestFailed has one for its message; what the guard raises comes out as it is.
        idle_seconds: after which a connection that is not used is closed; None for never.
    """

    def __init__(
        self,
        deadline: float,
        *,
        guard: Guard | None = None,
        tls: ssl.SSLContext | None = None,
        resolver: Resolver = resolve,
        idle_seconds: float | None = None,
    ) -> None:
        self._connections = Connections(deadline, resolver, guard, tls, idle_seconds)

    def handle_request(self, request: Any) -> Any:
        """Send a request of httpx, and return its response once the head is there."""
        library = _library_of(request)
        with _translate_failures(library):
            answer = self._connections.send(
                request.method, _url_of(request), request.headers.raw, request.stream, request.extensions
            )
        body = _class_of(_Body, library.SyncByteStream)(answer, library)
        return library.Response(answer.status, headers=answer.headers, stream=body, extensions=answer.extensions)

    def close(self) -> None:
        """Close every connection."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncHTTPXTransport(_AsyncTransport):
    """What `HTTPXTransport` is, for an `AsyncClient`. For asyncio; another event loop than asyncio's cannot use it.

    Args:
        deadline: an instant of `time.monotonic()`, by which everything ends.
        guard, tls, resolver: as for `Client`.
        idle_seconds: as for `HTTPXTransport`.
    """

    def __init__(
        self,
        deadline: float,
        *,
        guard: Guard | None = None,
        tls: ssl.SSLContext | None = None,
        resolver: Resolver = resolve,
        idle_seconds: float | None = None,
    ) -> None:
        from ferrule.http.connections.async_connections import AsyncConnections

        self._connections = AsyncConnections(deadline, resolver, guard, tls, idle_seconds)

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request of httpx, and return its response once the head is there."""
        library = _library_of(request)
        with _translate_failures(library):
            answer = await self._connections.send(
                request.method, _url_of(request), request.headers.raw, request.stream, request.extensions
            )
        body = _class_of(_AsyncBody, library.AsyncByteStream)(answer, library)
        return library.Response(answer.status, headers=answer.headers, stream=body, extensions=answer.extensions)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._connections.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


class _Body:
    """The body of an answer, which is read from the connection as it is iterated over."""

    def __init__(self, answer: httpcore.Response, library: ModuleType) -> None:
        self._answer = answer
        self._library = library

    def __iter__(self) -> Iterator[bytes]:
        with _translate_failures(self._library):
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


class _AsyncBody:
    """What `_Body` is, for asyncio."""

    def __init__(self, answer: httpcore.Response, library: ModuleType) -> None:
        self._answer = answer
        self._library = library

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _translate_failures(self._library):
            async for chunk in self._answer.aiter_stream():
                yield chunk

    async def aclose(self) -> None:
        await self._answer.aclose()


def _library_of(request: object) -> ModuleType:
    """The module httpx or httpx2: the one whose class Request is, whatever a subclass of it is called."""
    return sys.modules[type(request).__mro__[-2].__module__.partition(".")[0]]


@cache
def _class_of(body: type, stream: type) -> type:
    """A body as the library's own kind of stream, which its client insists on."""
    return type(body.__name__, (body, stream), {})


def _url_of(request: httpx.Request) -> URL:
    try:
        return parse(str(request.url))
    except UnusableURL as error:
        raise httpcore.LocalProtocolError(error.reason) from None


@contextmanager
def _translate_failures(library: ModuleType) -> Iterator[None]:
    """Raise what comes out of httpcore as the library's exception of the same name."""
    try:
        yield
    except _FAILURES as error:
        names = (kind.__name__ for kind in type(error).__mro__)
        kind = next((getattr(library, name) for name in names if hasattr(library, name)), library.NetworkError)
        raise kind(reason_of(error)) from None
