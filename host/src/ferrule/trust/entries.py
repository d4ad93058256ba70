"""What one entry of a list of permissions may look like. Written without regular expressions: each call reads them."""

from __future__ import annotations

TYPE_CHECKING = False

NETWORKS = ("public", "loopback", "private")
SETTING, VARIABLE, CONFIG = "setting:", "variable:", "config:"
GROUP = "group:"  # before a group of entry points, for the tools of all distributions that offer one
INDIRECT = ("network", "read", "write", "programs")
"""The lists that may hold what a setting or a variable names."""

HOST_FOLDERS = (
    *("admissions", "cache", "credentials", "declared_credentials", "journal", "links", "lock", "permissions"),
    "tools",
)
"""Folders of the state folder that are the host's alone."""

SHOWN = "~/*"
"""Each entry of the home that is not hidden."""

_SECRET_WORDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH")
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_HOST = _NAME | frozenset("-.")
_MAX_PORT = 65_535


def may_be_secret(variable: str) -> bool:
    """Whether a variable's name says that its value is secret."""
    return any(word in variable.upper() for word in _SECRET_WORDS)


def is_indirect(entry: str) -> bool:
    """Whether the entry stands for what a setting or a variable names."""
    return entry.startswith((SETTING, VARIABLE))


def problem(key: str, entry: str) -> str | None:
    """What is wrong with one entry, as the end of a sentence about it; None where nothing is."""
    if key in INDIRECT and is_indirect(entry):
        name = entry.partition(":")[2]
        return None if name and set(name) <= _HOST else "names no setting or variable"
    return _PROBLEMS[key](entry)


def split_host(entry: str) -> tuple[str, str] | None:
    """Host and port of `HOST:PORT`, an IPv6 address without its brackets; None for anything else.

    An address that is written in another way than `127.0.0.1` is none: few see what `0x7f000001` is.
    """
    host, colon, port = entry.rpartition(":")
    if not colon or not host:
        return None
    if port != "*" and not (port.isascii() and port.isdigit() and 0 < int(port) <= _MAX_PORT):
        return None
    if host.startswith("[") and host.endswith("]"):
        inner = host[1:-1]
        return (inner, port) if inner and set(inner) <= frozenset("0123456789abcdefABCDEF:.") else None
    name = host.removeprefix("*.")
    from ferrule.text.hosts import is_number, is_plain_ipv4  # the path of a call needs nothing but names

    if is_number(name) and not is_plain_ipv4(host):
        return None
    return (host.lower(), port) if name and set(name) <= _HOST and "*" not in name else None


def _network(entry: str) -> str | None:
    if entry in NETWORKS or split_host(entry):
        return None
    return f"is none of {', '.join(NETWORKS)}, and no HOST:PORT, such as api.example.com:443"


def _path(entry: str) -> str | None:
    if entry.startswith(CONFIG):
        return None if len(entry) > len(CONFIG) and set(entry[len(CONFIG) :]) <= _HOST - {"."} else "names no folder"
    if ".." in entry.split("/"):
        return "leads out of its own folder by `..`"
    if entry in ("~", SHOWN, ".") or entry.startswith(("/", "~/", "./")):
        return None if "*" not in entry or entry == SHOWN else "has a `*`, which only `~/*` may have"
    return "is no path that begins with `/`, `~` or `.`"


def _program(entry: str) -> str | None:
    if entry.startswith("/"):
        return _path(entry)
    return "is neither a name on PATH nor an absolute path" if "/" in entry or entry in (".", "..") else None


def _variable(entry: str) -> str | None:
    name = entry.removesuffix("*")
    return None if len(name) > (entry != name) and set(name) <= _NAME else "is no name of one"


def _state(entry: str) -> str | None:
    if entry in HOST_FOLDERS:
        return "is the host's own"
    return None if set(entry) <= _HOST and not entry.startswith(".") else "is no name of a folder"


def _tool(entry: str) -> str | None:
    return None if entry.startswith(GROUP) and entry != GROUP else _variable(entry)


_PROBLEMS = {
    "network": _network,
    "read": _path,
    "write": _path,
    "programs": _program,
    "environment": _variable,
    "state": _state,
    "tools": _tool,
}
