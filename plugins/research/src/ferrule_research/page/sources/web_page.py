"""A page of the web, or a document, as text."""

from __future__ import annotations

import time
from urllib.parse import urljoin

from ferrule import Context, ToolError
from ferrule_fetch.library import (
    ContentType,
    Format,
    Page,
    Wanted,
    decoded,
    fetch,
    form_of,
    is_whole,
    read_text,
)
from ferrule_research.page.content import Reading
from ferrule_research.page.errors import BLOCKED, EMPTY, problem
from ferrule_research.page.metadata.bibliography import facts_of
from ferrule_research.page.metadata.embedded import NOTHING, Source, source_of
from ferrule_research.page.sources.paywalls import LEAST_TEXT, is_empty, is_shell, is_wall
from ferrule_research.page.sources.url_kinds import may_be_office, office_kind

MOST_BYTES_OF_TEXT = 8 << 20
MOST_BYTES_OF_A_DOCUMENT = 50 << 20

_MARKDOWN = ("text/markdown", "text/x-markdown")
_KINDS = {Format.PDF: "pdf", Format.JSON: "json", Format.XML: "xml", Format.TEXT: "text"}


def read_page(url: str, context: Context) -> Reading:
    """Fetch a page and read it. Raises ToolError."""
    page = fetch(url, context, wanted=Wanted(most=_most, is_readable=_is_readable))
    if kind := office_kind(page.body):
        from ferrule_research.page.sources.office import read_office

        return read_office(page, kind, url, context)
    title, text = read_text(page, context.deadline)
    if form_of(page) is Format.HTML:
        return _read_html(page, url, title, text, context)
    if not text.strip():
        raise problem(EMPTY, url)
    kind = "markdown" if _is_markdown(page) else _KINDS[form_of(page)]
    facts = facts_of(NOTHING, page.url, title or (_heading(text) if kind == "markdown" else ""))
    tier = "markdown" if kind == "markdown" else ""
    return Reading(page.url, kind, text, facts, NOTHING, tier, _quality(page, text), same_as_fetched=True)


def _read_html(page: Page, asked: str, title: str, text: str, context: Context) -> Reading:
    html = decoded(page, html=True)
    source = source_of(html, context.deadline)
    if is_wall(text, title, html):
        raise problem(BLOCKED, asked)
    framed = _framed(page.url, source, context) if _is_thin(text, html) else ""
    whole = "\n\n".join(filter(None, [text, framed]))
    if is_empty(whole, html):
        raise problem(EMPTY, asked)
    quality = "partial" if _is_thin(whole, html) else _quality(page, text)
    facts = facts_of(source, page.url, title)
    return Reading(page.url, "html", whole, facts, source, "html", quality, same_as_fetched=not framed)


def _framed(url: str, source: Source, context: Context) -> str:
    """The text of the pages that stand in frames of a page with next to none of its own."""
    texts = []
    until = time.monotonic() + context.remaining() / 3  # a frame that never comes must not take the page along
    for address in source.frames:
        try:
            page = fetch(urljoin(url, address), context, deadline=until, wanted=Wanted(most=_most))
            texts.append(read_text(page, context.deadline)[1])
        except (ToolError, ValueError):
            continue
    return "\n\n".join(filter(None, texts))


def _is_thin(text: str, html: str) -> bool:
    return len(text.encode()) < LEAST_TEXT or is_shell(text, html)


def _quality(page: Page, text: str) -> str:
    return "complete" if is_whole(page, text) else "partial"


def _is_markdown(page: Page) -> bool:
    path = page.url.partition("?")[0].partition("#")[0].lower()
    return page.type.type in _MARKDOWN or (form_of(page) is Format.TEXT and path.endswith((".md", ".markdown")))


def _heading(text: str) -> str:
    """The first heading of a text that is markdown already."""
    line = next((line for line in text.split("\n") if line.startswith("# ")), "")
    return " ".join(line.removeprefix("# ").split())[:500]


def _most(declared: ContentType) -> int:
    is_text = declared.type.startswith("text/") or declared.is_xml or declared.is_json
    return MOST_BYTES_OF_TEXT if is_text else MOST_BYTES_OF_A_DOCUMENT


def _is_readable(declared: ContentType) -> bool:
    return declared.may_be_readable or may_be_office(declared)
