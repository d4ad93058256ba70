"""Attributes, as canonical HTML spells them out."""

from __future__ import annotations

import re

_HIDING = (  # compiled by the first page that has such a style
    r"(?:^|;)\s*(?:"
    r"display\s*:\s*none"
    r"|visibility\s*:\s*(?:hidden|collapse)"
    r"|opacity\s*:\s*(?:0*\.?0+%?|0+\.0*%?)\s*(?:!important\s*)?(?:;|$)"
    r"|font-size\s*:\s*(?:0*\.?0+[a-z%]*|0+\.0*[a-z%]*)\s*(?:!important\s*)?(?:;|$)"
    r"|(?:left|right|top|text-indent)\s*:\s*-\s*[0-9]{4,}"
    r")"
)
_ATTRIBUTE = re.compile(r'(=?[^ =]+)="([^"]*)"')
_SUSPECT = re.compile(r"none|collapse|opacity|font-size|:\s*-|/\*", re.I)
_SPACES = re.compile("[ \t\n\f\r]+")
_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.S)


def attributes_of(spelt: str) -> dict[str, str]:
    """The attributes of a tag by name, from ` name="value"` for each."""
    attributes = dict(_ATTRIBUTE.findall(spelt))
    return {name: unescape(value) for name, value in attributes.items()} if "&" in spelt else attributes


def unescape(text: str) -> str:
    """Text or a value without the escapes of canonical HTML."""
    if "&" not in text:
        return text
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&nbsp;", "\xa0")
    return text.replace("&amp;", "&")


def one_line(value: str) -> str:
    """A value without the white space at its ends, and with single blanks in it; no-break spaces stay."""
    value = value.replace("\n", " ").strip(" ")
    if "  " in value or "\t" in value or "\f" in value or "\r" in value:
        return " ".join(value.split()) if value.isascii() else _SPACES.sub(" ", value).strip(" ")
    return value


def is_hidden(spelt: str) -> bool:
    """Whether an element is out of sight: by `hidden`, or by its own style."""
    if "hidden" not in spelt and not _SUSPECT.search(spelt):
        return False
    attributes = attributes_of(spelt)
    if "hidden" in attributes and attributes["hidden"].lower() != "until-found":
        return True
    if attributes.get("class") == "katex-html":
        return True  # a formula once more, as glyphs
    return "style" in attributes and bool(re.search(_HIDING, _COMMENT.sub("", attributes["style"]), re.I))


def number(text: str | None, default: int, least: int, most: int) -> int:
    """The whole number that an attribute holds, where it is one from `least` to `most`."""
    found = re.match(r"[ \t\n\f\r]*([+-]?[0-9]{1,9})", text or "")
    value = int(found[1]) if found else default
    return value if least <= value <= most else default
