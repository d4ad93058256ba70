"""Values made from a schema: good ones, ones of another type, ones outside of the limits, fillers. Always the same."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeGuard

if TYPE_CHECKING:
    from ferrule.text.json_types import JSONObject

_MAX_LEVELS = 12
_MAX_CHARS, _MAX_ITEMS = 100_000, 1_000  # of a made-up value, whatever its schema asks for
_MAX_MAGNITUDE = 1e15  # below which each whole number is a double of its own
_FORMATS = {
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uri-reference": "https://example.com/",
    "email": "someone@example.com",
    "date": "2024-02-29",
    "time": "12:00:00Z",
    "date-time": "2024-02-29T12:00:00Z",
    "duration": "PT1H",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "regex": "a+",
    "json-pointer": "/a",
}
# Where a schema says no more than "string", the name of a parameter is a hint at what it takes.
_NAMES = (
    ("url", "https://example.com/"),
    ("uri", "https://example.com/"),
    ("email", "someone@example.com"),
    ("date", "2024-02-29"),
    ("path", "example.txt"),
    ("file", "example.txt"),
)
_ANOTHER_TYPE: object = {"another": "type"}
_TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}


class Variant(NamedTuple):
    """One change of good arguments. label: what was changed, for a user. arguments: the whole object."""

    label: str
    arguments: JSONObject


def arguments(parameters: JSONObject) -> JSONObject:
    """The required arguments, each with a value that fits its schema as far as that can be told."""
    value = _value(parameters, "", 0, parameters)
    return value if isinstance(value, dict) else {}


def without_each_required(good: JSONObject, parameters: JSONObject) -> Iterator[Variant]:
    """The arguments without one that is required, for each of them."""
    for name in filter(_properties(parameters).__contains__, _required(parameters)):
        yield Variant(f"{name} missing", {key: value for key, value in good.items() if key != name})


def of_another_type(good: JSONObject, parameters: JSONObject) -> Iterator[tuple[bool, Variant]]:
    """The arguments with one of another type, for each of them, and whether that one is required.

    What is wrong inside of an argument does not count as required: an item of an array, a property of an object.
    """
    required = _required(parameters)
    for name, schema in _properties(parameters).items():
        resolved = _resolved(schema, parameters)
        wrong = _wrong(resolved)
        if wrong is not None:
            yield name in required, Variant(f"{name} as {_kind(wrong)}", {**good, name: wrong})
        inside = _wrong_inside(resolved, parameters)
        if inside is not None:
            yield False, Variant(f"{name} with {inside[0]}", {**good, name: inside[1]})


def outside_of_limits(good: JSONObject, parameters: JSONObject) -> Iterator[Variant]:
    """The arguments with one outside of its limits, for each limit; never a filler, which proves nothing."""
    for name, schema in _properties(parameters).items():
        for limit, value in _outside(_resolved(schema, parameters), parameters):
            if value not in (0, "", [], None):
                yield Variant(f"{name} against {limit}", {**good, name: value})


def limits_of(parameters: JSONObject) -> int:
    """How many limits there are at the top level."""
    return sum(1 for schema in _properties(parameters).values() for _ in _outside(_resolved(schema, parameters), {}))


def filled(good: JSONObject, parameters: JSONObject) -> Iterator[Variant]:
    """The arguments with every other optional one filled, as strict providers do it: by null, by the type's filler."""
    fillers = {name: _filler(schema) for name, schema in _optional(parameters).items() if name not in good}
    if not fillers:
        return
    yield Variant("null for each optional argument", {**dict.fromkeys(fillers), **good})
    typed = {name: value for name, value in fillers.items() if value is not None}
    if typed:
        yield Variant(f"{_words(typed)} for optional arguments", {**typed, **good})


def each_filled(good: JSONObject, parameters: JSONObject) -> Iterator[Variant]:
    """The arguments with one optional one filled, for each of them and each filler."""
    for name, schema in _optional(parameters).items():
        if name in good:
            continue
        yield Variant(f"{name}: null", {**good, name: None})
        filler = _filler(schema)
        if filler is not None:
            yield Variant(f"{name}: {_word(filler)}", {**good, name: filler})


def with_text(good: JSONObject, parameters: JSONObject, text: object) -> JSONObject:
    """The arguments with a value instead of the first text, else as an argument that the schema does not have."""
    for name, value in good.items():
        if isinstance(value, str) and "enum" not in _resolved(_properties(parameters).get(name), parameters):
            return {**good, name: text}
    return {**good, "not_in_the_schema": text}


def is_closed(parameters: JSONObject) -> bool:
    """Whether the schema itself refuses arguments that it does not have."""
    return parameters.get("additionalProperties") is False


def has_required(parameters: JSONObject) -> bool:
    """Whether a call needs any argument."""
    return bool(_required(parameters))


def _value(schema: object, name: str, level: int, root: JSONObject) -> object:
    schema = _resolved(schema, root)
    if level > _MAX_LEVELS:
        return None
    for keyword in ("const", "default"):
        if keyword in schema:
            return schema[keyword]
    for keyword in ("examples", "enum"):
        if isinstance(schema.get(keyword), list) and schema[keyword]:
            return schema[keyword][0]
    for keyword in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(keyword), list) and schema[keyword] and "type" not in schema:
            return _value(_merged(schema, keyword), name, level + 1, root)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    if kind is None and "properties" in schema:
        kind = "object"
    return _of_kind(str(kind), schema, name, level, root)


def _of_kind(kind: str, schema: JSONObject, name: str, level: int, root: JSONObject) -> object:
    if kind in ("integer", "number"):
        return _number(schema, whole=kind == "integer")
    if kind == "boolean":
        return True
    if kind == "array":
        size = min(max(1, _whole(schema.get("minItems"), 1)), _MAX_ITEMS)
        return [_value(schema.get("items", {"type": "string"}), name, level + 1, root) for _ in range(size)]
    if kind == "object":
        properties = _properties(schema)
        return {key: _value(properties.get(key, {}), key, level + 1, root) for key in _required(schema)}
    return _text(schema, name)


def _number(schema: JSONObject, *, whole: bool) -> float:
    step = 1 if whole else 0.5
    low, high = schema.get("minimum"), schema.get("maximum")
    if _is_number(schema.get("exclusiveMinimum")):
        low = max(schema["exclusiveMinimum"] + step, low if _is_number(low) else -math.inf)
    if _is_number(schema.get("exclusiveMaximum")):
        high = min(schema["exclusiveMaximum"] - step, high if _is_number(high) else math.inf)
    value: float = low if _is_number(low) else 1
    value = min(value, high) if _is_number(high) else value
    multiple = schema.get("multipleOf")
    if _is_number(multiple) and multiple > 0 and abs(value) / multiple < _MAX_MAGNITUDE:
        value = math.ceil(value / multiple) * multiple
    return math.ceil(value) if whole else value


def _text(schema: JSONObject, name: str) -> str:
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    if isinstance(schema.get("pattern"), str):
        found = _matching(schema["pattern"])
        if found is not None:
            return found
    words = name.lower().split("_")
    text = next((value for hint, value in _NAMES if hint in words), "example")
    low, high = _whole(schema.get("minLength"), 0), schema.get("maxLength")
    text = text.ljust(min(low, _MAX_CHARS), "a")
    return text[:high] if isinstance(high, int) else text


def _matching(pattern: str) -> str | None:
    """A text that fits a pattern, from a few that often do; None where none does."""
    import re

    candidates = (
        "example", "a", "A", "1", "12", "1234", "12345", "EXAMPLE", "Aa1", "AB", "ABC", "ab", "#aabbcc", "a-b", "a_b",
        "1.0", "1.0.0", "2024-02-29", "12:00", "https://example.com/", "someone@example.com", "/example",
        "example.txt", "0x1",
    )  # fmt: skip
    try:
        wanted = re.compile(pattern)
    except (re.error, RecursionError):
        return None
    return next((one for one in candidates if wanted.search(one)), None)


def _outside(schema: JSONObject, root: JSONObject) -> Iterator[tuple[str, object]]:
    """Each limit of a value, and a value on its other side."""
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        yield from _beside_enum(schema["enum"])
        return
    for keyword, step in (("minimum", -1), ("maximum", 1), ("exclusiveMinimum", -1), ("exclusiveMaximum", 1)):
        if _is_number(schema.get(keyword)):
            value = (math.floor if step < 0 else math.ceil)(schema[keyword]) + step
            yield f"{keyword} {schema[keyword]}", value or step
    low, high = schema.get("minLength"), schema.get("maxLength")
    if isinstance(low, int) and 0 < low <= _MAX_CHARS:
        yield f"minLength {low}", "a" * (low - 1)
    if isinstance(high, int) and high < _MAX_CHARS:
        yield f"maxLength {high}", "a" * (high + 1)
    low, high = schema.get("minItems"), schema.get("maxItems")
    item = schema.get("items", {"type": "string"})
    if isinstance(low, int) and 0 < low <= _MAX_ITEMS:
        yield f"minItems {low}", [_value(item, "", 1, root) for _ in range(low - 1)]
    if isinstance(high, int) and high < _MAX_ITEMS:
        yield f"maxItems {high}", [_value(item, "", 1, root) for _ in range(high + 1)]


def _beside_enum(allowed: list[object]) -> Iterator[tuple[str, object]]:
    if all(isinstance(one, str) for one in allowed):
        yield "enum", "not-one-of-these"
    elif all(_is_number(one) for one in allowed):
        yield "enum", max(one for one in allowed if isinstance(one, int | float)) + 1


def _wrong(schema: JSONObject) -> object | None:
    """A value of a type that the schema does not allow, and that nobody takes for it; None where all are allowed."""
    kinds = schema.get("type")
    allowed = set(kinds if isinstance(kinds, list) else [kinds])
    if kinds is None or not allowed <= {*_TYPES, "null"}:
        return None
    if "object" not in allowed:
        return _ANOTHER_TYPE
    return next(
        (value for kind, value in (("string", "another type"), ("array", ["another type"])) if kind not in allowed),
        None,
    )


def _wrong_inside(schema: JSONObject, root: JSONObject) -> tuple[str, object] | None:
    """An array with one item, or an object with one property, of another type, and what to call that."""
    if schema.get("type") == "array":
        wrong = _wrong(_resolved(schema.get("items"), root))
        return None if wrong is None else (f"{_kind(wrong)} as an item", [wrong])
    if schema.get("type") != "object":
        return None
    good = _value(schema, "", 1, root)
    for name, inner in _properties(schema).items():
        wrong = _wrong(_resolved(inner, root))
        if wrong is not None and isinstance(good, dict):
            return f"{_kind(wrong)} as its {name}", {**good, name: wrong}
    return None


def _filler(schema: object) -> object:
    """What a provider that wants each argument writes for one that is not meant; None where only null is sure."""
    if not isinstance(schema, dict):
        return None
    kind = schema.get("type")
    if kind == "string":
        return ""
    if kind == "array":
        return []
    is_excluded = (_is_number(schema.get("minimum")) and schema["minimum"] > 0) or (
        _is_number(schema.get("exclusiveMinimum")) and schema["exclusiveMinimum"] >= 0
    )
    return 0 if kind in ("integer", "number") and is_excluded else None


def _merged(schema: JSONObject, keyword: str) -> JSONObject:
    rest = {key: value for key, value in schema.items() if key != keyword}
    chosen = schema[keyword] if keyword == "allOf" else [_not_null(schema[keyword])]
    merged = dict(rest)
    for one in chosen:
        if isinstance(one, dict):
            merged.update(one)
    return merged


def _not_null(schemas: list[object]) -> object:
    return next((one for one in schemas if isinstance(one, dict) and one.get("type") != "null"), schemas[0])


def _resolved(schema: object, root: JSONObject) -> JSONObject:
    """The schema itself, or what its local `$ref` names; an empty one where that is nothing."""
    for _ in range(_MAX_LEVELS):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        found: object = root
        for part in reference[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, dict) else None
        schema = found
    return schema if isinstance(schema, dict) else {}


def _required(schema: JSONObject) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _properties(schema: JSONObject) -> JSONObject:
    properties = schema.get("properties")
    return properties if isinstance(properties, dict) else {}


def _optional(parameters: JSONObject) -> JSONObject:
    required = _required(parameters)
    return {name: schema for name, schema in _properties(parameters).items() if name not in required}


def _whole(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: object) -> str:
    return "an object" if isinstance(value, dict) else "an array" if isinstance(value, list) else "a string"


def _words(fillers: Mapping[str, object]) -> str:
    return ", ".join(dict.fromkeys(map(_word, fillers.values())))


def _word(filler: object) -> str:
    return {"": '""', 0: "0"}.get(filler, "[]") if isinstance(filler, str | int) else "[]"
