"""Connections, straight or through a proxy, each opened when it is first needed.

They are httpcore's, without httpx, which takes as long to import as all the rest, and whose transport takes no network
backend.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferrule.http.deadline import DeadlineBackend, Guard, Resolver
from ferrule.http.errors import RequestFailed, as_request_failed
from ferrule.http.httpcore_library import httpcore
from ferrule.http.proxies import Proxy, proxy_for
from ferrule.http.trust import tls_context
from ferrule.http.urls import PORTS, URL

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterator

    from ferrule.http.headers import Raw


class Connections:
    """Carries requests over httpcore's pools, one pool for each way to get somewhere.

    tls: the context for https; where it is None, the one of `trust.tls_context` once it is needed. guard: judges
    every host that is asked for, and no proxy, which the environment names and no request.
    """

    def __init__(
        self, deadline: float, resolver: Resolver, guard: Guard | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._to_hosts = DeadlineBackend(deadline, resolver, guard)
        self._to_proxies = DeadlineBackend(deadline, resolver)
        self._tls = tls
        self._pools: dict[tuple[bool, Proxy | None], httpcore.ConnectionPool] = {}

    def send(self, method: str, url: URL, headers: list[Raw], content: bytes | None) -> httpcore.Response:
        """Send a request, and return once the head of the answer is there.

        Raises what httpcore, ssl and idna raise, and ToolError where the environment is at fault.
        """
        target = httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target)
        request = httpcore.Request(method, target, headers=headers, content=content)
        port = url.port or PORTS[url.scheme]
        proxy = proxy_for(url.scheme, url.host, port)
        if proxy:
            self._to_hosts.judge(url.host, port)
        with _told_about(proxy):
            return self._pool(url.scheme == "https", proxy).handle_request(request)

    def close(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            pool.close()

    def _pool(self, secure: bool, proxy: Proxy | None) -> httpcore.ConnectionPool:
        key = secure, proxy
        if key not in self._pools:
            self._pools[key] = httpcore.ConnectionPool(
                ssl_context=self._tls_context() if secure else None,
                proxy=self._proxy(proxy) if proxy else None,
                max_connections=None,
                network_backend=self._to_proxies if proxy else self._to_hosts,
            )
        return self._pools[key]

    def _proxy(self, proxy: Proxy) -> httpcore.Proxy:
        url = httpcore.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target="/")
        context = self._tls_context() if proxy.scheme == "https" else None
        return httpcore.Proxy(url, auth=proxy.login, ssl_context=context)

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = tls_context()
        return self._tls


@contextmanager
def _told_about(proxy: Proxy | None) -> Iterator[None]:
    """Say of a connection that a proxy was in between, which whoever asked for a URL would not think of."""
    if proxy is None:
        yield
        return
    try:
        with as_request_failed():
            yield
    except RequestFailed as failed:
        raise RequestFailed(f"{failed.reason} (through the proxy that {proxy.variable} names)") from None
