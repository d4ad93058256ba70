"""One call: search, read, judge, leave out, join."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ferrule_research.addresses import canonical
from ferrule_research.bundle.pages import importing_reader, read_pages
from ferrule_research.bundle.request import Request
from ferrule_research.search.call import search_web

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_research.bundle.pages import Source

_SEARCH_SHARE = 0.5  # of the call's time


def collect_pages(arguments: JSONMapping, context: Context) -> JSONObject:
    """Do what `execute` promises."""
    started = time.monotonic()
    request = Request.of(arguments)
    asked = {"query": request.query, "num_results": request.pages}
    if request.provider:
        asked["provider"] = request.provider
    with importing_reader():
        search = search_web(asked, context, started + context.remaining() * _SEARCH_SHARE)
    from ferrule_research.bundle.answer import build_answer
    from ferrule_research.bundle.ranks import rank

    sources, failures = read_pages(search["results"], context, request.source_bytes)
    ranking = rank(list(_drop_repeats(sources)), request)
    if request.session:
        from ferrule_research.bundle.session_record import record_bundle

        request = request._replace(unrecorded=record_bundle(request.session, ranking, failures))
    return build_answer(request, search, sources, failures, ranking, started, context)


def _drop_repeats(sources: Iterable[Source]) -> Iterable[Source]:
    """Each page once: two addresses may lead to one."""
    first: dict[str, Source] = {}
    for one in sources:
        first.setdefault(canonical(one.url), one)
    return first.values()
