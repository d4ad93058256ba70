"""A failure as JSON: that of the web tools, with its kind and what to do next beside the message."""

from __future__ import annotations

from typing import Any

_FACTS = (
    "kind",
    "retryable",
    "retryAfterSeconds",
    "suggestedAction",
    "provider",
    "providersAttempted",
    "alternatives",
    "detail",
)
# What the host finds itself has a code alone.
_OF_THE_HOST = {
    "INVALID_INPUT": {"kind": "validation", "retryable": False, "suggestedAction": "inform_user"},
    "TIMEOUT": {"kind": "network", "retryable": True, "suggestedAction": "retry_after_delay"},
}
_DEFECT = {"kind": "upstream_unavailable", "retryable": False, "suggestedAction": "report_bug"}


def rendered(facts: dict[str, Any]) -> dict[str, Any]:
    """`{"success": false, "error", "error_code", "kind", "retryable", "suggestedAction"}`, and more where it is known.

    facts: as of `FerruleError.facts()`.
    """
    error = " ".join(str(facts[name]) for name in ("message", "hint") if facts.get(name))
    code = str(facts.get("code", "INTERNAL_ERROR"))
    details = facts.get("details")
    if not isinstance(details, dict) or "kind" not in details:
        details = _OF_THE_HOST.get(code, _DEFECT)
    failure: dict[str, Any] = {"success": False, "error": error, "error_code": code}
    told = {name: details[name] for name in _FACTS if name in details}
    if "retryAfterSeconds" in told and facts.get("retry_after") is not None:
        told["retryAfterSeconds"] = facts["retry_after"]  # what is left of it, where the failure was kept
    return failure | told
