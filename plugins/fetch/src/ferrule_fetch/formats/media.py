"""What an answer is: by its Content-Type, by the name it was asked for, and by its first bytes."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple
from urllib.parse import urlsplit

XHTML = "application/xhtml+xml"
HTML = frozenset({"text/html", XHTML})
PDF = frozenset({"application/pdf", "application/x-pdf"})

_OPEN_XML = "application/vnd.openxmlformats-officedocument."
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
DOCUMENTS = frozenset(
    {f"{_OPEN_XML}wordprocessingml.document", f"{_OPEN_XML}spreadsheetml.sheet"}
    | {f"{_OPEN_XML}presentationml.presentation", f"{_OPEN_XML}presentationml.slideshow"}
    | {f"{_OPEN_DOCUMENT}{name}" for name in ("text", "spreadsheet", "presentation")}
    | {"application/vnd.ms-excel", "application/epub+zip", "message/rfc822", "application/csv"}
)

_TEXT = frozenset(
    {"application/ecmascript", "application/graphql", "application/javascript", "application/json"}
    | {"application/json5", "application/ndjson", "application/sql", "application/toml"}
    | {"application/x-httpd-php", "application/x-javascript", "application/x-ndjson", "application/x-sh"}
    | {"application/x-tex", "application/x-yaml", "application/xml", "application/xml-dtd", "application/yaml"}
)
_UNSTATED = frozenset(
    {"", "application/octet-stream", "application/unknown", "binary/octet-stream", "application/force-download", "*/*"}
)

# As text, which `re` compiles when it is needed first: most pages need one of them.
_MEDIA_TYPE = r"[!#$%&'*+.^_`|~0-9a-z-]{1,127}/[!#$%&'*+.^_`|~0-9a-z-]{1,127}"  # RFC 6838
_XML = rb"\s{0,64}<\?xml\s"
# Atomic, here and below, since a comment could also be read as going on to the end of a later one.
_FEED = rb"(?s)\s*+(?>(?:<\?.*?\?>|<!--.*?-->)\s*+)*+<(?:rss|feed|rdf:RDF)[\s>]"
_HTML = (
    rb"(?is)(?>\s|<!--.*?-->)*+"
    rb"<(?:!doctype html|(?:html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|meta|link)[\s/>])"
)
_JSON = rb'\s{0,64}(?:\{\s*["}]|\[)'
_BEGINNING_BYTES = 2048
_MAX_BLANKS = 64  # before the signature of a PDF
_FEEDS = (b"<rss", b"<feed", b"<rdf:RDF")


class Format(Enum):
    """In which way a body is read."""

    HTML = "HTML"
    PDF = "PDF"
    JSON = "JSON"
    XML = "XML"
    TEXT = "text"
    DOCX = "DOCX"
    PPTX = "PPTX"
    XLSX = "XLSX"
    ODT = "ODT"
    EPUB = "EPUB"
    CSV = "CSV"
    EML = "EML"


class ContentType(NamedTuple):
    """A Content-Type header. type: in small letters. charset: as it is spelt. Either may be empty."""

    type: str
    charset: str

    @property
    def may_be_readable(self) -> bool:
        """Whether it is worth while to read the body."""
        readable = HTML | PDF | DOCUMENTS | _TEXT | _UNSTATED
        return self.type in readable or self.type.startswith("text/") or self.is_xml or self.is_json

    @property
    def is_document(self) -> bool:
        """Whether it is said to be a PDF or another document, of which a part is worth nothing."""
        return self.type in PDF | DOCUMENTS

    @property
    def is_stated(self) -> bool:
        """Whether it says anything at all."""
        return self.type not in _UNSTATED

    @property
    def is_xml(self) -> bool:
        return self.type in ("text/xml", "application/xml") or self.type.endswith("+xml")

    @property
    def is_json(self) -> bool:
        return self.type in ("application/json", "text/json") or self.type.endswith("+json")


def parse_content_type(header: str) -> ContentType:
    """Read a Content-Type header, however it is malformed; of several, the last that can be one, as a browser."""
    media, charset = "", ""
    for value in header[:1000].split(","):
        name, _, parameters = value.partition(";")
        name = name.strip().strip("\"'").lower()
        found = re.search(r"""(?:^|[;\s])charset\s*=\s*["']?\s*([^\s"';,]+)""", parameters, re.I)
        if re.fullmatch(_MEDIA_TYPE, name) and name != "*/*":
            charset = found[1] if found else charset if name == media else ""
            media = name
        elif found and not charset:
            charset = found[1]
    return ContentType(media, charset)


def format_of(declared: ContentType, body: bytes, url: str) -> Format:
    """In which way a body is to be read, which is no binary but a PDF, and no other document.

    That is as its header says, unless the header says nothing, or the body is a PDF, or a feed that is called HTML.
    url: its end may tell, too.
    """
    beginning = body[:_BEGINNING_BYTES].removeprefix(b"\xef\xbb\xbf")
    if beginning[: _MAX_BLANKS + 5].lstrip().startswith(b"%PDF-"):
        return Format.PDF  # no text begins so, whatever it is said to be
    if declared.type in HTML:
        is_feed = any(tag in beginning for tag in _FEEDS) and re.match(_FEED, beginning)
        return Format.XML if is_feed else Format.HTML
    if declared.is_xml:
        return Format.XML
    if declared.is_json:
        return Format.JSON
    if declared.type in PDF or not declared.is_stated:
        return _sniff(beginning, url)
    return Format.TEXT


def _sniff(beginning: bytes, url: str) -> Format:
    if urlsplit(url).path.lower().endswith((".md", ".markdown", ".txt")):
        return Format.TEXT  # which may begin with an HTML element
    if re.match(_XML, beginning):
        return Format.HTML if b"<html" in beginning.lower() else Format.XML
    if re.match(_HTML, beginning):
        return Format.HTML
    return Format.JSON if re.match(_JSON, beginning) else Format.TEXT
