"""Patents by a search of the web, among the pages of Google Patents: their numbers and titles, and no dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ferrule_research.kinds.search import Found, ask_providers
from ferrule_research.patents.arguments import filters_of, number_in
from ferrule_websearch import Result, SearchRequest

if TYPE_CHECKING:
    from ferrule import Context
    from ferrule.text.json_types import JSONMapping

SITE = "patents.google.com"
_SPARE_RESULTS = 5  # since some pages are of no patent, and some of another office
_PAGE = re.compile(r"https?://patents\.google\.com/patent/([A-Z]{2}\d[\dA-Z]*)(?:[/?#]|\Z)")
_ENDS = re.compile(r"\A[A-Z]{2}\d[\dA-Z]*\s*-\s*|\s*-\s*Google Patents\s*\Z")
_IN_THE_QUERY = ("assignee", "inventor", "cpc_code")
_UNFILTERED = {
    "year_from": "a search of the web does not know when a patent was filed",
    "year_to": "a search of the web does not know when a patent was filed",
    "cpc_code": "a search of the web finds it only where the page has it as a word",
}


def search_pages(texts: JSONMapping, forced: str, limit: int, context: Context) -> Found:
    """The pages of patents that a provider of the web finds. Raises ToolError."""
    filters = filters_of(texts)
    words = [number_in(texts) or texts.get("query", ""), *(filters.get(name) for name in _IN_THE_QUERY)]
    text = " ".join(str(word) for word in words if word)
    found = ask_providers("web", forced, SearchRequest(text, limit + _SPARE_RESULTS, (SITE,)), context)
    office = str(filters.get("patent_office", ""))
    return found._replace(results=_select_patents(found.results, office))


def list_unfiltered(texts: JSONMapping) -> list[tuple[str, str]]:
    """The arguments by which such a search filters nothing, with the reasons."""
    filters = filters_of(texts)
    return [(name, why) for name, why in _UNFILTERED.items() if name in filters]


def _select_patents(results: Iterable[Result], office: str) -> Sequence[Result]:
    """The results that are pages of patents, each patent once, with its number and without what all titles have."""
    patents: dict[str, Result] = {}
    for one in results:
        page = _PAGE.match(one.url)
        if page and page[1].startswith(office):
            title, details = _ENDS.sub("", one.title), {"number": page[1]}
            # The date of a result is that of the page, or of the index: neither is one of the patent's.
            patents.setdefault(page[1], one._replace(title=title, details=details, published=""))
    return list(patents.values())
