"""What a server says while it works, as events of the call."""

from typing import Any

import pytest

from ferrule_mcp.results import events
from ferrule_mcp.results.events import EventRelay, reads_like_error


@pytest.fixture
def sent() -> list[Any]:
    return []


@pytest.fixture
def relay(sent: list[Any]) -> EventRelay:
    return EventRelay(sent.append)


@pytest.mark.parametrize(
    ("params", "event"),
    [
        ({"progress": 1, "progressToken": 2}, {"event": "progress", "progress": 1}),
        ({"progress": 1.5, "total": 3, "message": "half"},
         {"event": "progress", "progress": 1.5, "total": 3, "message": "half"}),
        ({"progress": 1, "total": "3", "message": 7}, {"event": "progress", "progress": 1}),
        ({"progress": 1, "message": "x" * 9_000},
         {"event": "progress", "progress": 1, "message": "(9,000 characters)"}),
    ],
)  # fmt: skip
def test_progress_is_an_event(relay: EventRelay, sent: list[Any], params: dict[str, Any], event: object) -> None:
    relay.report_progress(params)
    assert sent == [event]


@pytest.mark.parametrize("progress", ["1", None, True, [1]])
def test_progress_that_is_no_number_is_none(relay: EventRelay, sent: list[Any], progress: object) -> None:
    relay.report_progress({"progress": progress})
    assert sent == []


@pytest.mark.parametrize(
    ("params", "event"),
    [
        ({"level": "warning", "logger": "db", "data": {"a": 1}},
         {"event": "log", "level": "warning", "logger": "db", "data": {"a": 1}}),
        ({"level": "loud", "data": "x"}, {"event": "log", "level": "info", "data": "x"}),
        ({"level": ["a"]}, {"event": "log", "level": "info", "data": None}),
        ({"level": "info", "data": "x" * 3_000}, {"event": "log", "level": "info", "data": "(3,000 characters)"}),
        ({"level": "info", "data": ["x" * 3_000]}, {"event": "log", "level": "info", "data": "(3,004 characters)"}),
    ],
)  # fmt: skip
def test_a_log_message_is_an_event(relay: EventRelay, sent: list[Any], params: dict[str, Any], event: object) -> None:
    relay.report_log(params)
    assert sent == [event]


def test_far_too_many_events_are_left_out(relay: EventRelay, sent: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_MAX_EVENTS", 3)
    for number in range(10):
        relay.report_progress({"progress": number})
    assert [one["event"] for one in sent] == ["progress", "progress", "events_left_out"]


def test_what_was_declined_and_what_was_no_message_is_said(relay: EventRelay, sent: list[Any]) -> None:
    relay.report_declined(["sampling/createMessage"])
    relay.report_garbage(0, [])
    relay.report_garbage(2, ["Ready"])
    assert [(one["event"], one["level"]) for one in sent] == [("declined", "warning"), ("not_a_message", "warning")]
    assert "sampling/createMessage" in sent[0]["content"]
    assert "2 lines" in sent[1]["content"]


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("Error: Missing arguments", True),
        ("  error executing tool", True),
        ("Error searching libraries: TypeError: fetch failed", True),
        ("Failed to fetch https://a", True),
        ("Traceback (most recent call last):\n  File", True),
        ("Errors: 0", False),
        ("No error: all is well", False),
        ("Errorless", False),
        ("The file says Error: no", False),
        ("", False),
        ("Error: " + "x" * 5_000, False),
    ],
)
def test_a_success_that_reads_like_an_error_is_marked_and_stays_one(
    relay: EventRelay, sent: list[Any], text: str, is_error: bool
) -> None:
    assert reads_like_error(text) is is_error
    relay.report_doubt(text)
    relay.report_doubt([text])
    relay.report_doubt({"text": text})
    assert [one["event"] for one in sent] == (["reads_like_error"] if is_error else [])
