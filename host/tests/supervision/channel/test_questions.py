"""Answers to what a child asks: each belongs to its question, or to nobody."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ferrule.errors import AnswerMissing
from ferrule.supervision import supervisor
from ferrule.supervision.channel import questions
from ferrule.supervision.channel.channel import Channel
from ferrule.supervision.channel.questions import (
    RUN_KIND,
    UNSAID,
    AnswerPipe,
    fork_answer,
    learnt_from,
    sort_learnt,
    write_answer,
)
from ferrule.supervision.zygote import ForkedProcess, Zygote
from ferrule.text.json_types import JSONMapping, JSONObject

MANY = 20


def test_an_answer_that_comes_late_is_not_the_next_ones() -> None:
    reader, writer = os.pipe()
    write_answer(writer, {"number": 1}, {"key": "of the first", "more": "x" * 30_000})
    write_answer(writer, {"number": 2}, {"key": "of the second"})
    assert AnswerPipe(reader).read(2) == {"key": "of the second"}


def test_an_answer_that_does_not_come_is_no_answer() -> None:
    reader, writer = os.pipe()
    write_answer(writer, {"number": 1}, {"key": "of the first"})
    os.close(writer)
    with pytest.raises(AnswerMissing, match="has not answered"):
        AnswerPipe(reader).read(2)


def test_an_answer_that_ends_too_soon_is_no_answer() -> None:
    reader, writer = os.pipe()
    os.write(writer, (1).to_bytes(8, "big") + (30).to_bytes(8, "big") + b'{"key": "of')
    os.close(writer)
    with pytest.raises(AnswerMissing, match="has not answered"):
        AnswerPipe(reader).read(1)


def test_what_only_the_parent_learns_is_not_written() -> None:
    reader, writer = os.pipe()
    refusal = {"code": "PERMISSION_DENIED", "message": "It may not.", "admin": "Let it."}
    answer: JSONObject = {"result": {}, UNSAID: [refusal]}
    write_answer(writer, {"number": 1}, answer)
    assert AnswerPipe(reader).read(1) == {"result": {}}
    assert sort_learnt(learnt_from(answer)) == ([], [refusal])


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
def test_the_deadline_holds_while_an_answer_is_worked_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "never")

    def answer(_question: JSONObject) -> JSONObject:
        (tmp_path / "never").open("rb").close()
        return {}

    began = time.monotonic()
    outcome = supervisor.supervise(
        lambda channel: channel.result(channel.ask({"tool": "any"})),
        deadline=began + 1,
        memory=1 << 20,
        size_limit=1 << 16,
        answer=answer,
    )
    assert outcome.failure is not None
    assert outcome.failure["code"] == "TIMEOUT"


@pytest.mark.process
def test_secrets_are_known_even_where_the_child_reads_half_of_an_answer(capfd: pytest.CaptureFixture[str]) -> None:
    """The copy that answers waits for the rest to be read when the child has ended by its deadline."""
    secret = "sk-half-4711"

    def answer(_question: JSONObject) -> JSONObject:
        return {"secrets": [secret], "more": "x" * (1 << 20)}

    def read_half(channel: Channel) -> None:
        assert channel.answers is not None
        os.write(channel.file, b'q{"tool": "any", "number": 1}\n')
        os.read(channel.answers.file, 1 << 12)
        print(secret, flush=True)
        signal.pause()

    outcome = supervisor.supervise(
        read_half, deadline=time.monotonic() + 1, memory=1 << 20, size_limit=1 << 16, answer=answer
    )
    assert outcome.failure is not None
    assert outcome.secrets == [secret]


@pytest.mark.process
def test_a_child_asks_so_many_questions_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "MAX_QUESTIONS", MANY)  # each of the usual number takes a process

    def asks(times: int) -> Callable[[Channel], None]:
        def work(channel: Channel) -> None:
            for _ in range(times):
                found = channel.ask({"tool": "any"})
            channel.result(dict(found or {}))

        return work

    for times, has_result in ((1, True), (MANY + 1, False)):
        outcome = supervisor.supervise(
            asks(times),
            deadline=time.monotonic() + 60,
            memory=1 << 20,
            size_limit=1 << 16,
            answer=lambda question: {"secrets": []},
        )
        assert (outcome.result is not None) is has_result
    assert outcome.failure
    assert "asked the host more than" in outcome.failure["message"]


class Dying:
    """Has no tool run: the process that was to do so ends at once."""

    def __init__(self) -> None:
        self.zygote = Zygote({RUN_KIND: lambda files: os._exit(0)})

    def start(self, question: JSONMapping, files: tuple[int, int]) -> ForkedProcess:
        return fork_answer(self.zygote, question, files)


@pytest.mark.process
def test_a_run_whose_process_ends_without_an_answer_ends_the_call() -> None:
    dying, began = Dying(), time.monotonic()
    try:
        outcome = supervisor.supervise(
            lambda channel: channel.result(channel.ask({"run": "any"})),
            deadline=began + 60,
            memory=1 << 20,
            size_limit=1 << 16,
            answer=lambda question: {},
            runs=dying,
        )
    finally:
        dying.zygote.close()
    assert outcome.failure is not None
    assert "has ended" in outcome.failure["message"]
    assert time.monotonic() < began + 50
