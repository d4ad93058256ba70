"""Answers to what a child asks: each belongs to its question, or to nobody."""

import json
import os
import time
from pathlib import Path

import pytest

from ferrule.errors import AnswerMissing
from ferrule.installed import Channel, supervise
from ferrule.supervision import supervisor
from ferrule.supervision.questions import AnswerPipe, write_answer
from ferrule.text.json_types import JSONObject

LIMITS = {"memory_mib": 1024, "max_bytes": 1 << 16}


def test_an_answer_that_comes_late_is_not_the_next_ones() -> None:
    reader, writer = os.pipe()
    write_answer(writer, {"number": 1}, {"key": "of the first", "more": "x" * 30_000})
    write_answer(writer, {"number": 2}, {"key": "of the second"})
    assert AnswerPipe(reader).read(2) == {"key": "of the second"}


def test_the_rest_of_an_answer_that_was_found_is_passed_over() -> None:
    reader, writer = os.pipe()
    pipe = AnswerPipe(reader)
    write_answer(writer, {"number": 1}, {"key": "of the first"})
    assert pipe.find(1)
    write_answer(writer, {"number": 2}, {"key": "of the second"})
    assert pipe.read(2) == {"key": "of the second"}


def test_an_answer_that_does_not_come_is_no_answer() -> None:
    reader, writer = os.pipe()
    pipe = AnswerPipe(reader)
    assert pipe.find(1) is None
    write_answer(writer, {"number": 1}, {"key": "of the first"})
    os.close(writer)
    with pytest.raises(AnswerMissing, match="has not answered"):
        pipe.read(2)


@pytest.mark.parametrize("number", [None, "1", -1, 2**64, 1.5, [], True])
def test_a_question_with_an_odd_number_does_no_harm(number: object) -> None:
    reader, writer = os.pipe()
    write_answer(writer, {"number": number}, {})
    write_answer(writer, {"number": 7}, {"key": "of the seventh"})
    assert AnswerPipe(reader).read(7) == {"key": "of the seventh"}


def test_nobody_is_left_to_read_an_answer() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    write_answer(writer, {"number": 1}, {"key": "of the first"})


@pytest.mark.process
def test_a_late_answer_to_one_child_is_not_given_to_the_next_child(tmp_path: Path) -> None:
    """The host answers the first question when its child has been ended, as on a machine that has too much to do."""
    is_ended, is_asked = tmp_path / "ended", tmp_path / "asked"
    os.mkfifo(is_ended)
    os.mkfifo(is_asked)

    def answer(question: JSONObject) -> JSONObject:
        if question["tool"] == "first":
            is_asked.open("wb").close()
            is_ended.open("rb").close()
        return {"tool": question["tool"], "secrets": []}

    def asks(tool: str) -> bytes | None:
        def work(channel: Channel) -> JSONObject:
            return dict(channel.ask({"tool": tool}) or {})

        return supervise(work, deadline=time.monotonic() + (1 if tool == "first" else 30), **LIMITS).result  # type: ignore[arg-type]

    def relay(channel: Channel) -> None:
        first = asks("first")
        is_asked.open("rb").close()
        is_ended.open("wb").close()
        second = json.loads(asks("second") or b"{}")
        channel.result({"first": first, "second": second.get("tool")})

    outcome = supervisor.supervise(
        relay, deadline=time.monotonic() + 60, memory=1024, size_limit=1 << 16, answer=answer
    )
    assert json.loads(outcome.result or b"{}") == {"first": None, "second": "second"}


@pytest.mark.process
def test_the_deadline_holds_while_an_answer_is_worked_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never")

    def answer(_question: JSONObject) -> JSONObject:
        (tmp_path / "never").open("rb").close()
        return {}

    began = time.monotonic()
    outcome = supervisor.supervise(
        lambda channel: channel.result(channel.ask({"tool": "any"})),
        deadline=began + 1,
        memory=1024,
        size_limit=1 << 16,
        answer=answer,
    )
    assert outcome.failure is not None
    assert outcome.failure["code"] == "TIMEOUT"
