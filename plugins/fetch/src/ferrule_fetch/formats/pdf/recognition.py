"""Text recognition (OCR): the words of a page that is a picture, by Tesseract, which the extra `ocr` brings.

It runs in the process that reads the PDF, within the limits of that, and starts no program.
"""

from __future__ import annotations

import ctypes
import sys
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.formats.pdf.words import UnreadablePage, Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tesserocr import PyResultIterator

LIBRARY = "tesserocr"

_DOTS_PER_INCH = 200.0
_POINTS_PER_INCH = 72.0
_MAX_PIXELS = 6_000_000  # of a page, which A4 has at 250 dots per inch
_LEAST_PERCENT = 30.0  # of a word, below which it is a speck
_LEAST_PAGE_PERCENT = 50.0  # of a page, below which it is no text
_SAME_SIZE = 1.25  # by which the letters of one size seem to differ
_LANGUAGE = "eng"
_MAX_LANGUAGES = 3
_SCRIPT_MODEL = "osd"


class Recognised(NamedTuple):
    """words: with their places. percent: how sure they are."""

    words: list[Word]
    percent: int


class _Image(NamedTuple):
    """A page in shades of grey. stride: bytes of a row. scale: pixels for a point."""

    pixels: bytes
    width: int
    height: int
    stride: int
    scale: float


def is_installed() -> bool:
    """Whether text can be recognised here."""
    return find_spec(LIBRARY) is not None and bool(_find_languages())


def recognise(document: ctypes.c_void_p, index: int) -> Recognised | None:
    """The words of a page that is a picture; None where there are none, as on a photograph. Raises UnreadablePage."""
    import tesserocr

    image = _draw_page(document, index)
    languages = "+".join(_find_languages())
    with tesserocr.PyTessBaseAPI(path=str(_find_folder()), lang=languages, psm=tesserocr.PSM.AUTO) as reader:
        reader.SetImageBytes(image.pixels, image.width, image.height, 1, image.stride)
        reader.SetSourceResolution(round(image.scale * _POINTS_PER_INCH))
        reader.Recognize()
        found = reader.GetIterator()
        words = list(_read_words(found, image)) if found else []
    if not words:
        return None
    percent = fmean(sure for _, sure in words)
    if percent < _LEAST_PAGE_PERCENT:
        return None
    return Recognised(_settle_sizes([word for word, _ in words]), round(percent))


def _find_folder() -> Path:
    """Where packages of languages stand."""
    return Path(sys.prefix, "share", "tessdata")


def _find_languages() -> list[str]:
    """The languages that are installed, English first: each one more takes its time."""
    names = sorted(path.stem for path in _find_folder().glob("*.traineddata") if path.stem != _SCRIPT_MODEL)
    names.sort(key=lambda name: name != _LANGUAGE)
    return names[:_MAX_LANGUAGES]


def _draw_page(document: ctypes.c_void_p, index: int) -> _Image:
    import pypdfium2.raw as pdfium

    page = pdfium.FPDF_LoadPage(document, index)
    if not page:
        raise UnreadablePage
    try:
        across, up = pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)
        scale = min(_DOTS_PER_INCH / _POINTS_PER_INCH, sqrt(_MAX_PIXELS / max(across * up, 1.0)))
        width, height = max(int(across * scale), 1), max(int(up * scale), 1)
        bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_Gray, None, 0)
        if not bitmap:
            raise MemoryError
        try:
            pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
            pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, pdfium.FPDF_GRAYSCALE)
            stride = pdfium.FPDFBitmap_GetStride(bitmap)
            pixels = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * height)
        finally:
            pdfium.FPDFBitmap_Destroy(bitmap)
        return _Image(pixels, width, height, stride, scale)
    finally:
        pdfium.FPDF_ClosePage(page)


def _read_words(found: PyResultIterator, image: _Image) -> Iterator[tuple[Word, float]]:
    """Each word, and how sure it is, in percent. The words of a line stand at one height, also where it is askew."""
    import tesserocr

    line: list[tuple[Word, float]] = []
    for piece in tesserocr.iterate_level(found, tesserocr.RIL.WORD):
        if line and piece.IsAtBeginningOf(tesserocr.RIL.TEXTLINE):
            yield from _level(line)
            line = []
        box, text, sure = piece.BoundingBox(tesserocr.RIL.WORD), "", piece.Confidence(tesserocr.RIL.WORD)
        if box and sure >= _LEAST_PERCENT:
            text = "".join(piece.GetUTF8Text(tesserocr.RIL.WORD).split())
        if text:
            left, top, right, bottom = (edge / image.scale for edge in box)
            up = image.height / image.scale
            size = piece.RowAttributes()["row_height"] / image.scale
            line.append((Word(text, left, up - bottom, right, up - top, size), sure))
    yield from _level(line)


def _level(line: list[tuple[Word, float]]) -> Iterator[tuple[Word, float]]:
    middle = median(word.middle for word, _ in line) if line else 0.0
    for word, sure in line:
        half = word.size / 2
        yield word._replace(bottom=middle - half, top=middle + half), sure


def _settle_sizes(words: list[Word]) -> list[Word]:
    """Give the letters of the usual size, which seem to be of many, one size."""
    usual = median(word.size for word in words)
    return [
        word._replace(size=usual) if usual / _SAME_SIZE < word.size < usual * _SAME_SIZE else word for word in words
    ]
