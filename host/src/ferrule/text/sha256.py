"""SHA-256 without hashlib, which loads OpenSSL when it is imported: a quarter of an interpreter's start."""

from __future__ import annotations

import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:
        from hashlib import sha256

_BLOCK_BYTES = 64  # that SHA-256 takes at a time
_DIGITS = frozenset("0123456789abcdef")


def sha256_hex(data: bytes) -> str:
    """The SHA-256 of some bytes, as 64 hexadecimal digits."""
    return sha256(data).hexdigest()


def hmac_sha256_hex(key: bytes, data: bytes) -> str:
    """HMAC (RFC 2104) with SHA-256, as 64 hexadecimal digits. key: 64 bytes at the most."""
    padded = key.ljust(_BLOCK_BYTES, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in padded) + data).digest()
    return sha256(bytes(byte ^ 0x5C for byte in padded) + inner).hexdigest()


def is_sha256_hex(text: str) -> bool:
    """Whether a text is what `sha256_hex` returns: 64 lower-case hexadecimal digits."""
    return len(text) == 64 and _DIGITS.issuperset(text)
