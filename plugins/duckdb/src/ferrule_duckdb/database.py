"""What the connections of one database share: what asks, the answers that are there, the settings of the session."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar

from ferrule import config
from ferrule.errors import ConfigurationMalformed, FerruleError
from ferrule.installed import entry_points
from ferrule_ask.answer import Answer, Plan
from ferrule_ask.client import AskOptions
from ferrule_ask.kept_answers import lifetime
from ferrule_duckdb import functions
from ferrule_duckdb.batch import Round, Rules
from ferrule_duckdb.groups import answer_groups, ask_each, count_requests, rank_groups
from ferrule_duckdb.interruption import CLOSED, Interrupted, interrupt
from ferrule_duckdb.memo import Memo, Question, Statement
from ferrule_duckdb.progress import Reporter
from ferrule_duckdb.sql_types import Casts, cast_when_done, shape_of
from ferrule_duckdb.sql_words import failure, marked_text
from ferrule_duckdb.vectors import (
    ANSWERS,
    NUMBERS,
    PLANS,
    RANKS,
    TEXTS,
    ArrowArray,
    Vector,
    given_row,
    nulls,
    value_text,
)  # at run time: DuckDB evaluates annotations

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ferrule_ask import Client, Keys
    from ferrule_ask.client import OnToolError
    from ferrule_duckdb.functions import Bodies
    from ferrule_duckdb.groups import Ask
    from ferrule_duckdb.progress import Report

OnError = Literal["null", "text", "raise"]
_T = TypeVar("_T")

_BRAVE, _ANTHROPIC = "BRAVE_API_KEY", "ANTHROPIC_API_KEY"
_BRAVE_TOOL = "web_search_brave"
GROUP_TOKENS = 20_000
_SHOWN = (FerruleError, KeyboardInterrupt)


def _idle() -> Generator[None, None, None]:
    yield


# DuckDB (1.4, 1.5) shows below an error's sentence the whole stack of the program, from the innermost frame of its
# traceback on. That of a generator that does not run has no frame above it.
_IDLE = _idle()
_NOWHERE = TracebackType(None, _IDLE.gi_frame, 0, 1)  # type: ignore[attr-defined] # a generator, typed as an iterator


class Options(NamedTuple):
    """What a registration was asked for; `register` has the meanings."""

    client: Client | None = None
    model: str | None = None
    max_tokens: int | None = None
    tools: Sequence[str] | None = None
    keys: Keys | None = None
    on_error: OnError = "null"
    concurrency: int = 8
    max_calls: int | None = None
    max_spend: float | None = None
    remember: float | str = 300.0
    on_tool_error: OnToolError | None = None
    timeout: float | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    progress: Report | bool | None = None
    group_tokens: int = GROUP_TOKENS


class Service:
    """What asks, and how. keys: those of the session so far. A client that is made here is closed here."""

    def __init__(self, options: Options, keys: Keys | None) -> None:
        from ferrule_ask import Client, Keys, Limits

        self.options = options
        self.model = options.model
        self.memo = Memo(lifetime(options.remember))
        self.casts = Casts()
        self.client = options.client or Client(
            max_tokens=options.max_tokens,
            tools=options.tools,
            keys=options.keys or keys or Keys(),
            limits=Limits(calls=options.max_calls, spend=options.max_spend),
            concurrency=options.concurrency,
            on_tool_error=options.on_tool_error,
            requests_per_minute=options.requests_per_minute,
            tokens_per_minute=options.tokens_per_minute,
            remember=options.remember if isinstance(options.remember, str) else None,
        )
        progress = options.progress
        self.reporter = Reporter(progress if callable(progress) else None, is_silent=progress is False)
        self.rules = Rules(
            options.concurrency,
            options.timeout,
            strict=options.on_error == "raise",
            needs_tool=self.client.on_tool_error == "raise",
        )

    def start(self, question: Question) -> Future[Answer]:
        """Start asking. A model or a number of tokens that cannot be is an answer with a code, as others are."""
        context, prompt, model, max_tokens, shape = question
        try:
            wanted = shape_of(shape) if shape else None
            schema = wanted.schema if wanted else None
            options = AskOptions(model=model, max_tokens=self._tokens(max_tokens), patience=math.inf, schema=schema)
            asked = self.client.start(context, prompt, **options)
            return cast_when_done(asked, wanted, self.casts.why_not) if wanted and wanted.sql else asked
        except ConfigurationMalformed as error:
            refused: Future[Answer] = Future()
            refused.set_result(Answer(code="INVALID_REQUEST", error=error.message, model=model or ""))
            return refused

    def plan(self, question: Question) -> Plan:
        """What asking would take; nothing, where the question cannot be asked."""
        context, prompt, model, max_tokens, shape = question
        schema = shape_of(shape).schema if shape else None
        try:
            return self.client.plan(context, prompt, model=model, max_tokens=self._tokens(max_tokens), schema=schema)
        except ConfigurationMalformed:
            return Plan(0, 0, 0, 0.0, 0.0, ())

    def _tokens(self, max_tokens: int | None) -> int | None:
        return self.options.max_tokens if max_tokens is None else max_tokens

    def close(self) -> None:
        """End all that is being asked."""
        for statement in self.memo.running():
            self.memo.cancel(statement, CLOSED)
        self.casts.close()
        if self.options.client is None:
            self.client.close()


class Database:
    """One database of DuckDB, as long as the process lives. After its last connection it is an empty shell."""

    def __init__(self, service: Service) -> None:
        self._service: Service | None = service
        self._connections: dict[int, tuple[weakref.ref[DuckDBPyConnection], str]] = {}
        self._default: DuckDBPyConnection | None = None
        self._heirs: dict[int, set[int]] = {}  # of a connection: its cursors, by id

    @property
    def service(self) -> Service:
        """What asks. Raises FerruleError where the last connection has been unregistered."""
        if self._service is None:
            raise FerruleError(
                "No registered connection is left: it was closed by Registration.close(), or is no longer kept by the "
                "program. Call ferrule_duckdb.register(con) again."
            )
        return self._service

    @property
    def is_open(self) -> bool:
        """Whether a service is there."""
        return self._service is not None

    @property
    def keys(self) -> Keys | None:
        """The keys of the session so far."""
        return None if self._service is None else self._service.client.keys

    def renew(self, service: Service) -> None:
        """Let another service ask from now on. What is being asked is still answered by the one before."""
        self._service = service

    def enter(self, con: DuckDBPyConnection, key: str) -> None:
        """Count a connection in. key: what the keys of its statements begin with."""
        import duckdb

        number = id(con)
        for heirs in self._heirs.values():
            heirs.discard(number)  # it may be a cursor that is registered by itself now
        if con is duckdb.default_connection():
            self._default = con  # DuckDB keeps the connection of `duckdb.sql`, but not the object that stands for it
        self._connections[number] = (weakref.ref(con, lambda _: self._forget(number)), key)

    def leave(self, con: DuckDBPyConnection) -> bool:
        """Count a connection out; whether it was in. After the last one nothing is asked any more."""
        if self._connections.pop(id(con), None) is None:
            return False
        self._leave_heirs(id(con))
        if con is self._default:
            self._default = None
        if not self._connections and self._service is not None:
            service, self._service = self._service, None
            service.close()
        return True

    def _leave_heirs(self, number: int) -> None:
        for heir in self._heirs.pop(number, ()):
            self._connections.pop(heir, None)
            self._leave_heirs(heir)

    def on_cursor(self, connection: DuckDBPyConnection, cursor: DuckDBPyConnection) -> None:
        """Give a new cursor the functions, where its connection has them."""
        import duckdb

        known = self._connections.get(id(connection))
        if known is None or known[0]() is not connection or self._service is None:
            return
        with suppress(duckdb.Error):
            functions.create_macros(cursor)
            self.enter(cursor, functions.connection_key(cursor))
            self._heirs.setdefault(id(connection), set()).add(id(cursor))

    def on_interrupt(self, connection: DuckDBPyConnection | None) -> None:
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
        return {
            functions.TEXT: self._vector_function(self._texts, TEXTS),
            functions.ANSWER: self._vector_function(self._answers, ANSWERS),
            functions.VALUE: self._vector_function(self._values, TEXTS),
            functions.GROUP_TEXT: self._vector_function(self._group_texts, TEXTS),
            functions.GROUP: self._vector_function(self._groups, ANSWERS),
            functions.RANK: self._vector_function(self._ranks, RANKS),
            functions.PLAN: self._vector_function(self._plans, PLANS),
            functions.GROUP_REQUESTS: self._vector_function(self._group_requests, NUMBERS),
            functions.WHO: lambda: number,
            "stps_set_api_key": lambda key: self._set_key(_ANTHROPIC, key, "API key configured successfully"),
            "stps_set_brave_api_key": lambda key: self._set_key(_BRAVE, key, "Brave API key configured successfully"),
            "stps_set_model": self._set_model,
            "stps_get_model": self._get_model,
            "ask_usage": lambda: self.service.client.usage._asdict(),
            "ask_clear": self.clear,
            functions.ANSWERS: lambda: [given_row(one) for one in self.service.memo.answers()],
        }

    def _texts(self, columns: Sequence[ArrowArray]) -> ArrowArray:
        service = self.service
        vector, answers = self._answered(service, columns, ask_each)
        tells_errors = service.options.on_error == "text"
        return vector.texts(one and _text(one[0], tells_errors=tells_errors) for one in answers)

    def _answers(self, columns: Sequence[ArrowArray]) -> ArrowArray:
        vector, answers = self._answered(self.service, columns, ask_each)
        return vector.answers(answers)

    def _values(self, columns: Sequence[ArrowArray]) -> ArrowArray:
        vector, answers = self._answered(self.service, columns, ask_each)
        return vector.texts(one and value_text(one[0]) for one in answers)

    def _group_texts(self, columns: Sequence[ArrowArray]) -> ArrowArray:
        service = self.service
        vector, answers = self._answered(service, columns, answer_groups)
        tells_errors = service.options.on_error == "text"
        return vector.texts(one and _text(one[0], tells_errors=tells_errors) for one in answers)

    def _groups(self, columns: Sequence[ArrowArray]) -> ArrowArray:
        vector, answers = self._answered(self.service, columns, answer_groups)
        return vector.answers(answers)

    def _ranks(self, columns: Sequence[ArrowArray]) -> ArrowArray:
        vector, orders = self._answered(self.service, columns, rank_groups)
        return vector.ranks(orders)

    def _answered(
        self,
        service: Service,
        columns: Sequence[ArrowArray],
        work: Callable[[Ask, Sequence[Question | None], int], list[_T]],
    ) -> tuple[Vector, list[_T]]:
        """The questions of a vector, and what a way of asking makes of them."""
        vector = Vector(columns, service.model)
        with service.memo.statement(vector.statement) as statement:
            one_round = Round(service.memo, statement, service.start, service.rules, service.reporter)
            return vector, work(one_round.answers, vector.questions, service.options.group_tokens)

    def _plans(self, columns: Sequence[ArrowArray]) -> ArrowArray:
        service = self.service
        vector = Vector(columns, service.model)
        with service.memo.statement(vector.statement) as statement:
            plans = [one and service.plan(one) for one in vector.questions]
            repeated = [one is not None and _comes_again(service, statement, one) for one in vector.questions]
            return vector.plans(plans, repeated)

    def _group_requests(self, columns: Sequence[ArrowArray]) -> ArrowArray:
        vector, tokens = Vector(columns, self.service.model), self.service.options.group_tokens
        return vector.numbers(one and count_requests(one, tokens) for one in vector.questions)

    def _set_key(self, variable: str, key: str | None, done: str) -> str:
        if key is None or not key.strip():
            return f"ERROR: API key cannot be {'NULL' if key is None else 'blank'}"
        if variable == _BRAVE and not any(name == _BRAVE_TOOL for name, _, _ in entry_points("ferrule.tools")):
            return f"ERROR: No tool takes this key. Install ferrule-brave, which brings {_BRAVE_TOOL}."
        service = self.service
        try:
            settings = config.read()
            if variable == _BRAVE and settings.is_disabled(_BRAVE_TOOL):
                why = settings.why_disabled(_BRAVE_TOOL)
                return f"ERROR: No tool takes this key: {_BRAVE_TOOL} is disabled by {why}."
            service.client.keys.set(variable, key)
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
        return self.service.model or self.service.client.model

    def _vector_function(
        self, answer: Callable[[Sequence[ArrowArray]], ArrowArray], kind: object
    ) -> Callable[..., ArrowArray]:
        """What DuckDB calls with one array for each parameter, which it counts. kind: of the array it returns."""

        def call(
            context: ArrowArray,
            prompt: ArrowArray,
            model: ArrowArray,
            max_tokens: ArrowArray,
            shape: ArrowArray,
            statement: ArrowArray,
        ) -> ArrowArray:
            try:
                return answer((context, prompt, model, max_tokens, shape, statement))
            except _SHOWN as error:
                if _is_interruption(error) and self._interrupt(str(statement[0].as_py())):
                    return nulls(len(context), kind)  # which nobody sees
                raise error.with_traceback(_NOWHERE) from None

        return call

    def _interrupt(self, key: str) -> bool:
        """Have DuckDB itself end the statement with this key, as InterruptException; False where it cannot."""
        for reference, beginning in list(self._connections.values()):
            connection = reference()
            if connection is not None and key.startswith(beginning):
                interrupt(connection)
                return True
        return False

    def _forget(self, number: int) -> None:
        self._connections.pop(number, None)
        if not self._connections:
            self._service = None  # closes nothing: this may run in any thread, at any time


def _is_interruption(error: BaseException) -> bool:
    if isinstance(error, Interrupted):
        return error.message != CLOSED
    return isinstance(error, KeyboardInterrupt)


def _comes_again(service: Service, statement: Statement, question: Question) -> bool:
    again = hash(question) in statement.planned or service.memo.counts(question, statement)
    statement.planned.add(hash(question))
    return again


def _text(answer: Answer, *, tells_errors: bool) -> str | None:
    return f"ERROR: {failure(answer)}" if tells_errors and answer.text is None else marked_text(answer)
