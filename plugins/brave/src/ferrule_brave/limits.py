"""What Brave serves, and the requests that get it: pages numbered from 0 to 9, of 1 to 20 results each."""

from __future__ import annotations

from typing import Any

from ferrule_websearch import findings as findings_about_domains

LARGEST_PAGE = 20
PAGES = 10
RESULTS = LARGEST_PAGE * PAGES
CHARACTERS, WORDS = 400, 50  # of a query


def fits(text: str) -> bool:
    """Whether Brave takes a query of this length."""
    return len(text) <= CHARACTERS and len(text.split()) <= WORDS


def findings(arguments: dict[str, Any]) -> list[str]:
    """What is wrong with the arguments of a call that the schema cannot say."""
    query, offset, count = arguments["query"], arguments.get("offset", 0), arguments.get("count", 10)
    found = findings_about_domains(arguments)
    if not query.strip():
        found.append("query: it is blank")
    if not fits(query):
        found.append(f"query: Brave Search takes {CHARACTERS} characters and {WORDS} words at most")
    if offset + count > RESULTS:
        found.append(
            f"offset: Brave Search serves the first {RESULTS} results, and offset + count is {offset + count:,}"
        )
    return found


def pages(offset: int, count: int) -> list[tuple[int, int]]:
    """The fewest pages that hold the results from `offset` on, as (results of a page, number of the page).

    >>> pages(10, 10), pages(5, 10), pages(19, 20)
    ([(10, 1)], [(15, 0)], [(20, 0), (20, 1)])
    """
    last = offset + count - 1
    for size in range(count, LARGEST_PAGE + 1):
        if offset // size == last // size < PAGES:
            return [(size, offset // size)]
    return [(LARGEST_PAGE, number) for number in range(offset // LARGEST_PAGE, last // LARGEST_PAGE + 1)]


def all_pages(place: int = 0) -> list[tuple[int, int]]:
    """The largest pages from the one on that holds the result at a place."""
    return [(LARGEST_PAGE, number) for number in range(place // LARGEST_PAGE, PAGES)]
