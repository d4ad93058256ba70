"""How long a result or a failure may be given again.

A tool says so for its results, and the admin for any tool. Failures are kept by their kind: what would fail in the same
way if it were asked again. What the network or the tool itself did wrong is never kept, nor a code that is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule.errors import WAIT_DETAIL

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping

SECONDS = {"validation": 14_400, "blocked": 1_800, "auth": 60, "rate_limit": 90, "not_found": 600, "content": 600}
"""Seconds for which a failure is kept, by its kind. A key that was refused may be corrected at any moment."""

FLEETING_SECONDS = 60.0
"""The most for which a result is kept that may soon be another one."""

MAX_RATE_LIMIT_SECONDS = 3_600.0
"""A quota of a month may be raised at any time, and then an hour has to do."""

# AUTH_MISSING is not here: a tool finds that out without asking anyone.
_CODES = {
    "validation": ("INVALID_URL", "VALIDATION"),
    "blocked": ("BLOCKED",),
    "auth": ("AUTH_INVALID", "AUTH_REQUIRED"),
    "rate_limit": ("RATE_LIMIT", "RATE_LIMITED"),
    "not_found": ("NOT_FOUND",),
    "content": ("PARSE_ERROR", "CONTENT_EMPTY", "NO_CONTENT"),
}
_KINDS_OF_STATUSES = {401: "auth", 403: "auth", 404: "not_found", 410: "not_found", 429: "rate_limit"}
_STATUS_CODE, _STATUS_WORD = "HTTP_ERROR", "HTTP"


def of_result(tool: str, declared: float | None, settings: JSONMapping) -> float:
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


def of_failure(facts: JSONMapping) -> tuple[str, float]:
    """The kind of a failure, and the seconds for which it may be kept; `("", 0.0)` for one that is not.

    facts: see `FerruleError.facts()`.
    """
    kind = kind_of(facts)
    if not kind:
        return "", 0.0
    seconds, wait = float(SECONDS[kind]), wait_of(facts)
    if wait is not None:
        # The server's own word: after that time the same request may well succeed.
        seconds = min(wait, MAX_RATE_LIMIT_SECONDS) if kind == "rate_limit" else min(seconds, wait)
    return (kind, seconds) if seconds > 0 else ("", 0.0)


def wait_of(facts: JSONMapping) -> float | None:
    """The seconds after which a failure says that asking again makes sense; None where it says nothing of that."""
    details = facts.get("details")
    waits = [facts.get("retry_after"), details.get(WAIT_DETAIL) if isinstance(details, dict) else None]
    for wait in waits:
        if isinstance(wait, int | float) and not isinstance(wait, bool) and wait >= 0:
            return float(wait)
    return None


def kind_of(facts: JSONMapping) -> str:
    """The kind of a failure that may be kept, empty for all others."""
    code = facts.get("code")
    if code == _STATUS_CODE:
        return _KINDS_OF_STATUSES.get(_status(facts), "")
    return next((kind for kind, codes in _CODES.items() if code in codes), "")


def _status(facts: JSONMapping) -> int:
    """The status that a server answered with: what `details` says, else the number that the message begins with."""
    details = facts.get("details")
    status = details.get("status") if isinstance(details, dict) else None
    if isinstance(status, int):
        return status
    words = str(facts.get("message", "")).replace(":", " ").replace(".", " ").split()
    is_number = len(words) > 1 and words[0] == _STATUS_WORD and words[1].isascii() and words[1].isdigit()
    return int(words[1][:4]) if is_number else 0
