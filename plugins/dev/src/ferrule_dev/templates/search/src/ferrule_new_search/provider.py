"""The provider: how it is asked, and what it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import ferrule_websearch as web

from ferrule_new_search import CREDENTIALS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrule.text.json_types import JSONMapping

PAGE_RESULTS, MAX_RESULTS = 25, 100
# The provider's own names of faults. A status without one of them is judged as usual: 401 is AUTH_INVALID.
CODES = {"key_unknown": "AUTH_INVALID", "too_fast": "RATE_LIMIT"}


class Search(web.Provider):
    """The search of new-search.example."""

    name = "New search"
    endpoint = "https://api.new-search.example/search"
    endpoint_variable = "FERRULE_NEW_SEARCH_ENDPOINT"
    credentials = CREDENTIALS
    codes = CODES
    setup = web.Setup(
        tool="web_search_new_search",
        needs="an API key",
        offer="The provider offers 500 free searches/month.",
        steps=[web.Step("Get your key", "your-api-key-here")],
    )

    def request(self, keys: Mapping[str, str]) -> web.Request:
        """The key goes into a header."""
        return web.Request(headers={"Authorization": f"Bearer {keys['api_key']}"})

    def plan(self, query: web.Query) -> web.Plan:
        """Pages of 25 results, by the place of the first one. The provider filters no domains, so the tool does."""
        pages = web.pages_from(
            0, PAGE_RESULTS, MAX_RESULTS, lambda place, size: {"q": query.text, "from": place, "size": size}
        )
        return web.Plan(pages, offset_counts_passing=True)

    def read(self, document: JSONMapping) -> web.Reply:
        """`hits[]` has name, link and text."""
        hits = document["hits"]
        return web.Reply(web.read_results(hits, "name", "link", "text"), has_more=len(hits) == PAGE_RESULTS)

    def fault(self, document: JSONMapping) -> web.Fault:
        """`error` has code and text; there is none where the answer was no JSON object."""
        error = web.error_object(document)
        return web.Fault((str(error.get("code", "")),), str(error.get("text", "")))
