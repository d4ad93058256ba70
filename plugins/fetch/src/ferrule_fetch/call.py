"""One call: address, request, conversion, page."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any

from ferrule_fetch.addresses.guard import Guard
from ferrule_fetch.addresses.url import check
from ferrule_fetch.text.pages import answer
from ferrule_fetch.transfer.request_policy import Manners

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrule import Context
    from ferrule_fetch.transfer.request import Page, Wanted


def fetch_as_markdown(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Do what `execute` promises."""
    guard, manners = Guard.of(context), Manners.of(context)
    check(arguments["url"], guard)  # before the client is imported, since a wrong URL needs none
    with _without_collector():
        page = fetched(arguments["url"], context.deadline, guard, manners)
        from ferrule_fetch.document import read

        document = read(page, context.deadline)
        return answer(page.url, document, arguments.get("offset", 1), arguments.get("limit"), context)


def fetched(url: str, deadline: float, guard: Guard, manners: Manners, wanted: Wanted | None = None) -> Page:
    """Get a page, and meanwhile import what reads it, which takes as long as a server to answer."""
    from ferrule_fetch.transfer.request import TEXT, fetch

    importing = Thread(target=_import_reader, name="import the reader")
    importing.start()
    page = fetch(url, deadline, guard, manners, wanted or TEXT)
    importing.join()  # before the conversion forks, which no lock of an import may be held in
    return page


@contextmanager
def _without_collector() -> Iterator[None]:
    # what is imported and converted stays; to look through it again and again takes a twentieth of the call
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _import_reader() -> None:
    try:
        import ferrule_fetch.document
        import ferrule_fetch.markdown.parsers

        ferrule_fetch.markdown.parsers.preload()
    except Exception:  # noqa: BLE001 - also where the call ends meanwhile, and takes away the file that is being read
        return  # it is raised again where it is needed
