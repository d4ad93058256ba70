"""A page of the web, or a document, as text."""

from __future__ import annotations

import re
import time
from urllib.parse import urljoin

from ferrule import Context, ToolError
from ferrule_fetch.library import (
    ContentType,
    FetchOptions,
    Format,
    Page,
    PageText,
    decode_page,
    fetch,
    find_emptiness,
    form_of,
    is_thin,
    is_wall,
    is_whole,
    read_article,
    read_text,
)
from ferrule_research.hosts import host_of
from ferrule_research.page.browser.policy import BrowserPolicy
from ferrule_research.page.content import PageContent
from ferrule_research.page.errors import BLOCKED, EMPTY, UNREADABLE, page_error
from ferrule_research.page.metadata.authors import parse_authors
from ferrule_research.page.metadata.bibliography import Bibliography, read_bibliography
from ferrule_research.page.metadata.dates import read_date
from ferrule_research.page.metadata.embedded import NO_DATA, EmbeddedData, read_embedded
from ferrule_research.page.sources.paywalls import is_paid

MAX_TEXT_BYTES = 8 << 20
MAX_DOCUMENT_BYTES = 50 << 20

_MIN_WRITTEN_CHARS = 100  # that a browser has to write to be preferred to a page's data
_WRITTEN = "browser"
_TOO_LONG = "only the beginning of what its scripts write is read"
_WRITTEN_TYPE = ContentType("text/html", "utf-8")
_SUMMARIES = ("description", "noscript")  # which are had where a page has no data
_ARCHIVES = ("application/zip", "application/x-zip-compressed")  # as servers call documents that they do not know
_MARKDOWN = ("text/markdown", "text/x-markdown")
_DOCUMENTS = frozenset({Format.PDF, Format.DOCX, Format.PPTX, Format.XLSX, Format.ODT, Format.EPUB, Format.EML})


def read_page(url: str, context: Context, max_chars: int) -> PageContent:
    """Fetch a page and read it. max_chars: how much of a long document is wanted. Raises ToolError."""
    page = fetch(url, context, options=FetchOptions(max_bytes=_max_bytes, is_readable=_is_readable))
    read = read_article(page, context, max_chars)
    form = form_of(page)
    if form is Format.HTML:
        return _read_html(*_render_if_needed(page, read, context), url, context)
    if not read.text.strip():
        raise page_error(EMPTY, url)
    kind = "markdown" if _is_markdown(page) else form.value.lower()
    quality = _quality(page, read.text) if read.is_whole and not read.source else "partial"
    if form in _DOCUMENTS:
        host = host_of(page.url).removeprefix("www.")
        bibliography = Bibliography(read.title, parse_authors(read.authors), host, read_date(read.date))
    else:
        bibliography = read_bibliography(NO_DATA, page.url, read.title or _heading(read.text, kind))
    way = "markdown" if kind == "markdown" else read.source
    return PageContent(page.url, kind, read.text, bibliography, NO_DATA, way, quality, same_as_fetched=True)


def _render_if_needed(page: Page, read: PageText, context: Context) -> tuple[Page, PageText, str]:
    """A page as its scripts write it, where that is needed, helps, and the admin has a browser for it.

    Returns:
        The page, its text, and why the browser has not given it, "" where it was not asked or has.
    """
    browser = BrowserPolicy.from_context(context)
    if not browser.program or page.missing:
        return page, read, ""
    if not browser.is_first and not _needs_scripts(read, decode_page(page, html=True)):
        return page, read, ""
    from ferrule_research.page.browser.rendition import NotRendered, render

    try:
        written = render(page, browser.program, context)
    except NotRendered as error:
        return page, read, str(error)
    missing = "" if written.is_whole else _TOO_LONG
    rendered = page._replace(
        url=written.url, type=_WRITTEN_TYPE, body=written.html.encode(errors="replace"), missing=missing
    )
    again = read_article(rendered, context)
    least = _MIN_WRITTEN_CHARS if read.source else len(read.whole()) + 1
    if again.source or len(again.whole()) < least:
        return page, read, ""
    return rendered, again._replace(source=_WRITTEN), ""


def _needs_scripts(read: PageText, html: str) -> bool:
    return read.source in _SUMMARIES or (not read.source and _is_thin(read.whole(), html))


def _read_html(page: Page, read: PageText, failure: str, asked: str, context: Context) -> PageContent:
    """Judge the text of a page of HTML, and read what it says for machines.

    Args:
        failure: why the browser has not given the page, if it was asked.
        asked: the URL that was asked for.
    """
    html = decode_page(page, html=True)
    embedded = read_embedded(html, context.deadline)
    if is_wall(read.whole(), read.title, html):
        raise page_error(BLOCKED, asked)
    framed = _read_frames(page.url, embedded, context) if _is_thin(read.whole(), html) else ""
    text = "\n\n".join(filter(None, [read.text, framed]))
    whole = "\n\n".join(filter(None, [read.whole(), framed]))
    if why := find_emptiness(PageText(read.title, whole), html, page.url):
        kind, why = (UNREADABLE, f"{why}; the browser {failure}") if failure else (EMPTY, why)
        raise page_error(kind, asked, why)
    is_of_data = read.source not in ("", _WRITTEN)
    is_partial = is_of_data or is_paid(embedded.json_ld) or _is_thin(whole, html)
    quality = "partial" if is_partial else _quality(page, read.whole())
    bibliography = read_bibliography(embedded, page.url, read.title)
    way = read.source or "html"
    is_same = not framed and way != _WRITTEN
    content = PageContent(page.url, "html", text, bibliography, embedded, way, quality, same_as_fetched=is_same)
    return content._replace(browser_failure=f"The browser {failure}." if failure else "")


def _read_frames(url: str, embedded: EmbeddedData, context: Context) -> str:
    """The text of the pages that stand in frames of a page with next to none of its own."""
    texts = []
    until = time.monotonic() + context.remaining() / 3  # a frame that never comes must not take the page along
    for address in embedded.frames:
        try:
            page = fetch(urljoin(url, address), context, deadline=until, options=FetchOptions(max_bytes=_max_bytes))
            texts.append(read_text(page, context.deadline)[1])
        except (ToolError, ValueError):
            continue
    return "\n\n".join(filter(None, texts))


def _is_thin(text: str, html: str) -> bool:
    words = re.sub(r"\]\([^)]*\)", "]", text)  # the addresses of frames are no text
    return is_thin(words, html)


def _quality(page: Page, text: str) -> str:
    return "complete" if is_whole(page, text) else "partial"


def _is_markdown(page: Page) -> bool:
    path = page.url.partition("?")[0].partition("#")[0].lower()
    return page.type.type in _MARKDOWN or (form_of(page) is Format.TEXT and path.endswith((".md", ".markdown")))


def _heading(text: str, kind: str) -> str:
    """The first heading of a text that is markdown already; empty for any other."""
    if kind != "markdown":
        return ""
    line = next((line for line in text.split("\n") if line.startswith("# ")), "")
    return " ".join(line.removeprefix("# ").split())[:500]


def _max_bytes(declared: ContentType) -> int:
    is_text = declared.type.startswith("text/") or declared.is_xml or declared.is_json
    return MAX_TEXT_BYTES if is_text else MAX_DOCUMENT_BYTES


def _is_readable(declared: ContentType) -> bool:
    return declared.may_be_readable or declared.type in _ARCHIVES
