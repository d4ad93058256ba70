"""Values that are likely to fit a schema of any draft: the test has jsonschema judge them."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from ferrule.schema.arguments import check

_TEXTS = st.sampled_from(
    ["", "a", "null", "true", "5", '"5"', '""', '"null"', '"', "{}", '{"a": 1}', "[]", " 5", "é", "not json {", "1e5"]
) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
_NUMBERS = st.integers(-5, 5) | st.sampled_from([0.5, 2.0, 100, -1.25, 1e30])
_ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b", "name"]), inner, max_size=2),
    max_leaves=4,
)
_BLANK: tuple[object, ...] = (None, "", [])
_KINDS = ["string", "integer", "number", "boolean", "array", "object", "null"]
_MAX_LEVELS = 12
_MAX_SIZE = 3

Schema = dict[str, Any]


class Generator:
    """Draws values for the schemas inside one schema. root: where references begin."""

    def __init__(self, root: Schema, draw: st.DrawFn) -> None:
        self._root = root
        self._draw = draw

    def draw(self, schema: Any, level: int = 1) -> Any:
        """One value, which probably fits."""
        if not isinstance(schema, dict) or not schema:
            return self._draw(_ANYTHING)
        schema = self._choose(schema)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self._draw(st.sampled_from(schema["enum"]))
        kind = schema.get("type") or self._infer(schema)
        if isinstance(kind, list):
            kind = self._draw(st.sampled_from(kind))
        return getattr(self, f"_draw_{kind}")(schema, level)

    def _choose(self, schema: Schema) -> Schema:
        """The schema without references, and with one of its alternatives."""
        for _ in range(20):
            schema = dict(schema)
            if "$ref" in schema:
                schema = {**self._resolve(schema.pop("$ref")), **schema}
            elif "allOf" in schema:
                schema = _join(schema, *schema.pop("allOf"))
            elif "anyOf" in schema or "oneOf" in schema:
                branches = schema.pop("anyOf", None) or schema.pop("oneOf")
                schema = _join(schema, self._draw(st.sampled_from(branches)))
            else:
                break
        return schema

    def _resolve(self, reference: str) -> Schema:
        found: Any = self._root
        for token in reference[1:].split("/")[1:]:
            found = found[token.replace("~1", "/").replace("~0", "~")]
        return found if isinstance(found, dict) else {}

    def _infer(self, schema: Schema) -> str:
        belonging = (("properties", "object"), ("additionalProperties", "object"), ("items", "array"))
        inferred = next((kind for keyword, kind in belonging if keyword in schema), None)
        return inferred or self._draw(st.sampled_from(_KINDS))

    def _draw_null(self, _schema: Schema, _level: int) -> None:
        return None

    def _draw_boolean(self, _schema: Schema, _level: int) -> bool:
        return self._draw(st.booleans())

    def _draw_string(self, schema: Schema, _level: int) -> str:
        least, most = schema.get("minLength", 0), schema.get("maxLength")
        if "pattern" in schema and self._draw(st.booleans()):
            text = str(self._draw(st.from_regex(schema["pattern"], fullmatch=False)))
            return text.replace("\0", "") if most is None else text[:most].replace("\0", "")
        text = self._draw(_TEXTS).ljust(least, "x")
        return text if most is None else text[:most]

    def _draw_number(self, schema: Schema, _level: int) -> float:
        least, most = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
        drawn = self._draw(_NUMBERS)
        if least is not None and drawn < least:
            drawn = least + self._draw(st.sampled_from([0, 0.5, 1]))
        return drawn if most is None or drawn <= most else most

    def _draw_integer(self, schema: Schema, level: int) -> int:
        return int(self._draw_number(schema, level))

    def _draw_array(self, schema: Schema, level: int) -> list[Any]:
        places = schema.get("prefixItems") or []
        least, most = schema.get("minItems", 0), schema.get("maxItems", _MAX_SIZE)
        size = self._draw(
            st.integers(least, max(least, min(most, least + _MAX_SIZE if level < _MAX_LEVELS else least)))
        )
        schemas = [*places, *[schema.get("items", {})] * size][:size]
        return [self.draw(inner, level + 1) for inner in schemas]

    def _draw_object(self, schema: Schema, level: int) -> dict[str, Any]:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        drawn = {}
        for name, inner in properties.items():
            if name in required or (level < _MAX_LEVELS and self._draw(st.integers(0, level)) == 0):
                drawn[name] = self.draw(inner, level + 1)
        extra = schema.get("additionalProperties", False)
        if isinstance(extra, dict | bool) and extra is not False and level > 1 and self._draw(st.booleans()):
            drawn["extra"] = self.draw(extra, level + 1)
        return drawn


def _join(*schemas: Any) -> Schema:
    joined: Schema = {}
    for schema in schemas:
        for keyword, value in (schema if isinstance(schema, dict) else {}).items():
            if keyword == "properties" and keyword in joined:
                value = {**joined[keyword], **value}
            if keyword == "required" and keyword in joined:
                value = [*joined[keyword], *value]
            joined[keyword] = value
    return joined


@st.composite
def arguments_for(draw: st.DrawFn, schema: Schema) -> Schema:
    """Arguments of a tool, which probably fit its schema. Names that it does not define stand inside them only."""
    drawn = Generator(schema, draw).draw({**schema, "type": "object"})
    assert isinstance(drawn, dict)
    return drawn


@st.composite
def projected_arguments(draw: st.DrawFn, parameters: Schema, translation: Schema) -> Schema:
    """Arguments that fit projected parameters; where a text may hold JSON, it mostly does."""
    drawn = Generator(parameters, draw).draw(parameters)
    return {
        name: _write_json(draw, value, translation.get("properties", {}).get(name, {})) for name, value in drawn.items()
    }


def _write_json(draw: st.DrawFn, value: Any, how: Schema) -> Any:
    from ferrule.text import strict_json

    if isinstance(value, list) and "items" in how:
        return [_write_json(draw, item, how["items"]) for item in value]
    if isinstance(value, dict) and "properties" in how:
        return {name: _write_json(draw, inner, how["properties"].get(name, {})) for name, inner in value.items()}
    if "json" in how and draw(st.integers(0, 3)):
        generator = Generator({}, draw)
        return strict_json.dumps(generator.draw({"type": draw(st.sampled_from(how["json"]))})).decode()
    return value


def fits(parameters: Schema, value: Any) -> bool:
    """Whether a value fits a schema in the format of ferrule."""
    return not list(check(value, parameters))


def drop_defaults(arguments: Schema, original: Schema) -> Schema:
    """Without optional arguments at the top that are blank, where leaving them out means the same.

    The host leaves these out for every tool. null is the same as nothing where it is the default, further inside, too.
    """
    nullable = set(_list_null_by_default(original))
    kept = {}
    for name, value in arguments.items():
        schema = original["properties"].get(name, {})
        default = schema.get("default", "")
        is_left_out = value in _BLANK and default in _BLANK and (value is not None or "default" in schema)
        if name in original.get("required", []) or not is_left_out:
            kept[name] = _drop_nulls(value, nullable)
    return kept


def _list_null_by_default(schema: Any) -> Iterator[str]:
    """The names of properties that are null where they are left out."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        for name, inner in properties.items() if isinstance(properties, dict) else ():
            if isinstance(inner, dict) and inner.get("default", "") is None:
                yield name
    for inner in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from _list_null_by_default(inner)


def _drop_nulls(value: Any, names: set[str]) -> Any:
    if isinstance(value, list):
        return [_drop_nulls(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: _drop_nulls(inner, names) for name, inner in value.items() if inner is not None or name not in names}
