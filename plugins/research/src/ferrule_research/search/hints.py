"""What to tell a model where nothing was found: why that may be, and what to try. Never that there is nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ferrule_research.claims import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The first is what most probably left nothing.
_FILTERS = ("exact_terms", "site", "lens", "time_range", "exclude_terms", "country", "language")
_MOST = 3
_WARNING = (
    "That nothing was found is no evidence that there is nothing: the answer may stand where this query, these filters "
    "or this provider do not reach. Do not conclude from it that something does not exist."
)


def hints(
    arguments: Mapping[str, Any], ignored: Sequence[str], attempted: Sequence[str], others: Sequence[str]
) -> dict[str, Any]:
    """`{"reason", "providersAttempted", "filtersApplied", "suggestedActions", "epistemicWarning"}`.

    ignored: names of parameters that had no effect. others: providers that are configured and healthy.
    """
    filters = [name for name in _FILTERS if arguments.get(name) and name not in ignored]
    return {
        "reason": "filters_too_restrictive" if filters else "no_match",
        "providersAttempted": list(attempted),
        "filtersApplied": filters,
        "suggestedActions": _actions(str(arguments["query"]), filters, others)[:_MOST],
        "epistemicWarning": _WARNING,
    }


def _actions(query: str, filters: Sequence[str], others: Sequence[str]) -> list[dict[str, str]]:
    actions = [{"action": "remove_filter", "parameter": name} for name in filters[: 2 if others else _MOST]]
    actions += [{"action": "try_different_provider", "provider": name} for name in others]
    shorter = simplified(query)
    if shorter:
        actions.insert(len(filters[:2]), {"action": "broaden_query", "query": shorter})
    return actions


def simplified(query: str) -> str:
    """The query without its stop words; "" where that would be the same, too little, or another query.

    >>> simplified("what is the capital of France"), simplified('"to be or not to be"')
    ('capital France', '')
    """
    if re.search(r'["():]|(?:^|\s)-\w', query):
        return ""  # operators and phrases mean what they say
    words = query.split()
    kept = [word for word in words if word.casefold().strip("?!.,") not in STOP_WORDS]
    return " ".join(word.rstrip("?!.,") for word in kept) if 2 <= len(kept) < len(words) else ""
