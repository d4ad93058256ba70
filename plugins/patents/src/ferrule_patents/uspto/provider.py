"""The Open Data Portal of the USPTO: how it is asked, what it answers, and how it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import ferrule_websearch as web
from ferrule_patents.arguments import date_of, findings, number_without_kind, query_of, text_of
from ferrule_patents.uspto import CREDENTIALS

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 100
_META = "applicationMetaData"
_PAGE = "https://patentcenter.uspto.gov/applications/"
_PORTAL = "Get a key, or look at yours, at https://data.uspto.gov/apis/getting-started. A key that is not used lapses."
_BUSY_SECONDS = 1.0  # one request of a key is taken at a time


class USPTO(web.Provider):
    """The search of applications, as its reference describes it."""

    name = "USPTO"
    endpoint = "https://api.uspto.gov/api/v1/patent/applications/search"
    endpoint_variable = "FERRULE_USPTO_ENDPOINT"
    credentials = CREDENTIALS
    hints: ClassVar[Mapping[int, str]] = dict.fromkeys((401, 403), _PORTAL)
    empty_statuses = (404,)

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """The key goes into a header."""
        return web.Request(headers={"X-API-KEY": keys["api_key"]})

    def plan(self, query: web.Query) -> web.Plan:
        """One request."""
        return web.plan_without_pages(
            query, MAX_RESULTS, lambda number: {"q": query.text, "offset": 0, "limit": number}
        )

    def read(self, document: JSONMapping) -> web.Reply:
        """`patentFileWrapperDataBag[]` has a number and `applicationMetaData`; there is no abstract."""
        hits = [_as_hit(one) for one in document.get("patentFileWrapperDataBag") or []]
        return web.Reply(web.read_results(hits, html=False, published="published", details=_details), has_more=False)

    def fault(self, document: JSONMapping) -> web.Fault:
        """`errorDetails` or `detailedMessage` is a sentence, or else `error` or `message`."""
        names = ("errorDetails", "detailedMessage", "error", "message")
        texts = (document.get(name) for name in names)
        return web.Fault((), next((text for text in texts if isinstance(text, str) and text), ""))

    def quota(self, response: web.Response, fault: web.Fault) -> web.Quota:
        """Nothing says when it takes a request again."""
        return web.Quota.of_short_limit(response, _BUSY_SECONDS)


def find_faults(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call."""
    found = findings(arguments)
    if arguments.get("patent_office", "all") not in ("all", "US"):
        found.append("patent_office: USPTO has the patents of the United States alone")
    return found


def search_patents(arguments: JSONMapping, context: Context) -> JSONObject:
    """The answer of the tool. Raises ToolError."""
    query = query_of(arguments, _query(arguments))
    first, last = arguments.get("year_from"), arguments.get("year_to")
    if first or last:
        span = f"{first or 1790}-01-01:{last or 2999}-12-31"
        query = query._replace(parameters={"rangeFilters": f"{_META}.filingDate {span}"})
    return web.search(USPTO(), query, context)


def _query(arguments: JSONMapping) -> str:
    """The arguments in the words of the portal, all of which have to be met."""
    parts = []
    if text := text_of(arguments, "query"):
        parts.append(f"({text})")
    if number := number_without_kind(arguments):
        parts.append(f"{_META}.patentNumber:{number.removeprefix('US')}")
    for name, field in (("assignee", "firstApplicantName"), ("inventor", "firstInventorName")):
        if text := text_of(arguments, name):
            parts.append(f'{_META}.{field}:"{text}"')
    if code := text_of(arguments, "cpc_code").upper():
        symbol = f'"{code}"' if "/" in code else f"{code}*"
        parts.append(f"{_META}.cpcClassificationBag:{symbol}")
    return " AND ".join(parts)


def _as_hit(one: object) -> object:
    if not isinstance(one, dict):
        return None
    meta = one.get(_META)
    facts = meta if isinstance(meta, dict) else {}
    number = str(one.get("applicationNumberText") or "")
    return {
        **facts,
        "title": facts.get("inventionTitle"),
        "url": f"{_PAGE}{number}" if number.isalnum() else "",
        "published": date_of(facts.get("earliestPublicationDate")),
    }


def _details(hit: JSONMapping) -> JSONMapping:
    return {
        "number": _number(hit),
        "assignee": hit.get("firstApplicantName"),
        "inventor": hit.get("firstInventorName"),
        "filed": date_of(hit.get("filingDate")),
        "granted": date_of(hit.get("grantDate")),
        "status": hit.get("applicationStatusDescriptionText"),
    }


def _number(hit: JSONMapping) -> str:
    """That of the patent, else that of the publication; an application that has neither has its own on its page."""
    if hit.get("patentNumber"):
        return f"US{hit['patentNumber']}"
    return "".join(str(hit.get("earliestPublicationNumber") or "").replace("-", "").split())
