"""Keeping credentials out of whatever leaves the host."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

REDACTED = b"[redacted]"
SHORTEST = 4  # a shorter value would blot out ordinary words; no provider hands out such a key


def redact(data: bytes, secrets: "Iterable[str]") -> bytes:
    """Replace every secret in UTF-8 text, in each spelling that it may have taken on its way there.

    The spellings are: as it is, inside a JSON string, percent-encoded for a URL, and base64 (alone, or as the password
    of HTTP basic authentication without a user). A secret of fewer than four characters is left alone.
    """
    for secret in secrets:
        if len(secret) >= SHORTEST:
            for spelling in _spellings(secret):
                data = data.replace(spelling, REDACTED)
    return data


def _spellings(secret: str) -> list[bytes]:
    from binascii import b2a_base64

    plain = secret.encode(errors="replace")
    escaped = secret.replace("\\", "\\\\").replace('"', '\\"').encode(errors="replace")
    quoted = b"".join(_percent(byte, b"-_.~") for byte in plain)
    plus = b"".join(b"+" if byte == 0x20 else _percent(byte, b"-_.~") for byte in plain)
    path = b"".join(_percent(byte, b"-_.~/") for byte in plain)
    encoded = b2a_base64(plain, newline=False)
    unique = dict.fromkeys([plain, escaped, quoted, plus, path, quoted.lower(), encoded])
    return sorted(unique, key=len, reverse=True)


def _percent(byte: int, safe: bytes) -> bytes:
    letter = bytes([byte])
    return letter if letter.isalnum() or letter in safe else b"%%%02X" % byte
