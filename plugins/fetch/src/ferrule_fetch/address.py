"""Which URLs are fetched: http or https, with a host that cannot be read in two ways."""

import re
from urllib.parse import SplitResult, urlsplit

from ferrule import ToolError

MAX_LENGTH = 8192  # characters; more would leave no room for the page in the answer

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LABEL = re.compile(r"[a-z0-9_-]{1,63}")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_OCTET = re.compile(r"0|[1-9][0-9]{0,2}")
_IPV6 = re.compile(r"\[([0-9A-Fa-f:.]+)\](?::[0-9]*)?")


def check(url: str) -> str:
    """Return the URL as it is to be requested: without blanks around it, its host in ASCII.

    Raises ToolError INVALID_URL, which says what is wrong.
    """
    url = url.strip(" \t\r\n")
    if len(url) > MAX_LENGTH:
        raise _invalid(f"it is longer than {MAX_LENGTH:,} characters")
    if _CONTROLS.search(url):
        raise _invalid("it holds a control character or half of a surrogate pair")
    parts = _split(url)
    if parts.netloc.startswith("["):
        _check_ipv6(parts.netloc)
        return url
    host = _ascii(parts.hostname or "")
    _check_name(host)
    return url if host == parts.hostname else parts._replace(netloc=_with_port(host, parts.port)).geturl()


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _invalid("its host is malformed") from None
    if parts.scheme not in ("http", "https"):
        raise _wrong_scheme(url, parts.scheme)
    if not parts.netloc:
        raise _invalid("it has no host")
    if "@" in parts.netloc:
        raise _invalid("it holds a user name or password")
    if re.search(r"[\\%\s]", parts.netloc):
        raise _invalid("its host holds a character that no host has")
    _check_port(parts)
    return parts


def _check_port(parts: SplitResult) -> None:
    try:
        if parts.port != 0:
            return
    except ValueError:
        pass
    raise _invalid("its port is not a number from 1 to 65535")


def _check_ipv6(netloc: str) -> None:
    from ipaddress import IPv6Address

    found = _IPV6.fullmatch(netloc)
    try:
        IPv6Address(found[1] if found else "")
    except ValueError:
        raise _invalid("its host is a malformed IPv6 address") from None


def _check_name(host: str) -> None:
    labels = host.removesuffix(".").split(".")
    if len(host) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise _invalid("its host is malformed")
    if _NUMBER.fullmatch(labels[-1]) and not _is_ipv4(labels):
        raise _invalid("its host is a malformed IPv4 address")


def _is_ipv4(labels: list[str]) -> bool:
    return len(labels) == 4 and all(_OCTET.fullmatch(label) and int(label) < 256 for label in labels)


def _ascii(host: str) -> str:
    if host.isascii():
        return host
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except UnicodeError:  # idna.IDNAError is one
        raise _invalid("its host is no name that the internet can have") from None


def _with_port(host: str, port: int | None) -> str:
    return host if port is None else f"{host}:{port}"


def _wrong_scheme(url: str, scheme: str) -> ToolError:
    if scheme and not re.match(r"[^/]+:[0-9]", url):  # "example.com:8080/x" has a port, and no scheme
        return _invalid(f"the scheme must be http or https, not {scheme[:20]!r}")
    return _invalid("it does not begin with http:// or https://")


def _invalid(why: str) -> ToolError:
    return ToolError("INVALID_URL", f"Invalid URL: {why}.", hint="Send a whole URL, such as https://example.com/page")
