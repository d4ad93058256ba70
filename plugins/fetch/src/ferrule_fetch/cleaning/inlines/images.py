"""Images that say something: those with a description, and with the address that a browser would load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace
from ferrule_fetch.cleaning.text import letters_of, words_of
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found

# put into src by a script, once the image comes into view
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src", "data-full-src")
_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_PIXEL = compile_late(r"\s*[01](?:px)?\s*")
_EMOJI = compile_late(r"(?:^|[\s_-])(?:emoji|emoticon|smiley|twemoji)(?:$|[\s_-])|^wp-smiley|Emoji")
_NO_ADDRESS = ("data:", "{", "[", "blob:", "about:", "javascript:", "#")


SELECTORS = ("img", "noscript", "a img")


def clean(found: Found) -> None:
    """Remove images that tell a reader nothing, and give each of the others one address."""
    _remove_copies(found)
    for without_scripts in found["noscript"]:
        without_scripts.tag = "div"
    for image in found["img"]:
        alt = (image.attr("alt") or "").strip()
        given = _attributes(image) if alt else {}
        if not alt or _is_pixel(given):
            around = image.parent
            image.extract()
            if isinstance(around, Element) and around.tag == "picture":
                around.extract()
            continue
        address = _address_of(image, given)
        if not address or _EMOJI.search(image.attr("class") or "") or _is_sign(alt):
            replace(image, Text(alt))
            continue
        if address != given.get("src"):
            image.attrs["src"] = address
        title = given.get("title")
        if title and (title == alt or (letters_of(title) and letters_of(title) in letters_of(alt))):
            del image.attrs["title"]
    for image in found["a img"]:
        _remove_where_told(image)


def _address_of(image: Element, given: dict[str, str]) -> str:
    """The address of an image; empty if there is none, or only a picture within the page itself."""
    for name in (*_LAZY, "src"):
        address = (given.get(name) or "").strip()
        if address and not address[:11].lower().startswith(_NO_ADDRESS):
            return address
    sets: list[str | None] = [given.get(name) for name in _SETS]
    around = image.parent
    if isinstance(around, Element) and around.tag == "picture":
        sets += [source.attr(name) for source in around.select("source") for name in _SETS]
    for candidates in filter(None, sets):
        first = candidates.split()[:1]
        if first and not first[0].lower().startswith(_NO_ADDRESS):
            return first[0].rstrip(",")
    return ""


def _is_sign(alt: str) -> bool:
    """Whether a description is the sign that the image draws."""
    return not alt.isascii() and not any(map(str.isalnum, alt))


def _attributes(image: Element) -> dict[str, str]:
    return {name: value for name, value in image.attrs.items() if isinstance(value, str)}


def _is_pixel(given: dict[str, str]) -> bool:
    sizes = (given.get("width"), given.get("height"))
    return all(size is not None and _PIXEL.fullmatch(size) for size in sizes)


def _remove_copies(found: Found) -> None:
    """Remove what stands in `noscript` for an image that is there, or gets its address from it."""
    for without_scripts in found["noscript"]:
        copies = without_scripts.select("img")
        if not copies or words_of(without_scripts):
            continue
        if any(_is_pixel(_attributes(copy)) for copy in copies):
            without_scripts.extract()
            continue
        original = _image_beside(without_scripts, copies)
        if original is None:
            continue
        if not _address_of(original, _attributes(original)) and (
            address := _address_of(copies[0], _attributes(copies[0]))
        ):
            original.attrs["src"] = address
        if not original.attr("alt") and copies[0].attr("alt"):
            original.attrs["alt"] = copies[0].attr("alt")
        without_scripts.extract()


def _image_beside(element: Element, copies: list[Element]) -> Element | None:
    around = element.parent
    images = around.select("img") if isinstance(around, Element) else []
    return next((image for image in images if image not in copies), None)


def _remove_where_told(image: Element) -> None:
    """Remove an image from a link whose text says what the image would."""
    link = image.closest("a") if image.parent is not None else None
    text = letters_of(link.text) if link is not None else ""
    if text and letters_of(image.attr("alt") or "") in text:
        image.extract()
