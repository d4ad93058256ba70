"""A PDF as text, page by page."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from io import BytesIO
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pypdf import PdfReader

_TOO_MUCH = "a PDF that takes too much time or memory to read"
_SECONDS = 12.0
_TIME_SHARE = 0.7  # of the seconds, after which no more pages are begun


class UnreadablePDF(Exception):
    """A PDF without text that can be had; its only argument says what it is, in words: "an encrypted PDF"."""


def bounded_pdf_text(body: bytes, deadline: float) -> tuple[str, str]:
    """Do what `pdf_text` does, in a process that is ended where it takes too much, which is an UnreadablePDF."""
    from ferrule_fetch.limits.reader import TooMuch, bounded_reading

    seconds = min(_SECONDS, (deadline - time.monotonic()) / 2)
    until = time.monotonic() + seconds * _TIME_SHARE

    def read() -> tuple[str, str]:
        return pdf_text(body, lambda: time.monotonic() < until)

    try:
        return bounded_reading(read, UnreadablePDF, deadline=deadline, seconds=seconds)
    except TooMuch:
        raise UnreadablePDF(_TOO_MUCH) from None


def pdf_text(body: bytes, may_go_on: Callable[[], bool] = lambda: True) -> tuple[str, str]:
    """Return the title of a PDF, empty where it has none, and the text of its pages under headings.

    may_go_on: asked before each page whether there is time for it. A single page may take as much time and memory as
    it wants to. Raises UnreadablePDF.
    """
    logger = logging.getLogger("pypdf")
    logger.addHandler(logging.NullHandler())  # else its warnings go to stderr
    logger.propagate = False
    try:
        reader = _open(body)
        total = len(reader.pages)
        texts = [_page_text(reader, index) for index in takewhile(lambda _: may_go_on(), range(total))]
    except (UnreadablePDF, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - it fails on malformed files in every way that Python knows
        raise UnreadablePDF("a malformed PDF") from None
    if not any(texts):
        raise UnreadablePDF(_why_empty(texts, total))
    told = ("[This page cannot be read.]" if text is None else text for text in texts)
    parts = [f"## Page {number}\n\n{text}".rstrip() for number, text in enumerate(told, start=1)]
    if len(texts) < total:
        parts.append(f"[The PDF goes on: {len(texts):,} of its {total:,} pages were read in the time there was.]")
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


def _page_text(reader: PdfReader, index: int) -> str | None:
    """The text of a page; None where it cannot be read."""
    try:
        text = reader.pages[index].extract_text()
    except (MemoryError, RecursionError):
        raise
    except Exception:  # noqa: BLE001 - the other pages may be well
        return None
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def _title(reader: PdfReader) -> str:
    try:
        title = reader.metadata.title if reader.metadata else None
    except Exception:  # noqa: BLE001 - metadata may be anything
        return ""
    return " ".join(title.split()) if isinstance(title, str) else ""


def _why_empty(texts: list[str | None], total: int) -> str:
    if None in texts:
        return "a malformed PDF"
    if total == 0:
        return "a PDF without pages"
    if len(texts) < total:
        return _TOO_MUCH
    number = "one page" if total == 1 else f"{total:,} pages"
    return f"a PDF of {number} without any text, as scanners make it"
