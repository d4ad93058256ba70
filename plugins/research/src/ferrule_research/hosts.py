"""Hosts, and the domains that they are on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from urllib.parse import urlsplit


def host_of(url: str) -> str:
    """The host of a URL, in small letters; "" if there is none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def parents(host: str) -> Iterator[str]:
    """A host and the domains above it: `a.b.org`, `b.org`, `org`."""
    labels = host.split(".")
    for start in range(len(labels)):
        yield ".".join(labels[start:])


def is_on(host: str, domains: Collection[str]) -> bool:
    """Whether a host is one of these domains or beneath one."""
    return any(domain in domains for domain in parents(host))
