"""Which URLs are fetched: http or https, with a host that cannot be read in two ways.

A browser, httpx, Python and the C library each read some malformed URLs, and each another host in them. So a URL
is either one that all of them read alike, or refused; the browser's rules are those of the WHATWG URL standard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrule import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_LENGTH = 8192  # characters; more would leave no room for the page in the answer
_LONGEST_HOST = 254  # characters, with the dot that may end it

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_PARTS = re.compile(r"(https?)://([^/?#]*)(.*)", re.IGNORECASE | re.DOTALL)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(?![0-9])", re.IGNORECASE)  # what follows it in "example.com:80" is a port
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OCTET = re.compile(r"0|[1-9][0-9]{0,2}")
_IPV6 = re.compile(r"\[([0-9A-Fa-f:.]+)\]")

# Where other services than HTTP listen, which a request could be made to speak to: "bad ports" in the Fetch standard.
# fmt: off
_BAD_PORTS = {
    1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104,
    109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515,
    526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049,
    3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
}
# fmt: on


def check(url: str, guard: Callable[[str, Sequence[str]], None] | None = None) -> str:
    """Return the URL as it is to be requested: without blanks around it, its host in ASCII.

    guard: judges the host, too, as far as that goes without its addresses; see `guard.Guard`.
    Raises ToolError INVALID_URL, which says what is wrong.
    """
    url = url.strip(" \t\r\n")
    if len(url) > MAX_LENGTH:
        raise invalid(f"it is longer than {MAX_LENGTH:,} characters")
    if _CONTROLS.search(url):
        raise invalid("it holds a control character or half of a surrogate pair")
    scheme, authority, rest = _split(url)
    written, port = _host_and_port(authority)
    host = _ipv6(written) if written.startswith("[") else _name(written)
    if guard:
        guard(host, [])
    authority = authority if written.startswith("[") or host == written.lower() else host + port
    return f"{scheme.lower()}://{authority}{rest}"


def invalid(why: str, hint: str | None = "Send a whole URL, such as https://example.com/page") -> ToolError:
    """The error for a URL that is not fetched."""
    return ToolError("INVALID_URL", f"Invalid URL: {why}.", hint=hint)


def is_ipv4(host: str) -> bool:
    """Whether a host is an IPv4 address: four decimal numbers without leading zeros."""
    labels = host.split(".")
    return len(labels) == 4 and all(_OCTET.fullmatch(label) and int(label) < 256 for label in labels)


def _split(url: str) -> tuple[str, str, str]:
    parts = _PARTS.fullmatch(url)
    if parts is None:
        raise _wrong_beginning(url)
    scheme, authority, rest = parts.groups()
    if not authority:
        raise invalid("it has no host")
    if "@" in authority:
        raise invalid("it holds a user name or password; leave out what stands before the @")
    if re.search(r"[\\%\s]", authority):
        raise invalid("its host holds a character that no host has")
    return scheme, authority, rest


def _host_and_port(authority: str) -> tuple[str, str]:
    """The host, in brackets where it is IPv6, and the port with its colon, "" where there is none."""
    before, bracket, after = authority.rpartition("]")
    if authority.startswith("[") and not bracket:
        raise invalid("its host is a malformed IPv6 address")
    name, _, port = after.partition(":")
    host = before + bracket + name
    if not port:
        return host, ""
    digits = port.lstrip("0")
    if not re.fullmatch("[0-9]{1,5}", digits) or int(digits) > 65_535:
        raise invalid("its port is not a number from 1 to 65535")
    if int(digits) in _BAD_PORTS:
        raise invalid(f"port {digits} is for another service than web pages, and no browser fetches from it")
    return host, f":{digits}"


def _ipv6(host: str) -> str:
    from socket import AF_INET6, inet_pton

    found = _IPV6.fullmatch(host)
    try:
        inet_pton(AF_INET6, found[1] if found else "")
    except OSError:
        raise invalid("its host is a malformed IPv6 address") from None
    return host[1:-1]


def _name(written: str) -> str:
    host = _ascii(written)
    labels = host.removesuffix(".").split(".")
    if len(host) > _LONGEST_HOST or not all(map(_LABEL.fullmatch, labels)):
        raise invalid("its host is malformed")
    if not _NUMBER.fullmatch(labels[-1]):
        return host
    address = ".".join(labels)  # without the dot, with which resolvers take it for a name
    if not written.isascii() or not is_ipv4(address):
        raise invalid("its host is a malformed IPv4 address")
    return address


def _ascii(host: str) -> str:
    if len(host) > _LONGEST_HOST:
        raise invalid("its host is malformed")
    if host.isascii() and "xn--" not in host.lower():
        return host.lower()
    from ferrule_fetch.addresses.international import to_ascii

    try:
        return to_ascii(host)
    except ValueError:
        raise invalid("its host is no name that the internet can have") from None


def _wrong_beginning(url: str) -> ToolError:
    scheme = _SCHEME.match(url)
    if scheme is None:
        return invalid("it does not begin with http:// or https://")
    if scheme[1].lower() in ("http", "https"):
        return invalid("it has no host")
    return invalid(f"the scheme must be http or https, not {scheme[1].lower()[:20]!r}")
