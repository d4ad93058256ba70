"""What to tell a model where no paper was found: why that may be, and what to try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule_research.library import simplify

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_scholar.asking.query import WorkQuery

_MAX_ACTIONS = 3
_WARNING = (
    "That no paper was found is no evidence that there is none: it may be under another title, behind these "
    "filters, or in none of these services. Do not conclude from it that something does not exist."
)


def make_hints(query: WorkQuery, attempted: Sequence[str], others: Sequence[str]) -> JSONObject:
    """Why nothing may have been found, and what to try, the most promising first.

    Args:
        attempted: the services that were asked.
        others: those that could be asked as well.
    """
    filters = query.filters
    actions = [{"action": "remove_filter", "parameter": name} for name in filters[:2]]
    if shorter := simplify(query.text):
        actions.append({"action": "broaden_query", "query": shorter})
    actions += [{"action": "try_different_provider", "provider": name} for name in others]
    return {
        "reason": "filters_too_restrictive" if filters else "no_match",
        "providersAttempted": list(attempted),
        "filtersApplied": filters,
        "suggestedActions": actions[:_MAX_ACTIONS],
        "epistemicWarning": _WARNING,
    }
