"""Answers the distinct questions of one vector, several at once, and stops when the statement should."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import TYPE_CHECKING

from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from ferrule_ask.answer import Answer
    from ferrule_duckdb.memo import Flight, Memo, Question, Start, Statement

    AnswerOfRow = tuple[Answer, bool]
    """An answer, and whether another statement had asked the question."""

_POLL_SECONDS = 0.05  # between two looks at whether the statement should end


class AskFailed(FerruleError):
    """A question has no answer, and `on_error="raise"`. The message starts with the code."""


class Round:
    """The questions of one vector.

    width: how many are asked at once. strict: a question without an answer ends the statement with AskFailed.
    """

    def __init__(self, memo: Memo, statement: Statement, start: Start, *, width: int, strict: bool) -> None:
        self._memo = memo
        self._statement = statement
        self._start = start
        self._width = width
        self._strict = strict
        self._flying: dict[Future[Answer], tuple[int, Flight]] = {}

    def answers(self, questions: Sequence[Question | None]) -> list[AnswerOfRow | None]:
        """The answer to each question; None for None.

        Raises AskFailed, Interrupted, and what asking raises; nothing goes on being asked then.
        """
        answers: list[AnswerOfRow | None] = [None] * len(questions)
        todo = deque((number, question) for number, question in enumerate(questions) if question is not None)
        try:
            while todo or self._flying:
                self._statement.check()
                self._fill(todo, answers)
                done, _ = wait(self._flying, _POLL_SECONDS, FIRST_COMPLETED)
                for future in done:
                    number, flight = self._flying.pop(future)
                    if future.cancelled():  # by another statement, which had asked it
                        todo.append((number, flight.question))
                    else:
                        answers[number] = self._landed(flight)
        except BaseException as error:  # KeyboardInterrupt comes here, in the main thread
            why = error.message if isinstance(error, FerruleError) else f"The query was ended ({type(error).__name__})."
            self._memo.cancel(self._statement, why)
            raise
        return answers

    def _fill(self, todo: deque[tuple[int, Question]], answers: list[AnswerOfRow | None]) -> None:
        while todo and len(self._flying) < self._width:
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
        self._statement.note(flight.question, answer)
        if self._strict and answer.text is None:
            raise AskFailed(f"{answer.code}: {answer.error}")
        return answer, flight.born != self._statement.key
