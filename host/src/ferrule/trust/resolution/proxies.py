"""The variables that name the proxies of this machine, without a look at what is secret in them."""

from __future__ import annotations

import os

from ferrule.trust.resolution.environment import PROXIES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPOKEN = ("", "http", "https")
_ALL = ("all_proxy", "ALL_PROXY")
_OF_CGI = "HTTP_PROXY"  # what a visitor has sent in a header, in a program that answers by CGI


def usable_proxies(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Those for which a tool gets a relay, by their names. Raises ProxyUnusable where there can be none.

    A variable that names another kind of proxy counts for nothing where others go before it, as `ALL_PROXY` is by
    itself of no use where HTTP_PROXY and HTTPS_PROXY are set.
    """
    named = named_proxies(environ)
    unspoken = {name: scheme for name in named if (scheme := scheme_of(name, environ)) not in _SPOKEN}
    for kind in ("http", "https") if unspoken else ():
        order = (f"{kind}_proxy", f"{kind}_proxy".upper(), *_ALL)
        deciding = next((name for name in order if name in named), None)
        if deciding in unspoken:
            from ferrule.errors import ProxyUnusable

            raise ProxyUnusable(deciding, unspoken[deciding])
    return tuple(name for name in named if name not in unspoken)


def named_proxies(environ: Mapping[str, str]) -> list[str]:
    """Those that are set to anything, as clients read them: a small spelling that is empty takes the large one away."""
    found = []
    for name in PROXIES:
        small = name.lower()
        is_taken_away = name != small and small in environ and _is_blank(small, environ)
        is_visitors = name == _OF_CGI and "REQUEST_METHOD" in environ
        if name in environ and not _is_blank(name, environ) and not is_taken_away and not is_visitors:
            found.append(name)
    return found


def scheme_of(name: str, environ: Mapping[str, str]) -> str:
    """The scheme of what a variable names, in small letters; empty where it has none.

    Nothing but that is taken out of the environment: what this process had read would be in its memory, and so in that
    of the processes that it forks.
    """
    value = _bytes(name, environ)
    end = value.find(b"://")
    return value[:end].strip().decode("ascii", "replace").lower() if end >= 0 else ""


def _is_blank(name: str, environ: Mapping[str, str]) -> bool:
    value = _bytes(name, environ)
    return not value or value.isspace()


def _bytes(name: str, environ: Mapping[str, str]) -> bytes:
    """The value, without a copy of it where it is the process's own."""
    return os.environb[name.encode()] if environ is os.environ else environ[name].encode(errors="surrogateescape")
