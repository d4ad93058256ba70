"""The document API of the GDELT project: how it is asked, what it answers, and how it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import ferrule_websearch as web
from ferrule_gdelt.places import COUNTRIES, LANGUAGES

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 250  # there are no pages
MAX_SITES = 10
TIMES = {"hour": "1h", "day": "1d", "week": "1w", "month": "1months"}
ORDERS = {"date": "datedesc", "relevance": "hybridrel"}
PACE_SECONDS = 5.0  # between two requests of an address
_LIMITED, _QUERY = "rate limit", "invalid query"
_STAMP = re.compile(r"(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z")


class GDELT(web.Provider):
    """GDELT, as its pages describe it. It refuses in plain text, also with status 200."""

    name = "GDELT"
    endpoint = "https://api.gdeltproject.org/api/v2/doc/doc"
    endpoint_variable = "FERRULE_GDELT_ENDPOINT"
    pace = (1, PACE_SECONDS)
    statuses: ClassVar[Mapping[int, str]] = {429: "RATE_LIMIT"}
    codes: ClassVar[Mapping[str, str]] = {_LIMITED: "RATE_LIMIT", _QUERY: "INVALID_INPUT"}

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """A list of articles, the best first where nothing else is asked for."""
        return web.Request({"mode": "artlist", "format": "json", "sort": ORDERS["relevance"]})

    def plan(self, query: web.Query) -> web.Plan:
        """One request: GDELT filters domains itself, and has no pages."""
        text = " ".join([query.text, *_domain_operators(query.domains)])
        return web.plan_without_pages(query, MAX_RESULTS, lambda number: {"query": text, "maxrecords": number})

    def read(self, document: JSONMapping) -> web.Reply:
        """`articles[]` has title, url, domain and seendate, which is when GDELT saw it; there is none for nothing."""
        hits = [_with_date(hit) for hit in document.get("articles") or []]
        results = web.read_results(hits, html=False, published="seen", details=lambda hit: {"source": hit["domain"]})
        return web.Reply(results, has_more=bool(results))

    def document_in(self, text: str) -> JSONMapping | None:
        """A sentence is a refusal; HTML is what something in front of it says."""
        return {"error": text} if text and not text.startswith("<") else None

    def fault(self, document: JSONMapping) -> web.Fault:
        """Its sentences have no codes: what they are about says which kind they are of."""
        text = str(document.get("error") or "")
        if "limit requests" in text.lower():
            return web.Fault((_LIMITED,), text)
        return web.Fault((_QUERY,) if re.search(r"query|keyword|phrase|timespan", text, re.I) else (), text)

    def quota(self, response: web.Response, fault: web.Fault) -> web.Quota:
        """Nothing says when it takes a request again; its pages say one in five seconds."""
        return web.Quota.of_short_limit(response, PACE_SECONDS)._replace(pace=self.pace)


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call that the schema cannot say."""
    found = web.findings(arguments)
    if len(arguments.get("allowed_domains") or []) > MAX_SITES:
        found.append(f"allowed_domains: {MAX_SITES} domains can be asked for at most")
    for name, known in (("language", LANGUAGES), ("country", COUNTRIES)):
        code = arguments.get(name, "").strip()
        if code and _normalise(name, code) not in known:
            found.append(f"{name}: GDELT has no {code[:20]!r}; it has {', '.join(known)}")
    return found


def query_of(arguments: JSONMapping) -> web.Query:
    """The query that the arguments of the tool mean, with language and country as its words."""
    query = web.Query.of(arguments, offset=0, limit=arguments.get("count", 10))
    words = [query.text]
    for name, operator, known in (("language", "sourcelang", LANGUAGES), ("country", "sourcecountry", COUNTRIES)):
        if code := arguments.get(name, "").strip():
            words.append(f"{operator}:{known[_normalise(name, code)]}")
    return query._replace(text=" ".join(words))


def parameters_of(arguments: JSONMapping) -> JSONObject:
    """What a request has apart from the query and the number of articles."""
    found: JSONObject = {}
    if arguments.get("time_range"):
        found["timespan"] = TIMES[arguments["time_range"]]
    if arguments.get("sort_by"):
        found["sort"] = ORDERS[arguments["sort_by"]]
    return found


def _normalise(name: str, code: str) -> str:
    return code.lower() if name == "language" else code.upper()


def _domain_operators(domains: web.DomainFilter) -> list[str]:
    """The filter in GDELT's words, in which alternatives have to stand in parentheses."""
    allowed = [f"domain:{one}" for one in domains.allowed[:MAX_SITES]]
    words = [f"({' OR '.join(allowed)})" if len(allowed) > 1 else allowed[0]] if allowed else []
    return [*words, *(f"-domain:{one}" for one in domains.blocked[:MAX_SITES])]


def _with_date(hit: object) -> object:
    if not isinstance(hit, dict):
        return hit
    stamp = _STAMP.fullmatch(str(hit.get("seendate")))
    seen = "{}-{}-{}T{}:{}:{}Z".format(*stamp.groups()) if stamp else ""
    return {**hit, "seen": seen, "domain": hit.get("domain")}
