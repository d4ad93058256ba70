"""The one reading of a URL: checked, its host in ASCII, and percent-encoded where that is missing.

The sets of characters that stay as they are come from the WHATWG URL standard. What is encoded already stays so.

A browser, httpx, Python and the C library each read some malformed URLs, and each another host in them. A strict
reading refuses those, for tools that get their URLs from a model or a page.
"""

from __future__ import annotations

import re
from socket import AF_INET6, inet_pton
from typing import TYPE_CHECKING, NamedTuple

from ferrule.http.errors import UnusableURL

if TYPE_CHECKING:
    from collections.abc import Mapping

PORTS = {"http": 80, "https": 443}

_MAX_URL_CHARS = 65_536
_MAX_HOST_CHARS = 254  # with the dot that may end it
_MAX_PORT = 65_535

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NOT_IN_TEXT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PARTS = re.compile(r"(https?)://([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.ASCII | re.IGNORECASE)
# As text, which `re` compiles when it is needed first: a strict reading of most URLs needs none of these.
_SCHEME = r"(?i)([a-z][a-z0-9+.-]*):(?![0-9])"  # what follows it in "example.com:80" is a port
_AUTHORITY = r"(?:(.*)@)?(\[[^\]]*\]|[^:@]+)(?::(?:0*([1-9][0-9]{0,4}))?)?"
_IPV4 = r"[0-9]+(?:\.[0-9]+){3}"
_OCTET = re.compile(r"0|[1-9][0-9]{0,2}")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")

# Where other services than HTTP listen, which a request could be made to speak to: "bad ports" in the Fetch standard.
# fmt: off
_BAD_PORTS = {
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
    3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}
# fmt: on


def _all_but(others: str) -> str:
    return "".join(sorted(set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") - set(others)))


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


def parse(url: str, params: Mapping[str, str] | None = None, *, strict: bool = False) -> URL:
    """Read a URL. params: the query, instead of the URL's own. Raises UnusableURL.

    strict: refuse what cannot be read in one way only, user names, and ports of other services; the reason is then a
    clause that says what is wrong: "it has no host".
    """
    parts = _PARTS.fullmatch(url)
    if strict:
        _refuse_ambiguous(url, has_parts=parts is not None)
    if not parts or _CONTROL.search(url):
        raise _malformed(strict=strict)
    scheme, authority, path, query, fragment = parts.groups("")
    userinfo, host, port = _split_strictly(authority) if strict else _split(authority)
    try:
        found = URL(
            scheme=scheme.lower(),
            userinfo=_encode(userinfo, _IN_USERINFO),
            host=_read_strictly(host) if strict else _read(host),
            port=_port(port, scheme.lower()),
            path=_encode(_without_dots(path), _IN_PATH),
            query=_encode(query, _IN_QUERY) if params is None else _query(params),
            fragment=_encode(fragment, _IN_FRAGMENT),
        )
    except (OSError, UnicodeError):
        raise _malformed(strict=strict) from None
    if len(str(found)) > _MAX_URL_CHARS:
        raise _malformed(strict=strict)
    return found


def is_ipv4(host: str) -> bool:
    """Whether a host is an IPv4 address: four decimal numbers without leading zeros."""
    labels = host.split(".")
    return len(labels) == 4 and all(_OCTET.fullmatch(label) and int(label) < 256 for label in labels)


def _query(params: Mapping[str, str]) -> str:
    from urllib.parse import urlencode

    return f"?{urlencode(params)}" if params else ""


def _encode(text: str, kept: str) -> str:
    from urllib.parse import quote  # here, since a URL that is refused needs none of it

    return quote(text, kept)


def _split(authority: str) -> tuple[str, str, str]:
    """User information, host, and port; "" for what is missing."""
    found = re.fullmatch(_AUTHORITY, authority)
    if not found:
        raise _malformed()
    userinfo, host, port = found.groups("")
    return userinfo, host, port


def _read(host: str) -> str:
    """The host as it is looked up. Raises OSError or UnicodeError where it can be none."""
    if host.startswith("["):
        return _ipv6(host)
    if re.fullmatch(_IPV4, host):
        if not is_ipv4(host):
            raise _malformed()
        return host
    if host.isascii():
        return _encode(host.lower(), _IN_HOST)
    import idna

    return idna.encode(host.lower()).decode("ascii")


def _ipv6(host: str) -> str:
    """What stands in the brackets. Raises OSError or UnicodeError where that is no address."""
    address = host.removeprefix("[").removesuffix("]")
    inet_pton(AF_INET6, address)
    return address


def _port(written: str, scheme: str) -> int | None:
    port = int(written or PORTS[scheme])
    if port > _MAX_PORT:
        raise _malformed()
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


def _malformed(*, strict: bool = False) -> UnusableURL:
    return UnusableURL("it is malformed" if strict else "The URL is malformed")


# What a strict reading refuses


def _refuse_ambiguous(url: str, *, has_parts: bool) -> None:
    if _NOT_IN_TEXT.search(url):
        raise UnusableURL("it holds a control character or half of a surrogate pair")
    if has_parts:
        return
    scheme = re.match(_SCHEME, url)
    if scheme is None:
        raise UnusableURL("it does not begin with http:// or https://")
    if scheme[1].lower() in PORTS:
        raise UnusableURL("it has no host")
    raise UnusableURL(f"the scheme must be http or https, not {scheme[1].lower()[:20]!r}")


def _split_strictly(authority: str) -> tuple[str, str, str]:
    if not authority:
        raise UnusableURL("it has no host")
    if "@" in authority:
        raise UnusableURL("it holds a user name or password; leave out what stands before the @")
    if re.search(r"[\\%\s]", authority):
        raise UnusableURL("its host holds a character that no host has")
    before, bracket, after = authority.rpartition("]")
    if authority.startswith("[") and not bracket:
        raise UnusableURL("its host is a malformed IPv6 address")
    name, _, port = after.partition(":")
    return "", before + bracket + name, _check_port(port)


def _check_port(port: str) -> str:
    digits = port.lstrip("0")
    if not port:
        return ""
    if not re.fullmatch("[0-9]{1,5}", digits) or int(digits) > _MAX_PORT:
        raise UnusableURL(f"its port is not a number from 1 to {_MAX_PORT}")
    if int(digits) in _BAD_PORTS:
        raise UnusableURL(f"port {digits} is for another service than web pages, and no browser fetches from it")
    return digits


def _read_strictly(host: str) -> str:
    if host.startswith("["):
        try:
            return _ipv6(host)
        except (OSError, UnicodeError):
            raise UnusableURL("its host is a malformed IPv6 address") from None
    name = _name(host)
    labels = name.removesuffix(".").split(".")
    if len(name) > _MAX_HOST_CHARS or not all(map(_LABEL.fullmatch, labels)):
        raise UnusableURL("its host is malformed")
    if not _NUMBER.fullmatch(labels[-1]):
        return name
    address = ".".join(labels)  # without the dot, with which resolvers take it for a name
    if not host.isascii() or not is_ipv4(address):
        raise UnusableURL("its host is a malformed IPv4 address")
    return address


def _name(host: str) -> str:
    """The host in ASCII and small letters, as browsers read it."""
    if len(host) > _MAX_HOST_CHARS:
        raise UnusableURL("its host is malformed")
    if host.isascii() and "xn--" not in host.lower():
        return host.lower()
    from ferrule.http.international import to_ascii

    try:
        return to_ascii(host)
    except ValueError:
        raise UnusableURL("its host is no name that the internet can have") from None
