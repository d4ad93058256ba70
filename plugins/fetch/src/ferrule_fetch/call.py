"""One call: address, request, conversion, page."""

from threading import Thread
from typing import Any

from ferrule import Context
from ferrule_fetch.addresses.guard import Guard
from ferrule_fetch.addresses.url import check
from ferrule_fetch.text.paging import answer
from ferrule_fetch.transfer.manners import Manners


def fetch_as_markdown(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Do what `execute` promises."""
    guard, manners = Guard.of(context), Manners.of(context)
    check(arguments["url"], guard)  # before the client is imported, since a wrong URL needs none
    from ferrule_fetch.transfer.fetching import fetch

    # The parser takes as long to import as a server to answer.
    importing = Thread(target=_import_reader, name="import the reader")
    importing.start()
    page = fetch(arguments["url"], context.deadline, guard, manners)
    importing.join()  # before the conversion forks, which no lock of an import may be held in
    from ferrule_fetch.document import read

    document = read(page, context.deadline)
    return answer(page.url, document, arguments.get("offset", 1), arguments.get("limit"), context)


def _import_reader() -> None:
    try:
        import ferrule_fetch.document
        import ferrule_fetch.markdown.parsers

        ferrule_fetch.markdown.parsers.preload()
    except Exception:  # noqa: BLE001 - also where the call ends meanwhile, and takes away the file that is being read
        return  # it is raised again where it is needed
