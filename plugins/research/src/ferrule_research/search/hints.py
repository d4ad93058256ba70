"""What to tell a model where nothing was found: why that may be, and what to try. Never that there is nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_research.search.claims import STOP_WORDS

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.text.json_types import JSONMapping

# The first is what most probably left nothing.
_FILTERS = ("exact_terms", "site", "lens", "time_range", "exclude_terms", "country", "language")
_MAX_ACTIONS = 3
_WARNING = (
    "That nothing was found is no evidence that there is nothing: the answer may stand where this query, these filters "
    "or this provider do not reach. Do not conclude from it that something does not exist."
)


def make_hints(
    arguments: JSONMapping,
    ignored: Sequence[str],
    attempted: Sequence[str],
    others: Sequence[str],
    filters: Sequence[str] = _FILTERS,
) -> JSONObject:
    """Why nothing may have been found, and what to try: actions, each with `action` and what it is about.

    Args:
        ignored: names of parameters that had no effect.
        others: providers that are configured and healthy.
        filters: names of arguments that may have left nothing, the likeliest first.
    """
    filters = [name for name in filters if arguments.get(name) and name not in ignored]
    return {
        "reason": "filters_too_restrictive" if filters else "no_match",
        "providersAttempted": list(attempted),
        "filtersApplied": filters,
        "suggestedActions": _actions(str(arguments["query"]), filters, others)[:_MAX_ACTIONS],
        "epistemicWarning": _WARNING,
    }


def _actions(query: str, filters: Sequence[str], others: Sequence[str]) -> list[dict[str, str]]:
    actions = [{"action": "remove_filter", "parameter": name} for name in filters[: 2 if others else _MAX_ACTIONS]]
    actions += [{"action": "try_different_provider", "provider": name} for name in others]
    if shorter := simplify(query):
        actions.insert(len(filters[:2]), {"action": "broaden_query", "query": shorter})
    return actions


def simplify(query: str) -> str:
    """The query without its stop words; "" where that would be the same, too little, or another query.

    >>> simplify("what is the capital of France"), simplify('"to be or not to be"')
    ('capital France', '')
    """
    if re.search(r'["():]|(?:^|\s)-\w', query):
        return ""  # operators and phrases mean what they say
    words = query.split()
    kept = [word for word in words if word.casefold().strip("?!.,") not in STOP_WORDS]
    return " ".join(word.rstrip("?!.,") for word in kept) if 2 <= len(kept) < len(words) else ""
