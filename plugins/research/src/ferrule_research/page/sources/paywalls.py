"""Pages that only those read whole who pay."""

from __future__ import annotations

from ferrule_research.page.metadata.embedded import nodes_of


def is_paid(json_ld: list[object]) -> bool:
    """Whether a page says of itself, by `isAccessibleForFree` of its JSON-LD, that not all can read it."""
    return any(str(node.get("isAccessibleForFree", "")).lower().endswith("false") for node in nodes_of(json_ld))
