"""From a type of DuckDB to the JSON schema that an answer has to fit, and whether a value can be cast to the type."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from ferrule.errors import FerruleError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ferrule.text.json_types import JSONMapping, JSONObject
    from ferrule_ask.answer import Answer

_WHOLE = ("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint", "hugeint")
_MOMENT: JSONObject = {"type": "string", "description": "YYYY-MM-DD hh:mm:ss"}
_INSTANT: JSONObject = {"type": "string", "format": "date-time"}
_SCHEMAS: Mapping[str, JSONObject] = {
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "time_ns": {"type": "string", "description": "hh:mm:ss"},
    "time with time zone": {"type": "string", "description": "hh:mm:ss+hh:mm"},
    **dict.fromkeys(("timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns"), _MOMENT),
    **dict.fromkeys(("timestamp with time zone", "timestamptz_ns"), _INSTANT),
    "uuid": {"type": "string", "format": "uuid"},
    "interval": {"type": "string", "description": "such as 3 days"},
    "boolean": {"type": "boolean"},
    "varchar": {"type": "string"},
    **{name: {"type": "number"} for name in ("float", "double")},
    **{name: {"type": "integer"} for name in (*_WHOLE, "uhugeint")},
}
_JSON: JSONObject = {"type": "string", "description": "any JSON, written as a text"}
_DECIMAL: JSONObject = {"type": "string", "description": "a decimal number"}
_MAX_NUMBER_DIGITS = 15  # that a number in JSON keeps
# What to take instead of a type that no JSON can be cast to.
_INSTEAD = {
    "blob": "Take VARCHAR and cast it, as from_base64(answer).",
    "bit": "Take VARCHAR and cast it: CAST(answer AS BIT).",
    "bignum": "Take HUGEINT, or VARCHAR and cast it: CAST(answer AS BIGNUM).",
    "geometry": "Take VARCHAR, a text in WKT, and cast it: ST_GeomFromText(answer).",
    "variant": "Take JSON and cast it: CAST(answer AS VARIANT).",
    "tuple": "Take a STRUCT, whose fields have names.",
}
_MAX_SHOWN_CHARS = 120


class Shape(NamedTuple):
    """What an answer has to be. schema: as JSON. sql: the type in SQL; None where the caller gave a schema.

    kind: DuckDB's own object for the type.
    """

    schema: JSONMapping
    sql: str | None
    kind: object = None

    @property
    def has_parts(self) -> bool:
        """Whether values have parts, which as a text of DuckDB nothing else could tell apart."""
        return self.kind is not None and _name(self.kind) in _WITH_PARTS

    def fold(self, value: object) -> object:
        """The value as JSON that DuckDB casts to the type. Raises ValueError where a part that has to be JSON is none.

        A model writes a MAP as a list of entries, and JSON as a text: providers take no schema with open objects.
        """
        return value if self.kind is None else _fold(self.kind, value)


class ShapeMalformed(FerruleError):
    """What was given as the type of the answers is none."""


class _NoType(Exception):
    """A type that a model cannot answer with. Its only argument is a sentence."""


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

    make = getattr(duckdb, "sqltype", None) or duckdb.type
    try:
        kind = make(text)
        return Shape(_schema(kind, ""), text, kind)
    except _NoType as error:
        raise ShapeMalformed(str(error)) from None
    except (duckdb.Error, ValueError):
        sentence = f"{text[:_MAX_SHOWN_CHARS]!r} is no type that a model can answer with."
        hint = "Give a type, such as NULL::STRUCT(price DOUBLE, as_of DATE), or a JSON schema as text."
        raise ShapeMalformed(f"{sentence} {hint}") from None


def _schema(kind: object, path: str) -> JSONObject:
    """Raises _NoType, which names the field by its path."""
    name = _name(kind)
    if name == "json":
        return dict(_JSON)
    if name in _SCHEMAS:
        return dict(_SCHEMAS[name])
    make = _NESTED.get(name)
    if make is None:
        where = f"The field `{path}` is {str(kind)[:_MAX_SHOWN_CHARS]}, which" if path else str(kind)[:_MAX_SHOWN_CHARS]
        advice = _INSTEAD.get(name, "Take VARCHAR, and cast the answer.")
        raise _NoType(f"{where} is no type that a model can answer with. {advice}")
    return make(_children(kind), path)


def _name(kind: object) -> str:
    """DuckDB's name for a type, in small letters: JSON is a text for DuckDB, under a name of its own."""
    return "json" if str(kind) == "JSON" else str(getattr(kind, "id"))  # noqa: B009 - of a class whose types are not known


def _children(kind: object) -> list[tuple[str, object]]:
    return list(getattr(kind, "children", ()))


def _struct_schema(children: list[tuple[str, object]], path: str) -> JSONObject:
    if not children:
        raise _NoType("A STRUCT without fields is no type that a model can answer with. Give it fields.")
    properties = {field: _or_null(_schema(one, _join(path, field))) for field, one in children}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list_schema(children: list[tuple[str, object]], path: str) -> JSONObject:
    return {"type": "array", "items": _schema(dict(children)["child"], f"{path}[]")}


def _array_schema(children: list[tuple[str, object]], path: str) -> JSONObject:
    size = dict(children)["size"]
    return {**_list_schema(children, path), "minItems": size, "maxItems": size}


def _map_schema(children: list[tuple[str, object]], path: str) -> JSONObject:
    """The entries of a map, as a list."""
    parts = dict(children)
    if _name(parts["key"]) not in _SCHEMAS:
        where = f"The field `{path}` has" if path else "The MAP has"
        raise _NoType(f"{where} keys of {parts['key']}, which JSON cannot have. Take a list of STRUCTs.")
    entry = {"key": _schema(parts["key"], f"{path}[key]"), "value": _or_null(_schema(parts["value"], f"{path}[value]"))}
    one: JSONObject = {"type": "object", "properties": entry, "required": list(entry), "additionalProperties": False}
    return {"type": "array", "items": one, "description": "the entries of a map; each key once"}


def _union_schema(children: list[tuple[str, object]], path: str) -> JSONObject:
    members = [_struct_schema([(name, kind)], path) for name, kind in children if name]
    return {"anyOf": members}


def _enum_schema(children: list[tuple[str, object]], path: str) -> JSONObject:
    values = dict(children)["values"]
    return {"type": "string", "enum": list(values) if isinstance(values, list | tuple) else []}


def _decimal_schema(children: list[tuple[str, object]], path: str) -> JSONObject:
    digits = dict(children)["precision"]
    return dict(_DECIMAL) if isinstance(digits, int) and digits > _MAX_NUMBER_DIGITS else {"type": "number"}


_NESTED: Mapping[str, Callable[[list[tuple[str, object]], str], JSONObject]] = {
    "struct": _struct_schema,
    "list": _list_schema,
    "array": _array_schema,
    "map": _map_schema,
    "union": _union_schema,
    "enum": _enum_schema,
    "decimal": _decimal_schema,
}

_WITH_PARTS = frozenset(("struct", "list", "array", "map", "union"))


def _join(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def _fold(kind: object, value: object) -> object:
    name = _name(kind)
    if name == "json" and isinstance(value, str):
        return json.loads(value)
    children = dict(_children(kind)) if name in _NESTED else {}
    if name in ("list", "array") and isinstance(value, list):
        return [_fold(children["child"], one) for one in value]
    if name in ("struct", "union") and isinstance(value, dict):
        return {field: _fold(children[field], one) if field in children else one for field, one in value.items()}
    if name == "map" and isinstance(value, list):
        return _fold_map(children, value)
    return value


def _fold_map(children: Mapping[str, object], entries: list[JSONMapping]) -> JSONObject:
    keys = [_key(entry["key"]) for entry in entries]
    if len(set(keys)) < len(keys):
        raise ValueError("a key of the map stands there twice")
    return {key: _fold(children["value"], entry["value"]) for key, entry in zip(keys, entries, strict=True)}


def _key(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _or_null(schema: JSONObject) -> JSONObject:
    """A field may have no value, as any in SQL."""
    return {"anyOf": [schema, {"type": "null"}]}


def cast_from_json(value: str, sql: str) -> str:
    """The expression that casts JSON to a type. DuckDB 1.4 casts JSON to some types only inside of a list."""
    return f"(CAST(json_array({value}::JSON) AS {sql}[]))[1]"


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
                # Its hash: Python itself cannot have each value of each type, such as a time without pytz.
                self._con.execute(f"SELECT hash({cast_from_json('?', sql)})", [value]).fetchall()
            except duckdb.Error as error:
                return str(error).splitlines()[0].removeprefix("Conversion Error: ")[:_MAX_SHOWN_CHARS]
        return None

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            if self._con is not None:
                self._con.close()
                self._con = None


def cast_when_done(asked: Future[Answer], shape: Shape, why_not: Callable[[str, str], str | None]) -> Future[Answer]:
    """The same answer, with the code VALUE_UNFIT where DuckDB would refuse its value. Cancelling it ends the asking."""
    cast: Future[Answer] = Future()

    def land(_: Future[Answer]) -> None:
        if asked.cancelled() or not cast.set_running_or_notify_cancel():
            cast.cancel()
            return
        try:
            cast.set_result(_cast(asked.result(), shape, why_not))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            cast.set_exception(error)

    cast.add_done_callback(lambda one: asked.cancel() if one.cancelled() else None)
    asked.add_done_callback(land)
    return cast


def cast_answer(answer: Answer, kind: str) -> Answer:
    """An answer of a type of SQL, with its value as JSON that DuckDB casts to it, and that as its text.

    Where DuckDB would refuse the value, the answer has none, and the code VALUE_UNFIT.
    """
    with closing(Casts()) as casts:
        cast = _cast(answer, shape_of(kind), casts.why_not)
    return cast if cast.code is not None else cast._replace(text=json.dumps(cast.value, ensure_ascii=False))


def _encode(value: object) -> str:
    """Raises ValueError for a number that JSON does not have: Python and DuckDB would write it all the same."""
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        raise ValueError("it has a number that JSON does not have, such as NaN, or one beyond 1.8e308") from None


def _cast(answer: Answer, shape: Shape, why_not: Callable[[str, str], str | None]) -> Answer:
    if answer.code is not None or answer.value is None or shape.sql is None:
        return answer
    try:
        value = shape.fold(answer.value)
        why = why_not(_encode(value), shape.sql)
    except ValueError as error:
        value, why = None, f"{error}"[:_MAX_SHOWN_CHARS]
    sentence = f"What the model has written is no {shape.sql[:_MAX_SHOWN_CHARS]}: {why}. Ask again, or in other words."
    if why is None:
        return answer._replace(value=value)
    return answer._replace(text=None, value=None, code="VALUE_UNFIT", error=sentence)
