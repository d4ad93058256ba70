"""A tool's schema in words that a provider takes from the client, and what that changes in the arguments of a call.

The client sends a schema as the tool prints it. Where a provider would refuse every request for that, the link prints
another one: an object of anything becomes a JSON text, an enum of integers one of texts, and what cannot be said in
keywords is said in the description. The host checks the translated arguments against the tool's own schema.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.schema.providers.composition import flatten, resolve
from ferrule.schema.providers.profiles import ANY_PROVIDER, PROFILES, Profile
from ferrule.schema.providers.words import must_fit, shorten, with_words
from ferrule.schema.rules.recommendations import LONGEST_NAME, find_refusals, snake_case
from ferrule.text import strict_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from ferrule.schema.providers.translation import Translation
    from ferrule.text.json_types import JSONObject

_COMPOSITION = ("allOf", "anyOf", "oneOf")
_UNTOLD = {"title", "$schema", "$comment", "$defs", "definitions", "deprecated", "examples", "additionalProperties"}
_EXCLUDING_BLANKS = ("pattern", "format", "minItems")
_UNUSED = {"type": "string", "description": "Not used. Leave it empty."}


class Adaptation(NamedTuple):
    """schema: in the provider's words. translation: of arguments, `{}` where they fit. changes: a phrase each."""

    schema: JSONObject
    translation: Translation
    changes: list[str]


def adapt(schema: JSONObject, provider: str) -> Adaptation:
    """The schema of a tool as a provider takes it.

    schema: keeps the rules, and is not changed. provider: a key of PROFILES. What cannot be said otherwise stays: the
    name of the tool is the client's.
    """
    adapter = _Adapter(PROFILES[provider], schema["parameters"])
    parameters, translation = adapter.parameters()
    adapted = {**schema, "description": schema["description"] + adapter.demands, "parameters": parameters}
    longest = adapter.profile.description_chars
    if longest and len(adapted["description"]) > longest:
        adapted["description"] = shorten(adapted["description"], longest)
        adapter.tell("description cut", f"to {longest:,} characters")
    return Adaptation(adapted, translation, adapter.changes())


def measure_links(schema: JSONObject) -> dict[str, int]:
    """The bytes that a link for each provider prints, newline included. schema: keeps the rules, and is not changed."""
    return {provider: len(strict_json.dumps(adapt(schema, provider).schema)) + 1 for provider in PROFILES}


class _Adapter:
    """One schema on its way. demands: what concerns all arguments at once, as a sentence for the description."""

    def __init__(self, profile: Profile, root: JSONObject) -> None:
        self.profile = profile
        self.demands = ""
        self._root = root
        self._told: dict[str, list[str]] = {}

    def tell(self, kind: str, place: str) -> None:
        places = self._told.setdefault(kind, [])
        if place not in places:
            places.append(place)

    def changes(self) -> list[str]:
        return [f"{kind}: {', '.join(places)}" if any(places) else kind for kind, places in self._told.items()]

    def parameters(self) -> tuple[JSONObject, Translation]:
        """The parameters, and how to translate the arguments."""
        parameters = dict(self._root)
        taken = {key: parameters.pop(key) for key in (*_COMPOSITION, "$ref") if key in parameters}
        if taken:
            parameters = flatten({**parameters, **taken}, self._root)
        if self.profile.keywords is not None:
            structure = ("type", "properties", "required", "description")
            if not isinstance(parameters.get("description"), str):
                parameters.pop("description", None)
            taken |= {key: parameters.pop(key) for key in [*parameters] if key not in structure}
        self._demand({key: value for key, value in taken.items() if key not in _UNTOLD})
        translation = self._properties(parameters, "", 1, ())
        if not parameters["properties"] and not self.profile.takes_no_parameters:
            parameters["properties"] = {"unused": _UNUSED}
            translation = {"properties": {"unused": {"is_unused": True}}}
            self.tell("an argument `unused`, since there is none", "")
        return parameters, translation

    def _demand(self, taken: JSONObject) -> None:
        if taken:
            self.demands = f"\n\nThe arguments must also fit: {shorten(strict_json.dumps(taken).decode(), 300)}"
            self.tell("said in the description", " and ".join(taken))

    def _properties(self, schema: JSONObject, place: str, level: int, seen: tuple[str, ...]) -> Translation:
        """Adapt the properties of an object, in place."""
        translation: Translation = {}
        shown: JSONObject = {}
        names: dict[str, str] = {}
        required = schema.get("required", [])
        for name, inner in schema.get("properties", {}).items():
            names[name] = self._name(name, [*shown, *schema["properties"]])
            is_filled = self.profile.is_strict and level > 1 and name not in required
            adapted, how = self._schema(inner, f"{place}{name}", level + 1, seen, is_filled=is_filled)
            if names[name] != name:
                how["name"] = name
            shown[names[name]] = adapted
            if how:
                translation.setdefault("properties", {})[names[name]] = how
            if is_filled or (self.profile.is_strict and name not in required and adapted.get("type") == "object"):
                translation.setdefault("optional", []).append(names[name])
            elif self.profile.has_nulls and level > 1 and name not in required:
                translation.setdefault("nullable", []).append(names[name])
        schema["properties"] = shown
        if "required" in schema:
            schema["required"] = [names[name] for name in dict.fromkeys(required) if name in names]
        return translation

    def _name(self, name: str, taken: Collection[str]) -> str:
        refusing = find_refusals(name)
        if not (refusing if self.profile.provider == ANY_PROVIDER else self.profile.provider in refusing):
            return name
        stem = snake_case(name)[: LONGEST_NAME - 4]
        stem = stem if stem and not stem[0].isdigit() else f"p_{stem}"
        numbers = (f"{stem}_{number}" for number in range(2, len(taken) + 3))
        new = next(one for one in (stem, *numbers) if one not in taken)
        self.tell("renamed", f"{name[:LONGEST_NAME]!r} to {new}")
        return new

    def _schema(
        self, schema: object, place: str, level: int, seen: tuple[str, ...], *, is_filled: bool = False
    ) -> tuple[JSONObject, Translation]:
        """One schema below the parameters.

        Args:
            is_filled: it may be left out, and the provider fills it in all the same.
        """
        if self.profile.keywords is None:
            return self._as_it_is(schema, place, level, seen)
        resolved, seen = resolve(schema if isinstance(schema, dict) else {}, self._root, seen)
        alternatives = {keyword: resolved[keyword] for keyword in _COMPOSITION if keyword in resolved}
        adapted, how = self._one_type(flatten(resolved, self._root), place, level, seen, is_filled=is_filled)
        if alternatives:
            self.tell("alternatives said in words", place)
            adapted["description"] = with_words(adapted.get("description"), must_fit(alternatives))
        return adapted, how

    def _one_type(
        self, adapted: JSONObject, place: str, level: int, seen: tuple[str, ...], *, is_filled: bool
    ) -> tuple[JSONObject, Translation]:
        """One without alternatives: in keywords where its type can be said in them, else as text."""
        kind = adapted.get("type")
        if kind not in ("string", "integer", "number", "boolean", "array", "object"):
            return self._text(adapted, place, "any")
        if kind in ("array", "object") and (level > self.profile.levels or len(seen) > len(set(seen))):
            return self._text(adapted, place, kind)
        if kind == "object" and not self._is_closed(adapted, is_filled=is_filled):
            return self._text(adapted, place, kind)
        if is_filled and kind in ("integer", "number", "boolean"):
            return self._text(adapted, place, "any")
        return self._in_keywords(adapted, place, level, seen, is_filled=is_filled)

    def _as_it_is(
        self, schema: object, place: str, level: int, seen: tuple[str, ...]
    ) -> tuple[JSONObject, Translation]:
        """For a provider that takes every keyword: names may have to change all the same."""
        adapted: JSONObject = dict(schema) if isinstance(schema, dict) else {}
        translation: Translation = {}
        if isinstance(adapted.get("properties"), dict):
            translation = self._properties(adapted, f"{place}.", level, seen)
        if isinstance(adapted.get("items"), dict):
            adapted["items"], how = self._as_it_is(adapted["items"], f"{place}[]", level + 1, seen)
            if how:
                translation["items"] = how
        return adapted, translation

    def _is_closed(self, schema: JSONObject, *, is_filled: bool) -> bool:
        """Whether an object can be written out: it names its properties, and others are not asked for."""
        if not schema.get("properties") or isinstance(schema.get("additionalProperties"), dict):
            return False
        return "patternProperties" not in schema and not (is_filled and schema.get("required"))

    def _text(self, schema: JSONObject, place: str, kind: str) -> tuple[JSONObject, Translation]:
        """The same as a text that holds JSON."""
        self.tell("JSON as text", place)
        said = {key: value for key, value in schema.items() if key != "description" and key not in _UNTOLD}
        if said in ({"type": kind}, {"type": kind, "properties": {}}, {"type": kind, "properties": {}, "required": []}):
            said = {}
        article = {"object": "a JSON object, ", "array": "a JSON array, "}.get(kind, "JSON, ")
        fitting = f" that fits {shorten(strict_json.dumps(said).decode(), 300)}" if said else ""
        text = with_words(schema.get("description"), f"{article}written as text{fitting}")
        return {"type": "string", "description": text}, {"json": kind}

    def _in_keywords(
        self, schema: JSONObject, place: str, level: int, seen: tuple[str, ...], *, is_filled: bool
    ) -> tuple[JSONObject, Translation]:
        """What the provider takes of the keywords; the others are said in the description."""
        translation: Translation = {}
        adapted, left = self._split(schema, is_filled=is_filled)
        for keyword in left:
            self.tell("said in the description", f"{keyword} of {place}")
        words = self.profile.say(left, schema.get("description"))
        if words:
            adapted["description"] = with_words(adapted.get("description"), words)
        if adapted["type"] == "object":
            translation = self._properties(adapted, f"{place}.", level, seen)
            self._close(adapted, place)
        elif adapted["type"] == "array":
            adapted["items"], how = self._schema(adapted.get("items", {}), f"{place}[]", level + 1, seen)
            if how:
                translation["items"] = how
        if "enum" in adapted:
            translation |= self._enum(adapted, place, is_filled=is_filled)
        return adapted, translation

    def _split(self, schema: JSONObject, *, is_filled: bool) -> tuple[JSONObject, JSONObject]:
        """The keywords that the provider takes, and those of the others that are worth a word."""
        known = self.profile.keywords or frozenset()
        adapted: JSONObject = {}
        left: JSONObject = {}
        belongs = {"properties": "object", "required": "object", "items": "array"}
        for keyword, value in schema.items():
            if belongs.get(keyword, schema["type"]) != schema["type"]:
                continue
            if keyword == "description" and not isinstance(value, str):
                continue
            if keyword == "const":
                adapted["enum"] = [value]
            elif (
                keyword not in known
                or not self.profile.takes(keyword, value)
                or (is_filled and keyword in _EXCLUDING_BLANKS)
            ):
                left[keyword] = value
            else:
                adapted[keyword] = value
        return adapted, {key: value for key, value in left.items() if key not in _UNTOLD}

    def _close(self, schema: JSONObject, place: str) -> None:
        if self.profile.is_strict:
            self.tell("closed, with every property filled in", place)
            schema["required"] = [*schema["properties"]]
            schema["additionalProperties"] = False

    def _enum(self, schema: JSONObject, place: str, *, is_filled: bool) -> Translation:
        """An enum of texts where the provider takes no other, and with a blank where it has to fill one in."""
        values = list(schema["enum"])
        if is_filled and "" not in values:
            schema["enum"] = [*values, ""]
            return {}
        if not self.profile.has_text_enums:
            return {}
        texts = list(dict.fromkeys(_texts(values)))
        schema.pop("enum")
        if texts:
            schema["enum"] = texts
        if schema["type"] == "string" and texts == values:
            return {}
        self.tell("values as text", place)
        schema["type"] = "string"
        for keyword in ("minimum", "maximum", "items", "properties", "required", "minItems", "maxItems", "format"):
            schema.pop(keyword, None)
        return {"values": [(_text(one), one) for one in values if not isinstance(one, str)]} if texts else {}


def _texts(values: list[object]) -> Iterator[str]:
    return (text for text in map(_text, values) if text)


def _text(value: object) -> str:
    return value if isinstance(value, str) else strict_json.dumps(value).decode()
