"""From DuckDB's vectors to distinct questions, and from their answers back to vectors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa

from ferrule_duckdb.memo import Question
from ferrule_duckdb.sql_words import explain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ferrule.text.json_types import JSONObject
    from ferrule_ask.answer import Answer, Plan
    from ferrule_duckdb.batch import AnswerOfRow
    from ferrule_duckdb.memo import Given


class ArrowArray(Protocol):
    """What is used of `pyarrow.Array`, which has no types."""

    type: object

    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> ArrowScalar: ...
    def take(self, indices: ArrowArray) -> ArrowArray: ...
    def cast(self, target: object) -> ArrowArray: ...
    def to_pylist(self) -> list[object]: ...
    def to_numpy(self, *, zero_copy_only: bool) -> NDArray[np.int64]: ...
    def dictionary_encode(self, null_encoding: str) -> ArrowDictionary: ...


class ArrowScalar(Protocol):
    """One value of an array."""

    def as_py(self) -> object: ...


class ArrowDictionary(Protocol):
    """An array as numbers, and the distinct values that they stand for."""

    dictionary: ArrowArray
    indices: ArrowArray


_ARROW_TYPES = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
    "VARCHAR[]": pa.list_(pa.string()),
}
_SOURCES = "STRUCT(title VARCHAR, url VARCHAR, published VARCHAR, tool VARCHAR, cited BOOLEAN)[]"
_SOURCE_FIELDS = ("title", "url", "published", "tool")
_ARROW_TYPES[_SOURCES] = pa.list_(pa.struct([*((name, pa.string()) for name in _SOURCE_FIELDS), ("cited", pa.bool_())]))


def _fields(text: str) -> dict[str, str]:
    return dict(field.split() for field in text.split(", "))


_ANSWER = _fields(
    "text VARCHAR, code VARCHAR, error VARCHAR, stop_reason VARCHAR, model VARCHAR, tool VARCHAR, tool_input VARCHAR, "
    "input_tokens BIGINT, output_tokens BIGINT, cost DOUBLE, ms BIGINT, request_id VARCHAR, remembered BOOLEAN, "
    "tool_outcome VARCHAR, tool_code VARCHAR, tool_error VARCHAR, value VARCHAR, tool_calls VARCHAR"
) | {"sources": _SOURCES}
_GIVEN = {"statement": "BIGINT", "context": "VARCHAR", "prompt": "VARCHAR", **_ANSWER}
_PLAN = _fields(
    "requests_max BIGINT, input_tokens BIGINT, output_tokens_max BIGINT, cost_min DOUBLE, cost_max DOUBLE, "
    "tools VARCHAR[], remembered BOOLEAN, cost_likely DOUBLE, likely_from VARCHAR, searches_max BIGINT, "
    "search_cost_max DOUBLE"
)


def _struct(fields: dict[str, str]) -> str:
    return "STRUCT(" + ", ".join(f'"{name}" {kind}' for name, kind in fields.items()) + ")"


ANSWER_TYPE, PLAN_TYPE, GIVEN_TYPE = _struct(_ANSWER), _struct(_PLAN), _struct(_GIVEN)
TEXTS = pa.string()
RANKS = pa.list_(pa.int64())
NUMBERS = pa.int64()
ANSWERS = pa.struct([(name, _ARROW_TYPES[kind]) for name, kind in _ANSWER.items()])
PLANS = pa.struct([(name, _ARROW_TYPES[kind]) for name, kind in _PLAN.items()])


class Vector:
    """One vector of calls: `context`, `prompt`, `model`, `max_tokens`, `type`, and the statement's key.

    statement: that key. questions: the distinct ones. None stands for rows whose context or prompt is NULL.
    """

    def __init__(self, columns: Sequence[ArrowArray], model: str | None) -> None:
        whole = [_plain(column) for column in columns]
        first, self._rows = _distinct(whole[:5])
        self.statement = str(whole[5][0].as_py())
        rows = zip(*(column.take(_array(first)).to_pylist() for column in whole[:5]), strict=True)
        # Rows that differ may be one question: a model may be named, or be the one that counts anyway.
        numbers: dict[Question | None, int] = {}
        of_firsts = [numbers.setdefault(_question(row, model), len(numbers)) for row in rows]
        self._rows = np.array(of_firsts, dtype=np.int64)[self._rows]
        self.questions: list[Question | None] = list(numbers)

    def texts(self, answers: Iterable[str | None]) -> ArrowArray:
        """An array of VARCHAR, one for each row, from one for each question."""
        return self._spread([_clean(text) for text in answers], pa.string())

    def numbers(self, numbers: Iterable[int | None]) -> ArrowArray:
        """An array of BIGINT, one for each row, from one for each question."""
        return self._spread(list(numbers), NUMBERS)

    def ranks(self, orders: Iterable[Sequence[int] | None]) -> ArrowArray:
        """An array of BIGINT[], one for each row, from one for each question."""
        return self._spread(list(orders), RANKS)

    def answers(self, answers: Iterable[AnswerOfRow | None]) -> ArrowArray:
        """An array of ANSWER_TYPE, from the answer to each question and whether an earlier statement had asked it."""
        return self._spread([one and _answer_row(*one) for one in answers], ANSWERS)

    def plans(self, plans: Iterable[Plan | None], repeated: Iterable[bool]) -> ArrowArray:
        """An array of PLAN_TYPE, where only the first row of each question costs anything, and none of `repeated`."""
        full = list(plans)
        of_first = [plan and _plan_row(plan, costs=not again) for plan, again in zip(full, repeated, strict=True)]
        of_others = [plan and _plan_row(plan, costs=False) for plan in full]
        indices = self._rows + len(full)
        _, first = np.unique(self._rows, return_index=True)
        indices[first] -= len(full)
        return _array(of_first + of_others, PLANS).take(_array(indices))

    def _spread(self, values: Sequence[object], kind: object) -> ArrowArray:
        return _array(values, kind).take(_array(self._rows))


def make_answers(answers: Iterable[Answer]) -> ArrowArray:
    """An array of ANSWER_TYPE."""
    return _array([_answer_row(one, one.remembered) for one in answers], ANSWERS)


def nulls(length: int, kind: object) -> ArrowArray:
    """An array of NULLs."""
    return _array([None] * length, kind)


def _array(values: Sequence[object] | NDArray[np.int64], kind: object = None) -> ArrowArray:
    array: ArrowArray = pa.array(values, type=kind)
    return array


def _plain(column: ArrowArray) -> ArrowArray:
    """One array, of a type whose values can be told apart: string views cannot, in some versions."""
    array: ArrowArray = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.cast(pa.int32() if pa.types.is_integer(array.type) else pa.string())


def _distinct(columns: Sequence[ArrowArray]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first row of each distinct combination, and for each row the number of its combination."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        codes = codes * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy(zero_copy_only=False)
    _, first, rows = np.unique(codes, return_index=True, return_inverse=True)
    return first, rows


def _question(
    row: tuple[str | None, str | None, str | None, int | None, str | None], model: str | None
) -> Question | None:
    context, prompt, own_model, max_tokens, shape = row
    if context is None or prompt is None:
        return None
    return Question(context, prompt, (own_model or "").strip() or model, max_tokens, shape or None)


def _answer_row(answer: Answer, remembered: bool) -> JSONObject:
    row: JSONObject = {name: getattr(answer, name, None) for name in _ANSWER}
    given = answer.tool_input
    row["tool_input"] = None if given is None else json.dumps(given, ensure_ascii=False)
    row["value"] = value_text(answer)
    row["tool_calls"] = json.dumps(list(answer.tool_calls), ensure_ascii=False)
    row["sources"] = [{**one, **{name: _clean(one[name]) for name in _SOURCE_FIELDS}} for one in answer.sources]
    row["remembered"] = remembered
    row["error"] = explain(answer)
    return {name: _clean(value) if isinstance(value, str) else value for name, value in row.items()}


def value_text(answer: Answer) -> str | None:
    """The value of an answer as JSON; None where it has none, or was not asked for one."""
    has_none = answer.code is not None or answer.value is None
    return None if has_none else _clean(json.dumps(answer.value, ensure_ascii=False))


def given_row(given: Given) -> JSONObject:
    """A row of GIVEN_TYPE. Its cost and tokens are what the statement has paid."""
    row = _answer_row(given.answer, given.is_remembered)
    if given.is_remembered:
        row |= {"cost": 0.0, "input_tokens": 0, "output_tokens": 0}
    texts = {"context": _clean(given.question.context), "prompt": _clean(given.question.prompt)}
    return {"statement": given.statement, **texts, **row}


def _plan_row(plan: Plan, *, costs: bool) -> JSONObject:
    row: JSONObject = plan._asdict() | {"tools": list(plan.tools), "remembered": not costs}
    if not costs:
        row |= {"requests_max": 0, "input_tokens": 0, "output_tokens_max": 0, "cost_min": 0.0, "cost_max": 0.0}
        row |= {"cost_likely": 0.0, "searches_max": 0, "search_cost_max": 0.0}
    return row


def _clean(text: str | None) -> str | None:
    """The text; half a surrogate pair, which JSON can carry and SQL cannot, becomes a replacement character."""
    if text is None:
        return None
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
