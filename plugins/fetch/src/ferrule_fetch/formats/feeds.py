"""RSS and Atom feeds as markdown: title, link, date and summary of each entry."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape
from typing import NamedTuple
from urllib.parse import urljoin
from xml.etree.ElementTree import ParseError, XMLParser

MAX_ENTRIES = 2000
_SECONDS = 6.0

# Atomic, since each part could also be read as going on to the end of a later one.
_FEED = re.compile(
    r"\s*+(?>(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^<>\[]*>)\s*+)*+<(?:rss|(?:\w+:)?feed|(?:\w+:)?RDF)[\s>]", re.S
)
_BEGINNING_CHARS = 4096
_CHUNK_CHARS = 1 << 16
_NAMED_CHARACTER = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)\w{2,32};")  # HTML has more of them than XML
_CUT_OFF = (3, 5, 20)  # expat's codes for a document that ends too early
_MAX_DEPTH = 64

_ATOM = ("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns#")
_NAMESPACES = (
    "",
    *_ATOM,
    "http://purl.org/rss/1.0/",
    "http://my.netscape.com/rdf/simple/0.9/",
    "http://channel.netscape.com/rdf/simple/0.9/",
    "http://purl.org/dc/elements/1.1/",
    "http://purl.org/rss/1.0/modules/content/",
)
_ENTRIES = ("item", "entry")
_PARENTS = ("channel", "feed", *_ENTRIES)
_AUTHOR_IN_ATOM = tuple(f"{{{namespace}}}author" for namespace in _ATOM)
_MARKED_UP = ("description", "summary", "subtitle", "tagline", "info", "encoded", "content")
_DATES = ("published", "issued", "pubDate", "date", "updated", "modified", "lastBuildDate")
_AUTHORS = ("name", "author", "creator")  # a name is that of the author in Atom
_NAMES = ("guid", "id")  # which may be addresses, too
_LINKS = ("link", *_NAMES)
_FIELDS = frozenset({"title", *_MARKED_UP, *_DATES, *_AUTHORS, *_LINKS})
_KEPT_ATTRIBUTES = ("href", "src", "alt", "title")


class Feed(NamedTuple):
    """A feed, or an entry of one: what it holds, as HTML, by names of RSS and Atom."""

    fields: dict[str, str]
    entries: list[Feed]

    def first(self, *names: str) -> str:
        """The first of these fields that there is, or ""."""
        return next(filter(None, map(self.fields.get, names)), "")


class NotAFeed(Exception):
    """The document is no feed, or none that can be read."""


def bounded_feed_as_markdown(text: str, url: str, deadline: float) -> tuple[str, str]:
    """Do what `feed_as_markdown` does, in a process that is ended where it takes too much, which is NotAFeed."""
    if not _FEED.match(text[:_BEGINNING_CHARS]):
        raise NotAFeed
    from ferrule.text.invisible import without_invisible_in_html
    from ferrule_fetch.limits.reader import TooMuch, bounded_reading
    from ferrule_fetch.markdown import convert

    def read() -> tuple[str, str]:
        return feed_as_markdown(text, url, lambda html, base: convert(without_invisible_in_html(html), base)[:2])

    try:
        title, markdown = bounded_reading(read, NotAFeed, deadline=deadline, seconds=_SECONDS)
    except TooMuch:
        raise NotAFeed from None
    return title, markdown


def feed_as_markdown(text: str, url: str, convert: Callable[[str, str], tuple[str, str]]) -> tuple[str, str]:
    """Return the title of a feed, and its entries as markdown. Raises NotAFeed.

    url: where it comes from. convert: makes title and markdown of HTML and the URL that its links start from. Each
    entry is converted on its own, so that markup which is left open in one does not reach the next.
    """
    feed = parse_feed(text)
    base = _join(url, unescape(feed.first(*_LINKS)))
    title, head = convert(f"<title>{feed.first('title')}</title>{_as_html('h1', feed)}", base)
    entries = [convert(_as_html("h2", entry), base)[1] for entry in feed.entries]
    if len(entries) == MAX_ENTRIES:
        entries.append(f"[Only the first {MAX_ENTRIES:,} entries of this feed are shown.]")
    return title, "\n\n".join(filter(None, [head, *entries]))


def parse_feed(text: str) -> Feed:
    """Read RSS 0.9 to 2.0 or Atom, up to where it is cut off. Raises NotAFeed, for XML that is malformed, too."""
    if not _FEED.match(text[:_BEGINNING_CHARS]) or "<!ENTITY" in text:
        raise NotAFeed
    text = _NAMED_CHARACTER.sub(lambda name: escape(unescape(name[0])), text)
    collector = _Collector()
    parser = XMLParser(target=collector)  # noqa: S314 - without entities of its own there is nothing to expand
    try:
        # in pieces: within one, an error of the collector does not stop the parser
        for start in range(0, len(text), _CHUNK_CHARS):
            parser.feed(text[start : start + _CHUNK_CHARS])
        parser.close()
    except ParseError as error:
        if error.code not in _CUT_OFF or not collector.feed.entries:
            raise NotAFeed from None
    if not collector.feed.entries and not collector.feed.fields:
        raise NotAFeed
    return collector.feed


def _join(url: str, link: str) -> str:
    try:
        return urljoin(url, link)
    except ValueError:
        return url


def _as_html(heading: str, feed: Feed) -> str:
    link = feed.first(*_LINKS)
    title = feed.first("title") or link or "Untitled"
    if link:
        title = f'<a href="{link}">{title}</a>'
    byline = " · ".join(filter(None, (feed.first(*_DATES), feed.first(*_AUTHORS))))
    return f"<{heading}>{title}</{heading}><p>{byline}</p><div>{feed.first(*_MARKED_UP)}</div>"


class _Collector:
    """What the parser reports to. feed: what there is so far."""

    def __init__(self) -> None:
        self.feed = Feed({}, [])
        self._current = self.feed
        self._open: list[str] = []  # names, from the root on
        self._field = ""
        self._field_at = 0  # the depth of the field that is being read; 0 outside of one
        self._is_text = False
        self._pieces: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        namespace, _, name = tag.removeprefix("{").rpartition("}")
        parent = self._open[-1] if self._open else ""
        self._open.append(name)
        if len(self._open) > _MAX_DEPTH:
            raise NotAFeed
        if self._field_at:
            self._pieces.append("" if self._is_text else _start_tag(name, attributes))
        elif name in _ENTRIES:
            self._begin_entry()
        elif tag in _AUTHOR_IN_ATOM:
            return
        elif name in _FIELDS and namespace in _NAMESPACES and parent in (("author",) if name == "name" else _PARENTS):
            self._begin_field(name, attributes, is_atom=namespace in _ATOM)

    def end(self, tag: str) -> None:
        """An element ends."""
        depth = len(self._open)
        name = self._open.pop()
        if depth == self._field_at:
            self._field_at = 0
            if value := self._value():
                self._current.fields.setdefault(self._field, value)
        elif self._field_at:
            self._pieces.append("" if self._is_text else f"</{name}>")
        elif name in _ENTRIES:
            self._current = self.feed

    def data(self, text: str) -> None:
        """Text between tags."""
        if self._field_at:
            self._pieces.append(text)

    def close(self) -> None:
        """The document has ended."""

    def _value(self) -> str:
        """The field that has been read, as HTML; its text came in pieces that may end anywhere."""
        value = "".join(self._pieces).strip()
        if self._field in _NAMES and not value.startswith(("http://", "https://")):
            return ""
        if self._field in _LINKS:
            return escape(value)
        return escape(unescape(value)) if self._is_text else value

    def _begin_entry(self) -> None:
        self._current = Feed({}, [])
        if len(self.feed.entries) < MAX_ENTRIES:
            self.feed.entries.append(self._current)

    def _begin_field(self, name: str, attributes: dict[str, str], *, is_atom: bool) -> None:
        if name == "link" and "href" in attributes:
            if attributes.get("rel", "alternate") == "alternate":
                self._current.fields.setdefault("link", escape(attributes["href"].strip()))
            return
        if name == "guid" and attributes.get("isPermaLink", "true") != "true":
            return
        self._field, self._field_at, self._pieces = name, len(self._open), []
        kind = attributes.get("type", "text" if is_atom else "html")
        self._is_text = name not in _MARKED_UP if not is_atom else "html" not in kind


def _start_tag(name: str, attributes: dict[str, str]) -> str:
    kept = (f' {key}="{escape(attributes[key])}"' for key in _KEPT_ATTRIBUTES if key in attributes)
    return f"<{name}{''.join(kept)}>"
