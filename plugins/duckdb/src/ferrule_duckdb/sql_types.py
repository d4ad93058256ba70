"""From a type of DuckDB to the JSON schema that an answer has to fit, and whether a value can be cast to the type."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.answer import Answer

_WHOLE = ("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint", "hugeint")
_TEXTS: Mapping[str, JSONObject] = {
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "timestamp": {"type": "string", "description": "YYYY-MM-DD hh:mm:ss"},
    "timestamp with time zone": {"type": "string", "format": "date-time"},
    "uuid": {"type": "string", "format": "uuid"},
    "interval": {"type": "string", "description": "such as 3 days"},
    "boolean": {"type": "boolean"},
    "varchar": {"type": "string"},
    **{name: {"type": "number"} for name in ("float", "double", "decimal")},
    **{name: {"type": "integer"} for name in (*_WHOLE, "uhugeint")},
}
_MAX_SHOWN_CHARS = 120


class Shape(NamedTuple):
    """What an answer has to be. schema: as JSON. sql: the type in SQL; None where the caller gave a schema."""

    schema: JSONMapping
    sql: str | None


class ShapeMalformed(FerruleError):
    """What was given as the type of the answers is none."""


@lru_cache(maxsize=64)
def shape_of(text: str) -> Shape:
    """The shape for a JSON schema, or for a type such as `STRUCT(price DOUBLE, as_of DATE)`. Raises ShapeMalformed."""
    from ferrule_ask.typed_answers import checked

    if text.lstrip().startswith("{"):
        try:
            return Shape(checked(json.loads(text)), None)
        except ValueError as error:
            raise ShapeMalformed(f"The schema of the answers is none: it has to be {error}.") from None
    import duckdb

    kind = getattr(duckdb, "sqltype", None) or duckdb.type
    try:
        return Shape(_schema(kind(text)), text)
    except (duckdb.Error, ValueError):
        sentence = f"{text[:_MAX_SHOWN_CHARS]!r} is no type that a model can answer with."
        hint = "Give a type, such as NULL::STRUCT(price DOUBLE, as_of DATE), or a JSON schema as text."
        raise ShapeMalformed(f"{sentence} {hint}") from None


def _schema(kind: object) -> JSONObject:
    name = str(getattr(kind, "id"))  # noqa: B009 - of a class whose types are not told
    if name in _TEXTS:
        return dict(_TEXTS[name])
    children = dict(getattr(kind, "children", ()))
    if name == "struct":
        properties = {field: _or_null(_schema(one)) for field, one in children.items()}
        return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    if name == "list":
        return {"type": "array", "items": _schema(children["child"])}
    if name == "enum":
        return {"type": "string", "enum": list(children["values"])}
    raise ValueError(name)


def _or_null(schema: JSONObject) -> JSONObject:
    """A field may have no value, as any in SQL."""
    return {"anyOf": [schema, {"type": "null"}]}


def cast_from_json(value: str, sql: str) -> str:
    """The expression that casts JSON to a type. DuckDB 1.4 casts JSON to an ENUM only inside of a list."""
    if sql.lstrip().upper().startswith("ENUM"):
        return f"(CAST(json_array({value}::JSON) AS {sql}[]))[1]"
    return f"CAST({value}::JSON AS {sql})"


class Casts:
    """Casts as DuckDB does them, in a database of its own: a value that it refuses would end the whole statement."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._con: DuckDBPyConnection | None = None

    def why_not(self, value: str, sql: str) -> str | None:
        """Why JSON cannot be cast to a type; None where it can."""
        import duckdb

        with self._lock:
            if self._con is None:
                self._con = duckdb.connect(config={"threads": 1})
            try:
                self._con.execute(f"SELECT {cast_from_json('?', sql)}", [value]).fetchall()
            except duckdb.Error as error:
                return str(error).splitlines()[0].removeprefix("Conversion Error: ")[:_MAX_SHOWN_CHARS]
        return None

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            if self._con is not None:
                self._con.close()
                self._con = None


def cast_when_done(asked: Future[Answer], sql: str, why_not: Callable[[str, str], str | None]) -> Future[Answer]:
    """The same answer, with the code VALUE_UNFIT where DuckDB would refuse its value. Cancelling it ends the asking."""
    cast: Future[Answer] = Future()

    def land(_: Future[Answer]) -> None:
        if asked.cancelled() or not cast.set_running_or_notify_cancel():
            cast.cancel()
            return
        try:
            cast.set_result(_cast(asked.result(), sql, why_not))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            cast.set_exception(error)

    cast.add_done_callback(lambda one: asked.cancel() if one.cancelled() else None)
    asked.add_done_callback(land)
    return cast


def _cast(answer: Answer, sql: str, why_not: Callable[[str, str], str | None]) -> Answer:
    if answer.code is not None or answer.value is None:
        return answer
    why = why_not(json.dumps(answer.value), sql)
    sentence = f"What the model has written is no {sql[:_MAX_SHOWN_CHARS]}: {why}. Ask again, or in other words."
    return answer if why is None else answer._replace(text=None, value=None, code="VALUE_UNFIT", error=sentence)
