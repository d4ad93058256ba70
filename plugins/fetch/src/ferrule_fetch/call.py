"""One call: address, request, conversion, page."""

from threading import Thread
from typing import Any

from ferrule import Context
from ferrule_fetch.address import check
from ferrule_fetch.paging import answer


def fetch_as_markdown(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """Do what `execute` promises."""
    check(arguments["url"])  # before httpx is imported, since a wrong URL needs none
    from ferrule_fetch.fetching import fetch

    # The parser takes as long to import as a server to answer. Its import lock makes the conversion wait.
    Thread(target=_import_parser, name="import html5lib").start()
    page = fetch(arguments["url"], context.deadline)
    from ferrule_fetch.document import read

    document = read(page)
    return answer(page.url, document, arguments.get("offset", 1), arguments.get("limit"), context)


def _import_parser() -> None:
    try:
        import html5lib  # noqa: F401

        import ferrule_fetch.document  # noqa: F401
    except ImportError:
        return  # it is raised again where the parser is needed
