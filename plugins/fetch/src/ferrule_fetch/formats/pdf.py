"""A PDF as text, page by page."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from io import BytesIO
from itertools import takewhile
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.limits.part import PartTooExpensive, bounded_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pypdf import PdfReader

_TOO_MUCH = "a PDF that takes too much time or memory to read"
_SECONDS = 12.0
_TIME_SHARE = 0.7  # of the seconds, after which no more pages are begun
_PAGE_SHARE = 0.25  # of the seconds, for one page
_ALONE = 3  # times as much for a page that is the only one
_UNREADABLE = "[This page cannot be read.]"
_EXPENSIVE = "[This page takes too much time or memory to read.]"
_SHOWING = (b"Tj", b"TJ", b"'", b'"')
_LEAST_POINTS = 0.5  # of a letter that anybody could read


class UnreadablePDF(Exception):
    """A PDF without text that can be had; its only argument says what it is, in words: "an encrypted PDF"."""


def bounded_pdf_text(body: bytes, deadline: float) -> tuple[str, str]:
    """Do what `pdf_text` does, in a process that is ended where it takes too much, which is an UnreadablePDF."""
    from ferrule_fetch.limits.reader import TooMuch, bounded_reading

    seconds = min(_SECONDS, (deadline - time.monotonic()) / 2)
    until = time.monotonic() + seconds * _TIME_SHARE

    def read() -> tuple[str, str]:
        return pdf_text(body, lambda: time.monotonic() < until, seconds * _PAGE_SHARE)

    try:
        title, text = bounded_reading(read, UnreadablePDF, deadline=deadline, seconds=seconds)
    except TooMuch:
        raise UnreadablePDF(_TOO_MUCH) from None
    return title, text


class _Page(NamedTuple):
    """text: empty if there is none. note: why there is none, where the page could not be read."""

    text: str
    note: str = ""


def pdf_text(
    body: bytes, may_go_on: Callable[[], bool] = lambda: True, page_seconds: float = _SECONDS * _PAGE_SHARE
) -> tuple[str, str]:
    """Return the title of a PDF, empty where it has none, and the text of its pages under headings.

    may_go_on: asked before each page whether there is time for it. page_seconds: of the processor's time, for a page.
    Raises UnreadablePDF.
    """
    logger = logging.getLogger("pypdf")
    logger.addHandler(logging.NullHandler())  # else its warnings go to stderr
    logger.propagate = False
    try:
        reader = _open(body)
        total = len(reader.pages)
        page_seconds *= _ALONE if total == 1 else 1
        pages = [_read_page(reader, index, page_seconds) for index in takewhile(lambda _: may_go_on(), range(total))]
    except (UnreadablePDF, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - it fails on malformed files in every way that Python knows
        raise UnreadablePDF("a malformed PDF") from None
    if not any(page.text for page in pages):
        raise UnreadablePDF(_why_empty(pages, total))
    parts = [f"## Page {number}\n\n{page.text or page.note}".rstrip() for number, page in enumerate(pages, start=1)]
    if len(pages) < total:
        parts.append(f"[The PDF goes on: {len(pages):,} of its {total:,} pages were read in the time there was.]")
    return _title(reader), "\n\n".join(parts)


def _open(body: bytes) -> PdfReader:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    reader = PdfReader(BytesIO(body))
    try:
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadablePDF("an encrypted PDF, which needs a password")
    except DependencyError:
        raise UnreadablePDF("a PDF with an encryption that is not supported") from None
    return reader


def _read_page(reader: PdfReader, index: int, seconds: float) -> _Page:
    legible = _LegibleText()
    try:
        with bounded_part(seconds):
            whole = reader.pages[index].extract_text(visitor_operand_before=legible.measure, visitor_text=legible.take)
    except PartTooExpensive:
        return _Page("", _EXPENSIVE)
    except Exception:  # noqa: BLE001 - the other pages may be well
        return _Page("", _UNREADABLE)
    text = "".join(legible.pieces)
    lines = (text if text.strip() else whole).split("\n")  # a page whose measures mislead is not lost
    return _Page("\n".join(line.rstrip() for line in lines).strip("\n"))


class _LegibleText:
    """Takes the text of a page in pieces, as pypdf gives them, and leaves out what is too small to be seen."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._scale = 1.0
        self._is_measured = False

    def measure(self, operator: bytes, _: object, space: Sequence[float], text: Sequence[float]) -> None:
        """Note how much the matrices enlarge what an operator shows; the most counts, as one piece may have several."""
        if operator in _SHOWING:
            scale = sqrt(abs(_area(space) * _area(text)))
            self._scale = max(self._scale, scale) if self._is_measured else scale
            self._is_measured = True

    def take(self, text: str, space: object, matrix: object, font: object, size: float) -> None:
        """Keep a piece that is large enough, or blank."""
        if abs(size) * self._scale >= _LEAST_POINTS or not text.strip():
            self.pieces.append(text)
        self._is_measured = False


def _area(matrix: Sequence[float]) -> float:
    return matrix[0] * matrix[3] - matrix[1] * matrix[2]


def _title(reader: PdfReader) -> str:
    try:
        title = reader.metadata.title if reader.metadata else None
    except Exception:  # noqa: BLE001 - metadata may be anything
        return ""
    return " ".join(title.split()) if isinstance(title, str) else ""


def _why_empty(pages: list[_Page], total: int) -> str:
    notes = {page.note for page in pages}
    if _EXPENSIVE in notes:
        return _TOO_MUCH
    if _UNREADABLE in notes:
        return "a malformed PDF"
    if total == 0:
        return "a PDF without pages"
    if len(pages) < total:
        return _TOO_MUCH
    number = "one page" if total == 1 else f"{total:,} pages"
    return f"a PDF of {number} without any text, as scanners make it"
