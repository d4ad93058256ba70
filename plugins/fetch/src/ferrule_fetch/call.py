"""One call: address, request, conversion, page."""

from __future__ import annotations

import gc
from threading import Thread
from typing import TYPE_CHECKING

from ferrule_fetch.addresses import check
from ferrule_fetch.reading_policy import ReadingPolicy
from ferrule_fetch.text.pages import answer
from ferrule_fetch.transfer.request_policy import RequestPolicy

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_fetch.transfer.request import FetchOptions, Page


def fetch_as_markdown(arguments: JSONObject, context: Context) -> JSONObject:
    """Do what `execute` promises."""
    policy = RequestPolicy.from_context(context)
    reading = ReadingPolicy.from_context(context)
    check(arguments["url"], policy.guard)  # before the client is imported, since a wrong URL needs none
    # what is imported and converted stays; to look through it again and again takes a twentieth of the call
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        page = fetch_page(arguments["url"], context.deadline, policy)
        from ferrule_fetch.document import read
        from ferrule_fetch.text.wanted import Wanted

        offset, limit = arguments.get("offset", 1), arguments.get("limit")
        document = read(page, context.deadline, reading, Wanted(offset, limit, context.max_bytes))
        return answer(page.url, document, offset, limit, context)
    finally:
        if was_enabled:
            gc.enable()


def fetch_page(url: str, deadline: float, policy: RequestPolicy, options: FetchOptions | None = None) -> Page:
    """Get a page, and meanwhile import what reads it, which takes as long as a server to answer."""
    from ferrule_fetch.transfer.request import DEFAULT_OPTIONS, fetch

    importing = Thread(target=import_reader, name="import the reader")
    importing.start()
    page = fetch(url, deadline, policy, options or DEFAULT_OPTIONS)
    importing.join()  # before the conversion forks, which no lock of an import may be held in
    return page


def import_reader() -> None:
    """Import what reads pages, so that it is there when one has come. Raises nothing."""
    try:
        import ferrule_fetch.document
        import ferrule_fetch.markdown
        import ferrule_fetch.tree.nodes

        _ = ferrule_fetch.tree.nodes.parse
    except Exception:  # noqa: BLE001 - also where the call ends meanwhile, and takes away the file that is being read
        return  # it is raised again where it is needed
