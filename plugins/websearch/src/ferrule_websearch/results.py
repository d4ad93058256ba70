"""One search result, as plain text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from ferrule.text.plain_text import UNSEEN, plain_text

_MAX_TITLE_CHARS, _MAX_SNIPPET_CHARS, _MAX_URL_CHARS = 500, 2000, 4096


class Result(NamedTuple):
    """One search result. title and snippet may be empty, url is not."""

    title: str
    url: str
    snippet: str


def make_result(title: object, url: object, snippet: object, *, html: bool = True) -> Result | None:
    """A result from what a provider sent, whatever that is; None where its URL is none that can be read on the web.

    html: title and snippet are HTML. Else they are text, in which a `<` means what it says, except around words that
    are emphasised.
    """
    place = UNSEEN.sub("", url).strip() if isinstance(url, str) else ""
    if len(place) > _MAX_URL_CHARS or not _is_web_page(place):
        return None
    texts = plain_text(title, html=html), plain_text(snippet, html=html)
    return Result(shorten(texts[0], _MAX_TITLE_CHARS), place, shorten(texts[1], _MAX_SNIPPET_CHARS))


def read_results(
    hits: Iterable[object], title: str = "title", url: str = "url", snippet: str = "snippet", *, html: bool = True
) -> list[Result | None]:
    """The results of a list of JSON objects, each in its place. title, url, snippet: the names that they have there."""
    return [
        make_result(hit.get(title), hit.get(url), hit.get(snippet), html=html) if isinstance(hit, dict) else None
        for hit in hits
    ]


def _is_web_page(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def shorten(text: str, max_chars: int) -> str:
    """The text, cut where it is longer."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"
