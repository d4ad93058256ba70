"""The shape that a failure has in all six tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.errors import ErrorFacts


def render(facts: ErrorFacts) -> JSONObject:
    """`{"error": true, "message", "code"}`, with `hint` and `details` where they are known."""
    failure: JSONObject = {"error": True, "message": facts.get("message", ""), "code": facts.get("code")}
    return failure | {name: value for name, value in facts.items() if name in ("hint", "details") and value}
