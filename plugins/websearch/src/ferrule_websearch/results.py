"""One search result, as plain text."""

from __future__ import annotations

from typing import NamedTuple

from ferrule.text.plain_text import UNSEEN, plain_text

_TITLE, _SNIPPET, _URL = 500, 2000, 4096  # characters


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
    place = UNSEEN.sub("", url).strip() if isinstance(url, str) else ""
    if not place or len(place) > _URL:
        return None
    texts = plain_text(title, html=html), plain_text(snippet, html=html)
    return Result(_shortened(texts[0], _TITLE), place, _shortened(texts[1], _SNIPPET))


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
