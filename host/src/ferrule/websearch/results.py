"""One search result, as plain text."""

import re
from typing import NamedTuple

_TITLE, _SNIPPET, _URL = 500, 2000, 4096  # characters

_TAG = re.compile(r"</?([a-z][a-z0-9]*)\b[^<>]*>", re.I)
_EMPHASIS = re.compile(r"<(b|em|i|mark|strong)>([^<>]*)</\1>|<br ?/?>", re.I)
_APART = frozenset({"br", "dd", "div", "dt", "hr", "li", "ol", "p", "td", "th", "tr", "ul"})

# What JSON readers refuse, a terminal would act on, or nobody sees and a model reads.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # controls, without those that are blanks
    "\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069"  # of no width, and those that turn the direction
    "\ud800-\udfff\U000e0000-\U000e007f]"  # halves of pairs, and tags
)


class Result(NamedTuple):
    """One search result. title and snippet may be empty, url is not."""

    title: str
    url: str
    snippet: str


def result(title: object, url: object, snippet: object, *, html: bool = True) -> Result | None:
    """A result from what a provider sent, whatever that is; None where there is no URL.

    html: title and snippet are HTML. Else they are text, in which a `<` means what it says, except around words that
    are emphasised.
    """
    place = _UNSEEN.sub("", url).strip() if isinstance(url, str) else ""
    if not place or len(place) > _URL:
        return None
    texts = plain_text(title, html=html), plain_text(snippet, html=html)
    return Result(_shortened(texts[0], _TITLE), place, _shortened(texts[1], _SNIPPET))


def plain_text(value: object, *, html: bool = True) -> str:
    """A text on one line, without markup, entities and characters that nobody sees; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    text = _TAG.sub(_gap, value) if html else _EMPHASIS.sub(_inner, value)
    if "&" in text:
        from html import unescape

        text = unescape(text)
    return " ".join(_UNSEEN.sub("", text).split())


def _gap(tag: re.Match[str]) -> str:
    return " " if tag[1].lower() in _APART else ""


def _inner(emphasis: re.Match[str]) -> str:
    return " " if emphasis[2] is None else emphasis[2]


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
