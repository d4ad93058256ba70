"""What a page says of its own character set, in its first 1,024 bytes, read as the HTML standard has it."""

from __future__ import annotations

import re

import webencodings

_PRESCAN_BYTES = 1024
_BLANK = rb"\t\n\f\r "

_XML = re.compile(rb"""<\?xml(?=\s)[^>]*?encoding\s*=\s*(?:"([^"\x00-\x20]*)"|'([^'\x00-\x20]*)')""")
_UTF_16_XML = {b"<\0?\0x\0": "utf-16le", b"\0<\0?\0x": "utf-16be"}

_TAG = re.compile(rb"</?[A-Za-z][^_/>]*".replace(b"_", _BLANK))
_ATTRIBUTE = re.compile(
    rb"[_/]*([^_/>][^_/>=]*)(?:[_]*=[_]*(?:\"([^\"]*)(?:\"|\Z)|'([^']*)(?:'|\Z)|([^_>]*)))?".replace(b"_", _BLANK)
)
_CHARSET = re.compile(rb"charset[_]*=[_]*(?:\"([^\"]*)\"|'([^']*)'|([^\"'_;][^_;]*))".replace(b"_", _BLANK), re.I)


def declared(body: bytes, *, html: bool) -> webencodings.Encoding | None:
    """The encoding that a page names in a meta element or, as XML does, in its declaration; None where in neither.

    html: whether there can be meta elements.
    """
    head = body[:_PRESCAN_BYTES]
    for start, name in _UTF_16_XML.items():
        if head.startswith(start):
            return webencodings.lookup(name)
    return (_of_meta(head) if html else None) or _of_xml(head)


def _of_xml(head: bytes) -> webencodings.Encoding | None:
    found = _XML.match(head)
    return _readable(found[1] or found[2] or b"") if found else None


def _of_meta(head: bytes) -> webencodings.Encoding | None:
    position = head.find(b"<")
    while position >= 0:
        encoding, end = _at(head, position)
        if encoding:
            return encoding
        position = head.find(b"<", end) if end > 0 else -1
    return None


def _at(head: bytes, start: int) -> tuple[webencodings.Encoding | None, int]:
    """What the markup that starts here says of the encoding, and where it ends, which is 0 where it does not."""
    if head.startswith(b"<!--", start):
        return None, head.find(b"-->", start + 2) + 1  # "<!-->" is a whole comment
    if tag := _TAG.match(head, start):
        attributes, end = _attributes(head, tag.end())
        is_meta = tag[0].lower() == b"<meta" and head[tag.end() : tag.end() + 1] != b">"
        return _of_attributes(attributes) if end and is_meta else None, end
    if head[start + 1 : start + 2] in (b"!", b"/", b"?"):
        return None, head.find(b">", start) + 1
    return None, start + 1


def _attributes(head: bytes, position: int) -> tuple[dict[bytes, bytes], int]:
    """The attributes of a tag, in small letters, and where the tag ends; of two with one name, the first."""
    attributes: dict[bytes, bytes] = {}
    while found := _ATTRIBUTE.match(head, position):
        position = found.end()
        attributes.setdefault(found[1].lower(), (found[2] or found[3] or found[4] or b"").lower())
    return attributes, head.find(b">", position) + 1


def _of_attributes(attributes: dict[bytes, bytes]) -> webencodings.Encoding | None:
    if b"charset" in attributes:
        return _readable(attributes[b"charset"])
    found = _CHARSET.search(attributes.get(b"content", b""))
    if found and attributes.get(b"http-equiv") == b"content-type":
        return _readable(found[1] or found[2] or found[3] or b"")
    return None


def _readable(label: bytes) -> webencodings.Encoding | None:
    """What could be read as ASCII up to its name is not UTF-16, whatever it says."""
    encoding = webencodings.lookup(label.decode("latin-1"))
    instead = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}
    return encoding and webencodings.lookup(instead.get(encoding.name, encoding.name))
