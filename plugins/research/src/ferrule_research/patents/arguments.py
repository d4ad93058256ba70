"""What the arguments of a search for patents may be, and where Google Patents shows the same search."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 10
DEFAULT_RESULTS = 5
FILTERS = ("assignee", "inventor", "cpc_code", "patent_office", "year_from", "year_to")
_NUMBER = re.compile(r"[A-Z]{2}\d[\dA-Z]*")
_GOOGLE_PATENTS = "https://patents.google.com/"


def find_faults(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call."""
    found = []
    if not any(str(arguments.get(name) or "").strip() for name in ("query", "assignee", "inventor")):
        found.append("query: query, assignee or inventor is needed")
    if arguments.get("year_from", 0) > arguments.get("year_to", 9999):
        found.append("year_from: it is later than year_to")
    return found


def number_in(texts: JSONMapping) -> str:
    """The number of a patent that a search of the type `specific` names, "" where it names none."""
    number = re.sub(r"[\s.,/-]", "", str(texts.get("query", ""))).upper()
    return number if texts.get("search_type") == "specific" and _NUMBER.fullmatch(number) else ""


def filters_of(texts: JSONMapping) -> dict[str, str | int]:
    """What the search is narrowed by, each where it is there; all offices are no filter."""
    return {name: texts[name] for name in FILTERS if texts.get(name) and texts[name] != "all"}


def search_url(texts: JSONMapping) -> str:
    """The page of Google Patents for this search, for a person to look at."""
    if number := number_in(texts):
        return f"{_GOOGLE_PATENTS}patent/{number}/en"
    first, last, office = texts.get("year_from"), texts.get("year_to"), texts.get("patent_office", "all")
    pairs = {
        "q": " ".join(filter(None, [texts.get("query", ""), texts.get("cpc_code", "")])),
        "assignee": texts.get("assignee", ""),
        "inventor": texts.get("inventor", ""),
        "country": "" if office == "all" else office,
        "after": f"filing:{first}0101" if first else "",
        "before": f"filing:{last + 1}0101" if last else "",
    }
    return f"{_GOOGLE_PATENTS}?{urlencode({name: value for name, value in pairs.items() if value})}"
