"""URLs as they are sent: checked, their host in ASCII, and percent-encoded where that is missing.

The sets of characters that stay as they are come from the WHATWG URL standard. What is encoded already stays so.
"""

from __future__ import annotations

import re
import string
from socket import AF_INET, AF_INET6, inet_pton
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlencode

from ferrule.http.errors import UnusableURL

if TYPE_CHECKING:
    from collections.abc import Mapping

PORTS = {"http": 80, "https": 443}

_LONGEST = 65_536  # characters
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PARTS = re.compile(r"(https?)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.ASCII | re.IGNORECASE)
_AUTHORITY = re.compile(r"(?:(.*)@)?(\[[^\]]*\]|[^:@]+)(?::(?:0*([1-9][0-9]{0,4}))?)?")
_IPV4 = re.compile(r"[0-9]+(?:\.[0-9]+){3}")


def _all_but(others: str) -> str:
    return "".join(sorted(set(string.punctuation) - set(others)))


_IN_FRAGMENT = _all_but('"<>`')
_IN_QUERY = _all_but('"#<>')
_IN_PATH = _all_but('"#<>?`{}')
_IN_USERINFO = _all_but('"#<>?`{}/;=@[\\]^|')
_IN_HOST = _all_but("#/:<>?@[]^")


class URL(NamedTuple):
    """A URL that can be sent; `str` writes it.

    host: without the brackets of IPv6. port: None where it is the scheme's own. query and fragment: with the sign that
    begins them.
    """

    scheme: str
    userinfo: str
    host: str
    port: int | None
    path: str
    query: str
    fragment: str

    @property
    def authority(self) -> str:
        """The host and its port, as the header Host names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """What the first line of a request asks for."""
        return (self.path or "/") + self.query

    def __str__(self) -> str:
        userinfo = self.userinfo and f"{self.userinfo}@"
        return f"{self.scheme}://{userinfo}{self.authority}{self.path}{self.query}{self.fragment}"


def parse(url: str, params: Mapping[str, str] | None = None) -> URL:
    """Read a URL. params: the query, instead of the URL's own. Raises UnusableURL."""
    parts = None if _CONTROL.search(url) else _PARTS.fullmatch(url)
    authority = parts and _AUTHORITY.fullmatch(parts[2])
    if not parts or not authority:
        raise _unusable()
    scheme, _, path, query, fragment = parts.groups("")
    userinfo, host, port = authority.groups("")
    try:
        found = URL(
            scheme=scheme.lower(),
            userinfo=quote(userinfo, _IN_USERINFO),
            host=_ascii(host),
            port=_port(port, scheme.lower()),
            path=quote(_without_dots(path), _IN_PATH),
            query=quote(query, _IN_QUERY) if params is None else _query(params),
            fragment=quote(fragment, _IN_FRAGMENT),
        )
    except (OSError, UnicodeError):
        raise _unusable() from None
    if len(str(found)) > _LONGEST:
        raise _unusable()
    return found


def _query(params: Mapping[str, str]) -> str:
    return f"?{urlencode(params)}" if params else ""


def _ascii(host: str) -> str:
    """The host as it is looked up. Raises OSError or UnicodeError where it can be none."""
    if host.startswith("["):
        inet_pton(AF_INET6, host[1:-1])
        return host[1:-1]
    if _IPV4.fullmatch(host):
        inet_pton(AF_INET, host)
        return host
    if host.isascii():
        return quote(host.lower(), _IN_HOST)
    import idna

    return idna.encode(host.lower()).decode("ascii")


def _port(written: str, scheme: str) -> int | None:
    port = int(written or PORTS[scheme])
    if port >= 1 << 16:
        raise _unusable()
    return None if port == PORTS[scheme] else port


def _without_dots(path: str) -> str:
    """A path without the segments "." and ".." (RFC 3986, 5.2.4).

    >>> _without_dots("/a/./b/../c/..")
    '/a/'
    """
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in (".", ".."):
        kept.append("")
    return "/" + "/".join(kept)


def _unusable() -> UnusableURL:
    return UnusableURL("The URL is malformed")
