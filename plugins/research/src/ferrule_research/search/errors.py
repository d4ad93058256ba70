"""A search that failed, as an error of a kind, with what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from ferrule import JSONObject, ToolError
from ferrule_websearch import Attempt, format_seconds, is_client_error

RATE_LIMITED = "rate_limited"
_RETRYABLE = ("rate_limited", "network", "upstream_unavailable")
_KINDS_BY_USEFULNESS = (*_RETRYABLE, "auth_required", "validation")  # what helps most first
_ACTIONS = {"auth_required": "check_api_key", "config": "check_api_key", "validation": "broaden_query"}


def unknown_provider(name: str, installed: Iterable[str], *, kind: str = "") -> ToolError:
    """The error for a provider that is not installed, with those that are.

    kind: of search, where it is installed and does not answer that.
    """
    known = sorted(installed)
    details = {"kind": "validation", "retryable": False, "suggestedAction": "try_different_provider"}
    problem = f"{name[:60]} does not search for {kind}." if kind else f"Unknown search provider {name[:60]!r}."
    message = f"{problem} Supported providers: {', '.join(known) or 'none'}."
    return ToolError("INVALID_INPUT", message, details={**details, "alternatives": known})


def configuration_error(message: str, hint: str | None = None) -> ToolError:
    """The error for what an admin has to fix."""
    details = {"kind": "config", "retryable": False, "suggestedAction": "inform_user"}
    return ToolError("CONFIG_ERROR", message, hint=hint, details=details)


def search_error(attempts: Sequence[Attempt], alternatives: Sequence[str]) -> ToolError:
    """The error of a search that no provider answered. alternatives: providers that could be asked instead."""
    tried = [one for one in attempts if one.state in ("failed", "resting")]
    if not tried:
        return _no_provider(attempts)
    main = min(tried, key=lambda one: (_KINDS_BY_USEFULNESS.index(_kind(one)), one.wait is None))
    kind = _kind(main)
    waits = [one.wait for one in tried if one.wait is not None]
    retryable = any(_kind(one) in _RETRYABLE and not is_client_error(one.error) for one in tried)
    details: JSONObject = {"kind": kind, "retryable": retryable}
    wait = ceil(min(waits)) if waits and retryable else None
    if wait is not None:
        details["retryAfterSeconds"] = wait
    details["suggestedAction"] = _action(kind, retryable, alternatives)
    details["provider"] = main.provider
    details["providersAttempted"] = [one.provider for one in tried if one.state == "failed"]
    details["requests"] = {one.provider: one.requests for one in tried if one.requests}
    if alternatives:
        details["alternatives"] = list(alternatives)
    otherwise = "RATE_LIMIT" if kind == RATE_LIMITED else "API_ERROR"
    code = str(main.error.get("code", otherwise)) if main.state == "failed" else otherwise
    message = _text(tried[0]) if len(tried) == 1 else "No search provider answered. " + _sentences(tried)
    # Also where the host looks for it, so that the failure is not kept for longer.
    return ToolError(code, message, hint=_hint(main, alternatives, wait), details=details, retry_after=wait)


def _no_provider(attempts: Sequence[Attempt]) -> ToolError:
    unconfigured = [one for one in attempts if one.state == "unconfigured"]
    if not attempts:
        return configuration_error("No search provider is installed.", "Install one, such as ferrule-brave.")
    if not unconfigured:
        return configuration_error("No search provider can be used. " + _sentences(attempts))
    error = unconfigured[0].error
    if len(unconfigured) == 1 and error.get("code") == "CONFIG_ERROR":
        return configuration_error(str(error.get("message", "")), error.get("hint"))
    details = {"kind": "config", "retryable": False, "suggestedAction": "check_api_key"}
    if len(unconfigured) == 1:
        message = str(error.get("message", ""))
        details["provider"] = unconfigured[0].provider
    else:
        message = "No search provider is configured, and one is enough.\n\n" + "\n\n".join(map(_setup, unconfigured))
    event = error.get("event") if isinstance(error.get("event"), dict) else None
    return ToolError("AUTH_MISSING", message, hint=error.get("hint"), details=details, event=event)


def _setup(attempt: Attempt) -> str:
    """What a provider needs, and where it comes from."""
    steps = (attempt.error.get("details") or {}).get("setup")
    return f"{attempt.label}\n{steps}" if isinstance(steps, str) else f"{attempt.provider}: {_text(attempt)}"


def _sentences(attempts: Iterable[Attempt]) -> str:
    return " ".join(f"{one.provider}: {_text(one)}" for one in attempts)


def _text(attempt: Attempt) -> str:
    if attempt.state == "resting":
        return describe_rest(attempt)
    text = str(attempt.error.get("message", "")).strip()
    return text if text.endswith((".", "!", "?", "'")) else f"{text}."


def describe_rest(attempt: Attempt) -> str:
    """Why a provider is left alone, and for how long."""
    wait = format_seconds(attempt.wait or 0)
    if attempt.is_spent:
        return f"The search quota of {attempt.label} is used up. It resets in {wait}."
    if attempt.kind == RATE_LIMITED:
        return f"{attempt.label} takes no more requests for now. Ask again in {wait}."
    return f"{attempt.label} failed several times in a row. It is tried again in {wait}."


def _hint(main: Attempt, alternatives: Sequence[str], wait: int | None) -> str | None:
    hint = main.error.get("hint")
    if (
        main.kind == RATE_LIMITED
        and wait is not None
        and main.state == "failed"
        and main.error.get("retry_after") is None
    ):
        hint = f"Wait {format_seconds(wait)}, then ask again."
    also = f"Another provider can be asked: {', '.join(alternatives)}." if alternatives else ""
    return " ".join(filter(None, [str(hint) if hint else "", also])) or None


def _kind(attempt: Attempt) -> str:
    return attempt.kind or "upstream_unavailable"


def _action(kind: str, retryable: bool, alternatives: Sequence[str]) -> str:
    if alternatives:
        return "try_different_provider"
    if kind in _ACTIONS:
        return _ACTIONS[kind]
    return "retry_after_delay" if retryable else "inform_user"
