"""Media types: what bytes are, by the name of their file or by how they begin."""

from __future__ import annotations

UNKNOWN = "application/octet-stream"

_MAGIC_BYTES = 8192  # from the beginning, in which a format shows itself
_USUAL = {"audio/x-wav": "audio/wav", "audio/x-flac": "audio/flac", "audio/x-aiff": "audio/aiff"}
_TEXTS = (
    "application/json", "application/javascript", "application/toml", "application/xml", "application/yaml",
    "application/x-yaml", "application/x-ndjson", "application/sql", "application/x-sh",
)  # fmt: skip
_TEXT_SUFFIXES = ("+json", "+xml", "+yaml")


def guess(name: str, data: bytes) -> str:
    """The media type by the extension of the name, else by the first bytes; `text/plain` for other UTF-8."""
    return _by_name(name) or _by_bytes(data) or ("text/plain" if _is_utf8(data) else UNKNOWN)


def is_text(media_type: str) -> bool:
    """Whether bytes of this type are meant to be read as text."""
    essence = media_type.partition(";")[0].strip().lower()
    return essence.startswith("text/") or essence in _TEXTS or essence.endswith(_TEXT_SUFFIXES)


def _by_name(name: str) -> str:
    if "." not in name:
        return ""
    import mimetypes

    found, encoding = mimetypes.guess_type(name)
    if encoding:  # such as gzip, around what the name says
        return f"application/{encoding}"
    return _usual(found)


def _by_bytes(data: bytes) -> str:
    import filetype

    return _usual(filetype.guess_mime(data[:_MAGIC_BYTES]))


def _usual(found: str | None) -> str:
    return _USUAL.get(found or "", found or "")


def _is_utf8(data: bytes) -> bool:
    try:
        return b"\0" not in data and bool(data.decode())
    except UnicodeDecodeError:
        return False
