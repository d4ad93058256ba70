"""A failure as JSON: that of the web tools, with its kind and what to do next besides the message."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule.errors import ErrorFacts

_FACTS = (
    *("kind", "retryable", "retryAfterSeconds", "suggestedAction"),
    *("provider", "providersAttempted", "requests", "alternatives", "detail"),
    *("recoveryHint", "cached", "ageSeconds"),
)
_DETAILS_BY_CODE = {  # of what the host finds itself, which has a code alone
    "INVALID_INPUT": {"kind": "validation", "retryable": False, "suggestedAction": "inform_user"},
    "TIMEOUT": {"kind": "network", "retryable": True, "suggestedAction": "retry_after_delay"},
}
_DEFECT = {"kind": "upstream_unavailable", "retryable": False, "suggestedAction": "report_bug"}


def render(facts: ErrorFacts) -> JSONObject:
    """`{"success": false, "error", "error_code", "kind", "retryable", "suggestedAction"}`, and more where it is known.

    facts: see `FerruleError.facts()`.
    """
    error = " ".join(filter(None, [facts.get("message"), facts.get("hint")]))
    code = str(facts.get("code", "INTERNAL_ERROR"))
    details = facts.get("details")
    if not isinstance(details, dict) or "kind" not in details:
        details = _DETAILS_BY_CODE.get(code, _DEFECT)
    failure: JSONObject = {"success": False, "error": error, "error_code": code}
    told = {name: details[name] for name in _FACTS if name in details}
    if "retryAfterSeconds" in told and facts.get("retry_after") is not None:
        told["retryAfterSeconds"] = facts["retry_after"]  # what is left of it, where the failure was kept
    return failure | told
