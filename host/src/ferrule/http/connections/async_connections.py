"""The connections of `connections` and `deadline` for asyncio: the same deadline, guard and proxies."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from ferrule.confinement.policy import RELAY_REFUSAL
from ferrule.http.connections.connections import (
    RELAYED,
    Pools,
    as_httpcore,
    as_relayed,
    is_refusal,
    note_proxy,
    route,
)
from ferrule.http.connections.relay import relay
from ferrule.http.deadline import PROXY_NAME_SECONDS, seconds_left
from ferrule.http.httpcore_library import httpcore
from ferrule.http.reasons import HostUnknown
from ferrule.http.resolution import Guard, Lookup, Resolver, resolve

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterable, Iterable, Mapping

    from ferrule.http.headers import RawHeader
    from ferrule.http.urls import URL


class AsyncConnections:
    """Carries requests over httpcore's asynchronous pools; what `connections.Connections` says holds here."""

    def __init__(
        self,
        deadline: float,
        resolver: Resolver = resolve,
        guard: Guard | None = None,
        tls: ssl.SSLContext | None = None,
        idle_seconds: float | None = None,
    ) -> None:
        self._to_hosts = AsyncDeadlineBackend(deadline, resolver, guard)
        self._to_proxies = AsyncDeadlineBackend(deadline, resolver)
        self._pools = Pools(httpcore.AsyncConnectionPool, tls, idle_seconds)

    async def send(
        self,
        method: str,
        url: URL,
        headers: list[RawHeader],
        content: bytes | AsyncIterable[bytes] | None = None,
        extensions: Mapping[str, object] | None = None,
    ) -> httpcore.Response:
        """Send a request, and return once the head of the answer is there."""
        if by_relay := relay():
            self._to_hosts.judge_name(url.host)
            pool = self._pools.get(RELAYED, None, self._to_proxies)
            return await pool.handle_async_request(as_relayed(by_relay, method, url, headers, content, extensions))
        proxy, port = route(url)
        if proxy:
            await self._to_hosts.judge(url.host, port)
        pool = self._pools.get(url.scheme, proxy, self._to_proxies if proxy else self._to_hosts)
        with note_proxy(proxy):
            answer = await pool.handle_async_request(as_httpcore(method, url, headers, content, extensions))
            if proxy and is_refusal(answer):
                await answer.aclose()
                raise httpcore.ProxyError(f"{answer.status} {RELAY_REFUSAL}")
        return answer

    async def close(self) -> None:
        """Close every connection."""
        for pool in self._pools.take_all():
            await pool.aclose()


class AsyncDeadlineBackend(httpcore.AsyncNetworkBackend):
    """Opens TCP connections for httpcore that end by `deadline`, an instant of `time.monotonic()`.

    guard: judges every host with its addresses; what it has seen is what is connected to.
    """

    def __init__(self, deadline: float, resolver: Resolver = resolve, guard: Guard | None = None) -> None:
        self._deadline = deadline
        self._resolver = resolver
        self._guard = guard
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Resolve the host and connect to the first of its addresses that answers; each gets an even share of time."""
        addresses = await self._judged(host, port, self._deadline)
        failure: Exception = HostUnknown(host)
        for index, address in enumerate(addresses):
            share = seconds_left(self._deadline, timeout, httpcore.ConnectTimeout) / (len(addresses) - index)
            try:
                stream = await self._sockets.connect_tcp(address, port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return AsyncDeadlineStream(stream, self._deadline)
        raise failure

    async def judge(self, host: str, port: int) -> None:
        """Have the guard judge a host that a proxy is going to connect to, as `DeadlineBackend.judge` does."""
        if self._guard:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                await self._judged(host, port, min(self._deadline, time.monotonic() + PROXY_NAME_SECONDS))

    def judge_name(self, host: str) -> None:
        """Have the guard judge a host that nobody is going to connect to, as where its answer is recorded."""
        if self._guard:
            self._guard(host, [])

    async def _judged(self, host: str, port: int, until: float) -> list[str]:
        if self._guard:
            self._guard(host, [])
        addresses = await self._addresses(host, port, until)
        if self._guard:
            self._guard(host, addresses)
        return addresses

    async def _addresses(self, host: str, port: int, until: float) -> list[str]:
        # in a thread of its own: those of asyncio are waited for when the loop ends, however long getaddrinfo takes
        loop, finished = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has been closed meanwhile
                loop.call_soon_threadsafe(finished.set)

        lookup = Lookup(self._resolver, host, port, wake)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds_left(until, None, httpcore.ConnectTimeout)):
                await finished.wait()
        return lookup.addresses()


class AsyncDeadlineStream(httpcore.AsyncNetworkStream):
    """A stream whose operations all end by the deadline.

    Each operation of anyio's streams, a handshake too, is bounded as a whole, however slowly the other side drips.
    """

    def __init__(self, inner: httpcore.AsyncNetworkStream, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return await self._inner.read(max_bytes, seconds_left(self._deadline, timeout, httpcore.ReadTimeout))

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        await self._inner.write(buffer, seconds_left(self._deadline, timeout, httpcore.WriteTimeout))

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        name = server_hostname and server_hostname.removesuffix(".")  # as in `deadline.TLSStream`
        left = seconds_left(self._deadline, timeout, httpcore.ConnectTimeout)
        try:
            return AsyncDeadlineStream(await self._inner.start_tls(ssl_context, name, left), self._deadline)
        except ValueError as error:  # a name that ssl cannot verify, such as one that begins with a dot
            raise httpcore.ConnectError(error) from error

    def get_extra_info(self, info: str) -> object:
        return self._inner.get_extra_info(info)

    async def aclose(self) -> None:
        await self._inner.aclose()
