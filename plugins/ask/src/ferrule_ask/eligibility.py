"""Which tools could be offered to a model: those of a survey, without what the model's provider would refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule.admin import inventory
from ferrule.admin.snapshot import InventorySnapshot
from ferrule_ask.tool_results import SEARCH_PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECONDS = 10.0  # beside those that each plugin has
REFUSED = "refused"

Facts = dict[str, Any]


def candidates(names: Sequence[str] | None, environ: Mapping[str, str]) -> list[Facts]:
    """What there is to know of the named tools, in that order; without names, of all that search the web, by name.

    Each is as of `as_document`, with the further state `refused` for what the provider would not take; or, where no
    such tool is installed, `{"name", "state": "unknown", "error"}`. Nothing else that is installed is loaded.

    Raises ToolFailed where nothing could be found out.
    """
    seconds = _SECONDS + inventory.SECONDS * len(names or ())
    surveyed = InventorySnapshot([f"{SEARCH_PREFIX}_*"] if names is None else names, environ).document(seconds)
    return [_judged(facts) for facts in surveyed["tools"]]


def _judged(facts: Facts) -> Facts:
    refusal = _refusal(facts["schema"]) if facts["state"] == inventory.OK else None
    return {**facts, "state": REFUSED, "error": {"message": refusal}} if refusal else facts


def _refusal(schema: Any) -> str | None:
    """Why the model's provider would refuse every request with this tool in it, whatever is asked."""
    from ferrule.provider_formats import anthropic

    return next((loss.message for loss in anthropic.losses(schema) if loss.refused), None)
