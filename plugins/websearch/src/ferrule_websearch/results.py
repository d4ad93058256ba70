"""One search result, as plain text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from ferrule.text.invisible import without_invisible
from ferrule.text.plain_text import plain_text
from ferrule_websearch.publication_date import parse_date

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

_SIZES, _ADDRESSES = ("width", "height", "bytes"), ("page", "thumbnail")
DETAILS = ("source", *_ADDRESSES, *_SIZES, "number", "assignee", "inventor", "filed", "granted", "status")
_MAX_TITLE_CHARS, _MAX_SNIPPET_CHARS, _MAX_URL_CHARS = 500, 2000, 4096
_MAX_EXTRA_SNIPPETS = 5


class Result(NamedTuple):
    """One search result. url is never empty, all else may be.

    published: a date or an instant in ISO 8601. extra_snippets: more text of the page. details: what only news,
    images and patents have, see `make_details`.
    """

    title: str
    url: str
    snippet: str
    published: str = ""
    extra_snippets: Sequence[str] = ()
    details: Mapping[str, str | int] = {}

    def as_json(self) -> JSONObject:
        """`{"title", "url", "snippet"}`, and where they are known `published`, `extra_snippets` and all details."""
        document: JSONObject = {"title": self.title, "url": self.url, "snippet": self.snippet}
        if self.published:
            document["published"] = self.published
        if self.extra_snippets:
            document["extra_snippets"] = list(self.extra_snippets)
        return {**document, **self.details}


def make_result(
    title: object,
    url: object,
    snippet: object,
    *,
    html: bool = True,
    published: object = None,
    extra_snippets: object = None,
    details: JSONMapping | None = None,
) -> Result | None:
    """A result from what a provider sent, whatever that is; None where its URL is none that can be read on the web.

    Args:
        html: title and snippets are HTML. Else they are text, in which a `<` means what it says, except around words
            that are emphasised.
        published: as `parse_date` takes it.
        extra_snippets: a list of texts.
        details: as `make_details` takes them.
    """
    place = without_invisible(url).strip() if isinstance(url, str) else ""
    if len(place) > _MAX_URL_CHARS or not _is_web_page(place):
        return None
    texts = plain_text(title, html=html), plain_text(snippet, html=html)
    more = extra_snippets[:_MAX_EXTRA_SNIPPETS] if isinstance(extra_snippets, list) else []
    extra = [shorten(text, _MAX_SNIPPET_CHARS) for one in more if (text := plain_text(one, html=html))]
    return Result(
        shorten(texts[0], _MAX_TITLE_CHARS),
        place,
        shorten(texts[1], _MAX_SNIPPET_CHARS),
        parse_date(published),
        tuple(extra),
        make_details(details or {}, html=html),
    )


def make_details(found: JSONMapping, *, html: bool = False) -> dict[str, str | int]:
    """What only news, images and patents have, from what a provider sent; what is not of its kind is left out.

    `source` is a text: who published it; and so is all that only patents have. `page` and `thumbnail` are addresses: of
    the page that shows an image, and of a small one. `width`, `height` (pixels) and `bytes` are numbers from 1 on.
    """
    details: dict[str, str | int] = {}
    for name, value in found.items():
        if name in _SIZES:
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                details[name] = value
        elif name in _ADDRESSES:
            place = without_invisible(value).strip() if isinstance(value, str) else ""
            if len(place) <= _MAX_URL_CHARS and _is_web_page(place):
                details[name] = place
        elif text := plain_text(value, html=html):
            details[name] = shorten(text, _MAX_TITLE_CHARS)
    return details


def read_results(
    hits: Iterable[object],
    title: str = "title",
    url: str = "url",
    snippet: str = "snippet",
    *,
    html: bool = True,
    published: str | Sequence[str] = (),
    extra_snippets: str = "",
    details: Callable[[JSONMapping], JSONMapping] | None = None,
) -> list[Result | None]:
    """The results of a list of JSON objects, each in its place.

    Args:
        title, url, snippet: the names that they have there.
        published: the name of the date, or several names, of which the first that has one counts.
        details: finds in an object what `make_details` takes.
    """
    dates = [published] if isinstance(published, str) else published

    def read(hit: object) -> Result | None:
        if not isinstance(hit, dict):
            return None
        date = next(filter(None, (parse_date(hit.get(name)) for name in dates)), "")
        extra = hit.get(extra_snippets)
        more = details(hit) if details else None
        texts = hit.get(title), hit.get(url), hit.get(snippet)
        return make_result(*texts, html=html, published=date, extra_snippets=extra, details=more)

    return [read(hit) for hit in hits]


def _is_web_page(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def shorten(text: str, max_chars: int) -> str:
    """The text, cut where it is longer."""
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"
