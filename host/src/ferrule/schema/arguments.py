"""A call's arguments, held against the tool's schema.

The keywords that ikigai's schema format has, and the limits that real tools add to them, are checked here in a few
microseconds. jsonschema, which takes nine interpreter starts to import, is asked only where a schema has a keyword,
at any depth, that this module does not know.
"""

from __future__ import annotations

from ferrule.errors import ArgumentsInvalid

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeGuard

    from ferrule.errors import SchemaInvalid
    from ferrule.text.json_types import JSONMapping, JSONObject

    Check = Callable[..., Iterator[str]]

_ANNOTATIONS = {"title", "description", "default", "examples", "format", "deprecated", "$schema", "$comment"}
_MAX_SHOWN_CHARS = 60


def prepare(arguments: JSONObject, parameters: JSONObject) -> JSONObject:
    """The arguments as the tool gets them: fillers dropped, whole floats made integers, everything checked.

    arguments: what the model sent. parameters: the schema's `parameters`. Raises ArgumentsInvalid with every finding,
    and SchemaInvalid where nothing can be held against such a schema.
    """
    try:
        meant = without_fillers(arguments, parameters)
        findings = [*_find_unknown(meant, parameters), *check(meant, parameters)]
    except Exception as error:
        # A limit that is no number, a reference to nothing, a circle: the rules of a call do not look for all of it.
        raise _unusable(error) from error
    if findings:
        raise ArgumentsInvalid(findings)
    return {name: _as_integer(value, _properties(parameters).get(name)) for name, value in meant.items()}


def without_fillers(arguments: JSONObject, parameters: JSONObject) -> JSONObject:
    """The arguments without what a model writes only because strict mode makes it fill in every optional one.

    Dropped are top-level optional arguments that are null, "", [], or a 0 that the schema's own limits exclude.
    """
    required, properties = parameters.get("required", ()), _properties(parameters)
    return {
        name: value
        for name, value in arguments.items()
        if name in required or not _is_filler(value, properties.get(name))
    }


def check(value: object, schema: JSONObject) -> Iterator[str]:
    """Every finding about a value, one sentence each, the place first."""
    return _by_jsonschema(value, schema) if needs_jsonschema(schema) else _check(value, schema, "")


def needs_jsonschema(schema: object) -> bool:
    """True where a schema has a keyword that only jsonschema knows; it may then take any time to check a value.

    All of the schema is looked at, since a reference in one place may lead to another one.
    """
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, dict) or not _ANNOTATIONS.issuperset(one.keys() - _CHECKS.keys()):
            return True
        waiting.extend(_properties(one).values())
        if "items" in one:
            waiting.append(one["items"])
    return False


def _check(value: object, schema: JSONObject, place: str) -> Iterator[str]:
    if "type" in schema and not _is_a(value, schema["type"]):
        yield f"{_at(place)} expected {schema['type']}, got {_kind(value)} {_format_value(value)}".rstrip()
        return
    for keyword, limit in schema.items():
        if keyword in _CHECKS:
            yield from _CHECKS[keyword](value, limit, schema, place)


def _find_unknown(arguments: JSONObject, parameters: JSONObject) -> Iterator[str]:
    """A misspelt argument must not be ignored: the model would take the answer for what it asked."""
    if "additionalProperties" in parameters:
        return
    properties = _properties(parameters)
    for name in arguments:
        if name not in properties:
            yield f"{name[:_MAX_SHOWN_CHARS]}: there is no such argument; there are {', '.join(properties) or 'none'}"


def _properties(schema: JSONObject) -> JSONObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _is_filler(value: object, schema: object) -> bool:
    if value is None or value == "" or value == []:
        return True
    return _is_number(value) and value == 0 and isinstance(schema, dict) and any(_limits(value, schema))


def _limits(value: object, schema: JSONObject) -> Iterator[str]:
    for keyword in ("minimum", "exclusiveMinimum"):
        if keyword in schema:
            yield from _CHECKS[keyword](value, schema[keyword], schema, "")


def _as_integer(value: object, schema: object) -> object:
    """JSON Schema takes 5.0 for an integer, and Python's range() does not."""
    if not isinstance(schema, dict):
        return value
    if schema.get("type") == "integer" and isinstance(value, float):
        return int(value)
    if isinstance(value, list):
        return [_as_integer(item, schema.get("items")) for item in value]
    if isinstance(value, dict):
        return {name: _as_integer(item, _properties(schema).get(name)) for name, item in value.items()}
    return value


def _is_a(value: object, kind: object) -> bool:
    if kind == "integer":
        return _is_number(value) and (isinstance(value, int) or float(value).is_integer())
    if kind == "number":
        return _is_number(value)
    types = {"string": str, "boolean": bool, "array": list, "object": dict}
    return isinstance(value, types[str(kind)]) if kind in types else value is None


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: object) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _format_value(value: object) -> str:
    return "" if isinstance(value, dict | list) or value is None else _spell_out(value)


def _spell_out(value: object) -> str:
    from ferrule.text import strict_json

    text = repr(value) if isinstance(value, str) else strict_json.dumps(value).decode()
    return text if len(text) <= _MAX_SHOWN_CHARS else text[:_MAX_SHOWN_CHARS] + "…"


def _same(one: object, other: object) -> bool:
    """Equality as JSON Schema has it: 1 is 1.0, and neither is true."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    return one == other


def _at(place: str) -> str:
    return f"{place or 'the arguments'}:"


def _within(name: str, keyword: str) -> str:
    return f"{name}/{keyword}" if name else keyword


def _required(value: object, names: Iterable[str], schema: JSONObject, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in names:
            if name not in value:
                kind = _properties(schema).get(name, {}).get("type", "value")
                yield f"{_within(place, name)}: it is required and missing, expected {kind}"


def _inner(value: object, properties: JSONObject, schema: JSONObject, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in properties.items():
            if name in value:
                yield from _check(value[name], inner, _within(place, name))


def _items(value: object, items: JSONObject, schema: JSONObject, place: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _check(item, items, _within(place, str(index)))


def _enum(value: object, allowed: Sequence[object], schema: JSONObject, place: str) -> Iterator[str]:
    if not any(_same(value, one) for one in allowed):
        got = _format_value(value) or _kind(value)
        yield f"{_at(place)} expected one of {', '.join(map(_spell_out, allowed))}, got {got}"


def _compare(word: str, holds: Callable[[float, float], bool]) -> Check:
    def compare(value: object, limit: float, schema: JSONObject, place: str) -> Iterator[str]:
        if _is_number(value) and not holds(value, limit):
            yield f"{_at(place)} expected {word} {limit}, got {_format_value(value)}"

    return compare


def _length(kind: type[str | list[object]], word: str, unit: str, holds: Callable[[int, int], bool]) -> Check:
    def length(value: object, limit: int, schema: JSONObject, place: str) -> Iterator[str]:
        if isinstance(value, kind) and not holds(len(value), limit):
            yield f"{_at(place)} expected {word} {limit} {unit}, got {len(value)}"

    return length


def _by_jsonschema(value: object, schema: JSONObject) -> Iterator[str]:
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # Without a registry of its own, jsonschema would fetch what a reference names.
    registry: Registry[bool | JSONMapping] = Registry()
    for error in Draft202012Validator(schema, registry=registry).iter_errors(value):
        # The message starts with the value, however long that is, and ends with what is wrong with it.
        message = error.message
        if len(message) > 4 * _MAX_SHOWN_CHARS:
            message = f"{message[:_MAX_SHOWN_CHARS]}…{message[-3 * _MAX_SHOWN_CHARS :]}"
        yield f"{_at('/'.join(map(str, error.absolute_path)))} {message}"


def _unusable(error: Exception) -> SchemaInvalid:
    from ferrule.errors import SchemaInvalid
    from ferrule.supervision.exception_text import name_and_text

    return SchemaInvalid(
        f"The tool's schema cannot be used to check arguments: {name_and_text(error)}.",
        hint="`ferrule validate` says what is wrong with it.",
    )


_CHECKS: dict[str, Check] = {
    "type": lambda *_: iter(()),  # which is looked at before all others
    "properties": _inner,
    "required": _required,
    "items": _items,
    "enum": _enum,
    "minimum": _compare("at least", lambda value, limit: value >= limit),
    "maximum": _compare("at most", lambda value, limit: value <= limit),
    "exclusiveMinimum": _compare("more than", lambda value, limit: value > limit),
    "exclusiveMaximum": _compare("less than", lambda value, limit: value < limit),
    "minLength": _length(str, "at least", "characters", lambda length, limit: length >= limit),
    "maxLength": _length(str, "at most", "characters", lambda length, limit: length <= limit),
    "minItems": _length(list, "at least", "items", lambda length, limit: length >= limit),
    "maxItems": _length(list, "at most", "items", lambda length, limit: length <= limit),
}
