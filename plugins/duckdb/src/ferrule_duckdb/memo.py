"""Which answers are there already: equal questions are asked once, at the same time and within a statement."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from ferrule_ask.answer import REPEATS, Answer
from ferrule_duckdb.interruption import Interrupted, signals_so_far

if TYPE_CHECKING:
    from concurrent.futures import Future

_MAX_STATEMENTS = 256  # that run at once, on as many connections
_MAX_USERS = 8
_NETWORK_FAILURES = 5  # in a row, after which a statement ends of which nothing is answered: it is the network
_MOST_NETWORK_FAILURES = 25  # in a row, after which the others are not asked: those that are answered stay
_OVERHEAD_BYTES = 1_000  # of a flight, without its texts
# Whatever else the statement asks this model would end the same way.
# Not so BUDGET_EXHAUSTED: what one question would cost may be too much, and the next one's cost may fit.
_FATAL = REPEATS | {"CANCELLED"}


class Question(NamedTuple):
    """What makes two rows equal. model, max_tokens: None is the client's own. shape: a type or a JSON schema."""

    context: str
    prompt: str
    model: str | None
    max_tokens: int | None
    shape: str | None = None


class Given(NamedTuple):
    """An answer that a statement has got. statement: its number. is_remembered: whether it was paid for before."""

    statement: int
    question: Question
    answer: Answer
    is_remembered: bool


Start = Callable[[Question], "Future[Answer]"]


class Statement:
    """One execution of one statement, on any connection and in any threads.

    key: "CONNECTION/QUERY/TRANSACTION". number: of the statements that have asked so far. began: time.monotonic().
    rounds: vectors in work. cancelled: why it must end, or None. answered, failed, remembered: questions so far.
    """

    def __init__(self, key: str, number: int = 0) -> None:
        self.key = key
        self.number = number
        self.began = time.monotonic()
        self.answered = self.failed = self.remembered = 0
        self._network_failures = 0
        self._has_answers = False
        self.rounds = 0
        self.cancelled: str | None = None
        self.planned: set[int] = set()
        self._fatal: dict[str | None, Answer] = {}
        self._signals = signals_so_far()

    def check(self) -> None:
        """Raise Interrupted where the statement has to end."""
        if self.cancelled is None and signals_so_far() != self._signals:
            self.cancelled = "The query was interrupted. What had not been asked by then has not been asked."
        if self.cancelled is not None:
            raise Interrupted(self.cancelled)

    def note(self, question: Question, answer: Answer, *, is_remembered: bool) -> None:
        """Count an answer, and remember a failure that each further question to the same model would meet."""
        self.answered += 1
        self.failed += answer.code is not None
        self.remembered += is_remembered
        if not is_remembered:
            self._network_failures = self._network_failures + 1 if answer.code == "NETWORK_ERROR" else 0
        self._has_answers |= answer.code is None
        if answer.code in _FATAL or self._network_failures >= _MOST_NETWORK_FAILURES:
            self._fatal.setdefault(question.model, Answer(code=answer.code, error=answer.error, model=answer.model))

    def is_certain(self, answer: Answer) -> bool:
        """Whether a failure is one that all questions with this model have, or will have."""
        return answer.code in REPEATS or (not self._has_answers and self._network_failures >= _NETWORK_FAILURES)

    def foreseen(self, question: Question) -> Answer | None:
        """The failure that is certain for this question, or None."""
        return self._fatal.get(question.model)


class Flight:
    """A question that is being asked or was asked. born: the key of the statement that has asked it."""

    __slots__ = ("born", "future", "landed", "question", "users", "waiting", "weight")

    def __init__(self, question: Question, future: Future[Answer], born: str) -> None:
        self.question = question
        self.future = future
        self.born = born
        self.users = deque((born,), maxlen=_MAX_USERS)  # the statements in which its answer counts, whatever its age
        self.waiting: set[str] = set()
        self.landed: float | None = None
        self.weight = 0


class Memo:
    """The flights of a database, usable from all threads.

    remember: seconds for which an answer counts in statements that come later. capacity: bytes, about; the answers that
    have not been used for longest go first.
    """

    def __init__(self, remember: float = 300.0, capacity: int = 64 * 1024 * 1024) -> None:
        self._remember = remember
        self._capacity = capacity
        self._weight = 0
        self._lock = threading.RLock()
        self._flights: OrderedDict[Question, Flight] = OrderedDict()
        self._statements: OrderedDict[str, Statement] = OrderedDict()
        self._count = 0

    @contextmanager
    def statement(self, key: str) -> Iterator[Statement]:
        """The statement with this key, for one vector of it."""
        with self._lock:
            statement = self._statements.get(key)
            if statement is None:
                self._count += 1
                statement = self._statements[key] = Statement(key, self._count)
                while len(self._statements) > _MAX_STATEMENTS:
                    self._statements.popitem(last=False)
            self._statements.move_to_end(key)
            statement.rounds += 1
        try:
            yield statement
        finally:
            with self._lock:
                statement.rounds -= 1

    def flight(self, question: Question, statement: Statement, start: Start) -> Flight:
        """The flight that answers the question in this statement; if there is none, it is started."""
        with self._lock:
            flight = self._flights.get(question)
            if flight is None or not self._serves(flight, statement):
                self._drop(flight)
                flight = self._flights[question] = Flight(question, start(question), statement.key)
                flight.future.add_done_callback(lambda _: self._land(flight))
            elif statement.key not in flight.users:
                flight.users.append(statement.key)
            if question in self._flights:
                self._flights.move_to_end(question)
            flight.waiting.add(statement.key)
            return flight

    def counts(self, question: Question, statement: Statement) -> bool:
        """Whether the question would be answered without a request."""
        with self._lock:
            flight = self._flights.get(question)
            return flight is not None and self._serves(flight, statement)

    def cancel(self, statement: Statement, why: str) -> None:
        """End the statement: what it alone is waiting for is not asked, or no longer."""
        with self._lock:
            statement.cancelled = statement.cancelled or why
            self.leave(statement)

    def leave(self, statement: Statement) -> None:
        """Ask no longer what the statement alone is waiting for."""
        with self._lock:
            flights = [one for one in self._flights.values() if statement.key in one.waiting and not one.future.done()]
            for flight in flights:
                flight.waiting.discard(statement.key)
                if flight.waiting:
                    continue
                self._drop(flight)
                flight.future.cancel()

    def running(self) -> list[Statement]:
        """The statements of which a vector is in work."""
        with self._lock:
            return [statement for statement in self._statements.values() if statement.rounds]

    def answers(self) -> list[Given]:
        """The answers that are there, of each statement that has got them, in the order of the statements."""
        with self._lock:
            given = []
            for flight in self._flights.values():
                if flight.landed is None or flight.future.cancelled() or flight.future.exception() is not None:
                    continue
                answer = flight.future.result()
                for key in flight.users:
                    statement = self._statements.get(key)
                    if statement is not None:
                        is_remembered = key != flight.born or answer.remembered
                        given.append(Given(statement.number, flight.question, answer, is_remembered))
        return sorted(given, key=lambda one: one.statement)

    def clear(self) -> int:
        """Forget all answers that are there; how many. What is being asked goes on."""
        with self._lock:
            done = [flight for flight in self._flights.values() if flight.landed is not None]
            for flight in done:
                self._drop(flight)
            return len(done)

    def _serves(self, flight: Flight, statement: Statement) -> bool:
        future = flight.future
        if future.cancelled():
            return False
        if not future.done() or statement.key in flight.users:
            return True
        if future.exception() is not None or not future.result().is_good:
            return False
        return flight.landed is not None and time.monotonic() - flight.landed < self._remember

    def _land(self, flight: Flight) -> None:
        with self._lock:
            flight.waiting.clear()
            if self._flights.get(flight.question) is not flight:
                return
            if flight.future.cancelled():
                self._drop(flight)
                return
            flight.landed = time.monotonic()
            flight.weight = _weight(flight)
            self._weight += flight.weight
            self._make_room()

    def _make_room(self) -> None:
        for flight in list(self._flights.values()) if self._weight > self._capacity else ():
            if self._weight <= self._capacity:
                break
            if flight.landed is not None:
                self._drop(flight)

    def _drop(self, flight: Flight | None) -> None:
        if flight is not None and self._flights.get(flight.question) is flight:
            del self._flights[flight.question]
            self._weight -= flight.weight


def _weight(flight: Flight) -> int:
    text = "" if flight.future.exception() is not None else flight.future.result().text or ""
    return _OVERHEAD_BYTES + len(flight.question.context) + len(flight.question.prompt) + len(text)
