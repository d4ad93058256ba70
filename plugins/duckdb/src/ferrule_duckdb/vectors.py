"""From DuckDB's vectors to distinct questions, and from their answers back to vectors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ferrule_duckdb.memo import Question

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrule_ask.answer import Answer, Plan

_ANSWER = {
    "text": (pa.string(), "VARCHAR"),
    "code": (pa.string(), "VARCHAR"),
    "error": (pa.string(), "VARCHAR"),
    "stop_reason": (pa.string(), "VARCHAR"),
    "model": (pa.string(), "VARCHAR"),
    "tool": (pa.string(), "VARCHAR"),
    "tool_input": (pa.string(), "VARCHAR"),
    "input_tokens": (pa.int64(), "BIGINT"),
    "output_tokens": (pa.int64(), "BIGINT"),
    "cost": (pa.float64(), "DOUBLE"),
    "ms": (pa.int64(), "BIGINT"),
    "request_id": (pa.string(), "VARCHAR"),
    "remembered": (pa.bool_(), "BOOLEAN"),
}
_PLAN = {
    "requests_max": (pa.int64(), "BIGINT"),
    "input_tokens": (pa.int64(), "BIGINT"),
    "output_tokens_max": (pa.int64(), "BIGINT"),
    "cost_min": (pa.float64(), "DOUBLE"),
    "cost_max": (pa.float64(), "DOUBLE"),
    "tools": (pa.list_(pa.string()), "VARCHAR[]"),
    "remembered": (pa.bool_(), "BOOLEAN"),
}
_Fields = dict[str, tuple[Any, str]]


def _struct(fields: _Fields) -> str:
    return "STRUCT(" + ", ".join(f'"{name}" {kind}' for name, (_, kind) in fields.items()) + ")"


ANSWER_TYPE, PLAN_TYPE = _struct(_ANSWER), _struct(_PLAN)
_ANSWERS = pa.struct([(name, kind) for name, (kind, _) in _ANSWER.items()])
_PLANS = pa.struct([(name, kind) for name, (kind, _) in _PLAN.items()])


class Vector:
    """One vector of calls: `context`, `prompt`, `model`, `max_tokens`, and the statement's key, the same in all rows.

    statement: that key. questions: the distinct ones. None stands for rows whose context or prompt is NULL.
    """

    def __init__(self, columns: Sequence[Any], model: str | None) -> None:
        whole = [_plain(column) for column in columns]
        first, self._rows = _distinct(whole[:4])
        self.statement: str = whole[4][0].as_py()
        rows = zip(*(column.take(pa.array(first)).to_pylist() for column in whole[:4]), strict=True)
        # Rows that differ may be one question: a model may be named, or be the one that counts anyway.
        numbers: dict[Question | None, int] = {}
        of_firsts = [numbers.setdefault(_question(row, model), len(numbers)) for row in rows]
        self._rows = np.array(of_firsts, dtype=np.int64)[self._rows]
        self.questions: list[Question | None] = list(numbers)

    def texts(self, answers: Iterable[str | None]) -> Any:
        """An array of VARCHAR, one for each row, from one for each question."""
        return self._spread([_clean(text) for text in answers], pa.string())

    def answers(self, answers: Iterable[tuple[Answer, bool] | None]) -> Any:
        """An array of ANSWER_TYPE, from the answer to each question and whether an earlier statement had asked it."""
        return self._spread([one and _answer_row(*one) for one in answers], _ANSWERS)

    def plans(self, plans: Iterable[Plan | None], repeated: Iterable[bool]) -> Any:
        """An array of PLAN_TYPE, where only the first row of each question costs anything, and none of `repeated`."""
        full = list(plans)
        of_first = [plan and _plan_row(plan, costs=not again) for plan, again in zip(full, repeated, strict=True)]
        of_others = [plan and _plan_row(plan, costs=False) for plan in full]
        indices = self._rows + len(full)
        _, first = np.unique(self._rows, return_index=True)
        indices[first] -= len(full)
        return pa.array(of_first + of_others, type=_PLANS).take(pa.array(indices))

    def _spread(self, values: list[Any], kind: Any) -> Any:
        return pa.array(values, type=kind).take(pa.array(self._rows))


def _plain(column: Any) -> Any:
    """One array, of a type whose values can be told apart: string views cannot, in some versions."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return array.cast(pa.int32() if pa.types.is_integer(array.type) else pa.string())


def _distinct(columns: Sequence[Any]) -> tuple[Any, Any]:
    """The first row of each distinct combination, and for each row the number of its combination."""
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        encoded = column.dictionary_encode(null_encoding="encode")
        codes = codes * max(1, len(encoded.dictionary)) + encoded.indices.to_numpy(zero_copy_only=False)
    _, first, rows = np.unique(codes, return_index=True, return_inverse=True)
    return first, rows


def _question(row: tuple[str | None, str | None, str | None, int | None], model: str | None) -> Question | None:
    context, prompt, own_model, max_tokens = row
    if context is None or prompt is None:
        return None
    return Question(context, prompt, (own_model or "").strip() or model, max_tokens)


def _answer_row(answer: Answer, remembered: bool) -> dict[str, Any]:
    row: dict[str, Any] = {name: getattr(answer, name, None) for name in _ANSWER}
    given = answer.tool_input
    row["tool_input"] = None if given is None else json.dumps(given, ensure_ascii=False)
    row["remembered"] = remembered
    return {name: _clean(value) if isinstance(value, str) else value for name, value in row.items()}


def _plan_row(plan: Plan, *, costs: bool) -> dict[str, Any]:
    row: dict[str, Any] = plan._asdict() | {"tools": list(plan.tools), "remembered": not costs}
    if not costs:
        row |= {"requests_max": 0, "input_tokens": 0, "output_tokens_max": 0, "cost_min": 0.0, "cost_max": 0.0}
    return row


def _clean(text: str | None) -> str | None:
    """The text; half a surrogate pair, which JSON can carry and SQL cannot, becomes a replacement character."""
    if text is None:
        return None
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
