"""The proxy that the environment names for a URL. Nothing is read from anywhere else."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from ferrule.errors import ToolError
from ferrule.text.proxy_address import parse_proxy


class Proxy(NamedTuple):
    """A proxy. variable: the environment variable that names it. login: user and password, or None."""

    variable: str
    scheme: str
    host: str
    port: int
    login: tuple[bytes, bytes] | None


def proxy_for(scheme: str, host: str, port: int) -> Proxy | None:
    """The proxy for requests to a host; None where the environment names none or excludes the host.

    HTTP_PROXY or HTTPS_PROXY, then ALL_PROXY; the small spelling of each goes before the large one.
    Raises ToolError NETWORK_ERROR where the variable does not name an http or https proxy.
    """
    variable, value = _variable(f"{scheme}_proxy")
    if not value:
        variable, value = _variable("all_proxy")
    if not value or is_excluded(host, port, _variable("no_proxy")[1]):
        return None
    return _parse(variable, value)


def is_excluded(host: str, port: int, no_proxy: str) -> bool:
    """Whether NO_PROXY excludes a host.

    Its entries, with a port or not: `*`, names, which stand for their subdomains too, addresses, networks.

    >>> is_excluded("api.example.com", 443, "localhost, .example.com")
    True
    >>> is_excluded("notexample.com", 443, "example.com")
    False
    """
    host = host.lower().rstrip(".")
    return any(_matches(entry, host, port) for entry in re.split(r"[,\s]+", no_proxy.lower()) if entry)


def _matches(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    if "/" in entry:
        return _in_network(host, entry)
    name, wanted = _without_port(entry)
    if wanted and wanted != str(port):
        return False
    name = name.removeprefix("*").strip(".")
    return bool(name) and (host == name or host.endswith(f".{name}"))


def _without_port(entry: str) -> tuple[str, str]:
    if entry.startswith("["):
        address, _, rest = entry[1:].partition("]")
        return address, rest.lstrip(":")
    if entry.count(":") == 1:
        name, _, port = entry.partition(":")
        return name, port
    return entry, ""


def _in_network(host: str, network: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


def _variable(name: str) -> tuple[str, str]:
    if name in os.environ:
        return name, os.environ[name].strip()
    if name == "http_proxy" and "REQUEST_METHOD" in os.environ:
        return name, ""  # in a CGI program, HTTP_PROXY is what a visitor sent in the header "Proxy"
    return name.upper(), os.environ.get(name.upper(), "").strip()


def _parse(variable: str, value: str) -> Proxy:
    found = parse_proxy(value)
    if found is None:
        raise _unusable(variable)
    return Proxy(variable, *found)


def _unusable(variable: str) -> ToolError:
    # the value is not shown, because it may hold a password
    return ToolError(
        "NETWORK_ERROR",
        f"The environment variable {variable} does not name an http or https proxy.",
        hint=f"Write it as http://HOST:PORT, or unset {variable}.",
    )
