"""The error of a call that no service answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ferrule.errors import ToolError

if TYPE_CHECKING:
    from ferrule import JSONObject
    from ferrule_scholar.asking.panel import Opinion

_BY_USEFULNESS = ("rate_limited", "network", "upstream_unavailable", "auth_required", "blocked", "validation")
_ACTIONS = {"auth_required": "check_api_key", "blocked": "inform_user", "validation": "inform_user"}


def raise_if_none_answered(opinions: Sequence[Opinion], alternatives: Sequence[str]) -> None:
    """Raise ToolError where each service failed, with what helps most. alternatives: that could be asked instead."""
    failed = [one for one in opinions if one.error]
    if len(failed) < len(opinions):
        return
    if not failed:
        raise _nothing_installed()
    main = min(failed, key=lambda one: _BY_USEFULNESS.index(_kind(one)))
    kind, waits = _kind(main), [wait for one in failed if (wait := _wait(one)) is not None]
    details: JSONObject = {"kind": kind, "retryable": kind in _BY_USEFULNESS[:3]}
    if waits and details["retryable"]:
        details["retryAfterSeconds"] = min(waits)
    otherwise = _ACTIONS.get(kind, "retry_after_delay")
    details["suggestedAction"] = "try_different_provider" if alternatives else otherwise
    details["providersAttempted"] = [one.name for one in failed]
    if alternatives:
        details["alternatives"] = list(alternatives)
    sentences = " ".join(one.error.message for one in failed if one.error)
    code = main.error.code if main.error else "API_ERROR"
    message = sentences if len(failed) == 1 else f"No provider of papers answered. {sentences}"
    raise ToolError(
        code, message, hint=_hint(alternatives), details=details, retry_after=details.get("retryAfterSeconds")
    )


def _nothing_installed() -> ToolError:
    details = {"kind": "config", "retryable": False, "suggestedAction": "inform_user"}
    return ToolError("CONFIG_ERROR", "No provider of papers is installed that can do this.", details=details)


def _hint(alternatives: Sequence[str]) -> str | None:
    return f"Another provider can be asked: {', '.join(alternatives)}." if alternatives else None


def _kind(opinion: Opinion) -> str:
    kind = str((opinion.error.details or {}).get("kind")) if opinion.error else ""
    return kind if kind in _BY_USEFULNESS else "upstream_unavailable"


def _wait(opinion: Opinion) -> int | None:
    wait = (opinion.error.details or {}).get("retryAfterSeconds") if opinion.error else None
    return wait if isinstance(wait, int) else None
