"""The plain text of a page, for one that is made to stall every builder of trees."""

from __future__ import annotations

import re
import time
from html import unescape
from io import StringIO

from ferrule.text.invisible import without_invisible
from ferrule_fetch.hrefs import resolved
from ferrule_fetch.limits.tags import tokens
from ferrule_fetch.tree.elements import VOID

_MAX_CHARS = 8 << 20  # links that are made absolute can outgrow the page many times
_LONG_CHARS = 4_000  # after which a line may end, so that some of it fits into every answer
_TOKENS_PER_CLOCK = 1_024  # between two looks at the clock

_UNSEEN = frozenset(
    {"button", "iframe", "nav", "noembed", "noframes", "script", "select", "style", "template", "textarea", "xmp"}
)
_HEADINGS = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_PARAGRAPHS = frozenset(_HEADINGS).union(
    ["address", "article", "aside", "blockquote", "body", "caption", "center", "details", "dialog", "dir", "div", "dl"],
    ["fieldset", "figcaption", "figure", "footer", "form", "head", "header", "hgroup", "hr", "html", "legend", "main"],
    ["menu", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "title", "ul"],
)
_LINES = frozenset({"br", "dd", "dt", "li", "tr"})
_ENDED_BY_THE_NEXT = frozenset({"dd", "dt", "li", "option", "p", "td", "th", "tr"})
_GAPS = ("", " ", " | ", "\n", "\n\n")

_SPACE = re.compile(r"[ \t\n\f\r]+")
_EMPTY_LINES = re.compile(r"\n\n+")
_MARKUP = re.compile(r"[\\`*_<>\[\]|~]|&(?=#?\w{1,32};)")
_LINE_START = re.compile(r"^ {0,3}(?:(?=[#=+-])|\d{1,9}(?=[.)]))", re.MULTILINE)
_QUOTED = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_HIDDEN = re.compile(r"(?:^|[\s/])hidden(?:[\s/=]|$)", re.IGNORECASE)
_NOT_DISPLAYED = re.compile(r"\sstyle\s*=[^>]{0,200}?display\s*:\s*none", re.IGNORECASE)
_HREF = re.compile(r"""(?:^|[\s/"'])href\s*=\s*(?:"([^"]*)|'([^']*)|([^\s"'>]+))""", re.IGNORECASE)


def plain_text(html: str, url: str, deadline: float) -> tuple[str, str]:
    """Return a page's title and its text: paragraphs, headings, items of lists and links, written as in markdown.

    url: where the page was found. deadline: an instant of `time.monotonic()`, after which the rest is left out.
    """
    text = _PlainText(url)
    for number, (name, content) in enumerate(tokens(html)):
        text.take(name, content)
        if text.length > _MAX_CHARS or (number % _TOKENS_PER_CLOCK == 0 and time.monotonic() > deadline):
            return text.title, text.whole() + "\n\n[The rest of the page is left out.]"
    return text.title, text.whole()


class _PlainText:
    """Takes the tags and the text of a page in turn. title: of the page. length: characters that were written."""

    def __init__(self, url: str) -> None:
        self.title = ""
        self.length = 0
        self._base, self._has_base = url, False
        self._written = StringIO()
        self._gap = ""  # what comes between what is written and what follows
        self._prefix = ""
        self._link: str | None = None
        self._link_is_open = False
        self._element = ""
        self._unseen, self._depth = "", 0

    def take(self, name: str, content: str) -> None:
        """A tag and its attributes, or a piece of text, whose name is empty."""
        if self._unseen:
            self._pass_over(name, content)
        elif name:
            self._tag(name, content)
        elif self._element == "title":
            self.title = self.title or " ".join(_decode(content).split())
        else:
            self._text(_decode(content))

    def whole(self) -> str:
        """All that was written."""
        self._end_link()
        return self._written.getvalue()

    def _pass_over(self, name: str, content: str) -> None:
        """Look for the end of an element that is not shown, past others of its name inside it."""
        if name == self._unseen and name in _ENDED_BY_THE_NEXT:
            self._unseen = ""
            self._tag(name, content)
        elif name == self._unseen:
            self._depth += 1
        elif name == f"/{self._unseen}":
            self._depth -= 1
            self._unseen = self._unseen if self._depth else ""

    def _tag(self, name: str, attributes: str) -> None:
        self._element = name
        if name in _UNSEEN or (attributes and name not in VOID and _is_hidden(attributes)):
            self._break(f"/{name}")
            self._unseen, self._depth = name, 1
        elif name == "a":
            self._end_link()
            self._link = self._target(attributes) if attributes else None
        elif name == "/a":
            self._end_link()
        elif name == "base" and not self._has_base:
            self._base = resolved(self._base, _href(attributes)) or self._base
            self._has_base = True
        elif name in ("td", "th"):
            self._separate(" | ")
        else:
            self._break(name)

    def _target(self, attributes: str) -> str | None:
        """Where a link leads; None where it has no address, or one that cannot be opened."""
        found = _HREF.search(attributes)
        return resolved(self._base, _href(attributes)) if found else None

    def _break(self, name: str) -> None:
        element = name.removeprefix("/")
        if element in _PARAGRAPHS:
            self._separate("\n\n")
        elif element in _LINES:
            self._separate("\n")
        if element == "li" or element in _HEADINGS:
            self._prefix = "- " if name == "li" else _HEADINGS.get(name, "")

    def _text(self, text: str) -> None:
        is_pre = self._element == "pre"
        text = _EMPTY_LINES.sub("\n\n", text) if is_pre else _SPACE.sub(" ", text)
        words = text.strip("\n" if is_pre else " ")
        if text.startswith(" ") and not is_pre:
            self._separate(" ")
        if words:
            self._put(_MARKUP.sub(r"\\\g<0>", words))
        if text.endswith(" "):
            self._separate("\n" if len(text) > _LONG_CHARS and not self._link else " ")

    def _put(self, words: str) -> None:
        """Write words after the gap, and within the link that they belong to."""
        gap = self._gap if self.length else ""
        if not self.length or "\n" in gap:
            gap += self._prefix
            words = _LINE_START.sub(r"\g<0>\\", words)
            self._prefix = ""
        if self._link and not self._link_is_open:
            gap += "["
            self._link_is_open = True
        self._gap = ""
        self._write(gap + words)

    def _separate(self, gap: str) -> None:
        if "\n" in gap:
            self._end_link()
        self._gap = max(self._gap, gap, key=_GAPS.index)

    def _end_link(self) -> None:
        if self._link and self._link_is_open:
            self._write(f"]({self._link})")
        self._link, self._link_is_open = None, False

    def _write(self, text: str) -> None:
        self.length += self._written.write(text)


def _decode(text: str) -> str:
    """The text that is meant, without invisible characters."""
    try:
        return without_invisible(unescape(text) if "&" in text else text)
    except ValueError:  # a reference of more digits than Python reads
        return without_invisible(text)


def _href(attributes: str) -> str:
    found = _HREF.search(attributes)
    return _decode(next(filter(None, found.groups()), "")) if found else ""


def _is_hidden(attributes: str) -> bool:
    if "hidden" in attributes and _HIDDEN.search(_QUOTED.sub("", attributes)):
        return True
    return bool("none" in attributes and _NOT_DISPLAYED.search(attributes))
