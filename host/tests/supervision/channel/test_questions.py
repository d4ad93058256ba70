"""Answers to what a child asks: each belongs to its question, or to nobody."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ferrule.errors import AnswerMissing
from ferrule.installed import Channel, supervise
from ferrule.supervision import supervisor
from ferrule.supervision.channel.questions import AnswerPipe, write_answer
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


@pytest.mark.process
def test_what_is_passed_over_leaves_no_trace_in_the_process_that_relays() -> None:
    reader, writer = os.pipe()
    pipe = AnswerPipe(reader)
    secret = "-".join(["key", "of", "another", "tool"])
    program = (
        "import sys; sys.stdout.buffer.write((1).to_bytes(8, 'big') + (30).to_bytes(8, 'big') + sys.argv[1].encode())"
    )
    document = f'{{"key": "{secret}"}}'.ljust(30).encode()
    subprocess.run([sys.executable, "-c", program, document], stdout=writer, check=True)
    seen = []
    pipe_read, os_read = pipe.find, os.read
    os.read = lambda file, size: seen.append(os_read(file, size)) or seen[-1]  # type: ignore[assignment,func-returns-value]
    try:
        assert pipe_read(2) is None
        write_answer(writer, {"number": 2}, {})
        assert pipe_read(2) == 2
    finally:
        os.read = os_read
    assert not any(secret.encode() in piece for piece in seen)


@pytest.mark.process
def test_secrets_are_known_even_where_the_child_reads_half_of_an_answer(capfd: pytest.CaptureFixture[str]) -> None:
    """The copy that answers waits for the rest to be read when the child has ended by its deadline."""
    secret = "sk-half-4711"

    def answer(_question: JSONObject) -> JSONObject:
        return {"secrets": [secret], "more": "x" * (1 << 20)}

    def read_half(channel: Channel) -> None:
        assert channel.answers is not None
        channel.send_question({"tool": "any"})
        os.read(channel.answers.file, 1 << 12)
        print(secret, flush=True)
        channel.answers.find(99, may_wait=True)

    outcome = supervisor.supervise(
        read_half, deadline=time.monotonic() + 1, memory=1024, size_limit=1 << 16, answer=answer
    )
    assert outcome.failure is not None
    assert outcome.secrets == [secret]


@pytest.mark.process
def test_one_child_does_not_use_up_what_the_next_may_ask() -> None:
    def relay(channel: Channel) -> None:
        def asks(times: int) -> bytes | None:
            def work(channel: Channel) -> JSONObject:
                for _ in range(times):
                    found = channel.ask({"tool": "any"})
                return dict(found or {})

            return supervise(work, deadline=time.monotonic() + 30, **LIMITS).result  # type: ignore[arg-type]

        channel.result({"greedy": asks(300) is not None, "modest": asks(1) is not None})

    outcome = supervisor.supervise(
        relay, deadline=time.monotonic() + 60, memory=1024, size_limit=1 << 16, answer=lambda question: {"secrets": []}
    )
    assert json.loads(outcome.result or b"{}") == {"greedy": False, "modest": True}
