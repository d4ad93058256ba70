"""What an answer is, by its Content-Type and by its first bytes."""

import re
from typing import NamedTuple

HTML = frozenset({"text/html", "application/xhtml+xml"})

_TEXT = frozenset(
    {
        "application/ecmascript",
        "application/graphql",
        "application/javascript",
        "application/json",
        "application/json5",
        "application/ndjson",
        "application/rtf",
        "application/sql",
        "application/toml",
        "application/x-javascript",
        "application/x-ndjson",
        "application/x-sh",
        "application/x-tex",
        "application/x-yaml",
        "application/xml",
        "application/xml-dtd",
        "application/yaml",
    }
)
_UNTOLD = frozenset({"", "application/octet-stream", "application/unknown", "binary/octet-stream"})

_SIGNATURES = (
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x7fELF", "a program"),
)
_BOMS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_MARKUP = re.compile(rb"[\s\xef\xbb\xbf]*<(?:!doctype html|!--|(?:html|head|body|title|p|h1|div|table|a)\b)", re.I)


class ContentType(NamedTuple):
    """A Content-Type header. type: in small letters. charset: as it is spelt. Either may be empty."""

    type: str
    charset: str

    @property
    def may_be_text(self) -> bool:
        """Whether it is worth while to read the body."""
        return self.type in HTML | _TEXT | _UNTOLD or self.type.startswith("text/") or self.is_xml or self.is_json

    @property
    def is_xml(self) -> bool:
        return self.type in ("text/xml", "application/xml") or self.type.endswith("+xml")

    @property
    def is_json(self) -> bool:
        return self.type == "application/json" or self.type.endswith("+json")


def content_type(header: str) -> ContentType:
    """Read a Content-Type header, however it is malformed; of several, the first."""
    media, _, parameters = header.partition(",")[0].partition(";")
    charset = re.search(r"""charset\s*=\s*["']?([^\s"';,]+)""", parameters, re.I)
    return ContentType(media.strip().lower(), charset[1] if charset else "")


def is_html(declared: ContentType, body: bytes) -> bool:
    """Whether a body is HTML: as its header says, or as its beginning looks where no header says anything."""
    return declared.type in HTML or (declared.type in _UNTOLD and bool(_MARKUP.match(body)))


def binary_kind(declared: ContentType, body: bytes) -> str | None:
    """What a body is that is no text, in words, such as "a PDF document"; None for what may be text."""
    for signature, kind in _SIGNATURES:
        if body.startswith(signature):
            return kind
    # browsers overlook the null characters of HTML, and in UTF-16 they are half of every letter
    may_hold_nulls = declared.type in HTML or declared.charset.lower().startswith("utf-16")
    if b"\0" in body[:1024] and not may_hold_nulls and not body.startswith(_BOMS):
        return "binary data"
    return None
