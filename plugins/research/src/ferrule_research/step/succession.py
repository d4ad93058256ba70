"""Which step may follow in a session: the next number, of a known branch, about a step that there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import ToolError
from ferrule_research.sessions.texts import make_line

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONMapping
    from ferrule_research.sessions.model import Session

BRANCH_CHARS = 60


def find_contradictions(arguments: JSONMapping) -> list[str]:
    """What is wrong with the arguments of a call, whatever its session."""
    found = []
    if not arguments["searchStep"].strip():
        found.append("searchStep: it is blank")
    if arguments["stepNumber"] > 1 and not str(arguments.get("sessionId", "")).strip():
        found.append("sessionId: a step after the first needs the sessionId that the first one was answered with")
    if arguments.get("isRevision") and "revisesStep" not in arguments:
        found.append("revisesStep: a revision says which step it revises")
    if "branchFromStep" in arguments and not str(arguments.get("branchId", "")).strip():
        found.append("branchId: a branch needs a name")
    for name in ("revisesStep", "branchFromStep"):
        if name in arguments and arguments[name] >= arguments["stepNumber"]:
            found.append(f"{name}: {arguments[name]} is no earlier step than {arguments['stepNumber']}")
    return found


def require_next(arguments: JSONMapping, session: Session) -> None:
    """Raise ToolError INVALID_INPUT where the step does not follow, and SESSION_COMPLETE where none does."""
    last = len(session["steps"])
    if "completedAt" in session:
        message = f"The session was completed with step {last}."
        hint = "Read it by get_research_session, or start a new one: stepNumber 1, without sessionId."
        raise ToolError("SESSION_COMPLETE", message, hint=hint, details=_details(last, "start_new_session"))
    if arguments["stepNumber"] != last + 1:
        message = f"stepNumber: {arguments['stepNumber']} does not follow step {last}."
        raise ToolError("INVALID_INPUT", message, hint=f"Send it as step {last + 1}.", details=_details(last, "resend"))
    branch = make_line(arguments.get("branchId"), BRANCH_CHARS)
    known = {one.get("branchId") for one in session["steps"]}
    if branch and "branchFromStep" not in arguments and branch not in known:
        message = f"branchId: there is no branch {branch[:60]!r} yet."
        hint = "Say in branchFromStep from which step it goes off."
        raise ToolError("INVALID_INPUT", message, hint=hint, details=_details(last, "resend"))


def _details(last: int, action: str) -> dict[str, object]:
    can_resume = action == "resend"
    return {
        "kind": "validation",
        "retryable": can_resume,
        "suggestedAction": "correct_arguments" if can_resume else action,
        "recoveryHint": {"lastKnownStep": last, "canResume": can_resume},
    }
