"""Every extractor of a page's article as a function from the page to markdown, or to text where it has no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown.programs.converters import Convert

OURS_NAME = "ours, article"


def ours() -> Convert:
    """What `web_fetch` says first: the article under its head; the whole page where none is found."""
    from ferrule_fetch.markdown import convert

    return lambda html, url: convert(html, url, is_split=True).markdown


def trafilatura() -> Convert:
    """As it comes, to markdown: without links and images."""
    from trafilatura import extract

    return lambda html, url: extract(html, url=url, output_format="markdown", include_comments=False) or ""


def readability_lxml() -> Convert:
    """The HTML that it gives, as markdown by markdownify."""
    from markdownify import markdownify
    from readability import Document

    return lambda html, url: str(markdownify(Document(html, url=url).summary(), heading_style="ATX"))


def resiliparse() -> Convert:
    """Plain text of what it takes to be the main content."""
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html, url: str(extract_plain_text(html, main_content=True))


def turbohtml() -> Convert:
    """The element that article() gives, as its own writer writes it."""
    from turbohtml import parse

    def extract(html: str, url: str) -> str:
        element = parse(html).article().element
        return "" if element is None else element.to_markdown()

    return extract


EXTRACTORS: dict[str, Callable[[], Convert]] = {
    OURS_NAME: ours,
    "trafilatura": trafilatura,
    "readability-lxml": readability_lxml,
    "resiliparse": resiliparse,
    "turbohtml, article()": turbohtml,
}
