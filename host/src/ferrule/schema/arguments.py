"""A call's arguments, held against the tool's schema.

The keywords that ikigai's schema format has, and the limits that real tools add to them, are checked here in a few
microseconds. jsonschema, which takes nine interpreter starts to import, is asked only where a schema has a keyword,
at any depth, that this module does not know.
"""

from __future__ import annotations

from ferrule.errors import ArgumentsInvalid

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeGuard

    from ferrule.errors import SchemaInvalid

_ANNOTATIONS = {"title", "description", "default", "examples", "format", "deprecated", "$schema", "$comment"}
_SHOWN = 60


def prepare(arguments: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """The arguments as the tool gets them: fillers dropped, whole floats made integers, everything checked.

    arguments: what the model sent. parameters: the schema's `parameters`. Raises ArgumentsInvalid with every finding,
    and SchemaInvalid where nothing can be held against such a schema.
    """
    try:
        meant = without_fillers(arguments, parameters)
        findings = [*_unknown(meant, parameters), *check(meant, parameters)]
    except Exception as error:
        # A limit that is no number, a reference to nothing, a circle: the rules of a call do not look for all of it.
        raise _unusable(error) from error
    if findings:
        raise ArgumentsInvalid(findings)
    return {name: _integral(value, _properties(parameters).get(name)) for name, value in meant.items()}


def without_fillers(arguments: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    """The arguments without what a model writes only because strict mode makes it fill in every optional one.

    Dropped are top-level optional arguments that are null, "", [], or a 0 that the schema's own limits exclude.
    """
    required = parameters.get("required", ())
    properties = _properties(parameters)
    return {
        name: value
        for name, value in arguments.items()
        if name in required or not _is_filler(value, properties.get(name))
    }


def check(value: Any, schema: dict[str, Any]) -> Iterator[str]:
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


def _check(value: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    if "type" in schema and not _is_a(value, schema["type"]):
        yield f"{_at(place)} expected {schema['type']}, got {_kind(value)} {_shown(value)}".rstrip()
        return
    for keyword, limit in schema.items():
        if keyword in _CHECKS:
            yield from _CHECKS[keyword](value, limit, schema, place)


def _unknown(arguments: dict[str, Any], parameters: dict[str, Any]) -> Iterator[str]:
    """A misspelt argument must not be ignored: the model would take the answer for what it asked."""
    properties = _properties(parameters)
    if "additionalProperties" in parameters:
        return
    for name in arguments:
        if name not in properties:
            yield f"{name[:_SHOWN]}: there is no such argument; there are {', '.join(properties) or 'none'}"


def _properties(schema: dict[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _is_filler(value: object, schema: Any) -> bool:
    if value is None or value == "" or value == []:
        return True
    is_zero = isinstance(value, int | float) and not isinstance(value, bool) and value == 0
    return is_zero and isinstance(schema, dict) and any(_limits(value, schema))


def _limits(value: object, schema: dict[str, Any]) -> Iterator[str]:
    for keyword in ("minimum", "exclusiveMinimum"):
        if keyword in schema:
            yield from _CHECKS[keyword](value, schema[keyword], schema, "")


def _integral(value: Any, schema: Any) -> Any:
    """JSON Schema takes 5.0 for an integer, and Python's range() does not."""
    if not isinstance(schema, dict):
        return value
    if schema.get("type") == "integer" and isinstance(value, float):
        return int(value)
    if isinstance(value, list):
        return [_integral(item, schema.get("items")) for item in value]
    if isinstance(value, dict):
        return {name: _integral(item, _properties(schema).get(name)) for name, item in value.items()}
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


def _shown(value: object) -> str:
    return "" if isinstance(value, dict | list) or value is None else _spelled(value)


def _spelled(value: object) -> str:
    from ferrule.text import strict_json

    text = repr(value) if isinstance(value, str) else strict_json.dumps(value).decode()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


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


def _required(value: Any, names: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name in names:
            if name not in value:
                kind = _properties(schema).get(name, {}).get("type", "value")
                yield f"{_within(place, name)}: it is required and missing, expected {kind}"


def _inner(value: Any, properties: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in properties.items():
            if name in value:
                yield from _check(value[name], inner, _within(place, name))


def _items(value: Any, items: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _check(item, items, _within(place, str(index)))


def _enum(value: Any, allowed: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    if not any(_same(value, one) for one in allowed):
        yield f"{_at(place)} expected one of {', '.join(map(_spelled, allowed))}, got {_shown(value) or _kind(value)}"


def _compare(word: str, holds: Callable[[Any, Any], bool]) -> Callable[..., Iterator[str]]:
    def compare(value: Any, limit: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
        if _is_number(value) and not holds(value, limit):
            yield f"{_at(place)} expected {word} {limit}, got {_shown(value)}"

    return compare


def _length(
    kind: type[str] | type[list[Any]], word: str, unit: str, holds: Callable[[int, int], bool]
) -> Callable[..., Iterator[str]]:
    def length(value: Any, limit: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
        if isinstance(value, kind) and not holds(len(value), limit):
            yield f"{_at(place)} expected {word} {limit} {unit}, got {len(value)}"

    return length


def _by_jsonschema(value: Any, schema: dict[str, Any]) -> Iterator[str]:
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # Without a registry of its own, jsonschema would fetch what a reference names.
    registry: Registry[Any] = Registry()
    for error in Draft202012Validator(schema, registry=registry).iter_errors(value):
        # The message starts with the value, however long that is, and ends with what is wrong with it.
        message = error.message
        shown = message if len(message) <= 4 * _SHOWN else f"{message[:_SHOWN]}…{message[-3 * _SHOWN :]}"
        yield f"{_at('/'.join(map(str, error.absolute_path)))} {shown}"


def _unusable(error: Exception) -> SchemaInvalid:
    from ferrule.errors import SchemaInvalid
    from ferrule.supervision.exception_text import name_and_text

    return SchemaInvalid(
        f"The tool's schema cannot be used to check arguments: {name_and_text(error)}.",
        hint="`ferrule validate` says what is wrong with it.",
    )


def _checked_by_type(value: Any, limit: Any, schema: dict[str, Any], place: str) -> Iterator[str]:
    return iter(())


_CHECKS: dict[str, Callable[..., Iterator[str]]] = {
    "type": _checked_by_type,
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
