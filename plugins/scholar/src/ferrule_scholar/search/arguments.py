"""What the arguments of a search for papers mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_scholar.asking.query import DATE, RELEVANCE, WorkQuery

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

MAX_RESULTS = 10
DEFAULT_RESULTS = 5
_PER_SERVICE = 25  # asked of each, so that papers which several know are found in several answers


def findings(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call."""
    found = []
    if not str(arguments["query"]).strip():
        found.append("query: it is blank")
    first, last = arguments.get("year_from"), arguments.get("year_to")
    if first is not None and last is not None and first > last:
        found.append(f"year_from: {first} is after year_to, {last}")
    return found


def normalise_texts(arguments: JSONMapping) -> JSONObject:
    """The arguments without blanks around texts, with the provider's name in small letters."""
    texts = {name: " ".join(value.split()) if isinstance(value, str) else value for name, value in arguments.items()}
    return {**texts, "provider": texts["provider"].lower()} if "provider" in texts else texts


def read_query(arguments: JSONMapping) -> WorkQuery:
    """What services are asked for."""
    return WorkQuery(
        arguments["query"],
        _PER_SERVICE,
        arguments.get("year_from") or 0,
        arguments.get("year_to") or 0,
        arguments.get("author", ""),
        arguments.get("venue", ""),
        bool(arguments.get("open_access")),
        bool(arguments.get("pdf_only")),
        arguments.get("min_citations") or 0,
        arguments.get("source", "all"),
        DATE if arguments.get("sort_by") == DATE else RELEVANCE,
        bool(arguments.get("full_text")),
    )
