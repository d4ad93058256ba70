"""The conversion of a page that may be made to stall it: within limits, and where it passes them, less of it."""

from __future__ import annotations

import time

from ferrule_fetch.limits.reader import TooMuch, bounded_reading
from ferrule_fetch.text.invisible import without_invisible, without_invisible_in_html

PLAIN = "[This page could not be read as HTML within the limits on time and memory. What follows is its plain text.]"
BEGINNING = "[The page goes on: only its beginning could be read within the limits on time and memory.]"

_SECONDS = 6.0
_PART_CHARS = 1 << 20  # more than ten answers hold
_PART_SECONDS = 3.0
_PLAIN_SECONDS = 2.0  # in which more is read than an answer holds

# What is invisible after the conversion was put together from pieces. It may hold markup apart, so a mark stays there.
_INSTEAD = "\N{REPLACEMENT CHARACTER}"


def convert_page(html: str, url: str, deadline: float) -> tuple[str, str]:
    """Return a page's title and its content as markdown, without invisible characters.

    url: where the page was found. deadline: an instant of `time.monotonic()`. Of a page that takes too long or too
    much memory the beginning is converted, where it is a large one, and else its plain text comes back; a note says
    so. No other thread may be importing anything.
    """
    try:
        return _markdown(html, url, deadline, _SECONDS)
    except TooMuch:
        if len(html) <= _PART_CHARS:
            return _plain(html, url, deadline)
    try:
        title, markdown = _markdown(_beginning(html), url, deadline, _PART_SECONDS)
    except TooMuch:
        return _plain(html, url, deadline)
    return title, f"{markdown}\n\n{BEGINNING}"


def _markdown(html: str, url: str, deadline: float, seconds: float) -> tuple[str, str]:
    from ferrule_fetch.markdown import convert  # here, so that what cannot be imported is reported as it is

    def read() -> tuple[str, str]:
        title, markdown = convert(without_invisible_in_html(html), url)
        return without_invisible(title, _INSTEAD), without_invisible(markdown, _INSTEAD)

    return bounded_reading(read, deadline=deadline, seconds=seconds)


def _beginning(html: str) -> str:
    """The first part of a page, without half of a tag at its end."""
    part = html[:_PART_CHARS]
    whole, _, last = part.rpartition("<")
    return part if ">" in last else whole or part


def _plain(html: str, url: str, deadline: float) -> tuple[str, str]:
    from ferrule_fetch.limits.plain import plain_text

    title, text = plain_text(html, url, min(deadline, time.monotonic() + _PLAIN_SECONDS))
    return title, f"{PLAIN}\n\n{text}"
