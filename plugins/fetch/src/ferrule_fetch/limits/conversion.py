"""The conversion of a page that may be made to stall it: within limits, and where it passes them, less of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule.text.invisible import without_invisible, without_invisible_in_html
from ferrule_fetch.limits.reader import TooMuch, bounded_reading
from ferrule_fetch.reading_policy import PAGE, PARSERS, ReadingPolicy

if TYPE_CHECKING:
    from ferrule_fetch.markdown import Conversion

PLAIN = "[This page could not be read as HTML within the limits on time and memory. What follows is its plain text.]"
BEGINNING = "[The page goes on: only its beginning could be read within the limits on time and memory.]"
AS_IT_STANDS = ReadingPolicy(PAGE)

SMALL_CHARS = 1 << 16
"""Of a page that is converted without a process of its own: the worst ones that are known take 0.1 s and 101 MiB."""

_SHORT_CHARS = 512  # of its URL, which may stand in the answer once for each link

_SECONDS = 6.0
_PART_CHARS = 1 << 20  # more than ten answers hold
_PART_SECONDS = 3.0
_PLAIN_SECONDS = 2.0  # in which more is read than an answer holds

# What is invisible after the conversion was put together from pieces. It may hold markup apart, so a mark stays there.
_INSTEAD = "\N{REPLACEMENT CHARACTER}"


def convert_page(html: str, url: str, deadline: float, reading: ReadingPolicy = AS_IT_STANDS) -> Conversion:
    """Return a page's title and its content as markdown, without invisible characters.

    Args:
        url: where the page was found.
        deadline: an instant of `time.monotonic()`. Where the parser fails, html5lib reads the page. A small page is
            converted here, and others in a process. Of a page that takes too long or too much memory the beginning is
            converted, where it is a large one, and else its plain text comes back; a note says so. No other thread may
            be importing anything.
    """
    try:
        return _converted(html, url, deadline, _SECONDS, reading)
    except TooMuch:
        if len(html) <= _PART_CHARS:
            return _plain(html, url, deadline)
    try:
        done = _converted(_beginning(html), url, deadline, _PART_SECONDS, reading)
    except TooMuch:
        return _plain(html, url, deadline)
    if done.rest:
        return done._replace(rest=f"{done.rest}\n\n{BEGINNING}")
    return done._replace(markdown=f"{done.markdown}\n\n{BEGINNING}")


def _converted(html: str, url: str, deadline: float, seconds: float, reading: ReadingPolicy) -> Conversion:
    """What the parser that is asked for makes of a page, and html5lib where the parser fails. Raises TooMuch."""
    try:
        return _bounded(html, url, deadline, seconds, reading)
    except TooMuch as failed:
        if failed.limit or reading.parser == PARSERS[-1]:
            raise
        return _bounded(html, url, deadline, seconds, reading._replace(parser=PARSERS[-1]))


def _bounded(html: str, url: str, deadline: float, seconds: float, reading: ReadingPolicy) -> Conversion:
    # here, so that what cannot be imported is reported as it is
    from ferrule_fetch.markdown import Conversion, convert

    def read() -> tuple[str, ...]:
        done = convert(without_invisible_in_html(html), url, reading.parser, is_split=reading.content != PAGE)
        return tuple(without_invisible(text, _INSTEAD) for text in done)

    if _is_small(html, url) and reading.parser == PARSERS[0] and time.monotonic() < deadline:
        try:
            return Conversion(*read())
        except Exception as error:
            raise TooMuch from error
    return Conversion(*bounded_reading(read, deadline=deadline, seconds=seconds))


def _is_small(html: str, url: str) -> bool:
    """Whether neither the page nor the addresses that its links are resolved against make it an expensive one."""
    return len(html) <= SMALL_CHARS and len(url) <= _SHORT_CHARS and "<base" not in html.lower()


def _beginning(html: str) -> str:
    """The first part of a page, without half of a tag at its end."""
    part = html[:_PART_CHARS]
    whole, _, last = part.rpartition("<")
    return part if ">" in last else whole or part


def _plain(html: str, url: str, deadline: float) -> Conversion:
    from ferrule_fetch.limits.plain import plain_text
    from ferrule_fetch.markdown import Conversion

    title, text = plain_text(html, url, min(deadline, time.monotonic() + _PLAIN_SECONDS))
    return Conversion(title, f"{PLAIN}\n\n{text}")
