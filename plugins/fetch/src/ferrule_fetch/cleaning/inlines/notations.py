"""What raised, lowered and annotated text says, in signs: exponents, indices, ruby, abbreviations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import replace
from ferrule_fetch.cleaning.text import last_letter
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found

_RAISED = str.maketrans("0123456789+-−–=()ni′", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ′")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_SIGNS = "⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉"
_CLOSING = tuple(")]}|′'’%‰")
_PARTS = ("%", "‰")  # no ordinal number ends with these
_PRICE = compile_late(r"[$€£¥]\s*[0-9][0-9.,]*\Z")
_CENTS = compile_late(r"[0-9]{2}")
_MAX_PRICE_CHARS = 24
_INDEX = compile_late(r"[^\W_¹²³⁰-₉]{1,4}")  # what says something else when it is written on the line, as in 2^k
_WORD_BELOW = compile_late(r"[^\W\d_]{5,12}")  # as in v_total
# a term: short words, numbers and what may stand between them, but no sentence
_TERM = compile_late(r"(?:[^\W\d_]{1,4}(?![^\W\d_])|[0-9]+|[⁰¹²³-⁹₀-₉ⁿⁱ]|[ .,:;/⁄+−–±∓×·*=<>≤≥∞′'()|∘°^_-])+")
_NO_TERM = compile_late(r"[*'′ .,;:–-]+|[†‡§¶]|\[.*\]|\(.*\)")
_WORDS = compile_late(r"[^\W\d_]{2,}\s+[^\W\d_]{2,}")  # a phrase
_ORDINALS = frozenset(
    ["st", "nd", "rd", "th", "er", "re", "e", "me", "ème", "eme", "o", "a", "ª", "º", "tm", "sm", "r", "c"]
)
_CODE = "code,pre,kbd,samp,tt,math,svg"
_SOLIDUS = ("/", "⁄")


SELECTORS = ("sup", "sub", "rt", "rp", "abbr[title]")


def clean(found: Found) -> None:
    """Write what is raised, lowered, spelt out or pronounced as text."""
    for tag, digits, mark in (("sup", _RAISED, "^"), ("sub", _LOWERED, "_")):
        for element in reversed(found[tag]):
            if element.closest(_CODE) is None:
                _write_shifted(element, digits, mark)
    for reading in found["rt"]:
        replace(reading, Text(f"({reading.text.strip()})" if reading.text.strip() else ""))
    for bracket in found["rp"]:
        bracket.extract()
    _expand_abbreviations(found)


def _write_shifted(element: Element, digits: dict[int, int], mark: str) -> None:
    text = element.text.strip()
    if element.select_one("a,img,button") is not None or not text:
        return
    before = last_letter(element.previous_sibling)
    if mark == "^" and _CENTS.fullmatch(text) and before.isdigit() and _PRICE.search(_read_before(element)):
        replace(element, Text(f".{text}"))
        return
    if mark == "^" and text.isdigit() and _is_numerator(element):
        replace(element, Text(f" {text}" if before.isdigit() else text))
        return
    written = _shifted(text, before, _letter_behind(element), digits, mark)
    if written is not None:
        replace(element, Text(written))


def _shifted(text: str, before: str, behind: str, digits: dict[int, int], mark: str) -> str | None:
    """The text of a raised or lowered element with its sign; None where it says the same without one."""
    in_signs = all(ord(letter) in digits for letter in text)
    if not before.isalnum() and before not in _CLOSING:
        # the mass number before an element, as in ¹⁴C, and its atomic number
        return text.translate(digits) if in_signs and text.isdigit() and behind.isalpha() else None
    if in_signs:
        return text.translate(digits)
    if text.lower() in _ORDINALS and mark == "^" and before not in _PARTS:
        return None
    if _INDEX.fullmatch(text) or (mark == "_" and _WORD_BELOW.fullmatch(text)):
        return f"{mark}{text}"
    if _TERM.fullmatch(text) and not _NO_TERM.fullmatch(text) and not _WORDS.search(text):
        return f"{mark}({text})"
    return None


def _is_numerator(element: Element) -> bool:
    """Whether an element is the upper part of a fraction, whose lower part is lowered."""
    solidus = element.next_sibling
    if (isinstance(solidus, Element) and solidus.text.strip() in _SOLIDUS) or (
        isinstance(solidus, Text) and solidus.data.strip() in _SOLIDUS
    ):
        below = solidus.next_sibling
    else:
        return False
    return isinstance(below, Element) and below.tag == "sub"


def _letter_behind(element: Element) -> str:
    """The first character behind an element, or behind a number that stands above or below it there."""
    behind = element.next_sibling
    text = ""
    for _ in range(2):
        text = behind.data if isinstance(behind, Text) else behind.text if isinstance(behind, Element) else ""
        is_number = isinstance(behind, Element) and behind.tag in ("sup", "sub") and text.isdecimal()
        if behind is None or not (is_number or (text and not text.strip(_SIGNS))):
            break
        behind = behind.next_sibling
    return text[:1]


def _read_before(element: Element) -> str:
    """The end of the text before an element, as long as a price may be."""
    node, text = element.previous_sibling, ""
    while node is not None and len(text) < _MAX_PRICE_CHARS:
        text = (node.data if isinstance(node, Text) else node.text if isinstance(node, Element) else "") + text
        node = node.previous_sibling
    return text[-_MAX_PRICE_CHARS:]


def _expand_abbreviations(found: Found) -> None:
    """Tell once what each abbreviation stands for."""
    told: set[str] = set()
    for element in found["abbr[title]"]:
        title = " ".join((element.attr("title") or "").split())
        text = element.text.strip()
        if title and text and title not in told and title != text:
            told.add(title)
            element.append(Text(f" ({title})"))
        del element.attrs["title"]
