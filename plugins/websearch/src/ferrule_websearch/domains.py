"""Which domains a search is for, as people and models write them, and whether a URL is on one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Self
from urllib.parse import urlsplit

from ferrule_websearch.results import shorten

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

ALLOWED, BLOCKED = "allowed_domains", "blocked_domains"

_PREFIX = re.compile(r"(?:site:\s*)?(?:(?:[a-z][a-z0-9+.-]*:)?//)?(?:[^/?#\\]*@)?", re.I)
_REST = re.compile(r"(?::\d*)?(?:[/?#\\].*)?\Z", re.S)
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_MAX_HOST_CHARS = 253
_MAX_SHOWN_CHARS = 60


class InvalidDomain(ValueError):
    """The text names no domain. The message says why, in a few words."""


class DomainFilter(NamedTuple):
    """The domains that results may be on, all where `allowed` is empty, and those that they may not be on.

    Domains are in ASCII and small letters, each once, and without those that another one in the list includes.
    """

    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()

    @classmethod
    def of(cls, arguments: JSONMapping) -> Self:
        """The filter that `allowed_domains` and `blocked_domains` mean; InvalidDomain where an entry is none."""
        return cls(*(_without_included(_normalise_all(arguments.get(name))) for name in (ALLOWED, BLOCKED)))

    @property
    def is_active(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.allowed or self.blocked)

    @property
    def is_allowed_alone(self) -> bool:
        """Whether `allowed` is all there is to it: nothing that it includes is blocked."""
        return bool(self.allowed) and not any(_is_on(domain, self.allowed) for domain in self.blocked)

    def passes(self, url: str) -> bool:
        """Whether a result may be shown. One whose host cannot be told passes no filter."""
        if not self.is_active:
            return True
        host = host_of(url)
        return bool(host) and not _is_on(host, self.blocked) and (not self.allowed or _is_on(host, self.allowed))

    def operators(self, *, allowed: bool = True, blocked: bool = True) -> str:
        """The filter in the words of a query: `site:a.com OR site:b.com -site:c.com`."""
        sites = " OR ".join(f"site:{domain}" for domain in self.allowed) if allowed else ""
        others = [f"-site:{domain}" for domain in self.blocked] if blocked else []
        return " ".join(filter(None, [sites, *others]))


def domain_findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the two lists of domains; `[]` where nothing is."""
    found = []
    if arguments.get(ALLOWED) and not any(map(str.strip, arguments[ALLOWED])):
        found.append(f"{ALLOWED}: it names no domain, leave it out or empty to search everywhere")
    for name in (ALLOWED, BLOCKED):
        for entry in arguments.get(name) or []:
            try:
                normalise_domain(entry) if entry.strip() else None
            except InvalidDomain as error:
                found.append(f"{name}: {shorten(entry, _MAX_SHOWN_CHARS)!r} is not a domain, {error}")
    if not found:
        domains = DomainFilter.of(arguments)
        if domains.allowed and all(_is_on(domain, domains.blocked) for domain in domains.allowed):
            found.append(f"{ALLOWED}: {BLOCKED} leaves none of them")
    return found


def normalise_domain(pasted: str) -> str:
    """The domain that a pasted text names, in ASCII and small letters: `https://Example.com./x` is `example.com`.

    A scheme, a user, a port, a path, `site:`, a leading `*.` and a trailing dot are dropped. A domain of one label
    has to be written with a dot before it (`.edu`), since a bare word is a name that is not finished.

    Raises InvalidDomain.
    """
    text = pasted.strip().strip("\"'<>`").strip()
    host = _REST.sub("", _PREFIX.sub("", text, count=1), count=1)
    is_whole_branch = host.startswith(("*.", "."))
    host = to_ascii(host.removeprefix("*.").removeprefix(".")).removesuffix(".")
    if not host:
        raise InvalidDomain("there is no host in it")
    labels = host.split(".")
    if len(host) > _MAX_HOST_CHARS or not all(map(_LABEL.fullmatch, labels)):
        raise InvalidDomain("write it as example.com")
    if len(labels) == 1 and not is_whole_branch:
        raise InvalidDomain(f"write the whole domain, or .{host} for all domains under it")
    return host


def host_of(url: str) -> str:
    """The host of a URL, as `normalise_domain` writes it; "" if there is none, or programs would disagree on it."""
    try:
        parts = urlsplit(url)
        host = to_ascii(parts.hostname or "")
    except ValueError:
        return ""
    return "" if re.search(r"[\\%\s]", parts.netloc) else host.removesuffix(".")


def to_ascii(host: str) -> str:
    """A host name in small letters and the form that is sent, `xn--…` for other scripts. Raises InvalidDomain."""
    if host.isascii():
        return host.lower()
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except UnicodeError:  # idna.IDNAError is one
        raise InvalidDomain("it holds a character that no domain has") from None


def _normalise_all(entries: Iterable[str] | None) -> list[str]:
    return [normalise_domain(entry) for entry in entries or [] if entry.strip()]


def _is_on(host: str, domains: Iterable[str]) -> bool:
    """Whether a host is one of these domains or beneath one; nothing is beneath an IP address."""
    return any(host == domain or (host.endswith(f".{domain}") and not domain[-1].isdigit()) for domain in domains)


def _without_included(domains: list[str]) -> tuple[str, ...]:
    unique = dict.fromkeys(domains)
    return tuple(one for one in unique if not _is_on(one, [other for other in unique if other != one]))
