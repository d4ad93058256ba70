"""Answers the distinct questions of one vector, several at once, and stops when the statement should."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError
from ferrule_ask.answer import Answer
from ferrule_duckdb.progress import Progress
from ferrule_duckdb.sql_words import failure

if TYPE_CHECKING:
    from ferrule_duckdb.memo import Flight, Memo, Question, Start, Statement
    from ferrule_duckdb.progress import Reporter

    AnswerOfRow = tuple[Answer, bool]
    """An answer, and whether another statement had asked the question."""

_NO_TOOL = "TOOL_FAILED"
_LATE = (
    "The {:g} seconds of the statement were over before this was answered. Execute it again: what has been answered is "
    "not asked again, as long as `remember` says."
)
_POLL_SECONDS = 0.05  # between two looks at whether the statement should end


class AskFailed(FerruleError):
    """A question has no answer, and `on_error="raise"`, or none would have one. The message has the code first."""


class Rules(NamedTuple):
    """How the questions of a vector are asked.

    width: how many at once. timeout: seconds for the whole statement; None for any number. strict: a question without a
    whole answer ends the statement with AskFailed. needs_tool: so does one whose tool has failed.
    """

    width: int
    timeout: float | None = None
    strict: bool = False
    needs_tool: bool = False


class Round:
    """The questions of one vector."""

    def __init__(self, memo: Memo, statement: Statement, start: Start, rules: Rules, reporter: Reporter) -> None:
        self._memo = memo
        self._statement = statement
        self._start = start
        self._rules = rules
        self._reporter = reporter
        self._one_model = True
        self._flying: dict[Future[Answer], tuple[int, Flight]] = {}

    def answers(self, questions: Sequence[Question | None]) -> list[AnswerOfRow | None]:
        """The answer to each question; None for None.

        Raises AskFailed, Interrupted, and what asking raises; nothing goes on being asked then.
        """
        answers: list[AnswerOfRow | None] = [None] * len(questions)
        self._one_model = len({question.model for question in questions if question is not None}) <= 1
        todo = deque((number, question) for number, question in enumerate(questions) if question is not None)
        try:
            while todo or self._flying:
                self._statement.check()
                if self._is_late():
                    self._take_known(todo, answers)
                    return self._given_up(questions, answers)
                self._fill(todo, answers)
                done, _ = wait(self._flying, _POLL_SECONDS, FIRST_COMPLETED)
                for future in done:
                    number, flight = self._flying.pop(future)
                    if future.cancelled():  # by another statement, which had asked it
                        todo.append((number, flight.question))
                    else:
                        answers[number] = self._landed(flight)
                self._reporter.tell(self._progress(len(todo)))
            self._reporter.tell(self._progress(0), is_end=True)
        except BaseException as error:  # KeyboardInterrupt comes here, in the main thread
            why = error.message if isinstance(error, FerruleError) else f"The query was ended ({type(error).__name__})."
            self._memo.cancel(self._statement, why)
            raise
        return answers

    def _fill(self, todo: deque[tuple[int, Question]], answers: list[AnswerOfRow | None]) -> None:
        while todo and len(self._flying) < self._rules.width:
            number, question = todo.popleft()
            foreseen = self._statement.foreseen(question)
            if foreseen is not None and not self._memo.counts(question, self._statement):
                answers[number] = (foreseen, False)
                continue
            flight = self._memo.flight(question, self._statement, self._start)
            if flight.future.done() and not flight.future.cancelled():
                answers[number] = self._landed(flight)
            else:
                self._flying[flight.future] = (number, flight)

    def _landed(self, flight: Flight) -> AnswerOfRow:
        answer = flight.future.result()
        is_remembered = flight.born != self._statement.key or answer.remembered
        self._statement.note(flight.question, answer, is_remembered=is_remembered)
        # `on_error` is for a row. What all rows would meet is told at once, unless only some have that model.
        if self._one_model and self._statement.is_certain(answer):
            raise AskFailed(failure(answer))
        if answer.code is not None and (self._rules.strict or (self._rules.needs_tool and answer.code == _NO_TOOL)):
            raise AskFailed(failure(answer))
        return answer, is_remembered

    def _take_known(self, todo: deque[tuple[int, Question]], answers: list[AnswerOfRow | None]) -> None:
        """Answer what takes no request: it may have been asked by an earlier vector, or an earlier statement."""
        for number, question in todo:
            if self._memo.counts(question, self._statement):
                flight = self._memo.flight(question, self._statement, self._start)
                if flight.future.done() and not flight.future.cancelled():
                    answers[number] = self._landed(flight)

    def _is_late(self) -> bool:
        timeout = self._rules.timeout
        return timeout is not None and time.monotonic() - self._statement.began >= timeout

    def _given_up(
        self, questions: Sequence[Question | None], answers: list[AnswerOfRow | None]
    ) -> list[AnswerOfRow | None]:
        """Ask nothing more: what has no answer yet has the code TIMEOUT. Raises AskFailed where that is an error."""
        self._memo.leave(self._statement)
        late = Answer(code="TIMEOUT", error=_LATE.format(self._rules.timeout))
        if self._rules.strict:
            raise AskFailed(failure(late))
        return [
            (late, False) if question is not None and answer is None else answer
            for question, answer in zip(questions, answers, strict=True)
        ]

    def _progress(self, left: int) -> Progress:
        one = self._statement
        seconds = time.monotonic() - one.began
        return Progress(one.answered, one.failed, one.remembered, len(self._flying), left, seconds)
