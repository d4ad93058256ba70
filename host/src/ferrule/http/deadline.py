"""Connections that end by one instant, whatever the other side does.

httpcore bounds each operation on its own, so a server that sends one byte now and then keeps it busy for ever. Here
every operation gets what is left of the whole time, and raises httpcore's timeout when there is nothing left.
"""

from __future__ import annotations

import ssl
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from ferrule.http.httpcore_library import httpcore
from ferrule.http.reasons import HostUnknown
from ferrule.http.resolution import Guard, Lookup, Resolver, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Result = TypeVar("_Result")
_WRITE_BYTES = 4096  # under one timeout, which httpcore would restart after each send
_TLS_READ_BYTES = 65_536
PROXY_NAME_SECONDS = 2.0  # for a name that only a proxy has to know


class DeadlineBackend(httpcore.NetworkBackend):
    """Opens TCP connections for httpcore that end by `deadline`, an instant of `time.monotonic()`.

    guard: judges every host with its addresses; what it has seen is what is connected to.
    """

    def __init__(self, deadline: float, resolver: Resolver = resolve, guard: Guard | None = None) -> None:
        self._deadline = deadline
        self._resolver = resolver
        self._guard = guard
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Resolve the host and connect to the first of its addresses that answers.

        Each address gets an even share of the time that is left, so that a dead one leaves some for the next.
        """
        addresses = self._judged(host, port, self._deadline)
        failure: Exception = HostUnknown(host)
        for index, address in enumerate(addresses):
            share = seconds_left(self._deadline, timeout, httpcore.ConnectTimeout) / (len(addresses) - index)
            try:
                # as bytes, as in `resolution.resolve`; httpcore hands them on to socket.create_connection
                stream = self._sockets.connect_tcp(address.encode(), port, share, local_address, socket_options)  # type: ignore[arg-type] # socket takes bytes, too
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return DeadlineStream(stream, self._deadline)
        raise failure

    def judge(self, host: str, port: int) -> None:
        """Have the guard judge a host that a proxy is going to connect to, with the addresses that it has here.

        Where only the proxy can resolve names there are none, or they come too late, and the name alone is judged.
        """
        if self._guard:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                self._judged(host, port, min(self._deadline, time.monotonic() + PROXY_NAME_SECONDS))

    def judge_name(self, host: str) -> None:
        """Have the guard judge a host that nobody is going to connect to, as where its answer is recorded."""
        if self._guard:
            self._guard(host, [])

    def _judged(self, host: str, port: int, until: float) -> list[str]:
        if self._guard:
            self._guard(host, [])
        addresses = self._addresses(host, port, until)
        if self._guard:
            self._guard(host, addresses)
        return addresses

    def _addresses(self, host: str, port: int, until: float) -> list[str]:
        finished = threading.Event()
        lookup = Lookup(self._resolver, host, port, finished.set)
        finished.wait(seconds_left(until, None, httpcore.ConnectTimeout))
        return lookup.addresses()


class DeadlineStream(httpcore.NetworkStream):
    """A stream whose operations all end by the deadline.

    read_until: an earlier instant of `time.monotonic()` for reading alone, which may change from one read to the next.
    It is found through any TLS around this stream, as the extra info `deadline_stream`.
    """

    def __init__(self, inner: httpcore.NetworkStream, deadline: float) -> None:
        self._inner = inner
        self._deadline = deadline
        self.read_until = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        until = min(self._deadline, self.read_until)
        return self._inner.read(max_bytes, seconds_left(until, timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _WRITE_BYTES):
            left = seconds_left(self._deadline, timeout, httpcore.WriteTimeout)
            self._inner.write(buffer[start : start + _WRITE_BYTES], left)

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return TLSStream(self, ssl_context, server_hostname, timeout)

    def get_extra_info(self, info: str) -> object:
        return self if info == "deadline_stream" else self._inner.get_extra_info(info)

    def close(self) -> None:
        self._inner.close()


class TLSStream(httpcore.NetworkStream):
    """TLS over any stream, over TLS as well, as it is spoken through an https proxy.

    It is not the TLS socket of ssl: that one cannot be put over another, and httpcore's own substitute
    restarts its timeout with every byte that comes.
    """

    def __init__(
        self,
        inner: httpcore.NetworkStream,
        context: ssl.SSLContext,
        server_hostname: str | None,
        timeout: float | None = None,
    ) -> None:
        self._inner = inner
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        try:
            # the dot that ends a name in full is neither sent to the server nor in any certificate (RFC 6066, 3)
            name = server_hostname and server_hostname.removesuffix(".")
            self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname=name)
            self._run(self._tls.do_handshake, timeout)
        except (ssl.SSLError, ValueError) as error:
            self.close()
            raise httpcore.ConnectError(error) from error
        except BaseException:
            self.close()
            raise

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            return self._run(lambda: self._tls.read(max_bytes), timeout)
        except ssl.SSLEOFError:  # many servers end without a word; HTTP tells whether anything is missing
            return b""
        except ssl.SSLError as error:
            raise httpcore.ReadError(error) from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        try:
            self._run(lambda: self._tls.write(buffer), timeout)  # into memory, so all of it at once
        except ssl.SSLError as error:
            raise httpcore.WriteError(error) from error

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return TLSStream(self, ssl_context, server_hostname, timeout)

    def get_extra_info(self, info: str) -> object:
        return self._tls if info == "ssl_object" else self._inner.get_extra_info(info)

    def close(self) -> None:
        self._inner.close()

    def _run(self, step: Callable[[], _Result], timeout: float | None) -> _Result:
        """Repeat a step of the TLS machine until it has what it needs from the other side."""
        while True:
            try:
                result = step()
            except ssl.SSLWantReadError:
                self._send(timeout)
                self._receive(timeout)
            except ssl.SSLError:
                with suppress(httpcore.NetworkError, httpcore.TimeoutException):
                    self._send(timeout)  # the alert, which tells the other side why
                raise
            else:
                self._send(timeout)
                return result

    def _send(self, timeout: float | None) -> None:
        if self._outgoing.pending:
            self._inner.write(self._outgoing.read(), timeout)

    def _receive(self, timeout: float | None) -> None:
        data = self._inner.read(_TLS_READ_BYTES, timeout)
        if data:
            self._incoming.write(data)
        else:
            self._incoming.write_eof()


def seconds_left(deadline: float, timeout: float | None, late: type[httpcore.TimeoutException]) -> float:
    """The seconds until the deadline, `timeout` at most. Raises `late` where there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise late
    return left if timeout is None else min(timeout, left)
