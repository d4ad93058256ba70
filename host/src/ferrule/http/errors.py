"""Why a request failed, in a few words that can be shown to anybody.

    RequestFailed           there is no answer, or not a whole one
    ├── UnusableURL         the URL cannot be sent
    ├── BodyUnreadable      the body is not what its headers say
    └── BodyCutOff          the connection ended before the body did

What a library says in an exception is not passed on: it may quote the URL's query, or a header with a key.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferrule.http.httpcore_library import httpcore

if TYPE_CHECKING:
    from collections.abc import Iterator


class RequestFailed(Exception):
    """There is no answer, or not a whole one. `reason` says why in a few words: "Connection refused"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnusableURL(RequestFailed):
    """The URL cannot be sent: it is malformed, or neither http nor https."""


class BodyUnreadable(RequestFailed):
    """The body is encoded in a way that was not asked for, or not in the way its headers say."""


class BodyCutOff(RequestFailed):
    """The connection ended before the body did. received: what had come, without its content encoding."""

    def __init__(self, reason: str, received: bytes) -> None:
        super().__init__(reason)
        self.received = received


class HostUnknown(httpcore.ConnectError):
    """A host name has no address. `args` holds the name."""


CUT_OFF = "Connection closed before the whole body had come"
RESET = "Connection reset by the server"

_BAD_URL = (UnicodeError, OverflowError)
_NO_ANSWER = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, OSError)
_TIMEOUT = (httpcore.TimeoutException, TimeoutError)

_ERRNO = {
    errno.ECONNREFUSED: "Connection refused",
    errno.ECONNRESET: RESET,
    errno.EPIPE: "Connection closed by the server",
    errno.ENETUNREACH: "Network is unreachable",
    errno.EHOSTUNREACH: "No route to host",
    errno.ETIMEDOUT: "Connection timeout",
}


@contextmanager
def as_request_failed(during_timeout: str = "") -> Iterator[None]:
    """Raise what comes out of httpcore, ssl, socket and idna as RequestFailed.

    during_timeout: what was going on, to be told where the time ran out.
    """
    try:
        yield
    except _TIMEOUT:
        raise RequestFailed(": ".join(filter(None, ["Connection timeout", during_timeout]))) from None
    except _BAD_URL:
        raise UnusableURL("The URL is malformed") from None
    except _NO_ANSWER as error:
        raise RequestFailed(_reason(error)) from None


def _reason(error: Exception) -> str:
    if isinstance(error, HostUnknown):
        return f"Could not resolve host {error.args[0]}"
    if isinstance(error, httpcore.ProxyError):
        return "The proxy refused to connect" + _status(str(error))
    if isinstance(error, httpcore.RemoteProtocolError):
        return _protocol_reason(str(error))
    if isinstance(error, httpcore.LocalProtocolError):
        return "The request cannot be written as HTTP"
    return _system_reason(_origin(error))


def _origin(error: BaseException) -> BaseException:
    """The operating system's or ssl's error, which httpcore hands over as the only argument of its own."""
    inner = error.args[0] if len(error.args) == 1 else None
    return inner if isinstance(inner, OSError) else error


def _system_reason(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS certificate verify failed: {error.verify_message.rstrip('.')}"
    if isinstance(error, ssl.SSLError):
        return "TLS failed: " + (error.reason or "the server ended the handshake").lower().replace("_", " ")
    if isinstance(error, TimeoutError):
        return "Connection timeout"
    if isinstance(error, OSError) and not isinstance(error, socket.gaierror) and error.errno:
        return _ERRNO.get(error.errno) or os.strerror(error.errno)
    return "The connection failed"


def _protocol_reason(text: str) -> str:
    # h11 and httpcore have one class for all of these, so its text has to tell which it is
    if "without sending a response" in text:
        return "Connection closed before an answer came"
    if "without sending complete message" in text or "incomplete chunked read" in text:
        return CUT_OFF
    return "The server's answer is not valid HTTP"


def _status(text: str) -> str:
    """The status of a proxy's refusal, ": HTTP 407", out of "407 Proxy Authentication Required"."""
    status = text[:3]
    return f": HTTP {status}" if status.isascii() and status.isdigit() else ""
