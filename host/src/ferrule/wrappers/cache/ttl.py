"""How long a result or a failure may be given again.

A tool says so for its results, and the admin for any tool. Failures are kept by their kind: what would fail in the same
way if it were asked again. What the network or the tool itself did wrong is never kept, nor a code that is not known.
"""

from __future__ import annotations

from ferrule.errors import WAIT_DETAIL

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SECONDS = {"validation": 14_400, "blocked": 1_800, "auth": 1_800, "rate_limit": 90, "not_found": 600, "content": 600}
"""Seconds for which a failure is kept, by its kind."""

LONGEST_RATE_LIMIT = 3_600.0
"""A quota of a month may be raised at any time, and then an hour has to do."""

# AUTH_MISSING is not here: a tool finds that out without asking anyone.
_KINDS = {
    "INVALID_URL": "validation",
    "VALIDATION": "validation",
    "BLOCKED": "blocked",
    "AUTH_INVALID": "auth",
    "AUTH_REQUIRED": "auth",
    "RATE_LIMIT": "rate_limit",
    "RATE_LIMITED": "rate_limit",
    "NOT_FOUND": "not_found",
    "PARSE_ERROR": "content",
    "CONTENT_EMPTY": "content",
    "NO_CONTENT": "content",
}
_KINDS_OF_STATUSES = {401: "auth", 403: "blocked", 404: "not_found", 410: "not_found", 429: "rate_limit"}
"""Where the details of a failure say how long to wait."""

_STATUS_CODE, _STATUS_WORD = "HTTP_ERROR", "HTTP"


def of_result(tool: str, declared: float | None, settings: Mapping[str, Any]) -> float:
    """Seconds for which a tool's results may be kept, 0 for not at all.

    declared: what the tool says itself, None for nothing. settings: the table `[wrappers.cache]`; `seconds` of
    `[wrappers.cache.tools.NAME]` in it wins. Raises ValueError where that is no number of seconds.
    """
    tools = settings.get("tools", {})
    table = tools.get(tool, {}) if isinstance(tools, dict) else {}
    decided = table.get("seconds") if isinstance(table, dict) else None
    if decided is None:
        return float(declared or 0)
    if isinstance(decided, bool) or not isinstance(decided, int | float) or not 0 <= decided < 1e9:
        raise ValueError(f"seconds in [wrappers.cache.tools.{tool}] is {decided!r}, a number from 0 on was expected")
    return float(decided)


def of_failure(facts: Mapping[str, Any]) -> tuple[str, float]:
    """The kind of a failure, and the seconds for which it may be kept; `("", 0.0)` for one that is not.

    facts: as of `FerruleError.facts()`.
    """
    kind = kind_of(facts)
    if not kind:
        return "", 0.0
    seconds, wait = float(SECONDS[kind]), wait_of(facts)
    if wait is not None:
        # The server's own word: after that time the same request may well succeed.
        seconds = min(wait, LONGEST_RATE_LIMIT) if kind == "rate_limit" else min(seconds, wait)
    return (kind, seconds) if seconds > 0 else ("", 0.0)


def wait_of(facts: Mapping[str, Any]) -> float | None:
    """The seconds after which a failure says that asking again makes sense; None where it says nothing of that."""
    details = facts.get("details")
    told = [facts.get("retry_after"), details.get(WAIT_DETAIL) if isinstance(details, dict) else None]
    for wait in told:
        if isinstance(wait, int | float) and not isinstance(wait, bool) and wait >= 0:
            return float(wait)
    return None


def kind_of(facts: Mapping[str, Any]) -> str:
    """The kind of a failure that may be kept, empty for all others."""
    code = facts.get("code")
    if code == _STATUS_CODE:
        return _KINDS_OF_STATUSES.get(_status(facts), "")
    return _KINDS.get(str(code), "")


def _status(facts: Mapping[str, Any]) -> int:
    """The status that a server answered with: what `details` says, else the number that the message begins with."""
    details = facts.get("details")
    status = details.get("status") if isinstance(details, dict) else None
    if isinstance(status, int):
        return status
    words = str(facts.get("message", "")).replace(":", " ").replace(".", " ").split()
    is_number = len(words) > 1 and words[0] == _STATUS_WORD and words[1].isascii() and words[1].isdigit()
    return int(words[1][:4]) if is_number else 0
