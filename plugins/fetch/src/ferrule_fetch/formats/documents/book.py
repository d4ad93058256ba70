"""Books in EPUB: their chapters, in the order in which they are read."""

from __future__ import annotations

import zlib
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zipfile import BadZipFile

from ferrule_fetch.formats.documents.archive import (
    DocumentText,
    UnreadableDocument,
    open_archive,
    read_properties,
    read_xml,
)
from ferrule_fetch.formats.xhtml import as_html
from ferrule_fetch.limits.part import PartTooExpensive, bounded_part
from ferrule_fetch.markdown import convert
from ferrule_fetch.text.charsets import decode

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET
    from zipfile import ZipFile

_CONTAINER = "META-INF/container.xml"
_RIGHTS = "META-INF/encryption.xml"
_MAX_CHAPTERS = 2_000
_CHAPTER_SECONDS = 3.0
_EXPENSIVE = "[This chapter takes too much time or memory to read.]"
_MALFORMED = "[This chapter cannot be read.]"


def read_book(body: bytes, url: str) -> DocumentText:
    """The text of a book. Raises UnreadableDocument, and what zipfile and ElementTree raise."""
    with open_archive(body) as archive:
        package = _find_package(archive)
        facts = read_properties(archive, package)
        chapters = [_read_chapter(archive, name, url) for name in _find_chapters(archive, package)]
        if not set(chapters) - {"", _EXPENSIVE, _MALFORMED}:
            _explain_empty(chapters, has_rights=_RIGHTS in archive.namelist())
    return facts._replace(text="\n\n".join(filter(None, chapters)))


def _explain_empty(chapters: list[str], *, has_rights: bool) -> None:
    """Raise UnreadableDocument for a book of which no chapter can be read, if there are any."""
    if has_rights:
        raise UnreadableDocument("it is encrypted")
    if any(chapters):
        raise UnreadableDocument("it takes too much time or memory to read, or is malformed")


def _find_package(archive: ZipFile) -> str:
    """The part that says what is in a book."""
    container = read_xml(archive.read(_CONTAINER))
    found = next((root for root in container.iter() if root.tag.endswith("}rootfile")), None)
    if found is None:
        raise UnreadableDocument("it is malformed")
    return found.get("full-path", "")


def _find_chapters(archive: ZipFile, package: str) -> list[str]:
    tree = read_xml(archive.read(package))
    names = {item.get("id"): item.get("href", "") for item in _find_all(tree, "item")}
    spine = [names.get(item.get("idref"), "") for item in _find_all(tree, "itemref") if item.get("linear") != "no"]
    packed = set(archive.namelist())
    paths = (normpath(join(dirname(package), unquote(name.partition("#")[0]))) for name in spine if name)
    return [path for path in dict.fromkeys(paths) if path in packed][:_MAX_CHAPTERS]


def _find_all(tree: ET.Element, name: str) -> list[ET.Element]:
    return [element for element in tree.iter() if element.tag.endswith(f"}}{name}")]


def _read_chapter(archive: ZipFile, name: str, url: str) -> str:
    """A chapter as markdown, or why there is none: it may not cost the others."""
    try:
        with bounded_part(_CHAPTER_SECONDS):
            text = decode(archive.read(name), "", html=True, complete=True, url=name)
            return convert(as_html(text), url).markdown if "<" in text else ""
    except PartTooExpensive:
        return _EXPENSIVE
    except (BadZipFile, zlib.error, ValueError, RecursionError):
        return _MALFORMED
