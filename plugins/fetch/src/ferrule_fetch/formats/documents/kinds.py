"""Which documents there are, and which one a body is: by what is packed in it, by its type, and by its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ferrule_fetch.formats.media import Format

if TYPE_CHECKING:
    from ferrule_fetch.formats.media import ContentType

WORDS = {
    Format.DOCX: "a Word document, DOCX",
    Format.PPTX: "a PowerPoint presentation, PPTX",
    Format.XLSX: "a workbook",
    Format.ODT: "an OpenDocument text or presentation",
    Format.EPUB: "an EPUB book",
    Format.EML: "an e-mail",
}

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WORKBOOK = "Workbook".encode("utf-16-le")  # the name of the stream that an old workbook is
_SNIFFED_BYTES = 1 << 16
_LISTED = re.compile(rb"PK\x01\x02.{42}(word|ppt|xl)/", re.S)  # in the directory, at the end
_ENTRY = re.compile(rb"PK\x03\x04.{26}(word|ppt|xl)/", re.S)
_PACKED = {b"word": Format.DOCX, b"ppt": Format.PPTX, b"xl": Format.XLSX}
_MIMETYPES = (
    (b"application/epub+zip", Format.EPUB),
    (b"application/vnd.oasis.opendocument.text", Format.ODT),
    (b"application/vnd.oasis.opendocument.presentation", Format.ODT),
    (b"application/vnd.oasis.opendocument.spreadsheet", Format.XLSX),
)
_TABLES = frozenset({"text/csv", "text/tab-separated-values", "application/csv"})
_MAIL = "message/rfc822"
_PLAIN = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream", "application/force-download"})


def document_format(declared: ContentType, body: bytes, url: str) -> Format | None:
    """Which document a body is; None for anything else."""
    if body.startswith(_ZIP):
        return _find_packed(body)
    if body.startswith(_OLE):
        return Format.XLSX if _WORKBOOK in body else None
    path = urlsplit(url).path.lower() if declared.type in _PLAIN else ""
    if declared.type in _TABLES or path.endswith((".csv", ".tsv")):
        return Format.CSV
    return Format.EML if declared.type == _MAIL or path.endswith(".eml") else None


def _find_packed(body: bytes) -> Format | None:
    # An entry has 30 bytes, then its name, and here what it holds, since that is not to be packed.
    first = body[30:150]
    if first.startswith(b"mimetype"):
        return next((form for name, form in _MIMETYPES if first.startswith(name, 8)), None)
    found = _ENTRY.search(body[:_SNIFFED_BYTES]) or _LISTED.search(body[-_SNIFFED_BYTES:])
    return _PACKED[found[1]] if found else None
