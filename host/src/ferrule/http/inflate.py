"""Content encodings, decoded with a bound on what comes out."""

from __future__ import annotations

import zlib

from ferrule.http.errors import BodyUnreadable

ACCEPTED_ENCODINGS = "gzip"
"""The value of the header Accept-Encoding. Deflate is read too, where a server sends it unasked."""

_GZIP_WBITS, _ZLIB_WBITS, _RAW_WBITS = 31, 15, -15


class IdentityDecoder:
    """No encoding at all."""

    finished = True

    def feed(self, data: bytes, limit: int) -> bytes:
        """At most `limit` bytes of what the data decodes to. Feed nothing once the limit is reached."""
        return data[:limit]


class InflateDecoder:
    """gzip, in one or more members, or deflate, with its header or without. finished: nothing is missing."""

    def __init__(self, encoding: str) -> None:
        self._wbits = _ZLIB_WBITS if encoding == "deflate" else _GZIP_WBITS
        self._started = False
        self._inflate = zlib.decompressobj(self._wbits)

    @property
    def finished(self) -> bool:
        return self._inflate.eof or not self._started

    def feed(self, data: bytes, limit: int) -> bytes:
        """At most `limit` bytes of what the data decodes to. Raises BodyUnreadable for other data."""
        pieces: list[bytes] = []
        while data and limit > 0:
            piece = self._decompress(data, limit)
            pieces.append(piece)
            limit -= len(piece)
            data = self._next_member() if self._inflate.eof else self._inflate.unconsumed_tail
        return b"".join(pieces)

    def _decompress(self, data: bytes, limit: int) -> bytes:
        first, self._started = not self._started, True
        try:
            return self._inflate.decompress(data, limit)
        except zlib.error:
            if not first or self._wbits != _ZLIB_WBITS:
                raise BodyUnreadable("The body is not compressed in the way its headers say") from None
        self._wbits = _RAW_WBITS  # what some servers take deflate to mean
        self._inflate = zlib.decompressobj(_RAW_WBITS)
        return self._decompress(data, limit)

    def _next_member(self) -> bytes:
        rest = self._inflate.unused_data
        if self._wbits != _GZIP_WBITS or not rest.startswith(b"\x1f\x8b"):
            return b""  # padding after the end, which every client forgives
        self._inflate = zlib.decompressobj(_GZIP_WBITS)
        return rest


def decoder(content_encoding: str) -> IdentityDecoder | InflateDecoder:
    """What decodes a body of this Content-Encoding. Raises BodyUnreadable for one not asked for."""
    names = [name for name in content_encoding.lower().replace(",", " ").split() if name != "identity"]
    if not names:
        return IdentityDecoder()
    if len(names) > 1 or names[0] not in ("gzip", "x-gzip", "deflate"):
        raise BodyUnreadable("The body has a content encoding that was not asked for")
    return InflateDecoder(names[0])
