"""Spans of code and emphasis that markdown can hold: like ones side by side are one, and code stands within links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_fetch.cleaning.edits import unwrap
from ferrule_fetch.patterns import compile_late
from ferrule_fetch.tree.nodes import Element, Text

if TYPE_CHECKING:
    from ferrule_fetch.cleaning.selection import Found

_ALIKE = (("code", "kbd", "samp", "tt"), ("b", "strong"), ("i", "em", "cite", "dfn", "var"), ("del", "s", "strike"))
_KINDS = {name: kind[0] for kind in _ALIKE for name in kind}
# One selector for each name: the tree knows its elements by their names.
_SIDE_BY_SIDE = tuple(f":is({','.join(kind)}) + {name}" for kind in _ALIKE for name in kind)
_WITH_LINK = tuple(f"{name}:has(a[href])" for name in _ALIKE[0])
# An end tag that was forgotten makes code of all that follows.
_AROUND_BLOCKS = tuple(f"{name}:has(p,div,ul,ol,dl,pre,table,blockquote,h1,h2,h3,h4,h5,h6)" for name in _ALIKE[0])

_BREAKS = ("b > br", "strong > br")
# Parts of a line that a style sheet sets apart: a price and the old price, a name and a date.
_PARTS = tuple(f":is(span,s,del,time,small,a,strong,b,ins) + {tag}" for tag in ("span", "ins", "strong"))
_WORDS_MEET = compile_late(r"(?:[^\W_]|[$€£¥])(?:[^\W_]|[$€£¥])")
_PRICE = compile_late(r"(?:[$€£¥]\s?[0-9][0-9., ]{0,12}|[0-9][0-9., ]{0,12}\s?(?:[$€£¥]|EUR|USD|GBP|kr|zł))")
_MAX_PRICE_CHARS = 18
_MIN_PARTS_CHARS = 4  # fewer are letters, each drawn by itself
_MIN_WORD_CHARS = 3  # of a name; shorter ones may be parts of a word, such as McDonald
_PLACED = "code,pre,dt,math,svg,h1,h2,h3,h4,h5,h6"  # where signs stand side by side as they are

_IN_LINK = "a > span"  # a part of a link whose other words stand around it

SELECTORS = (*_SIDE_BY_SIDE, *_WITH_LINK, *_AROUND_BLOCKS, "a pre", *_BREAKS, *_PARTS, _IN_LINK)


def clean(found: Found) -> None:
    """Join spans, and take links out of code."""
    for block in found["a pre"]:
        if (link := block.closest("a")) is not None:
            unwrap(link)
    for code in (code for selector in _AROUND_BLOCKS for code in found[selector]):
        if code.closest("pre") is None:
            unwrap(code)
    for code in (code for selector in _WITH_LINK for code in found[selector]):
        _put_into_links(code)
    for line_break in (line_break for selector in _BREAKS for line_break in found[selector]):
        _move_out(line_break)
    for span in (span for selector in _SIDE_BY_SIDE for span in found[selector]):
        _join(span)
    for span in (span for selector in _PARTS for span in found[selector]):
        _set_apart(span)
    for span in found[_IN_LINK]:
        _set_apart_in_link(span)


def _move_out(line_break: Element) -> None:
    """Put a line break behind the emphasis that ends with it."""
    after, around = line_break.next_sibling, line_break.parent
    while isinstance(after, Text) and not after.data.strip():
        after = after.next_sibling
    if after is None and isinstance(around, Element) and around.parent is not None:
        around.insert_after(line_break.extract())


def _join(span: Element) -> None:
    before = span.previous_sibling
    if isinstance(before, Element) and _KINDS.get(before.tag) == _KINDS[span.tag]:
        before.extend(list(span.children))
        span.extract()


def _set_apart(span: Element) -> None:
    """Put a space between two numbers, and between two words that are parts of different kinds, by their classes.

    A word that begins with a capital letter is another one than the word before it, if one of the two has a class.
    """
    before = span.previous_sibling
    if not isinstance(before, Element):
        return
    left, right = before.text, span.text
    if len(left) + len(right) < _MIN_PARTS_CHARS or not _WORDS_MEET.fullmatch(left[-1:] + right[:1]):
        return
    kinds = {before.attr("class"), span.attr("class")}
    are_words = _begins_anew(left, right) and kinds != {None}
    are_numbers = (left[-1:].isdecimal() and right[:1].isdecimal()) or _is_price(left) or _is_price(right)
    if (are_numbers or are_words or (len(kinds) == 2 and None not in kinds)) and span.closest(_PLACED) is None:
        span.insert_before(Text(" "))


def _set_apart_in_link(span: Element) -> None:
    """Put a space between the words of a link and the name of its source, which has a class and a capital letter."""
    before = span.previous_sibling
    if not isinstance(before, Text) or span.attr("class") is None:
        return
    if " " in before.data.strip() and _begins_anew(before.data, span.text) and span.closest(_PLACED) is None:
        span.insert_before(Text(" "))


def _begins_anew(left: str, right: str) -> bool:
    """Whether a word in small letters ends one text, and a word with a capital letter begins the other."""
    ends, begins = left[-_MIN_WORD_CHARS:], right[:_MIN_WORD_CHARS]
    if not (ends[-1:].islower() and begins[:1].isupper()):
        return False
    return len(ends) == len(begins) == _MIN_WORD_CHARS and ends.isalpha() and begins.isalpha()


def _is_price(text: str) -> bool:
    return len(text) <= _MAX_PRICE_CHARS and _PRICE.fullmatch(text.strip()) is not None


def _put_into_links(code: Element) -> None:
    """Make code of what stands around the links, and of what stands within each."""
    if code.parent is None or code.closest("pre") is not None:
        return
    for link in code.select("a[href]"):
        link.wrap_children(Element("code"))
    for child in list(code.children):
        if not (isinstance(child, Element) and child.tag == "a") and child.text.strip():
            child.wrap(Element("code"))
    unwrap(code)
