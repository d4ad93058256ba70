"""A PDF as markdown, page by page: tables, columns, paragraphs, headings and links, as they stand on its pages.

PDFium reads it, in a process that can be ended. What that has read by then is kept, and another process goes on behind
the page that was too much.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, NamedTuple

from ferrule_fetch.formats.pdf.errors import UnreadablePDF
from ferrule_fetch.limits.progress import NoMoreRoom, Progress
from ferrule_fetch.limits.reader import TooMuch, bounded_reading

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_fetch.text.wanted import Wanted

_TOO_MUCH = "a PDF that takes too much time or memory to read"
_SECONDS = 12.0
_TIME_SHARE = 0.7  # of the seconds, after which no more pages are begun
_PAGE_SHARE = 0.25  # of the seconds, for one page
_ALONE = 3  # times as much for a page that is the only one
_MAX_FAILURES = 4  # of pages, before the rest is left
_INSTALL = 'To read it: pip install "ferrule-fetch[ocr]"'
_EXPENSIVE = "[This page takes too much time or memory to read.]"
_ASKED_PAGE = re.compile(r"(?:^|&)page=(\d{1,6})(?:&|$)")


class PDFText(NamedTuple):
    """text: markdown, under a heading for each page. is_whole: False where only what was wanted was read.

    date: YYYY-MM-DD. What nothing says is empty. is_recognised: whether text recognition has read any of its pages.
    """

    title: str
    text: str
    authors: str = ""
    date: str = ""
    is_whole: bool = True
    is_recognised: bool = False


def read_pdf(body: bytes, url: str, deadline: float, wanted: Wanted, seconds: float = _SECONDS) -> PDFText:
    """Read a PDF from the page on that the URL's fragment names (`#page=12`), as far as is wanted.

    Args:
        body: the file.
        url: where it was found, which links are resolved against.
        deadline: an instant of `time.monotonic()`.
        wanted: which part is read at least.
        seconds: of the processor's time.

    Returns:
        Its text, and what it says of itself.

    Raises:
        UnreadablePDF: it has no text that can be had.
    """
    seconds = min(seconds, (deadline - time.monotonic()) / 2)
    reading = _Reading(body, url, wanted, seconds)
    reading.read(deadline)
    return reading.result()


class _Reading:
    """The pages of a PDF, as far as they have been read, by one process or by several."""

    def __init__(self, body: bytes, url: str, wanted: Wanted, seconds: float) -> None:
        self._body, self._url, self._wanted = body, url, wanted
        self._seconds = seconds
        self._until = time.monotonic() + seconds * _TIME_SHARE
        self._total: int | None = None
        self._first = _find_asked_page(url)
        self._pages: dict[int, str] = {}
        self._notes: dict[int, str] = {}
        self._front: dict[str, str] = {}
        self._is_recognised = False

    def read(self, deadline: float) -> None:
        """Read what is wanted, and what the time is enough for. Raises UnreadablePDF where nothing can be read."""
        for _ in range(_MAX_FAILURES + 1):
            if self._is_done(deadline):
                return
            if self._total is None:
                raise UnreadablePDF(_TOO_MUCH)
            self._set_page(self._first + len(self._pages), "", _EXPENSIVE)
            if self._first + len(self._pages) >= self._total or not self._may_go_on():
                return

    def _is_done(self, deadline: float) -> bool:
        """Read in a process of its own, and take what that has read. False where it was ended."""
        progress = Progress()
        left = min(self._seconds, max(self._until - time.monotonic(), 1.0) / _TIME_SHARE)
        try:
            bounded_reading(lambda: self._work(progress), UnreadablePDF, deadline=deadline, seconds=left)
        except TooMuch:
            return False
        finally:
            for record in progress.read_records():
                self._take(record)
            progress.close()
        return True

    def _work(self, progress: Progress) -> tuple[str]:
        """Read the pages that follow those that are read. In the process that may be ended."""
        from ferrule_fetch.formats.pdf import document as opened

        with opened.limit_seconds(self._seconds * _PAGE_SHARE * _ALONE):
            document = opened.Document(self._body)
        try:
            progress.add({"total": document.total, "first": self._clamp(document.total)})
            seconds = self._seconds * _PAGE_SHARE * (_ALONE if document.total == 1 else 1)
            index = self._clamp(document.total) + len(self._pages)
            while index < document.total and self._may_go_on():
                with opened.limit_seconds(seconds):
                    page = document.read(index, self._url)
                record: JSONObject = {"page": index, "text": page.text, "note": page.note, "ocr": page.is_recognised}
                record.update(page.front._asdict())
                progress.add(record)
                self._take(record)
                index += 1
        except NoMoreRoom:
            pass
        return ("",)

    def _clamp(self, total: int) -> int:
        return min(self._first, max(total - 1, 0))

    def _take(self, record: JSONObject) -> None:
        if "total" in record:
            self._total, self._first = record["total"], record["first"]
            return
        self._set_page(record["page"], record["text"], record["note"])
        self._is_recognised = self._is_recognised or record["ocr"]
        if record["page"] == 0:
            self._front = record

    def _set_page(self, index: int, text: str, note: str) -> None:
        self._pages[index] = f"## Page {index + 1}\n\n{text or note}".rstrip()
        if not text:
            self._notes[index] = note

    def _may_go_on(self) -> bool:
        return time.monotonic() < self._until and not self._is_enough()

    def _is_enough(self) -> bool:
        return self._wanted.is_in(self._pages.values())

    def result(self) -> PDFText:
        """All that has been read. Raises UnreadablePDF where that is nothing."""
        total, count = self._total or 0, len(self._pages)
        if len(self._notes) == count:
            raise UnreadablePDF(self._explain_empty(total))
        parts = list(self._pages.values())
        goes_on = self._first + count < total
        is_enough = goes_on and self._is_enough()
        if goes_on and not is_enough:
            way = f"the fragment #page={self._first + count + 1} of the URL asks for the rest"
            parts.append(f"[The PDF goes on: {count:,} of its {total:,} pages were read in the time there was; {way}.]")
        front = self._front
        title, authors, date = (front.get(name, "") for name in ("title", "authors", "date"))
        return PDFText(title, "\n\n".join(parts), authors, date, not is_enough, self._is_recognised)

    def _explain_empty(self, total: int) -> str:
        notes = set(self._notes.values())
        if _EXPENSIVE in notes:
            return _TOO_MUCH
        if any("cannot be read" in note for note in notes):
            return "a malformed PDF"
        if total == 0:
            return "a PDF without pages"
        if self._first == 0 and len(self._pages) < total:
            return _TOO_MUCH
        number = "one page" if total == 1 else f"{total:,} pages"
        install = f". {_INSTALL}" if any(_INSTALL in note for note in notes) else ""
        return f"a PDF of {number} without any text, as scanners make it{install}"


def _find_asked_page(url: str) -> int:
    """The page that a URL names, counted from 0: the parameter `page` of its fragment, as RFC 8118 has it."""
    found = _ASKED_PAGE.search(url.partition("#")[2])
    return max(int(found[1]) - 1, 0) if found else 0
