"""Addresses as they are compared: whole, and written in one of the ways that mean the same."""

from __future__ import annotations

from urllib.parse import unquote, urljoin, urlsplit, urlunsplit


def absolute(address: str | None, base: str) -> str:
    """The address that a browser would follow from a page at `base`, decoded; as it stands where it is none."""
    try:
        scheme, host, path, query, fragment = urlsplit(urljoin(base, (address or "").strip()))
        return unquote(urlunsplit((scheme, host.lower(), path or ("/" if host else ""), query, fragment)))
    except ValueError:
        return address or ""
