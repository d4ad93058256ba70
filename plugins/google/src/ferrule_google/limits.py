"""What Google serves: pages of 1 to 10 results, from the first 100."""

from __future__ import annotations

from typing import Any

from ferrule_websearch import findings as findings_about_domains

LARGEST_PAGE = 10
LARGEST_SUM = 100  # of start and num, as the API's reference has it
LAST_PLACE = LARGEST_SUM - 1  # counted from 0, the place behind the last result that is served


def findings(arguments: dict[str, Any]) -> list[str]:
    """What is wrong with the arguments of a call that the schema cannot say."""
    start, num = arguments.get("start", 1), arguments.get("num", 10)
    found = findings_about_domains(arguments)
    if not arguments["query"].strip():
        found.append("query: it is blank")
    if start + num > LARGEST_SUM:
        found.append(
            f"start: Google serves no results where start + num is more than {LARGEST_SUM}, and it is {start + num}; "
            f"with start {start}, num can be {LARGEST_SUM - start} at most"
        )
    return found
