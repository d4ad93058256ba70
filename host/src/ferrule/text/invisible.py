"""Invisible characters: some carry text past the reader's eye, or show it in another order than it has.

What writing needs is kept where it can be meant: a joiner or a variation selector between letters that are not ASCII,
a mark of direction anywhere but within an ASCII word, a soft hyphen, the three flags that are spelt with tags. A
longer run is never meant. Text is read in the order it is stored in, so embeddings, overrides and isolates say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_SLICE_CHARS = 1 << 20
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINERS = "\u034f\u200b-\u200d"
_DIRECTION_MARKS = "\u061c\u200e\u200f"
_SEPARATORS = "\x0b\x0c\x1c-\x1f\x85\u2028\u2029"
_CONTROLS = "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # without tab and line ends
_FORMATS = "\u17b4\u17b5\u180e\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
_SHORTHAND, _MUSIC = "\U0001bca0-\U0001bca3", "\U0001d173-\U0001d17a"
_TAGS = "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
_NO_CHARACTERS = "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"

_NEVER = f"{_CONTROLS}{_FORMATS}{_SHORTHAND}{_MUSIC}{_NO_CHARACTERS}"
_AT_TIMES = f"\xad{_SELECTORS}{_JOINERS}{_DIRECTION_MARKS}{_TAGS}"

# As text, here and below, which `re` compiles when it is needed first.
_ANY = f"[{_SEPARATORS}{_NEVER}{_AT_TIMES}]"
_ANY_IN_ASCII = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"
# Spelt so, a search looks for one character alone.
_NEVER_MEANT = f"[{_NEVER}][{_NEVER}]*"
_MEANT_AT_TIMES = f"[{_AT_TIMES}][{_AT_TIMES}]*"
_JOINING = f"[{_SELECTORS}]?([{_JOINERS}]?)"

_KEYCAP = "\u20e3"
_FLAG = "\N{WAVING BLACK FLAG}"
_REGIONS = {
    "".join(chr(0xE0000 + ord(letter)) for letter in code) + "\U000e007f" for code in ("gbeng", "gbsct", "gbwls")
}

_NAMES = {
    "zwj": "\u200d",
    "zwnj": "\u200c",
    "lrm": "\u200e",
    "rlm": "\u200f",
    "NoBreak": "\u2060",
    **dict.fromkeys(("af", "ApplyFunction"), "\u2061"),
    **dict.fromkeys(("it", "InvisibleTimes"), "\u2062"),
    **dict.fromkeys(("ic", "InvisibleComma"), "\u2063"),
    "ZeroWidthSpace": "\u200b",
    **{f"Negative{width}Space": "\u200b" for width in ("VeryThin", "Thin", "Medium", "Thick")},
}
_REFERENCE = rf"&(?:#(?:[xX]0*([0-9a-fA-F]{{1,6}})|0*([0-9]{{1,7}}))(?![0-9a-fA-F]);?|({'|'.join(_NAMES)});)"


def without_invisible(text: str, instead: str = "") -> str:
    """Take out what is invisible and not meant. instead: what takes its place."""
    any_of_them = _ANY_IN_ASCII if text.isascii() else _ANY
    return _in_slices(text, lambda piece: _cleaned(piece, instead)) if re.search(any_of_them, text) else text


def without_invisible_in_html(html: str) -> str:
    """The same for the source of a page, in which it may be written as character references.

    It comes before the conversion, which escapes what stands at the beginning of a line or beside a space: taken out
    of the markdown, it would leave there what was not escaped.
    """
    spelt_out = _in_slices(html, lambda piece: re.sub(_REFERENCE, _spelt_out, piece)) if "&" in html else html
    return without_invisible(spelt_out)


def hidden_in(text: str) -> list[str]:
    """The characters that `without_invisible` takes out or makes a space of, each once, in their order."""
    if text.isascii():
        return list(dict.fromkeys(re.findall(_ANY_IN_ASCII, text)))
    never = re.findall(f"[{_NEVER}{_SEPARATORS}]", text)
    rest = re.sub(_NEVER_MEANT, "", re.sub(f"[{_SEPARATORS}]", " ", text))
    runs = (run for run in re.finditer(_MEANT_AT_TIMES, rest) if not _is_meant(run))
    return sorted({*never, *(letter for run in runs for letter in run[0])}, key=text.index)


def _in_slices(text: str, work: Callable[[str], str]) -> str:
    """Work through a long text one part after the other: `re` makes an object of all that lies between two matches."""
    if len(text) <= _SLICE_CHARS:
        return work(text)
    return "".join(work(text[start : start + _SLICE_CHARS]) for start in range(0, len(text), _SLICE_CHARS))


def _cleaned(text: str, instead: str) -> str:
    text = re.sub(_NEVER_MEANT, instead, re.sub(f"[{_SEPARATORS}]", " ", text))
    return re.sub(_MEANT_AT_TIMES, lambda run: run[0] if _is_meant(run) else instead, text)


def _is_meant(found: re.Match[str]) -> bool:
    run, text = found[0], found.string
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    if run == "\xad" or (run in _REGIONS and before == _FLAG):
        return True
    if len(run) == 1 and run in _DIRECTION_MARKS:
        return not ((before + after).isascii() and before.isalnum() and after.isalnum())
    joining = re.fullmatch(_JOINING, run)
    if joining is None:
        return False
    if joining[1]:
        return not before.isascii() and not after.isascii()
    return not before.isascii() or after == _KEYCAP


def _spelt_out(reference: re.Match[str]) -> str:
    """The character that a reference stands for, where that is an invisible one; else the reference."""
    hexadecimal, decimal, name = reference.groups()
    if name:
        return _NAMES[name]
    number = int(hexadecimal, 16) if hexadecimal else int(decimal)
    # HTML reads 128 to 159 as windows-1252, in which most of them are letters and dashes
    if number > 0x10FFFF or 0x80 <= number < 0xA0 or not re.match(_ANY, chr(number)):
        return reference[0]
    return chr(number)
