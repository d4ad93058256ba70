"""The steps of a session: which may follow, and what is answered."""

from collections.abc import Callable
from typing import Any

import pytest

from ferrule import ToolError
from ferrule_dev.testing import context
from ferrule_research.sessions import read_session, record_sources

Call = Callable[..., dict[str, Any]]
Refusal = Callable[..., ToolError]


def test_the_first_step_begins_a_session(add: Call) -> None:
    answer = add(
        researchGoal="When were umbrellas first made?",
        reasoning="It is not known yet.",
        confidence="low",
        rejectedApproaches=["Ask a shop."],
        totalStepsEstimate=4,
        knowledgeGap="Who made the first one",
    )
    (step,) = answer["steps"]
    assert step == {
        "stepNumber": 1,
        "description": "Look around.",
        "timestamp": step["timestamp"],
        "reasoning": "It is not known yet.",
        "confidence": "low",
        "rejectedApproaches": ["Ask a shop."],
    }
    assert (answer["researchGoal"], answer["totalStepsEstimate"]) == ("When were umbrellas first made?", 4)
    assert (answer["currentStep"], answer["isComplete"], answer["responseMode"]) == (1, False, "full")
    assert answer["gaps"] == [{"description": "Who made the first one", "foundInStep": 1}]
    assert "completedAt" not in answer


def test_without_a_goal_the_first_step_is_the_goal_cut_at_a_character(add: Call) -> None:
    goal = add(1, "ü☂️" * 200)["researchGoal"]
    assert len(goal.encode()) <= 200
    assert goal.endswith("…")


def test_more_than_eight_steps_are_answered_by_an_index(add: Call, session: str) -> None:
    for number in range(2, 9):
        answer = add(number, f"Step {number}. " + "ü" * 200, sessionId=session)
    assert len(answer["steps"]) == 8
    answer = add(9, "The ninth.", sessionId=session, confidence="high")
    assert "steps" not in answer
    assert [one["stepNumber"] for one in answer["stepIndex"]] == list(range(1, 10))
    assert all(len(one["oneLiner"].encode()) <= 120 for one in answer["stepIndex"])
    assert answer["stepIndex"][-1]["confidence"] == "high"
    assert [one["stepNumber"] for one in answer["lastSteps"]] == [7, 8, 9]
    assert answer["summary"].startswith("When were umbrellas first made?\n5. Step 5.")
    assert len(add(10, "x", sessionId=session, responseMode="full")["steps"]) == 10


def test_a_summary_stays_for_the_next_steps(add: Call, session: str) -> None:
    add(2, "x", sessionId=session, sessionSummary="In Egypt, it seems.")
    record_sources(session, [{"url": "https://a.example/"}])
    assert add(3, "y", sessionId=session, responseMode="summary")["summary"] == "In Egypt, it seems."


def test_a_revision_and_a_branch_are_kept(add: Call, session: str) -> None:
    add(2, "x", sessionId=session)
    add(3, "y", sessionId=session, isRevision=True, revisesStep=1)
    add(4, "z", sessionId=session, branchFromStep=2, branchId="prices")
    answer = add(5, "w", sessionId=session, branchId="prices", revisesStep=1)
    assert answer["steps"][0]["supersededBy"] == 5
    assert (answer["steps"][2]["isRevision"], answer["steps"][2]["revisesStep"]) == (True, 1)
    assert (answer["steps"][3]["branchFromStep"], answer["steps"][3]["branchId"]) == (2, "prices")
    assert answer["steps"][4]["branchId"] == "prices"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"stepNumber": 5}, ["does not follow step 1", "Send it as step 2"]),
        ({"stepNumber": 1}, ["does not follow step 1"]),
        ({"searchStep": " \n"}, ["it is blank"]),
        ({"isRevision": True}, ["says which step it revises"]),
        ({"revisesStep": 2}, ["no earlier step"]),
        ({"branchFromStep": 7, "branchId": "a"}, ["no earlier step"]),
        ({"branchFromStep": 1}, ["needs a name"]),
        ({"branchId": "prices"}, ["no branch 'prices' yet", "branchFromStep"]),
    ],
)
def test_a_step_that_does_not_follow_is_refused_and_not_kept(
    refusal: Refusal, session: str, arguments: dict[str, Any], words: list[str]
) -> None:
    error = refusal(**{"sessionId": session, "stepNumber": 2, "searchStep": "x", **arguments}, number=0, text="")
    assert error.code == "INVALID_INPUT"
    for word in words:
        assert word in f"{error.message} {error.hint}"
    assert len(read_session(session)["steps"]) == 1


def test_a_later_step_needs_its_session(refusal: Refusal) -> None:
    assert "sessionId" in refusal(2).message
    for session in ("nonsense", "../../etc/passwd", "0b0e2b1e-6b1f-4b7e-8b8a-2f3c4d5e6f70"):
        error = refusal(3, sessionId=session)
        assert error.code == "SESSION_NOT_FOUND"
        assert error.details is not None
        assert error.details["kind"] == "session_not_found"
        assert error.details["recoveryHint"] == {"lastKnownStep": 2, "canResume": False}
        assert "stepNumber 1" in (error.hint or "")


def test_a_step_whose_answer_was_lost_may_be_sent_again(add: Call, session: str) -> None:
    for _ in range(2):
        answer = add(2, "x", sessionId=session, knowledgeGap="a")
    assert (len(answer["steps"]), len(answer["gaps"])) == (2, 1)
    for _ in range(2):
        answer = add(3, "y", sessionId=session, nextStepNeeded=False)
    assert (len(answer["steps"]), answer["isComplete"]) == (3, True)


def test_a_complete_session_takes_no_more_steps(add: Call, refusal: Refusal, session: str) -> None:
    assert add(2, "x", sessionId=session, nextStepNeeded=False)["completedAt"]
    error = refusal(3, sessionId=session)
    assert (error.code, error.details and error.details["recoveryHint"]["canResume"]) == ("SESSION_COMPLETE", False)


def test_a_full_session_keeps_no_more_steps(add: Call, session: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ferrule_research.step import call

    monkeypatch.setattr(call, "MAX_STEPS", 3)
    add(2, sessionId=session)
    assert "warning" not in add(3, sessionId=session)
    answer = add(4, sessionId=session)
    assert (answer["warning"], answer["isComplete"], len(answer["steps"])) == ("session_limit_reached", True, 3)


def test_a_goal_of_a_later_step_has_no_effect_and_that_is_said(add: Call, session: str) -> None:
    answer = add(2, sessionId=session, researchGoal="Another")
    assert answer["researchGoal"] == "When were umbrellas first made?"
    assert [one["name"] for one in answer["ignoredParameters"]] == ["researchGoal"]


@pytest.mark.slow
@pytest.mark.process
def test_an_answer_with_long_steps_is_no_larger_than_the_client_reads(add: Call, call: Call, session: str) -> None:
    for number in range(2, 12):
        answer = add(number, '"\\☂️ü' * 1600, sessionId=session, reasoning="ö" * 8000)
    sources = [{"url": f"https://a.example/{number}", "title": "t" * 400} for number in range(300)]
    record_sources(session, sources)  # type: ignore[arg-type] # a list of them is what it takes
    for answer in (
        add(12, sessionId=session, responseMode="full"),
        call("get_research_session", sessionId=session),
    ):
        assert context("sequential_search").size(answer) <= 65_534
        assert answer["responseMode"] == "summary"
        assert len(answer["sources"]) + answer["sourcesOmitted"] == 300


# ---- what is not covered yet


def test_queries_are_suggested_for_what_is_not_known_or_not_covered(add: Call, session: str) -> None:
    record_sources(session, [{"url": f"https://www.one.example/{n}", "relevance": "scraped"} for n in range(4)])
    record_sources(session, [{"url": "https://two.example/", "relevance": "scraped"}])
    answer = add(2, sessionId=session, knowledgeGap="the price of umbrellas in 2019", depth="standard")
    coverage = answer["coverage"]
    assert (coverage["sourceCount"], coverage["uniqueDomains"], coverage["domainSpread"]) == (5, 2, 0.4)
    assert (coverage["dominantDomain"], coverage["sourceTypes"]) == ("one.example", {"scraped": 5})
    assert coverage["gaps"] == ["All sources are of one type."]
    goal = "When were umbrellas first made"
    assert answer["refinementQueries"] == [
        f'"{goal}" the price 2019 after:2019',
        f"{goal} -site:one.example",
        f"{goal} research paper",
    ]
    assert "coverage" not in add(3, sessionId=session)


def test_a_session_without_sources_says_so(add: Call) -> None:
    coverage = add(depth="standard")["coverage"]
    assert coverage["gaps"] == ["There are no sources yet."]
    assert "dominantDomain" not in coverage


# ---- reading it back


def test_a_session_is_read_back(add: Call, call: Call, session: str) -> None:
    add(2, "x", sessionId=session, knowledgeGap="why")
    answer = call("get_research_session", sessionId=session)
    assert (answer["stepCount"], answer["responseMode"], answer["isComplete"]) == (2, "summary", False)
    assert [one["oneLiner"] for one in answer["stepIndex"]] == ["Look around.", "x"]
    assert answer["gaps"] == [{"description": "why", "foundInStep": 2}]
    step = call("get_research_session", sessionId=session, stepId=2)
    assert (step["step"]["description"], step["responseMode"]) == ("x", "step")
    with pytest.raises(ToolError, match="1 to 2") as raised:
        call("get_research_session", sessionId=session, stepId=3)
    assert raised.value.code == "STEP_NOT_FOUND"


def test_what_kept_failing_is_told_with_what_to_do(call: Call, session: str) -> None:
    from ferrule_research.sessions import record_outcomes

    def fail(kind: str, number: int) -> None:
        record_outcomes(session, [{"kind": kind, "url": f"https://a.example/{number}", "at": "2026-01-01T00:00:00Z"}])

    for number in range(7):
        fail("blocked", number)
    for number in range(2):
        fail("network", number)
    record_outcomes(session, [{"kind": kind, "provider": "brave", "at": "x"} for kind in ("", "network", "")])
    answer = call("get_research_session", sessionId=session)
    blocked, network = answer["errorPatterns"]
    assert (blocked["kind"], blocked["count"], len(blocked["affectedUrls"])) == ("blocked", 7, 5)
    assert (network["kind"], network["count"]) == ("network", 3)
    assert blocked["suggestion"]
    assert answer["providerStats"] == {"brave": {"attempts": 3, "successes": 2}}


def test_a_branch_is_found_by_its_name_however_its_blanks_are_written(add: Call, session: str) -> None:
    add(2, sessionId=session, branchId="a  b", branchFromStep=1)
    answer = add(3, sessionId=session, branchId="a  b")
    assert {one.get("branchId") for one in answer["steps"]} == {None, "a b"}
    assert add(4, sessionId=session, branchId="c" * 80, branchFromStep=1)["currentStep"] == 4
    assert add(5, sessionId=session, branchId="c" * 80)["currentStep"] == 5
