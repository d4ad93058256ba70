"""Artifacts are named by the SHA-256 of their bytes, so equal bodies are one artifact, and a handle says what it names.

The handle is a URI, `research://artifact/` and 64 lower-case hexadecimal digits.
"""

from __future__ import annotations

from ferrule.text.sha256 import is_sha256_hex, sha256_hex

PREFIX = "research://artifact/"
MIME_TYPE = "application/json"
UNKNOWN_TYPE = "application/octet-stream"
_FAST_LIBRARY_BYTES = 1 << 20  # from which hashlib, which is five times as fast, is worth its import
_MAX_OTHER_CHARS = 120  # of what is no handle


def digest(body: bytes) -> str:
    """What names these bytes: 64 hexadecimal digits."""
    if len(body) < _FAST_LIBRARY_BYTES:
        return sha256_hex(body)
    from hashlib import sha256

    return sha256(body).hexdigest()


def uri(name: str) -> str:
    """The handle of the artifact that has this name."""
    return PREFIX + name


def name_in(resource: str) -> str | None:
    """The name that a handle carries, with the scheme or without; None for anything else, however near it comes."""
    name = resource.removeprefix(PREFIX)
    return name if is_sha256_hex(name) else None


def describe(resource: str) -> str:
    """A handle for a message: its URI, or the beginning of what stands in its place."""
    name = name_in(resource)
    return uri(name) if name else resource[:_MAX_OTHER_CHARS]
