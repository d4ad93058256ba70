"""What stands at an address: a page with the DOI of a paper, another page, or nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from ferrule.errors import ToolError
from ferrule_fetch.library import Format, StatusError, fetch, form_of, read_text
from ferrule_research.library import detect_doi, read_bibliography, read_embedded
from ferrule_scholar.asking.client import SHAPE_ERRORS, ScholarClient, mapping, text
from ferrule_scholar.asking.service import Service
from ferrule_scholar.asking.settings import patience_of
from ferrule_scholar.works.identifiers import normalise_doi
from ferrule_scholar.works.work import Work

if TYPE_CHECKING:
    from ferrule import Context

ARCHIVE = Service(
    "the Internet Archive", "https://archive.org", "FERRULE_ARCHIVE_ENDPOINT", "archive_endpoint", pace=((5, 1.0),)
)
_GONE = (404, 410)


class Place(NamedTuple):
    """What an address leads to. status: of HTTP, 0 where no server answered. doi, work: of what the page is about.

    error: why there is no page, in words.
    """

    status: int
    doi: str = ""
    work: Work | None = None
    text: str = ""
    error: str = ""

    @property
    def is_gone(self) -> bool:
        """Whether the server says that there is no such page."""
        return self.status in _GONE


def visit(url: str, context: Context) -> Place:
    """Read a page, as far as it lets itself be read. Raises ToolError INVALID_URL for an address that may not be."""
    deadline = time.monotonic() + patience_of(context)
    try:
        page = fetch(url, context, deadline=deadline)
    except StatusError as error:
        return Place(error.status, error=error.message)
    except ToolError as error:
        if error.code == "INVALID_URL":
            raise
        return Place(0, error=error.message)
    try:
        title, body = read_text(page, deadline)
    except ToolError as error:
        return Place(200, error=error.message)
    html = page.body.decode(page.type.charset or "utf-8", errors="replace") if form_of(page) is Format.HTML else ""
    embedded = read_embedded(html, deadline)
    found = read_bibliography(embedded, page.url, title)
    authors, date = tuple(found.authors), found.date
    year, day = (date.year, date.iso()) if date else (0, "")
    work = Work(found.title, authors, year, day, found.site, url=page.url)
    return Place(200, normalise_doi(detect_doi(embedded, page.url, "")), work, body)


def find_copy(url: str, context: Context) -> str:
    """The address of a copy that the Internet Archive keeps; "" where it has none or cannot be asked."""
    deadline = time.monotonic() + patience_of(context)
    try:
        with ScholarClient(ARCHIVE, context, deadline) as client:
            document = mapping(client.get_json("/wayback/available", {"url": quote(url, safe=":/?&=%#")}))
    except (ToolError, *SHAPE_ERRORS):
        return ""
    closest = mapping(mapping(document.get("archived_snapshots")).get("closest"))
    return text(closest.get("url")) if closest.get("available") is True else ""
