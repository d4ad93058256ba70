"""What is packed in a document, with limits on how much that may be, and its XML."""

from __future__ import annotations

import re
from html import unescape
from io import BytesIO
from typing import NamedTuple
from xml.etree import ElementTree as ET
from zipfile import ZipFile

_MAX_UNPACKED_BYTES = 100 << 20  # all that is packed in a document
_MAX_ENTRIES = 20_000
_MAX_PROPERTIES_BYTES = 1 << 16
_PROPERTY = re.compile(
    r"<(?:dc|dcterms|cp|meta):(title|creator|created|date|initial-creator|creation-date)\b[^>]{0,300}>([^<]*)</"
)


class UnreadableDocument(Exception):
    """A document of which there is nothing to be had; its only argument says why, as a clause."""


class DocumentText(NamedTuple):
    """What a document says. text: markdown. authors, date: as the document has them, in one line. All may be empty."""

    title: str = ""
    text: str = ""
    authors: str = ""
    date: str = ""


def open_archive(body: bytes) -> ZipFile:
    """Open what a document is packed in. Raises UnreadableDocument where it unpacks to too much."""
    archive = ZipFile(BytesIO(body))
    entries = archive.infolist()
    if len(entries) > _MAX_ENTRIES or sum(entry.file_size for entry in entries) > _MAX_UNPACKED_BYTES:
        raise UnreadableDocument("it is larger unpacked than can be read")
    return archive


def replace_parts(archive: ZipFile, changed: dict[str, bytes]) -> bytes:
    """A document with other bytes for some of its parts."""
    file = BytesIO()
    with ZipFile(file, "w") as copy:
        for name in archive.namelist():
            copy.writestr(name, changed.get(name) or archive.read(name))
    return file.getvalue()


def read_xml(data: bytes) -> ET.Element:
    """The tree of a part. Entities of its own are refused, whatever they hold. Raises what ElementTree raises."""
    if b"<!ENTITY" in data:
        raise UnreadableDocument("it is malformed")
    return ET.fromstring(data)  # noqa: S314 - without entities, and in a process with limits


def read_properties(archive: ZipFile, name: str) -> DocumentText:
    """Title, author and date, from the part that holds them."""
    if name not in archive.namelist():
        return DocumentText()
    with archive.open(name) as part:
        text = part.read(_MAX_PROPERTIES_BYTES).decode(errors="replace")
    found: dict[str, list[str]] = {}
    for key, value in _PROPERTY.findall(text):
        found.setdefault(key, []).append(" ".join(unescape(value).split()))
    authors = found.get("initial-creator") or found.get("creator") or []
    dates = [*found.get("created", []), *found.get("creation-date", []), *found.get("date", [])]
    return DocumentText(next(iter(found.get("title", [])), ""), "", "; ".join(authors), next(iter(dates), ""))
