"""Public: HTTP requests that end in time, for tools.

Needs the extra `ferrule[http]`. Each name is imported when it is first used; httpcore takes long to import, so use
them inside `execute`.

    with Client(context.deadline, headers={"X-Key": key}) as client:
        with client.open("GET", "https://api.example/search", params={"q": query}) as response:
            if response.status == 200:
                found = json.loads(response.read())

- `Client`, `Response`, `MAX_BODY_BYTES`: requests that end by one instant, whatever the server does.
- `RequestFailed`, `UnusableURL`, `BodyUnreadable`, `BodyCutOff`: why there is no answer, or not a whole one. The
  reason is short, and holds no query string, header or key.
- `AddressGuard`: refuses hosts that lead into the own networks. `Guard`: the type of it, and of one of your own.
- `HTTPXTransport`, `AsyncHTTPXTransport`: the same deadline and guard for a client of httpx or httpx2, or for an SDK
  that is built on one of them.
- `URL`, `parse`: the one reading of a URL, for requests and for the guard.
- `parse_retry_after`, `parse_unsigned`: what a server's headers say about when to come back.
- `Proxy`, `proxy_for`, `tls_context`: the proxy and the trusted certificates that the environment names.
- `ACCEPTED_ENCODINGS`, `decoder`: content encodings, with a bound on what a body may grow to.
- `as_request_failed`, `reason_of`: the errors of httpcore, ssl and sockets as reasons.

Nothing is ever logged. Of the environment it reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY (either case),
SSL_CERT_FILE, SSL_CERT_DIR and FERRULE_HTTP_RELAY, and raises ToolError NETWORK_ERROR where one of them holds nothing
that can be used.
"""

from __future__ import annotations

from ferrule.lazy import attach

TYPE_CHECKING = False

if TYPE_CHECKING:
    from ferrule.http.client import MAX_BODY_BYTES, Client, Response
    from ferrule.http.connections.address_guard import AddressGuard
    from ferrule.http.connections.httpx_transport import AsyncHTTPXTransport, HTTPXTransport
    from ferrule.http.connections.proxies import Proxy, proxy_for
    from ferrule.http.errors import BodyCutOff, BodyUnreadable, RequestFailed, UnusableURL
    from ferrule.http.inflate import ACCEPTED_ENCODINGS, decoder
    from ferrule.http.reasons import as_request_failed, reason_of
    from ferrule.http.resolution import Guard, Resolver
    from ferrule.http.retry_after import parse_retry_after, parse_unsigned
    from ferrule.http.trust import tls_context
    from ferrule.http.urls import URL, parse

__all__ = [
    "ACCEPTED_ENCODINGS",
    "MAX_BODY_BYTES",
    "URL",
    "AddressGuard",
    "AsyncHTTPXTransport",
    "BodyCutOff",
    "BodyUnreadable",
    "Client",
    "Guard",
    "HTTPXTransport",
    "Proxy",
    "RequestFailed",
    "Resolver",
    "Response",
    "UnusableURL",
    "as_request_failed",
    "decoder",
    "parse",
    "parse_retry_after",
    "parse_unsigned",
    "proxy_for",
    "reason_of",
    "tls_context",
]

__getattr__ = attach(
    __name__,
    {
        "ACCEPTED_ENCODINGS": "ferrule.http.inflate",
        "AddressGuard": "ferrule.http.connections.address_guard",
        "AsyncHTTPXTransport": "ferrule.http.connections.httpx_transport",
        "BodyCutOff": "ferrule.http.errors",
        "BodyUnreadable": "ferrule.http.errors",
        "Client": "ferrule.http.client",
        "Guard": "ferrule.http.resolution",
        "HTTPXTransport": "ferrule.http.connections.httpx_transport",
        "MAX_BODY_BYTES": "ferrule.http.client",
        "Proxy": "ferrule.http.connections.proxies",
        "RequestFailed": "ferrule.http.errors",
        "Resolver": "ferrule.http.resolution",
        "Response": "ferrule.http.client",
        "URL": "ferrule.http.urls",
        "UnusableURL": "ferrule.http.errors",
        "as_request_failed": "ferrule.http.reasons",
        "decoder": "ferrule.http.inflate",
        "parse": "ferrule.http.urls",
        "parse_retry_after": "ferrule.http.retry_after",
        "parse_unsigned": "ferrule.http.retry_after",
        "proxy_for": "ferrule.http.connections.proxies",
        "reason_of": "ferrule.http.reasons",
        "tls_context": "ferrule.http.trust",
    },
)
