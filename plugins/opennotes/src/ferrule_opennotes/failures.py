"""The shape that a failure has in all six tools."""

from __future__ import annotations

from typing import Any


def render(facts: dict[str, Any]) -> dict[str, Any]:
    """`{"error": true, "message", "code"}`, with `hint` and `details` where they are known.

    facts: of the failure, whoever found it: `code`, `message`, and perhaps `hint`, `details`.
    """
    failure: dict[str, Any] = {"error": True, "message": facts.get("message", ""), "code": facts.get("code")}
    return failure | {name: facts[name] for name in ("hint", "details") if facts.get(name)}
