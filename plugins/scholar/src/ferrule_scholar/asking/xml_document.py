"""XML of services, read without entities: a document that declares one is refused, and no other file is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class XMLRefused(Exception):
    """It is no XML, is not whole, or declares entities."""


def parse_xml(body: bytes) -> Element:
    """The root of a document in the character set that it says. A document type may be named, and is not loaded."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root: Element = fromstring(body, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        raise XMLRefused from None
    return root


def flatten(element: Element | None) -> str:
    """All text in an element, that of its children included, on one line; "" for none."""
    return "" if element is None else " ".join("".join(element.itertext()).split())
