"""SearXNG: how an instance is asked, what it answers, and how it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, ClassVar

import ferrule_websearch as web

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

SAFE_SEARCH = {"off": "0", "moderate": "1", "strict": "2"}
# An instance hands the query on to engines, which refuse or cut a long one. Operators that do not fit are left out.
MAX_OPERATORS_CHARS = 400
_MAX_SHOWN_ENGINES, _MAX_REASON_CHARS = 8, 80
_SEARCH_PATH = "/search"
_NO_SEARXNG = "Set FERRULE_SEARXNG_URL to the address of the instance's start page, such as http://127.0.0.1:8888."
_REDIRECT = f"{_NO_SEARXNG} A word of the query that begins with !! leads to another site, too."


class SearXNG(web.Provider):
    """An instance of SearXNG. It needs no key, and the one that is named may be in a network of the user's own.

    first_page: the number of the page from which on results are counted, from 1.
    """

    name = "SearXNG"
    endpoint_variable = "FERRULE_SEARXNG_URL"
    endpoint_setting = "url"
    statuses: ClassVar[Mapping[int, str]] = {401: "AUTH_INVALID", 429: "RATE_LIMIT"}  # 403 is about the format
    hints: ClassVar[Mapping[int, str]] = {
        **dict.fromkeys((301, 302, 303, 307, 308), _REDIRECT),
        200: _NO_SEARXNG,
        404: _NO_SEARXNG,
        401: "What stands in front of the instance wants a login. Let this machine ask it without one.",
        403: "Add json to search.formats in the instance's settings.yml, and start it again.",
        429: (
            "The limiter of the instance takes 4 searches an hour from an address that asks for JSON. Add the address "
            "of this machine to pass_ip of [botdetection.ip_lists] in the instance's limiter.toml, or set "
            "server.limiter to false in its settings.yml."
        ),
    }
    no_answer_hint = f"See that the instance runs. {_NO_SEARXNG}"

    def __init__(self, first_page: int = 1) -> None:
        self._first_page = first_page

    def endpoint_at(self, place: str) -> str:
        """The page that searches, below the start page of the instance."""
        return place.rstrip("/").removesuffix(_SEARCH_PATH) + _SEARCH_PATH

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """JSON is asked for. The limiter refuses whoever takes no HTML, which its errors are, or names no language."""
        headers = {"Accept": "application/json, text/html;q=0.5", "Accept-Language": "en"}
        return web.Request({"format": "json"}, headers)

    def plan(self, query: web.Query) -> web.Plan:
        """Pages by number, each with as many results as the engines of the instance return."""
        text = f"{query.text} {query.domains.operators()}".rstrip()
        text = text if len(text) <= MAX_OPERATORS_CHARS else query.text
        return web.Plan(_pages(text, self._first_page), offset_counts_passing=query.domains.is_active)

    def read(self, document: JSONMapping) -> web.Reply:
        """`results[]` has title, url, content and publishedDate. The page behind the last one has none."""
        hits = document["results"]
        results = web.read_results(hits, snippet="content", html=False, published="publishedDate")
        return web.Reply(results, has_more=bool(hits), incomplete=describe_unresponsive(document))


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call that the schema cannot say."""
    found = web.findings(arguments)
    if any(word.startswith("!!") for word in arguments["query"].split()):
        found.append("query: a word that begins with !! leads to another site, which has no results; leave it out")
    return found


def parameters_of(arguments: JSONMapping) -> JSONObject:
    """What every request has besides the query and the page, in SearXNG's words."""
    found: JSONObject = {name: arguments[name] for name in ("time_range", "language") if arguments.get(name)}
    if safe := arguments.get("safe_search"):
        found["safesearch"] = SAFE_SEARCH[safe]
    return found


def _pages(text: str, first: int) -> Iterator[web.Page]:
    return (web.Page({"q": text, "pageno": number}) for number in count(first))


def describe_unresponsive(document: JSONMapping) -> str:
    """Which engines gave no answer, and why: `unresponsive_engines` has pairs of both."""
    pairs = document.get("unresponsive_engines") or []
    engines = [f"{_shorten(one[0])} ({_shorten(one[1])})" for one in pairs if isinstance(one, list) and len(one) == 2]
    if not engines:
        return ""
    more = f" and {len(engines) - _MAX_SHOWN_ENGINES} more" if len(engines) > _MAX_SHOWN_ENGINES else ""
    return f"Engines of SearXNG that gave no answer: {', '.join(sorted(engines)[:_MAX_SHOWN_ENGINES])}{more}."


def _shorten(value: object) -> str:
    return web.plain_text(value, html=False)[:_MAX_REASON_CHARS]
