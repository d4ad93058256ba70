"""The words on a page of a PDF, each with its place, and the rules that are drawn between them, as PDFium finds them.

Places are in points, from the lower left corner of the page.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import pairwise
from math import sqrt
from typing import NamedTuple

import pypdfium2.raw as pdfium

MAX_LETTERS = 200_000
"""Of one page; a page of a book has 3,000."""

_MAX_OBJECTS = 20_000
_MAX_RULES = 1_500
_MAX_LINKS = 1_000
_MAX_ADDRESS_BYTES = 4_096
_LEAST_POINTS = 0.5  # of a letter that anybody could read
_WORD_GAP = 0.18  # of the size of letters, from which on two of them are not of one word
_LEAST_RATIO = 0.3  # of the sizes of letters of one word
_BOLD_WEIGHT = 600
_BOLD_FONTS = (b"bold", b"black")
_FIXED = 1  # of the flags of a font
_FIXED_FONTS = (b"courier", b"mono", b"cmtt", b"consolas", b"menlo")
_THIN_POINTS = 2.5  # of what is a rule and no area
_LEAST_RULE_POINTS = 6.0
_PICTURE_SHARE = 0.5  # of the page, which a picture covers that may be a scan

_HYPHENS = str.maketrans("\x02\ufffe", "--")  # as PDFium has those at the end of a line
_Handle = ctypes.c_void_p


class Word(NamedTuple):
    """A word and its place. size: of its letters. is_fixed: they are all as wide. link: where it leads, or empty."""

    text: str
    left: float
    bottom: float
    right: float
    top: float
    size: float
    is_bold: bool = False
    is_fixed: bool = False
    link: str = ""

    @property
    def middle(self) -> float:
        """Its height on the page."""
        return (self.bottom + self.top) / 2


class Rule(NamedTuple):
    """A straight line, level or upright. at: where it stands. start, end: from where to where it goes."""

    is_level: bool
    at: float
    start: float
    end: float


class PageContent(NamedTuple):
    """What is on a page. has_picture: whether one covers most of it. sideways: text that is not level."""

    words: list[Word]
    rules: list[Rule]
    has_picture: bool
    sideways: str


class UnreadablePage(Exception):
    """PDFium cannot make a page of what the document has."""


def read_page(document: _Handle, index: int) -> PageContent:
    """The content of a page. Raises UnreadablePage."""
    page = pdfium.FPDF_LoadPage(document, index)
    if not page:
        raise UnreadablePage
    try:
        text = pdfium.FPDFText_LoadPage(page)
        if not text:
            raise UnreadablePage
        try:
            letters = _Letters(text)
            words = letters.read_words()
        finally:
            pdfium.FPDFText_ClosePage(text)
        rules, has_picture = _read_drawings(page)
        return PageContent(_add_links(words, document, page), rules, has_picture, letters.sideways.strip())
    finally:
        pdfium.FPDF_ClosePage(page)


class _Style(NamedTuple):
    """How letters are written."""

    size: float = 0.0
    is_bold: bool = False
    is_fixed: bool = False
    is_level: bool = True


class _OpenWord:
    """A word of which more letters may come."""

    __slots__ = ("bottom", "left", "letters", "right", "size", "style", "top")

    def __init__(self, letter: str, box: pdfium.FS_RECTF, style: _Style) -> None:
        self.letters = [letter]
        self.left, self.bottom, self.right, self.top = box.left, box.bottom, box.right, box.top
        self.size, self.style = style.size, style

    def is_followed_by(self, box: pdfium.FS_RECTF, size: float) -> bool:
        """Whether a letter goes on with the word: it follows closely, and stands at its height, or a little off it."""
        overlap = min(self.top, box.top) - max(self.bottom, box.bottom)
        least = max(min(self.size, size), 0.01)
        gap = box.left - self.right
        is_level = overlap > 0.4 * min(self.top - self.bottom, box.top - box.bottom)
        is_alike = least > _LEAST_RATIO * max(self.size, size)
        return bool(is_level and is_alike and -least < gap < _WORD_GAP * least)

    def add(self, letter: str, right: float) -> None:
        """Go on with a letter."""
        self.letters.append(letter)
        self.right = max(self.right, right)

    def close(self) -> Word:
        """The word, which is whole."""
        place = self.left, self.bottom, self.right, self.top
        return Word("".join(self.letters), *place, self.size, self.style.is_bold, self.style.is_fixed)


class _Letters:
    """The letters of a page, which become words."""

    def __init__(self, text: _Handle) -> None:
        self._text = text
        self.sideways = ""
        self._style = _Style()

    def read_words(self) -> list[Word]:
        """The words that can be seen, or all of them where nobody could see any."""
        words = list(self._find_words())
        legible = [word for word in words if word.size >= _LEAST_POINTS]
        return legible or words

    def _find_words(self) -> Iterator[Word]:
        box, before = pdfium.FS_RECTF(), (0.0, 0.0)
        pointer, locate = ctypes.byref(box), pdfium.FPDFText_GetLooseCharBox
        word: _OpenWord | None = None
        for index, letter in enumerate(self._read_letters()):
            if letter.isspace() or letter == "\0":
                if word:
                    yield word.close()
                word = None
                self._end_sideways(letter)
                continue
            if not locate(self._text, index, pointer):
                continue
            if (box.bottom, box.top) != before:
                before = box.bottom, box.top
                self._measure(index)
            if not self._style.is_level:
                self.sideways += letter
            elif word and word.is_followed_by(box, self._style.size):
                word.add(letter, box.right)
            else:
                if word:
                    yield word.close()
                word = _OpenWord(letter, box, self._style)
        if word:
            yield word.close()

    def _read_letters(self) -> list[str]:
        count = min(pdfium.FPDFText_CountChars(self._text), MAX_LETTERS)
        buffer = (ctypes.c_ushort * (count + 1))()
        written = pdfium.FPDFText_GetText(self._text, 0, count, buffer)
        text = bytes(buffer)[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace").translate(_HYPHENS)
        if len(text) == count:
            return list(text)
        # Some letters have no text of their own, or two codes: then each is asked for by its number.
        codes = (pdfium.FPDFText_GetUnicode(self._text, index) for index in range(count))
        return [chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\0" for code in codes]

    def _measure(self, index: int) -> None:
        """Note the size and the weight of a letter, which hold for those that follow at its height."""
        matrix = pdfium.FS_MATRIX()
        scale, is_level = 1.0, True
        if pdfium.FPDFText_GetMatrix(self._text, index, matrix):
            scale = sqrt(abs(matrix.a * matrix.d - matrix.b * matrix.c))
            is_level = abs(matrix.b) <= abs(matrix.a)
        size = pdfium.FPDFText_GetFontSize(self._text, index) * scale
        name, flags = ctypes.create_string_buffer(128), ctypes.c_int()
        pdfium.FPDFText_GetFontInfo(self._text, index, name, len(name), flags)
        font = name.value.lower()
        is_bold = any(word in font for word in _BOLD_FONTS) or (
            pdfium.FPDFText_GetFontWeight(self._text, index) >= _BOLD_WEIGHT
        )
        is_fixed = bool(flags.value & _FIXED) or any(word in font for word in _FIXED_FONTS)
        self._style = _Style(size, is_bold, is_fixed, is_level)

    def _end_sideways(self, letter: str) -> None:
        if self.sideways and not self.sideways[-1].isspace():
            self.sideways += "\n" if letter in "\r\n" else " "


def _add_links(words: list[Word], document: _Handle, page: _Handle) -> list[Word]:
    links = list(_read_links(document, page))
    return [word._replace(link=_find_link(word, links)) for word in words] if links else words


def _find_link(word: Word, links: list[tuple[str, pdfium.FS_RECTF]]) -> str:
    across, up = (word.left + word.right) / 2, word.middle
    for address, box in links:
        low, high = sorted((box.bottom, box.top))
        if box.left <= across <= box.right and low <= up <= high:
            return address
    return ""


def _read_links(document: _Handle, page: _Handle) -> Iterator[tuple[str, pdfium.FS_RECTF]]:
    """The addresses that places of a page lead to, outside of the document."""
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(_MAX_LINKS):
        if not pdfium.FPDFLink_Enumerate(page, position, link):
            return
        action, box = pdfium.FPDFLink_GetAction(link), pdfium.FS_RECTF()
        if not action or not pdfium.FPDFLink_GetAnnotRect(link, box):
            continue
        length = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
        if 1 < length <= _MAX_ADDRESS_BYTES:
            address = ctypes.create_string_buffer(length)
            pdfium.FPDFAction_GetURIPath(document, action, address, length)
            yield address.value.decode(errors="replace"), box


def _read_drawings(page: _Handle) -> tuple[list[Rule], bool]:
    """The rules on a page, and whether a picture covers most of it."""
    rules: list[Rule] = []
    area = pdfium.FPDF_GetPageWidthF(page) * pdfium.FPDF_GetPageHeightF(page)
    has_picture = False
    for index in range(min(pdfium.FPDFPage_CountObjects(page), _MAX_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        kind = pdfium.FPDFPageObj_GetType(drawn)
        if kind == pdfium.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = _find_bounds(drawn)
            has_picture = has_picture or (right - left) * (top - bottom) > _PICTURE_SHARE * area
        elif kind == pdfium.FPDF_PAGEOBJ_PATH and len(rules) < _MAX_RULES:
            rules += _read_rules(drawn)
    return rules[:_MAX_RULES], has_picture


def _find_bounds(drawn: _Handle) -> tuple[float, float, float, float]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(drawn, left, bottom, right, top)
    return left.value, bottom.value, right.value, top.value


def _read_rules(path: _Handle) -> Iterator[Rule]:
    left, bottom, right, top = _find_bounds(path)
    if top - bottom <= _THIN_POINTS or right - left <= _THIN_POINTS:
        yield from _make_rule(left, bottom, right, top)
        return
    corners = list(_read_corners(path))
    for (x, y), (next_x, next_y) in pairwise(corners):
        yield from _make_rule(min(x, next_x), min(y, next_y), max(x, next_x), max(y, next_y))


def _make_rule(left: float, bottom: float, right: float, top: float) -> Iterator[Rule]:
    if top - bottom <= _THIN_POINTS and right - left >= _LEAST_RULE_POINTS:
        yield Rule(True, (bottom + top) / 2, left, right)
    elif right - left <= _THIN_POINTS and top - bottom >= _LEAST_RULE_POINTS:
        yield Rule(False, (left + right) / 2, bottom, top)


def _read_corners(path: _Handle) -> Iterator[tuple[float, float]]:
    """The points between which a path goes. Where it begins anew, a point without a place stands between."""
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    first: tuple[float, float] | None = None
    for index in range(min(pdfium.FPDFPath_CountSegments(path), _MAX_RULES)):
        segment = pdfium.FPDFPath_GetPathSegment(path, index)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        if pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_MOVETO:
            yield (float("nan"), float("nan"))
            first = point
        yield point
        if first and pdfium.FPDFPathSegment_GetClose(segment):
            yield first
