"""A session as it stands: its steps, what it rests on, and what kept going wrong."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ferrule import ToolError
from ferrule_research.sessions.shape import TRUST, fit_session, show_index, show_rest, show_step
from ferrule_research.sessions.store import read_session

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_research.sessions.model import Outcome, Session

_PATTERN_COUNT = 3  # of failures of one kind, from which on they are worth a word
_MAX_URLS = 5
_SUGGESTIONS = {
    "blocked": "These sites refuse programs. Look for the same elsewhere.",
    "not_found": "These addresses are wrong or gone. Search for the pages anew.",
    "auth_required": "These pages are behind a login, or a key is refused. Look for open ones.",
    "rate_limited": "Too much was asked in a short time. Wait, or ask another provider.",
    "network": "These servers did not answer. Call again later, or look elsewhere.",
    "content_empty": "These pages have no text without a browser. Look for the same elsewhere.",
}
_OTHERWISE = "Look at the errors of the calls, and try another way."


def describe_session(arguments: JSONMapping, context: Context) -> JSONObject:
    """Do what `execute` promises."""
    session = read_session(arguments["sessionId"].strip())
    if "stepId" in arguments:
        return _describe_step(session, arguments["stepId"])
    answer: JSONObject = {
        "sessionId": session["sessionId"],
        "responseMode": "summary",
        "researchGoal": session["researchGoal"],
        "stepCount": len(session["steps"]),
        "sourceCount": len(session["sources"]),
        "isComplete": "completedAt" in session,
        **show_index(session),
        **show_rest(session),
        "startedAt": session["startedAt"],
        **({"completedAt": session["completedAt"]} if "completedAt" in session else {}),
        **_count_outcomes(session["outcomes"]),
        "trust": TRUST,
    }
    return fit_session(answer, context)


def _describe_step(session: Session, number: int) -> JSONObject:
    count = len(session["steps"])
    if not 1 <= number <= count:
        details = {"kind": "not_found", "retryable": False, "suggestedAction": "correct_arguments"}
        raise ToolError("STEP_NOT_FOUND", f"There is no step {number}: the session has 1 to {count}.", details=details)
    step = show_step(session["steps"][number - 1], session)
    return {"sessionId": session["sessionId"], "responseMode": "step", "step": step, "trust": TRUST}


def _count_outcomes(outcomes: list[Outcome]) -> JSONObject:
    """`{"errorPatterns", "providerStats"}`, each if there is any."""
    counts = Counter(one["kind"] for one in outcomes if one["kind"])
    often = sorted((kind for kind, count in counts.items() if count >= _PATTERN_COUNT), key=lambda k: (-counts[k], k))
    patterns = [_describe_pattern(kind, [one for one in outcomes if one["kind"] == kind]) for kind in often]
    stats: dict[str, dict[str, int]] = {}
    for one in outcomes:
        if "provider" in one:
            stat = stats.setdefault(one["provider"], {"attempts": 0, "successes": 0})
            stat["attempts"] += 1
            stat["successes"] += not one["kind"]
    found: JSONObject = {"errorPatterns": patterns, "providerStats": dict(sorted(stats.items()))}
    return {name: value for name, value in found.items() if value}


def _describe_pattern(kind: str, outcomes: list[Outcome]) -> JSONObject:
    urls = list(dict.fromkeys(one["url"] for one in reversed(outcomes) if "url" in one))[:_MAX_URLS]
    return {
        "kind": kind,
        "count": len(outcomes),
        "affectedUrls": urls,
        "suggestion": _SUGGESTIONS.get(kind, _OTHERWISE),
        "lastSeen": outcomes[-1]["at"],
    }
