"""What an answer is: by its Content-Type, by the name it was asked for, and by its first bytes."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple
from urllib.parse import urlsplit

XHTML = "application/xhtml+xml"
HTML = frozenset({"text/html", XHTML})
PDF = frozenset({"application/pdf", "application/x-pdf"})

_TEXT = frozenset(
    {"application/ecmascript", "application/graphql", "application/javascript", "application/json"}
    | {"application/json5", "application/ndjson", "application/sql", "application/toml"}
    | {"application/x-httpd-php", "application/x-javascript", "application/x-ndjson", "application/x-sh"}
    | {"application/x-tex", "application/x-yaml", "application/xml", "application/xml-dtd", "application/yaml"}
)
_UNSTATED = frozenset(
    {"", "application/octet-stream", "application/unknown", "binary/octet-stream", "application/force-download", "*/*"}
)

_MEDIA_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]{1,127}/[!#$%&'*+.^_`|~0-9a-z-]{1,127}")  # RFC 6838
_PDF = re.compile(rb"\s{0,64}%PDF-")
_XML = re.compile(rb"\s{0,64}<\?xml\s")
# Atomic, here and below, since a comment could also be read as going on to the end of a later one.
_FEED = re.compile(rb"\s*+(?>(?:<\?.*?\?>|<!--.*?-->)\s*+)*+<(?:rss|feed|rdf:RDF)[\s>]", re.S)
_HTML = re.compile(
    rb"(?>\s|<!--.*?-->)*+"
    rb"<(?:!doctype html|(?:html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|meta|link)[\s/>])",
    re.I | re.S,
)
_JSON = re.compile(rb'\s{0,64}(?:\{\s*["}]|\[)')
_BEGINNING_BYTES = 2048


class Format(Enum):
    """In which way a body is read."""

    HTML = "HTML"
    PDF = "PDF"
    JSON = "JSON"
    XML = "XML"
    TEXT = "text"


class ContentType(NamedTuple):
    """A Content-Type header. type: in small letters. charset: as it is spelt. Either may be empty."""

    type: str
    charset: str

    @property
    def may_be_readable(self) -> bool:
        """Whether it is worth while to read the body."""
        readable = HTML | PDF | _TEXT | _UNSTATED
        return self.type in readable or self.type.startswith("text/") or self.is_xml or self.is_json

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
        if _MEDIA_TYPE.fullmatch(name) and name != "*/*":
            charset = found[1] if found else charset if name == media else ""
            media = name
        elif found and not charset:
            charset = found[1]
    return ContentType(media, charset)


def format_of(declared: ContentType, body: bytes, url: str) -> Format:
    """In which way a body is to be read, which is no binary but a PDF.

    That is as its header says, unless the header says nothing, or the body is a PDF, or a feed that is called HTML.
    url: its end may tell, too.
    """
    beginning = body[:_BEGINNING_BYTES].removeprefix(b"\xef\xbb\xbf")
    if _PDF.match(beginning):
        return Format.PDF  # no text begins so, whatever it is said to be
    if declared.type in HTML:
        return Format.XML if _FEED.match(beginning) else Format.HTML
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
    if _XML.match(beginning):
        return Format.HTML if b"<html" in beginning.lower() else Format.XML
    if _HTML.match(beginning):
        return Format.HTML
    return Format.JSON if _JSON.match(beginning) else Format.TEXT
