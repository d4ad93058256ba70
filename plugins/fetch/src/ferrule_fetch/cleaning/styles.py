"""What an element's own style says about whether a browser shows it."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING

from ferrule_fetch.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Mapping


class Hiding(Enum):
    """How a style hides an element."""

    DISPLAY = auto()  # it takes no place, and nothing inside can be seen
    VISIBILITY = auto()  # what is inside may be visible again
    OPACITY = auto()  # as before an animation
    PLACE = auto()  # off the screen, clipped or without a size
    INK = auto()  # letters without a size or colour


_AWAY = compile_late(r"-(?<![0-9a-z]-)(?:[0-9]{3}|[0-9]{2}(?:\.[0-9]*)?(?:r?em|in|cm))")
_NO_OPACITY = compile_late(r"opacity\s*[:(]\s*(?:0*\.?0|[0-2]%)")
_NO_SIZE = compile_late(r":\s*(?:0|1px)(?![0-9.])")
_SMALL_FONT = compile_late(r"font[a-z-]*\s*:[^;]*(?<![0-9.#])(?:0(?![0-9])|\.|[12](?:px|pt))")
_NO_COLOUR_AT_ALL = compile_late(
    r"(?:color)\s*:\s*(?:transparent|(?:rgb|hsl)a?\([^)]*[,/]\s*0*\.?0*%?\s*\)|#[0-9a-f]{3}0\b|#[0-9a-f]{6}00\b)"
)
COMMENT = compile_late(r"/\*.*?(?:\*/|\Z)", re.S)
_ESCAPE = compile_late(r"\\(?:([0-9a-f]{1,6})\s?|(.))", re.I | re.S)
_DECLARATION = compile_late(r"""(?:[^;"'(]|"[^"]*(?:"|\Z)|'[^']*(?:'|\Z)|\([^)]*(?:\)|\Z))+""")
_IMPORTANT = compile_late(r"\s*!\s*important\s*\Z")
_LENGTH = compile_late(r"(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+))([a-z%]*)")
_FAR = {"px": 900, "": 900, "pt": 700, "em": 60, "rem": 60, "vw": 100, "vh": 100, "in": 10, "cm": 25, "ch": 100}
_DISPLAY = compile_late(
    r"none|contents|block|inline|inline-(?:block|flex|grid|table)|flex|grid|flow-root|list-item|table(?:-[a-z-]+)?"
    r"|run-in|inherit|initial|unset|revert|-webkit-(?:inline-)?(?:box|flex)|-ms-(?:inline-)?flexbox"
)
_VISIBILITY = frozenset({"visible", "hidden", "collapse", "inherit", "initial", "unset", "revert"})
_OFFSETS = (
    "left",
    "right",
    "top",
    "bottom",
    "inset",
    "text-indent",
    "margin-left",
    "margin-top",
    "margin",
    "translate",
)
_CLIP = compile_late(r"rect\(\s*(0|1px|auto)\w*[\s,]+(0|1px)\w*[\s,]+(0|1px)\w*[\s,]+(0|1px)\w*\s*\)")
_CLIP_PATH = compile_late(
    r"inset\(\s*(?:5[0-9]|[6-9][0-9]|100)(?:\.[0-9]+)?%|(?:circle|ellipse)\(\s*0(?:px|%)?[\s)]"
    r"|polygon\(\s*(?:0(?:px|%)?\s+0(?:px|%)?\s*,?\s*)+\)"
)
_SCALE = compile_late(r"scale(?:3d|x|y)?\(\s*(?:0+(?:\.0[0-9]*)?|\.0[0-9]*)\s*[,)]")
_ALL_THE_WAY = compile_late(r"[1-9][0-9]{2,}(?:\.[0-9]*)?%")
_TRANSLATE = compile_late(r"translate(?:x|y|3d)?\(([^)]*)\)")
_NO_COLOUR = compile_late(r"transparent|(?:rgb|hsl)a?\([^)]*[,/]\s*0*\.?0+%?\s*\)|#[0-9a-f]{3}0|#[0-9a-f]{6}00")
_NUMBER = compile_late(r"([0-9]*\.?[0-9]+)(%?)")
_OPACITY = compile_late(r"opacity\(([^)]*)\)")
_MIN_OPACITY = 0.02  # below which nobody reads a text
_ZERO = compile_late(r"0*\.?0+[a-z%]*")
_NO_FONT = compile_late(r"0*\.?0+[a-z%]*|(?:0*\.[0-9]+|[12](?:\.[0-9]*)?)(?:px|pt)")
_NO_FONT_AT_ALL = compile_late(r"(?:^|\s)0(?:px|pt)?[/\s]")


def hiding_of(style: str) -> Hiding | None:
    """How a style hides what has it; None where a browser shows it."""
    if not may_hide(style.lower()):
        return None
    return find_hiding(declarations(style))


def find_hiding(given: Mapping[str, str]) -> Hiding | None:
    """How declarations hide what has them; None where a browser shows it."""
    if given.get("display") == "none" or given.get("content-visibility") == "hidden":
        return Hiding.DISPLAY
    if given.get("visibility") in ("hidden", "collapse"):
        return Hiding.VISIBILITY
    if _is_transparent(given):
        return Hiding.OPACITY
    if _is_off_screen(given) or _is_cut_off(given):
        return Hiding.PLACE
    return Hiding.INK if _is_without_ink(given) else None


def may_hide(style: str) -> bool:
    """Whether a style, in small letters, has a word of those that hide; most need not be read further."""
    return (
        ("none" in style and "display" in style)
        or ("visib" in style and ("hidden" in style or "collapse" in style))
        or ("opacity" in style and bool(_NO_OPACITY.search(style)))
        or "clip" in style
        or "scale" in style
        or ("overflow" in style and ("indent" in style or bool(_NO_SIZE.search(style))))
        or ("font" in style and bool(_SMALL_FONT.search(style)))
        or ("color" in style and bool(_NO_COLOUR_AT_ALL.search(style)))
        or ("-" in style and bool(_AWAY.search(style)))
        or "\\" in style
        or "/*" in style
    )


def _is_transparent(given: Mapping[str, str]) -> bool:
    filtered = _OPACITY.search(given.get("filter", ""))
    return any(_is_next_to_none(each) for each in (given.get("opacity", ""), filtered[1] if filtered else ""))


def _is_next_to_none(opacity: str) -> bool:
    found = _NUMBER.fullmatch(opacity.strip())
    return found is not None and float(found[1]) / (100 if found[2] else 1) <= _MIN_OPACITY


def is_visible(style: str) -> bool:
    """Whether a style shows what has it within a parent that is not visible."""
    return declarations(style).get("visibility") == "visible"


def has_size(style: str) -> bool:
    """Whether a style gives letters a size of their own within a parent whose letters have none."""
    size = declarations(style).get("font-size", "")
    return (
        bool(_LENGTH.match(size)) and size[-1:].isalpha() and not size.endswith("em") and not _NO_FONT.fullmatch(size)
    )


def declarations(style: str) -> dict[str, str]:
    """The values of a style by their names, as they count: the last one, or the last important one."""
    plain = style.lower()
    if "\\" in plain or "/*" in plain:
        plain = _ESCAPE.sub(_unescape, COMMENT.sub("", plain))
    all_of_them = _DECLARATION.findall(plain) if "(" in plain or '"' in plain or "'" in plain else plain.split(";")
    values: dict[str, str] = {}
    important: set[str] = set()
    for declaration in all_of_them:
        name, _, value = declaration.partition(":")
        name, value = name.strip(), value.strip()
        is_important = "!" in value and bool(_IMPORTANT.search(value))
        if is_important:
            value = _IMPORTANT.sub("", value)
        if not value or not _is_valid(name, value) or (name in important and not is_important):
            continue
        values[name] = value
        if is_important:
            important.add(name)
    return values


def _is_valid(name: str, value: str) -> bool:
    """Whether a browser takes a value, as far as a wrong one could undo a right one here."""
    if name == "display":
        return bool(_DISPLAY.fullmatch(value))
    return value in _VISIBILITY if name == "visibility" else True


def _unescape(found: re.Match[str]) -> str:
    if not found[1]:
        return found[2]
    code = int(found[1], 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\N{REPLACEMENT CHARACTER}"


def _is_off_screen(given: Mapping[str, str]) -> bool:
    for name in _OFFSETS:
        if name in given and any(_is_far(number, unit) for number, unit in _LENGTH.findall(given[name])):
            return True
    overflow = given.get("overflow", "") + given.get("overflow-x", "")
    if _ALL_THE_WAY.fullmatch(given.get("text-indent", "")) and ("hidden" in overflow or "clip" in overflow):
        return True
    moved = _TRANSLATE.search(given.get("transform", ""))
    return moved is not None and any(_is_far(number, unit) for number, unit in _LENGTH.findall(moved[1]))


def _is_far(number: str, unit: str) -> bool:
    """Whether a length leads away from the screen. What is far to the right or below can be scrolled to."""
    return unit in _FAR and -float(number) >= _FAR[unit]


def _is_cut_off(given: Mapping[str, str]) -> bool:
    if _CLIP.search(given.get("clip", "")) or _CLIP_PATH.search(given.get("clip-path", "")):
        return True
    if _SCALE.search(given.get("transform", "")) or _ZERO.fullmatch(given.get("scale", "1").split()[0]):
        return True
    overflow = " ".join(value for name, value in given.items() if name.startswith("overflow"))
    if "hidden" not in overflow and "clip" not in overflow:
        return False
    sizes = [given.get(name, "") for name in ("height", "max-height", "width", "max-width")]
    return any(_ZERO.fullmatch(size) or size == "1px" for size in sizes)


def _is_without_ink(given: Mapping[str, str]) -> bool:
    if _NO_FONT.fullmatch(given.get("font-size", "")) or _NO_FONT_AT_ALL.search(given.get("font", "")):
        return True
    paints = "text" in given.get("background-clip", "") + given.get("-webkit-background-clip", "")
    colour = given.get("-webkit-text-fill-color") or given.get("color", "")
    return not paints and "background" not in " ".join(given) and bool(_NO_COLOUR.fullmatch(colour))
