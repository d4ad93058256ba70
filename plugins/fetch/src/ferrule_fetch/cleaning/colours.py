"""Letters in the colour of what they stand on, as far as that is said where it can be read."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from ferrule_fetch.cleaning.styles import declarations
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element

_MAX_ANCESTORS = 30
_LIKE = 8  # of 255, by which two colours differ that nobody tells apart
_NAMES = {"white": "ffffff", "black": "000000", "snow": "fffafa", "ivory": "fffff0", "ghostwhite": "f8f8ff"}
_HEX = compile_late(r"#?([0-9a-f]{3}|[0-9a-f]{6})")
_RGB = compile_late(
    r"rgba?\(\s*([0-9]{1,3})[\s,]+([0-9]{1,3})[\s,]+([0-9]{1,3})\s*(?:[,/]\s*(?:1|100%)(?:\.0*)?\s*)?\)"
)
_GROUNDS = ("background", "background-color", "background-image")


class Colour(NamedTuple):
    """The red, green and blue parts of a colour, each from 0 to 255."""

    red: int
    green: int
    blue: int

    def is_like(self, other: Colour) -> bool:
        """Whether nobody can tell the two apart."""
        return all(abs(one - another) <= _LIKE for one, another in zip(self, other, strict=True))


WHITE = Colour(255, 255, 255)


def read_colour(value: str) -> Colour | None:
    """The colour that a style names, None for a transparent one and what is no colour."""
    value = _NAMES.get(value, value)
    if found := _HEX.fullmatch(value):
        digits = found[1] if len(found[1]) > len("fff") else "".join(2 * digit for digit in found[1])
        return Colour(*(int(digits[at : at + 2], 16) for at in (0, 2, 4)))
    if found := _RGB.fullmatch(value):
        return Colour(*(min(255, int(part)) for part in found.groups()))
    return None


def has_ground(given: Mapping[str, str]) -> bool:
    """Whether declarations paint what is behind the letters."""
    return any(name in given for name in _GROUNDS)


def read_ground(given: Mapping[str, str]) -> Colour | None:
    """The colour that declarations give to what is behind the letters, None where it is no plain one."""
    painted = [given[name] for name in _GROUNDS if name in given]
    return read_colour(painted[0]) if len(painted) == 1 else None


def is_in_ground(element: Element, given: Mapping[str, str], page: Colour | None) -> bool:
    """Whether letters have the colour of what they stand on.

    given: what is said of the element. page: the colour of the page, None where it is not known.
    """
    colour = read_colour(given.get("-webkit-text-fill-color") or given.get("color", ""))
    if colour is None or given.get("position") in ("absolute", "fixed") or "text-shadow" in given:
        return False
    ground = read_ground(given) if has_ground(given) else _find_ground(element, page)
    return ground is not None and colour.is_like(ground)


def _find_ground(element: Element, page: Colour | None) -> Colour | None:
    """What an element stands on; None where that is a picture, or cannot be known."""
    for around in islice(element.ancestors, _MAX_ANCESTORS):
        if not isinstance(around, Element):
            return page
        if colour := around.attr("bgcolor"):
            return read_colour(colour.lower())
        style = around.attr("style")
        given = _read_style(style) if style else {}
        if has_ground(given):
            return read_ground(given)
        if given.get("position") in ("absolute", "fixed"):
            return None
    return None


@lru_cache(maxsize=256)
def _read_style(style: str) -> Mapping[str, str]:
    """The declarations of a style, which many elements of a page stand in."""
    return declarations(style)
