"""Whether an article was retracted or corrected, as Crossref knows it from publishers and from Retraction Watch."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NotRequired, TypedDict
from urllib.parse import quote

from ferrule import Context, JSONObject, ToolError
from ferrule_research.page.metadata.dates import Date
from ferrule_research.page.sources.json_api import endpoint, get_json

ENDPOINT, VARIABLE = "https://api.crossref.org", "FERRULE_CROSSREF_ENDPOINT"

_MAX_SECONDS = 3.0
RETRACTION, CONCERN, CORRECTION = "retraction", "expression_of_concern", "correction"
_KINDS = {
    **dict.fromkeys(("retraction", "withdrawal", "removal"), RETRACTION),
    **dict.fromkeys(("expression_of_concern", "concern"), CONCERN),
    **dict.fromkeys(
        ("correction", "corrigendum", "erratum", "addendum", "clarification", "partial_retraction"), CORRECTION
    ),
}
_WORST_FIRST = (RETRACTION, CONCERN, CORRECTION)
_SOURCES = ("retraction-watch", "publisher")


class Notice(TypedDict):
    """A notice about an article. date: ISO 8601, as far as it is told. source: who told Crossref of it."""

    retracted: bool
    kind: str
    date: NotRequired[str]
    noticeDoi: NotRequired[str]
    source: NotRequired[str]


def find_notice(doi: str, context: Context) -> Notice | None:
    """The gravest notice about an article.

    None if there is no notice, and where Crossref does not know the DOI or cannot be asked within three seconds.
    """
    return gravest_notice(_get_work(doi, context), doi)


def gravest_notice(work: JSONObject, doi: str) -> Notice | None:
    """The gravest notice that Crossref's record of an article holds; None where it holds none."""
    notices = filter(None, map(_notice, _updates(work, doi)))
    return min(notices, key=lambda one: (_WORST_FIRST.index(one["kind"]), one.get("date", "9")), default=None)


def _get_work(doi: str, context: Context) -> JSONObject:
    base = endpoint(context, "crossref_endpoint", VARIABLE, ENDPOINT)
    deadline = time.monotonic() + min(_MAX_SECONDS, context.remaining() / 2)
    try:
        document = get_json(f"{base}/works/{quote(doi, safe='/')}", context, deadline)
    except ToolError:
        return {}
    work = document.get("message") if isinstance(document, dict) else None
    return work if isinstance(work, dict) else {}


def _updates(work: JSONObject, doi: str) -> Iterator[JSONObject]:
    """The notices about this article. What it is itself a notice about (`update-to`) says nothing about it.

    Some publishers have the notice under the article's own DOI.
    """
    yield from _objects(work.get("updated-by"))
    for update in _objects(work.get("update-to")):
        if str(update.get("DOI", "")).lower() == doi.lower():
            yield update


def _objects(value: object) -> list[JSONObject]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _notice(update: JSONObject) -> Notice | None:
    kind = _KINDS.get(str(update.get("type", "")).lower().replace("-", "_").replace(" ", "_"))
    if kind is None:
        return None
    notice: Notice = {"retracted": kind == RETRACTION, "kind": kind}
    source, notice_doi = update.get("source"), update.get("DOI")
    if date := _date(update.get("updated")):
        notice["date"] = date
    if isinstance(notice_doi, str) and notice_doi:
        notice["noticeDoi"] = notice_doi[:300]
    if source in _SOURCES:
        notice["source"] = source
    return notice


def _date(updated: object) -> str:
    """The day as `2010-02-06`, as far as it is told; "" where it is not."""
    try:
        parts = [int(part) for part in updated["date-parts"][0]] if isinstance(updated, dict) else []
        return Date(*parts[:3]).iso()
    except (LookupError, TypeError, ValueError):
        return ""
