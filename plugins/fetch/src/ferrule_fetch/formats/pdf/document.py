"""A PDF in the process that reads it: its pages, one after the other, as records for the process that waits."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import pypdfium2.raw as pdfium

from ferrule.text.invisible import without_invisible
from ferrule_fetch.formats.pdf.blocks import Sizes, write_page
from ferrule_fetch.formats.pdf.errors import UnreadablePDF
from ferrule_fetch.formats.pdf.front import Front, read_front
from ferrule_fetch.formats.pdf.recognition import is_installed, recognise
from ferrule_fetch.formats.pdf.words import UnreadablePage, read_page
from ferrule_fetch.markdown import convert

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Iterator

UNREADABLE = "[This page cannot be read.]"
SCANNED = "[This page is a picture without text, as scanners make it.]"
NEEDS_OCR = '[This page is a picture without text, as scanners make it. To read it: pip install "ferrule-fetch[ocr]".]'
RECOGNISED = "[Text recognition (OCR) has read this page from a picture, {} % sure: letters and figures may be wrong.]"

_INSTEAD = "\N{REPLACEMENT CHARACTER}"
_REASONS = {
    pdfium.FPDF_ERR_PASSWORD: "an encrypted PDF, which needs a password",
    pdfium.FPDF_ERR_SECURITY: "a PDF with an encryption that is not supported",
}


class PageRecord(NamedTuple):
    """A page: its text as markdown, or a note why there is none. front: what the first page says of the document.

    is_recognised: whether text recognition has read it.
    """

    text: str
    note: str = ""
    front: Front = Front()
    is_recognised: bool = False


class Document:
    """A PDF that is open."""

    def __init__(self, body: bytes) -> None:
        pdfium.FPDF_InitLibrary()
        self._body = body  # PDFium reads it as long as the document is open
        self._handle: ctypes.c_void_p = pdfium.FPDF_LoadMemDocument64(body, len(body), None)
        if not self._handle:
            raise UnreadablePDF(_REASONS.get(pdfium.FPDF_GetLastError(), "a malformed PDF"))
        self.total = int(pdfium.FPDF_GetPageCount(self._handle))
        self.sizes = Sizes()

    def read(self, index: int, url: str) -> PageRecord:
        """Read a page. url: where the document was found, which links are resolved against."""
        try:
            page = read_page(self._handle, index)
        except UnreadablePage:
            return PageRecord("", UNREADABLE)
        mark = ""
        if page.has_picture and not page.words:
            found = recognise(self._handle, index) if is_installed() else None
            if not found:
                return PageRecord("", SCANNED if is_installed() else NEEDS_OCR)
            page, mark = page._replace(words=found.words), RECOGNISED.format(found.percent)
        self.sizes.add(page.words)
        front = read_front(self._handle, page, self.sizes.usual) if index == 0 else Front()
        html = without_invisible(write_page(page, self.sizes), _INSTEAD)
        text = without_invisible(convert(html, url).markdown, _INSTEAD) if html else ""
        if mark and text:
            return PageRecord(f"{mark}\n\n{text}", front=front, is_recognised=True)
        return PageRecord(text, front=front)


@contextmanager
def limit_seconds(seconds: float) -> Iterator[None]:
    """Let a part of the work take `seconds` of the processor's time; else this process ends, wherever it is at work."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
