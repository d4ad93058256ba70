"""Books in EPUB: their chapters, in the order in which they are read."""

from __future__ import annotations

from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ferrule_fetch.formats.documents.archive import (
    DocumentText,
    UnreadableDocument,
    open_archive,
    read_properties,
    read_xml,
)
from ferrule_fetch.formats.xhtml import as_html
from ferrule_fetch.markdown import convert
from ferrule_fetch.text.charsets import decode

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET
    from zipfile import ZipFile

_CONTAINER = "META-INF/container.xml"
_RIGHTS = "META-INF/encryption.xml"
_MAX_CHAPTERS = 2_000


def read_book(body: bytes, url: str) -> DocumentText:
    """The text of a book. Raises UnreadableDocument, and what zipfile and ElementTree raise."""
    with open_archive(body) as archive:
        package = _find_package(archive)
        facts = read_properties(archive, package)
        chapters = [_read_chapter(archive, name, url) for name in _find_chapters(archive, package)]
        if not any(chapters) and _RIGHTS in archive.namelist():
            raise UnreadableDocument("it is encrypted")
    return facts._replace(text="\n\n".join(filter(None, chapters)))


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
    text = decode(archive.read(name), "", html=True, complete=True, url=name)
    return convert(as_html(text), url).markdown if "<" in text else ""
