"""Artifacts are named by the SHA-256 of their bytes, so equal bodies are one artifact, and a handle says what it names.

The handle is a URI, `research://artifact/` and 64 lower-case hexadecimal digits.
"""

from __future__ import annotations

PREFIX = "research://artifact/"
MIME_TYPE = "application/json"
_DIGITS = frozenset("0123456789abcdef")
_LENGTH = 64
_LARGE = 1 << 20  # bytes
_LONGEST_SHOWN = 120  # characters of what is no handle


def digest(body: bytes) -> str:
    """What names these bytes: 64 hexadecimal digits."""
    if len(body) < _LARGE:
        from ferrule.text.sha256 import sha256_hex

        return sha256_hex(body)
    from hashlib import sha256  # five times as fast, once it is imported

    return sha256(body).hexdigest()


def uri(name: str) -> str:
    """The handle of the artifact that has this name."""
    return PREFIX + name


def name_in(resource: str) -> str | None:
    """The name that a handle carries, with the scheme or without; None for anything else, however near it comes."""
    name = resource.removeprefix(PREFIX)
    return name if len(name) == _LENGTH and _DIGITS.issuperset(name) else None


def shown(resource: str) -> str:
    """A handle for a message: its URI, or the beginning of whatever stands in its place."""
    name = name_in(resource)
    return uri(name) if name else resource[:_LONGEST_SHOWN]
