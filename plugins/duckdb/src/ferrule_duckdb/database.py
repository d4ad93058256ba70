"""What the connections of one database share: who asks, the answers that are there, the settings of the session."""

from __future__ import annotations

import weakref
from concurrent.futures import Future
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ferrule.errors import ConfigurationMalformed, FerruleError
from ferrule_ask.answer import Answer, Plan, Usage
from ferrule_duckdb.batch import Round
from ferrule_duckdb.functions import Bodies
from ferrule_duckdb.memo import Memo, Question, Statement
from ferrule_duckdb.vectors import Vector

if TYPE_CHECKING:
    from collections.abc import Generator

    from ferrule_ask import Asker, Keys

_BRAVE, _ANTHROPIC = "BRAVE_API_KEY", "ANTHROPIC_API_KEY"
_SHOWN = (FerruleError, KeyboardInterrupt)


def _answer() -> Generator[None, None, None]:
    yield


# DuckDB (1.4, 1.5) shows below an error's sentence the whole stack of the program, from the innermost frame of its
# traceback on. That of a generator that does not run has nobody above it.
_IDLE: Any = _answer()
_NOWHERE = TracebackType(None, _IDLE.gi_frame, 0, 1)


class Service:
    """Who asks, and how. is_own: the asker was made here, and is closed here."""

    def __init__(
        self,
        asker: Asker,
        is_own: bool,
        model: str | None,
        max_tokens: int | None,
        on_error: str,
        width: int,
        remember: float,
    ) -> None:
        self.asker = asker
        self.model = model
        self.on_error = on_error
        self.width = width
        self.memo = Memo(remember)
        self._is_own = is_own
        self._max_tokens = max_tokens

    @property
    def usage(self) -> Usage:
        """What the asker has used so far."""
        return self.asker.usage

    def start(self, question: Question) -> Future[Answer]:
        """Start asking. A model or a number of tokens that cannot be is an answer with a code, as others are."""
        context, prompt, model, max_tokens = question
        try:
            return self.asker.start(context, prompt, model=model, max_tokens=self._tokens(max_tokens))
        except ConfigurationMalformed as error:
            refused: Future[Answer] = Future()
            refused.set_result(Answer(code="INVALID_REQUEST", error=error.message, model=model or ""))
            return refused

    def plan(self, question: Question) -> Plan:
        """What asking would take; nothing, where the question cannot be asked."""
        context, prompt, model, max_tokens = question
        try:
            return self.asker.plan(context, prompt, model=model, max_tokens=self._tokens(max_tokens))
        except ConfigurationMalformed:
            return Plan(0, 0, 0, 0.0, 0.0, ())

    def _tokens(self, max_tokens: int | None) -> int | None:
        return self._max_tokens if max_tokens is None else max_tokens

    def close(self) -> None:
        """End whatever is being asked."""
        for statement in self.memo.running():
            self.memo.cancel(statement, "The registration was closed.")
        if self._is_own:
            self.asker.close()


class Database:
    """One database of DuckDB, as long as the process lives. After its last connection it is an empty shell."""

    def __init__(self, service: Service) -> None:
        self._service: Service | None = service
        self._connections: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._default: Any = None

    @property
    def service(self) -> Service:
        """Who asks. Raises FerruleError where the last connection has been unregistered."""
        if self._service is None:
            raise FerruleError(
                "No registered connection is left: it was closed by Registration.close(), or is no longer kept by the "
                "program. Call ferrule_duckdb.register(con) again."
            )
        return self._service

    @property
    def is_open(self) -> bool:
        """Whether there is somebody who asks."""
        return self._service is not None

    @property
    def keys(self) -> Keys | None:
        """The keys of the session so far."""
        return None if self._service is None else self._service.asker.keys

    def renew(self, service: Service) -> None:
        """Let somebody else ask from now on. What is being asked is still answered by who was there before."""
        self._service = service

    def enter(self, con: Any, key: str) -> None:
        """Count a connection in. key: what the keys of its statements begin with."""
        import duckdb

        number = id(con)
        if con is duckdb.default_connection():
            self._default = con  # DuckDB keeps the connection of `duckdb.sql`, but not the object that stands for it
        self._connections[number] = (weakref.ref(con, lambda _: self._forget(number)), key)

    def leave(self, con: Any) -> bool:
        """Count a connection out; whether it was in. After the last one nobody asks any more."""
        if self._connections.pop(id(con), None) is None:
            return False
        if con is self._default:
            self._default = None
        if not self._connections and self._service is not None:
            service, self._service = self._service, None
            service.close()
        return True

    def interrupted(self, connection: Any) -> None:
        """End what the connection's queries are asking; None is all connections."""
        if self._service is None:
            return
        known = list(self._connections.values())
        keys = tuple(key for reference, key in known if connection is None or reference() is connection)
        for statement in self._service.memo.running():
            if statement.key.startswith(keys):
                self._service.memo.cancel(statement, "The query was interrupted.")

    def clear(self) -> int:
        """Forget all answers; how many."""
        return self.service.memo.clear()

    def bodies(self, number: int) -> Bodies:
        """The functions behind those of SQL. number: of this database."""
        return Bodies(
            texts=self._texts,
            answers=self._answers,
            plans=self._plans,
            database=lambda: number,
            set_api_key=lambda key: self._set_key(_ANTHROPIC, key, "API key configured successfully"),
            set_brave_api_key=lambda key: self._set_key(_BRAVE, key, "Brave API key configured successfully"),
            set_model=self._set_model,
            get_model=self._get_model,
            usage=lambda: self.service.usage._asdict(),
            clear=self.clear,
        )

    def _texts(self, context: Any, prompt: Any, model: Any, max_tokens: Any, statement: Any) -> Any:
        try:
            service = self.service
            vector, answers = self._answered(service, (context, prompt, model, max_tokens, statement))
            shown = _text_or_error if service.on_error == "text" else _text
            return vector.texts(one and shown(one[0]) for one in answers)
        except _SHOWN as error:
            raise error.with_traceback(_NOWHERE) from None

    def _answers(self, context: Any, prompt: Any, model: Any, max_tokens: Any, statement: Any) -> Any:
        try:
            vector, answers = self._answered(self.service, (context, prompt, model, max_tokens, statement))
            return vector.answers(answers)
        except _SHOWN as error:
            raise error.with_traceback(_NOWHERE) from None

    def _plans(self, context: Any, prompt: Any, model: Any, max_tokens: Any, statement: Any) -> Any:
        try:
            return self._planned(self.service, (context, prompt, model, max_tokens, statement))
        except _SHOWN as error:
            raise error.with_traceback(_NOWHERE) from None

    def _answered(self, service: Service, columns: Any) -> tuple[Vector, list[tuple[Answer, bool] | None]]:
        vector = Vector(columns, service.model)
        statement = service.memo.enter(vector.statement)
        strict = service.on_error == "raise"
        try:
            one_round = Round(service.memo, statement, service.start, width=service.width, strict=strict)
            return vector, one_round.answers(vector.questions)
        finally:
            service.memo.leave(statement)

    def _planned(self, service: Service, columns: Any) -> Any:
        vector = Vector(columns, service.model)
        statement = service.memo.enter(vector.statement)
        try:
            plans = [one and service.plan(one) for one in vector.questions]
            repeated = [one is not None and _comes_again(service, statement, one) for one in vector.questions]
            return vector.plans(plans, repeated)
        finally:
            service.memo.leave(statement)

    def _set_key(self, variable: str, key: str | None, done: str) -> str:
        if key is None:
            return "ERROR: API key cannot be NULL"
        if not key.strip():
            return "ERROR: API key cannot be blank"
        service = self.service
        try:
            service.asker.keys.set(variable, key)
        except FerruleError as error:
            return f"ERROR: {error.message}"
        service.memo.clear()  # with another key there may be another tool
        return done

    def _set_model(self, model: str | None) -> str:
        if model is None or not model.strip():
            return f"ERROR: Model cannot be {'NULL' if model is None else 'blank'}"
        self.service.model = model.strip()
        return f"Model set to: {model.strip()}"

    def _get_model(self) -> str:
        return self.service.model or self.service.asker.model

    def _forget(self, number: int) -> None:
        self._connections.pop(number, None)
        if not self._connections:
            self._service = None  # closes nothing: this may run in any thread, at any time


def _comes_again(service: Service, statement: Statement, question: Question) -> bool:
    again = hash(question) in statement.planned or service.memo.counts(question, statement)
    statement.planned.add(hash(question))
    return again


def _text(answer: Answer) -> str | None:
    return answer.text


def _text_or_error(answer: Answer) -> str | None:
    return f"ERROR: {answer.code}: {answer.error}" if answer.text is None else answer.text
