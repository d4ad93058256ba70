"""A session as answers show it: whole, or as an index of its steps, in what the client reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule_research.sessions.texts import cut_bytes

if TYPE_CHECKING:
    from ferrule import Context, JSONObject
    from ferrule_research.sessions.model import Session, Step

TRUST = "untrusted-external-content"
_LAST_STEPS = 3
_LINE_BYTES = 120
_SUMMARY_LINES = 5
_SUMMARY_LINE_BYTES = 80
_SHORT_BYTES = 600  # of a text of the last steps, for lack of room for all of it
_FEWER = 0.7
_LISTS = ("sources", "stepIndex", "gaps")


def show_step(step: Step, session: Session) -> JSONObject:
    """A step, with the number of the latest one that revises it."""
    later = [one["stepNumber"] for one in session["steps"] if one.get("revisesStep") == step["stepNumber"]]
    return {**step, **({"supersededBy": later[-1]} if later else {})}


def show_steps(session: Session) -> JSONObject:
    """`{"steps"}`: all of them."""
    return {"steps": [show_step(one, session) for one in session["steps"]]}


def show_index(session: Session) -> JSONObject:
    """`{"summary", "stepIndex"}`: a line for each step."""
    return {"summary": summarise(session), "stepIndex": [_index_step(one, session) for one in session["steps"]]}


def show_rest(session: Session) -> JSONObject:
    """`{"lastSteps", "gaps", "sources"}`."""
    last = [show_step(one, session) for one in session["steps"][-_LAST_STEPS:]]
    return {"lastSteps": last, "gaps": session["gaps"], "sources": session["sources"]}


def summarise(session: Session) -> str:
    """The summary that the latest step has given, else the goal and the last steps, a line for each."""
    if session.get("summary"):
        return session["summary"]
    last = session["steps"][-_SUMMARY_LINES:]
    lines = [f"{one['stepNumber']}. {_make_line(one, _SUMMARY_LINE_BYTES)}" for one in last]
    return "\n".join([cut_bytes(session["researchGoal"], 2 * _LINE_BYTES), *lines])


def fit_session(answer: JSONObject, context: Context) -> JSONObject:
    """The answer in what the client reads: texts of the last steps are shortened, and then lists, the oldest first.

    What is left out is counted, in `sourcesOmitted` and the like; `get_research_session` and `research_export` have it.
    """
    if context.size(answer) <= context.max_bytes:
        return answer
    answer = {**answer, "lastSteps": [_shorten(one) for one in answer.get("lastSteps", [])]}
    for name in _LISTS:
        while context.size(answer) > context.max_bytes and answer.get(name):
            whole = len(answer[name]) + answer.get(f"{name}Omitted", 0)
            kept = answer[name][len(answer[name]) - int(len(answer[name]) * _FEWER) :]
            answer = {**answer, name: kept, f"{name}Omitted": whole - len(kept)}
    return answer


def _index_step(step: Step, session: Session) -> JSONObject:
    shown = show_step(step, session)
    named = ("branchId", "confidence", "supersededBy")
    facts = {name: shown[name] for name in named if name in shown}
    return {"stepNumber": step["stepNumber"], "oneLiner": _make_line(step, _LINE_BYTES), **facts}


def _make_line(step: Step, max_bytes: int) -> str:
    return cut_bytes(" ".join(step["description"].split()), max_bytes)


def _shorten(step: JSONObject) -> JSONObject:
    shorter = {name: value for name, value in step.items() if name != "rejectedApproaches"}
    for name in ("description", "reasoning"):
        if name in shorter:
            shorter[name] = cut_bytes(shorter[name], _SHORT_BYTES)
    return shorter
