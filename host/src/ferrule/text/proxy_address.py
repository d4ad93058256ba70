"""The address of an HTTP proxy, as environment variables have it."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

_PORTS = {"http": 80, "https": 443}
_HOST = r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+"


class ProxyAddress(NamedTuple):
    """Where a proxy is. scheme: http or https. login: user and password, or None."""

    scheme: str
    host: str
    port: int
    login: tuple[bytes, bytes] | None


def parse_proxy(value: str) -> ProxyAddress | None:
    """The proxy that a text names, with a scheme or without; None for anything but an http or https proxy.

    >>> parse_proxy("http://me:secret@proxy.example:3128")
    ProxyAddress(scheme='http', host='proxy.example', port=3128, login=(b'me', b'secret'))
    >>> parse_proxy("socks5://proxy.example:1080") is None
    True
    """
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        port = parts.port
    except ValueError:
        return None
    host = parts.hostname or ""
    if parts.scheme not in _PORTS or not re.fullmatch(_HOST, host) or port == 0:
        return None
    login = None
    if parts.username is not None:
        login = unquote_to_bytes(parts.username), unquote_to_bytes(parts.password or "")
    return ProxyAddress(parts.scheme, host, port or _PORTS[parts.scheme], login)
