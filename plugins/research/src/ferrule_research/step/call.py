"""One call: the step is made of the arguments, kept, and the session is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_research.sessions.shape import TRUST, fit_session, show_index, show_rest, show_steps
from ferrule_research.sessions.store import (
    MAX_STEPS,
    SHAPE,
    change_session,
    create_session,
    format_instant,
    not_found,
)
from ferrule_research.sessions.texts import cut_bytes, make_line, make_text
from ferrule_research.step.succession import BRANCH_CHARS, require_next

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule.text.json_types import JSONMapping
    from ferrule_research.sessions.model import Session, Step

_WHOLE_STEPS = 8  # of a session that is answered whole
_GOAL_BYTES, _GOAL_CHARS = 200, 1000
_TEXT_CHARS = 8000
_SUMMARY_CHARS = 4000
_GAP_CHARS = 500
_MAX_REJECTED, _REJECTED_CHARS = 20, 500
_FULL = "full"


def add_step(arguments: JSONMapping, context: Context) -> JSONObject:
    """Do what `execute` promises."""
    step = _make_step(arguments)
    session_id = str(arguments.get("sessionId", "")).strip()
    if session_id:
        session, is_full = _continue(session_id, step, arguments)
    else:
        session, is_full = _begin(step, arguments), False
    answer = _build_answer(session, arguments)
    if is_full:
        answer["warning"] = "session_limit_reached"
        answer["isComplete"] = True
    answer.update(_list_ignored(arguments))
    if arguments.get("depth", "quick") != "quick":
        from ferrule_research.step.follow_up import follow_up

        answer.update(follow_up(session, arguments["depth"], context))
    return fit_session(_shorten_whole(answer, session, context), context)


def _begin(step: Step, arguments: JSONMapping) -> Session:
    goal = make_text(arguments.get("researchGoal"), _GOAL_CHARS)
    session: Session = {
        "shape": SHAPE,
        "sessionId": "",
        "researchGoal": goal or cut_bytes(make_line(step["description"], _GOAL_CHARS), _GOAL_BYTES),
        "startedAt": step["timestamp"],
        "steps": [],
        "gaps": [],
        "sources": [],
        "outcomes": [],
    }
    _append(session, step, arguments)
    create_session(session)
    return session


def _continue(session_id: str, step: Step, arguments: JSONMapping) -> tuple[Session, bool]:
    """The session with the step in it, and whether it has no room for that."""
    is_full = False

    def change(found: Session) -> bool:
        nonlocal is_full
        if _is_repeated(step, found, arguments):
            return False
        is_full = len(found["steps"]) >= MAX_STEPS
        if is_full:
            return False
        require_next(arguments, found)
        _append(found, step, arguments)
        return True

    from ferrule import ToolError

    try:
        return change_session(session_id, change), is_full
    except ToolError as error:
        if error.code == "SESSION_NOT_FOUND":
            raise not_found(arguments["stepNumber"] - 1) from None
        raise


def _append(session: Session, step: Step, arguments: JSONMapping) -> None:
    session["steps"].append(step)
    if gap := make_text(arguments.get("knowledgeGap"), _GAP_CHARS):
        session["gaps"].append({"description": gap, "foundInStep": step["stepNumber"]})
    if summary := make_text(arguments.get("sessionSummary"), _SUMMARY_CHARS):
        session["summary"] = summary
    if "totalStepsEstimate" in arguments:
        session["total"] = arguments["totalStepsEstimate"]
    if not arguments["nextStepNeeded"]:
        session["completedAt"] = step["timestamp"]


def _is_repeated(step: Step, session: Session, arguments: JSONMapping) -> bool:
    """Whether the last step is this one: its answer was lost, and it is sent again."""
    if not session["steps"] or arguments["nextStepNeeded"] == ("completedAt" in session):
        return False
    return {**session["steps"][-1], "timestamp": ""} == {**step, "timestamp": ""}


def _make_step(arguments: JSONMapping) -> Step:
    step: Step = {
        "stepNumber": arguments["stepNumber"],
        "description": make_text(arguments["searchStep"], _TEXT_CHARS),
        "timestamp": format_instant(),
    }
    if reasoning := make_text(arguments.get("reasoning"), _TEXT_CHARS):
        step["reasoning"] = reasoning
    if "confidence" in arguments:
        step["confidence"] = arguments["confidence"]
    rejected = [make_line(one, _REJECTED_CHARS) for one in arguments.get("rejectedApproaches", [])]
    if rejected := [one for one in rejected if one][:_MAX_REJECTED]:
        step["rejectedApproaches"] = rejected
    if "revisesStep" in arguments:
        step["isRevision"] = True
        step["revisesStep"] = arguments["revisesStep"]
    if branch := make_line(arguments.get("branchId"), BRANCH_CHARS):
        step["branchId"] = branch
    if "branchFromStep" in arguments:
        step["branchFromStep"] = arguments["branchFromStep"]
    return step


def _build_answer(session: Session, arguments: JSONMapping) -> JSONObject:
    mode = arguments.get("responseMode") or (_FULL if len(session["steps"]) <= _WHOLE_STEPS else "summary")
    return {
        "sessionId": session["sessionId"],
        "responseMode": mode,
        "researchGoal": session["researchGoal"],
        "currentStep": arguments["stepNumber"],
        **({"totalStepsEstimate": session["total"]} if "total" in session else {}),
        "isComplete": "completedAt" in session,
        "startedAt": session["startedAt"],
        **({"completedAt": session["completedAt"]} if "completedAt" in session else {}),
        **(show_steps(session) if mode == _FULL else show_index(session)),
        **show_rest(session),
        "trust": TRUST,
    }


def _shorten_whole(answer: JSONObject, session: Session, context: Context) -> JSONObject:
    """The answer with an index of the steps, where it has no room for all of them."""
    if answer["responseMode"] != _FULL or context.size(answer) <= context.max_bytes:
        return answer
    rest = {name: value for name, value in answer.items() if name != "steps"}
    return {**rest, "responseMode": "summary", **show_index(session)}


def _list_ignored(arguments: JSONMapping) -> JSONObject:
    if arguments["stepNumber"] == 1 or not arguments.get("researchGoal"):
        return {}
    why = "the first step has said what the research is about"
    return {"ignoredParameters": [{"name": "researchGoal", "why": why}]}
