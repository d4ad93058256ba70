"""What a PDF says of itself: its metadata, and the title, the authors and the date that stand on its first page."""

from __future__ import annotations

import ctypes
import re
from typing import TYPE_CHECKING, NamedTuple

import pypdfium2.raw as pdfium

from ferrule_fetch.formats.pdf.rows import Row, find_rows

if TYPE_CHECKING:
    from ferrule_fetch.formats.pdf.words import PageContent

_MAX_BYTES = 4_096
_MAX_TITLE_CHARS = 300
_LEAST_TITLE_CHARS = 6
_TITLE_RATIO = 1.2  # of its size to that of most letters
_MAX_AUTHOR_ROWS = 4
_MAX_AUTHOR_CHARS = 1_000
_MAX_DATE_CHARS = 60
# What programs write where nobody has said anything.
_NO_TITLE = re.compile(
    r"(?i)^\(?(?:untitled|anonymous|unspecified|title|document\d*)\)?$"
    r"|^microsoft \w+ -|\.(?:docx?|tex|dvi|indd|pdf|qxd)$"
)
_NO_AUTHOR = re.compile(r"(?i)^\(?(?:anonymous|unspecified|unknown|admin\w*|user|root|author|microsoft.*)\)?$")
_MARKS = "0123456789*†‡§¶∗✉,"  # behind a name
_NAME = re.compile(r"[^\W\d_][\w.’'-]*(?: (?:[^\W\d_][\w.’'-]*)){1,4}")
_PARTICLES = frozenset({"de", "der", "den", "van", "von", "da", "di", "la", "le", "el", "al", "bin", "ter", "zu"})
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_WRITTEN = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}}) (?P<month>{'|'.join(_MONTHS)}),? (?P<year>\d{{4}})"
    rf"|(?P<month2>{'|'.join(_MONTHS)}) (?P<day2>\d{{1,2}}), (?P<year2>\d{{4}})|(?P<iso>\d{{4}}-\d\d-\d\d))\b"
)


class Front(NamedTuple):
    """title, authors: in one line. date: YYYY-MM-DD. Each is empty where nothing says it."""

    title: str = ""
    authors: str = ""
    date: str = ""


def read_front(document: ctypes.c_void_p, first: PageContent, usual: float) -> Front:
    """What a document says. first: its first page. usual: the size of most letters."""
    rows = find_rows(first.words) if first.words else []
    title_rows = _find_title(rows, usual)
    named = _read_metadata(document, b"Title")
    authors = _read_metadata(document, b"Author")
    printed = " ".join(row.text for row in rows[slice(*title_rows)])
    return Front(
        named if len(named) > 1 and not _NO_TITLE.search(named) else printed,
        authors if authors and not _NO_AUTHOR.search(authors) else _find_authors(rows[title_rows[1] :]),
        _find_date(rows) or _parse_date(_read_metadata(document, b"CreationDate")),
    )


def _read_metadata(document: ctypes.c_void_p, name: bytes) -> str:
    length = pdfium.FPDF_GetMetaText(document, name, None, 0)
    if not 2 < length <= _MAX_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(length)
    pdfium.FPDF_GetMetaText(document, name, buffer, length)
    return " ".join(buffer.raw[: length - 2].decode("utf-16-le", "replace").split())


def _find_title(rows: list[Row], usual: float) -> tuple[int, int]:
    """Which rows are the title, as the first of them and the one after the last: the largest letters of the page."""
    candidates = [row.size for row in rows if len(row.text) >= _LEAST_TITLE_CHARS]
    largest = max(candidates, default=0.0)
    if not usual or largest < _TITLE_RATIO * usual:
        return 0, 0
    first = next(number for number, row in enumerate(rows) if row.size == largest and row.size in candidates)
    last = first
    while last + 1 < len(rows) and abs(rows[last + 1].size - largest) < 0.05 * largest:
        last += 1
    length = sum(len(row.text) for row in rows[first : last + 1])
    return (first, last + 1) if length <= _MAX_TITLE_CHARS else (0, 0)


def _find_authors(rows: list[Row]) -> str:
    """The names in the lines that follow the title; none where the first of them holds anything else."""
    names: list[str] = []
    for row in rows[:_MAX_AUTHOR_ROWS]:
        found = [
            name.strip().rstrip(_MARKS).strip() for name in re.split(r",| and | & |;", row.text[:_MAX_AUTHOR_CHARS])
        ]
        found = [name for name in found if name]
        if not found or not all(_is_name(name) for name in found):
            break
        names += found
    return ", ".join(names)


def _is_name(text: str) -> bool:
    words = [word.rstrip(_MARKS) for word in text.split()]
    is_written_so = bool(_NAME.fullmatch(" ".join(words)))
    return is_written_so and all(word in _PARTICLES or word[:1].isupper() for word in words)


def _find_date(rows: list[Row]) -> str:
    for row in rows:
        if len(row.text) <= _MAX_DATE_CHARS and (found := _WRITTEN.search(row.text)):
            if found["iso"]:
                return found["iso"]
            month = _MONTHS.index(found["month"] or found["month2"]) + 1
            return f"{found['year'] or found['year2']}-{month:02}-{int(found['day'] or found['day2']):02}"
    return ""


def _parse_date(text: str) -> str:
    """The date of PDF's own form, such as "D:20240305120000Z"."""
    found = re.match(r"(?:D:)?(\d{4})(\d\d)(\d\d)", text)
    return "-".join(found.groups()) if found else ""
