"""Connections, straight or through a proxy, each opened when it is first needed.

They are httpcore's, without httpx, which takes as long to import as all the rest, and whose transport takes no network
backend.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from ferrule.confinement.policy import RELAY_REFUSAL
from ferrule.http.connections.proxies import Proxy, proxy_for
from ferrule.http.connections.relay import Relay, relay
from ferrule.http.deadline import DeadlineBackend
from ferrule.http.httpcore_library import httpcore
from ferrule.http.reasons import NO_ANSWER
from ferrule.http.trust import tls_context
from ferrule.http.urls import PORTS, URL

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ferrule.http.headers import RawHeader
    from ferrule.http.resolution import Guard, Resolver

_Pool = TypeVar("_Pool")
_FORBIDDEN = 403
RELAYED = "relayed"  # stands for a scheme: relayed requests have a pool of their own, without TLS


class Connections:
    """Carries requests over httpcore's pools.

    Args:
        deadline: an instant of `time.monotonic()`.
        tls: the context for https; where it is None, the one of `trust.tls_context` once it is needed.
        idle_seconds: after which a connection that is not used is closed; None for never.
        guard: judges every host that is asked for, and no proxy, which the environment names and no request.
    """

    def __init__(
        self,
        deadline: float,
        resolver: Resolver,
        guard: Guard | None = None,
        tls: ssl.SSLContext | None = None,
        idle_seconds: float | None = None,
    ) -> None:
        self._to_hosts = DeadlineBackend(deadline, resolver, guard)
        self._to_proxies = DeadlineBackend(deadline, resolver)
        self._pools = Pools(httpcore.ConnectionPool, tls, idle_seconds)

    def send(
        self,
        method: str,
        url: URL,
        headers: list[RawHeader],
        content: bytes | Iterable[bytes] | None = None,
        extensions: Mapping[str, object] | None = None,
    ) -> httpcore.Response:
        """Send a request, and return once the head of the answer is there.

        Args:
            extensions: httpcore's, such as `timeout`.

        Raises:
            What httpcore, ssl and idna raise, and ToolError where the environment is at fault.
        """
        if by_relay := relay():
            self._to_hosts.judge_name(url.host)
            pool = self._pools.get(RELAYED, None, self._to_proxies)
            return pool.handle_request(as_relayed(by_relay, method, url, headers, content, extensions))
        return self.send_past_relay(method, url, headers, content, extensions)

    def send_past_relay(
        self,
        method: str,
        url: URL,
        headers: list[RawHeader],
        content: bytes | Iterable[bytes] | None = None,
        extensions: Mapping[str, object] | None = None,
    ) -> httpcore.Response:
        """Send a request to its host or a proxy whatever the environment says of a relay, as the relay itself does."""
        proxy, port = route(url)
        if proxy:
            self._to_hosts.judge(url.host, port)
        pool = self._pools.get(url.scheme, proxy, self._to_proxies if proxy else self._to_hosts)
        with note_proxy(proxy):
            answer = pool.handle_request(as_httpcore(method, url, headers, content, extensions))
            if proxy and is_refusal(answer):
                answer.close()
                raise httpcore.ProxyError(f"{answer.status} {RELAY_REFUSAL}")
        return answer

    def close(self) -> None:
        """Close every connection."""
        for pool in self._pools.take_all():
            pool.close()


class Pools(Generic[_Pool]):
    """One pool for each way to get somewhere. make: httpcore.ConnectionPool, or its asynchronous twin."""

    def __init__(
        self, make: Callable[..., _Pool], tls: ssl.SSLContext | None, idle_seconds: float | None = None
    ) -> None:
        self._make = make
        self._tls = tls
        self._idle_seconds = idle_seconds
        self._pools: dict[tuple[str, Proxy | None], _Pool] = {}
        self._lock = threading.Lock()  # of two threads' pools for one way, one would never be closed

    def get(self, scheme: str, proxy: Proxy | None, backend: object) -> _Pool:
        """The pool for URLs of this scheme. backend: what it opens its connections with, when it is made."""
        key = scheme, proxy
        with self._lock:
            if key not in self._pools:
                self._pools[key] = self._make(
                    ssl_context=self._tls_context() if scheme == "https" else None,
                    proxy=self._proxy(proxy) if proxy else None,
                    max_connections=None,
                    keepalive_expiry=self._idle_seconds,
                    network_backend=backend,
                )
            return self._pools[key]

    def take_all(self) -> list[_Pool]:
        """Every pool, to be closed; none of them is left."""
        with self._lock:
            pools, self._pools = list(self._pools.values()), {}
        return pools

    def _proxy(self, proxy: Proxy) -> httpcore.Proxy:
        url = httpcore.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target="/")
        context = self._tls_context() if proxy.scheme == "https" else None
        return httpcore.Proxy(url, auth=proxy.login, ssl_context=context)

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = tls_context()
        return self._tls


def route(url: URL) -> tuple[Proxy | None, int]:
    """The proxy for a URL, if any, and the port that it leads to."""
    port = url.port or PORTS[url.scheme]
    return proxy_for(url.scheme, url.host, port), port


def as_httpcore(
    method: str,
    url: URL,
    headers: list[RawHeader],
    content: object,
    extensions: Mapping[str, object] | None,
) -> httpcore.Request:
    """The request as httpcore wants it.

    Args:
        content: bytes, or an iterable of them, synchronous or not.
    """
    target = httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target)
    return httpcore.Request(method, target, headers=headers, content=content, extensions=dict(extensions or {}))  # type: ignore[arg-type] # httpcore takes any mapping


def as_relayed(
    by: Relay,
    method: str,
    url: URL,
    headers: list[RawHeader],
    content: object,
    extensions: Mapping[str, object] | None,
) -> httpcore.Request:
    """The request as the relay wants it: with the whole URL in its first line, as a proxy gets it."""
    whole = f"{url.scheme}://{url.authority}{url.target}".encode("ascii")
    target = httpcore.URL(scheme="http", host=by.host, port=by.port, target=whole)
    return httpcore.Request(method, target, headers=headers, content=content, extensions=dict(extensions or {}))  # type: ignore[arg-type] # httpcore takes any mapping


def is_refusal(answer: httpcore.Response) -> bool:
    """Whether the host's own relay says that the call's permissions do not have what was asked of a proxy."""
    return answer.status == _FORBIDDEN and answer.extensions.get("reason_phrase") == RELAY_REFUSAL.encode()


@contextmanager
def note_proxy(proxy: Proxy | None) -> Iterator[None]:
    """Note on an error that a proxy was in between, which the caller, who asked for a URL, would not think of."""
    try:
        yield
    except NO_ANSWER as error:
        if proxy:
            error.add_note(f"(through the proxy that {proxy.variable} names)")
        raise
