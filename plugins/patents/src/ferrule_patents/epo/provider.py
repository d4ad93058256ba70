"""The Open Patent Services of the EPO: how they are asked, what they answer, and how they refuse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

import ferrule_websearch as web
from ferrule_patents.arguments import OFFICES, findings, number_without_kind, query_of, text_of
from ferrule_patents.epo import CREDENTIALS
from ferrule_patents.epo.documents import list_documents
from ferrule_websearch.endpoint import endpoint_of

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 100  # of a request
_SEARCH, _TOKEN = "/rest-services/published-data/search/biblio", "/auth/accesstoken"
_DETAILS = ("number", "assignee", "inventor", "filed", "granted")
_LAST_YEAR = 9999
_CUT = f"EPO cannot filter by the year of filing: of {MAX_RESULTS} patents, those of the years are returned."
_WEEK = "RegisteredQuotaPerWeek"
_CODE = re.compile(r"<(?:\w+:)?code>\s*([^<]{1,60})\s*</")
_MESSAGE = re.compile(r"<(?:\w+:)?(?:message|description)>\s*([^<]{1,500})\s*</")


class EPO(web.Provider):
    """The search of published data, as its reference describes it.

    token: of this call. years: the first and the last one in which a patent may have been filed, None for any.
    """

    name = "EPO"
    endpoint = "https://ops.epo.org/3.2" + _SEARCH
    endpoint_variable = "FERRULE_EPO_ENDPOINT"
    credentials = CREDENTIALS
    quota_spent = "Rate limit exceeded. The data that a key may load in a week are used up."
    statuses: ClassVar[Mapping[int, str]] = {401: "AUTH_INVALID", 403: "RATE_LIMIT", 429: "RATE_LIMIT"}
    codes: ClassVar[Mapping[str, str]] = {
        "CLIENT.InvalidQuery": "INVALID_INPUT",
        "CLIENT.CQL": "INVALID_INPUT",
        "CLIENT.InvalidAccessToken": "AUTH_INVALID",
    }
    empty_statuses = (404,)

    def __init__(self, token: str = "", years: tuple[int, int] | None = None) -> None:
        self._token = token
        self._years = years

    def endpoint_at(self, place: str) -> str:
        """The search, below the place of all services."""
        return place.rstrip("/").removesuffix(_SEARCH) + _SEARCH

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """The token instead of the keys."""
        return web.Request(headers={"Authorization": f"Bearer {self._token}"})

    def plan(self, query: web.Query) -> web.Plan:
        """One request. EPO filters by publication, which is after the filing: with years, all of it is looked at."""
        number = MAX_RESULTS if self._years else min(query.limit, MAX_RESULTS)
        return web.Plan([web.Page({"q": query.text, "Range": f"1-{number}"})])

    def read(self, document: JSONMapping) -> web.Reply:
        """A list of documents, the one that was loaded last first."""
        hits = list_documents(document)
        kept = [hit for hit in hits if self._is_of_the_years(hit)]
        results = web.read_results(kept, html=False, published="published", details=_details)
        is_cut = self._years is not None and len(hits) >= MAX_RESULTS
        return web.Reply(results, has_more=False, incomplete=_CUT if is_cut else "")

    def _is_of_the_years(self, hit: JSONMapping) -> bool:
        year = str(hit["filed"])[:4]
        return self._years is None or (year.isdecimal() and self._years[0] <= int(year) <= self._years[1])

    def document_in(self, text: str) -> JSONMapping | None:
        """Refusals are XML, whatever was asked for: a code and a sentence."""
        code, message = _CODE.search(text), _MESSAGE.search(text)
        if not code and not message:
            return None
        return {"error": {"code": code[1] if code else "", "message": message[1] if message else ""}}

    def fault(self, document: JSONMapping) -> web.Fault:
        """A code such as `CLIENT.InvalidQuery`, and a sentence."""
        error = web.error_object(document)
        code = str(error.get("code") or "")
        return web.Fault((code,) if code else (), str(error.get("message") or ""))

    def quota(self, response: web.Response, fault: web.Fault) -> web.Quota:
        """A header says which limit it was; Retry-After counts milliseconds here."""
        reason = response.headers.get("X-Rejection-Reason", "")
        after = response.headers.get("Retry-After", "")
        wait = int(after) / 1000 if after.isascii() and after.isdigit() else None
        if reason == _WEEK:
            return web.Quota(True, wait)
        return web.Quota(False if wait is not None else None, wait)


def find_faults(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call."""
    return findings(arguments)


def search_patents(arguments: JSONMapping, context: Context) -> JSONObject:
    """The answer of the tool. Raises ToolError."""
    from ferrule_patents.epo.token import get_token

    key, secret = context.credential("consumer_key"), context.credential("consumer_secret")
    place = endpoint_of(EPO(), context).removesuffix(_SEARCH) + _TOKEN
    first, last = arguments.get("year_from"), arguments.get("year_to")
    years = (first or 0, last or _LAST_YEAR) if first or last else None
    provider = EPO(get_token(place, key, secret, context), years)
    return web.search(provider, query_of(arguments, _query(arguments)), context)


def _query(arguments: JSONMapping) -> str:
    """The arguments in CQL, all of which have to be met."""
    parts = []
    if text := text_of(arguments, "query"):
        parts.append(f'ta all "{text}"')
    if number := number_without_kind(arguments):
        parts.append(f"pn={number}")
    for name, field in (("assignee", "pa"), ("inventor", "in")):
        if text := text_of(arguments, name):
            parts.append(f'{field} all "{text}"')
    if code := text_of(arguments, "cpc_code").upper():
        parts.append(f"cpc={code.replace(' ', '')}")
    if (office := arguments.get("patent_office")) in OFFICES:
        parts.append(f"pn={office}")
    if first := arguments.get("year_from"):
        parts.append(f'pd within "{first}0101 {datetime.now(UTC).year + 1}1231"')
    return " and ".join(parts)


def _details(hit: JSONMapping) -> JSONMapping:
    return {name: hit[name] for name in _DETAILS}
