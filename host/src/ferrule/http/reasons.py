"""The errors of httpcore, ssl, socket and idna as reasons in a few words.

What a library says in an exception is not passed on: it may quote the URL's query, or a header with a key.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ferrule.http.errors import RequestFailed, UnusableURL
from ferrule.http.httpcore_library import httpcore

if TYPE_CHECKING:
    from collections.abc import Iterator


class HostUnknown(httpcore.ConnectError):
    """A host name has no address. `args` holds the name."""


CUT_OFF = "Connection closed before the whole body had come"
RESET = "Connection reset by the server"
TIMEOUT = "Connection timeout"

BAD_URL = (UnicodeError, OverflowError)
NO_ANSWER = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError, httpcore.ProxyError, OSError)

_TIMEOUT = (httpcore.TimeoutException, TimeoutError)
_ERRNO = {
    errno.ECONNREFUSED: "Connection refused",
    errno.ECONNRESET: RESET,
    errno.EPIPE: "Connection closed by the server",
    errno.ENETUNREACH: "Network is unreachable",
    errno.EHOSTUNREACH: "No route to host",
    errno.ETIMEDOUT: TIMEOUT,
}


@contextmanager
def as_request_failed(during_timeout: str = "") -> Iterator[None]:
    """Raise what comes out of httpcore, ssl, socket and idna as RequestFailed.

    during_timeout: what was going on, which is added where the time ran out.
    """
    try:
        yield
    except BAD_URL:
        raise UnusableURL("The URL is malformed") from None
    except NO_ANSWER as error:
        during = during_timeout if isinstance(error, _TIMEOUT) else ""
        raise RequestFailed(": ".join(filter(None, [reason_of(error), during]))) from None


def reason_of(error: BaseException) -> str:
    """Why there is no answer, or not a whole one: "Connection refused". The notes of the error follow."""
    return " ".join([_reason(error), *getattr(error, "__notes__", [])])


def _reason(error: BaseException) -> str:
    if isinstance(error, _TIMEOUT):
        return TIMEOUT
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
    """The operating system's or ssl's error, which httpcore hands over as the only argument of its own.

    anyio puts one of its own around it, without a number, which need not be an OSError.
    """
    inner = error.args[0] if len(error.args) == 1 else None
    found = inner if isinstance(inner, Exception) else error
    return found.__cause__ if isinstance(found.__cause__, OSError) and not getattr(found, "errno", 0) else found


def _system_reason(error: BaseException) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"TLS certificate verify failed: {error.verify_message.rstrip('.')}"
    if isinstance(error, ssl.SSLError):
        return "TLS failed: " + (error.reason or "the server ended the handshake").lower().replace("_", " ")
    if isinstance(error, TimeoutError):
        return TIMEOUT
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
