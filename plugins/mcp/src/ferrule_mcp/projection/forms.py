"""One value of the server's schema in the format of ferrule, and how it comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrule.text import strict_json
from ferrule.text.visibility import make_visible
from ferrule_mcp.projection import limits, losses, words
from ferrule_mcp.projection.alternatives import ANY, Alternative
from ferrule_mcp.projection.intersections import list_item_schemas, merge
from ferrule_mcp.projection.kinds import KINDS, kind_of, list_distinct
from ferrule_mcp.projection.sketches import Sketch

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule import JSONObject
    from ferrule_mcp.projection.alternatives import Unfolding, Union
    from ferrule_mcp.projection.limits import Room
    from ferrule_mcp.projection.losses import Losses

    WriteObject = Callable[["Writer", Alternative, "Place", dict[str, str]], "Form"]

_SCALARS = ("string", "integer", "number", "boolean")
_KEPT = {
    "string": ("minLength", "maxLength"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "array": ("minItems", "maxItems"),
}
_SCALAR_WORDS = {"integer": "an integer", "number": "a number", "boolean": "true or false", "null": "null"}
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_ARTICLES = {"object": "a JSON object", "array": "a JSON array"}
_MAX_NAME_CHARS = 80
MAX_FORMS = 400
"""Values of one schema; more do not fit into what a client reads."""


class Form(NamedTuple):
    """schema: in the format. translation: of a value, `{}` where it is the same."""

    schema: JSONObject
    translation: JSONObject


class TooLarge(Exception):
    """There is more in the schema than a client reads, whatever its descriptions are."""


class Place(NamedTuple):
    """Where a value stands. path: as in `filter.tags[]`. level: 1 for the arguments. hint: when it is meant."""

    path: str
    level: int
    hint: str = ""

    def enter(self, name: str, hint: str = "") -> Place:
        """The place of a property."""
        shown = make_visible(name)[:_MAX_NAME_CHARS] if name.strip() else repr(name)
        return Place(f"{self.path}.{shown}" if self.path else shown, self.level + 1, hint)

    def enter_items(self) -> Place:
        """The place of the items of an array."""
        return Place(f"{self.path}[]", self.level + 1)


class Writer:
    """Writes the forms of one schema.

    Args:
        unfolding: of the server's schema.
        room: how much of it is shown.
        lost: gets the losses.
        texts: gets the whole of each description that is cut, by its place.
        write_object: writes the form of an object.
    """

    def __init__(
        self, unfolding: Unfolding, room: Room, lost: Losses, texts: dict[str, str], write_object: WriteObject
    ) -> None:
        self.unfolding = unfolding
        self.room = room
        self.lost = lost
        self.texts = texts
        self._write_objects = write_object
        self._written = 0

    def write(self, alternatives: list[Alternative], place: Place) -> Form:
        """The form of a value that fits one of the alternatives; there is at least one of them."""
        self._written += 1
        if self._written > MAX_FORMS:
            raise TooLarge
        if any(one.kind == ANY for one in alternatives):
            return self._write_text(alternatives, place)
        groups = _group(alternatives)
        if len(groups) > 1 or groups[0][0].kind == "null":
            return self._write_values(alternatives, place) or self._write_text(alternatives, place)
        one, is_wider, hints = merge(groups[0])
        if is_wider:
            self.lost.add(losses.COMBINATION, place.path)
        if one.is_inferred:
            self.lost.add(losses.TYPE, place.path, f"({one.kind})")
        if one.values is not None:
            return self._write_values(alternatives, place) or self._write_text(alternatives, place)
        is_crowded = place.level > 1 and len(one.properties) > MAX_FORMS
        if one.is_cut or is_crowded or (one.kind not in _SCALARS and place.level > self.room.levels):
            return self._write_text(alternatives, place)
        if one.kind in _SCALARS:
            return Form(self.describe({"type": one.kind}, one, place), {})
        return self._write_array(one, place) if one.kind == "array" else self._write_object(one, place, hints)

    def describe(self, schema: JSONObject, one: Alternative, place: Place, *sentences: str) -> JSONObject:
        """The schema with the limits that are kept, and a description that says the others."""
        left = dict(one.keywords)
        described = left.pop("description", None)
        for exclusive, inclusive, step in (("exclusiveMinimum", "minimum", 1), ("exclusiveMaximum", "maximum", -1)):
            _include(left, exclusive, inclusive, step if one.kind == "integer" else 0)
        for keyword in _KEPT.get(one.kind, ()) if schema["type"] == one.kind else ():
            if keyword in left and _is_limit(keyword, left[keyword]):
                schema[keyword] = int(left[keyword]) if keyword in _COUNTS else left[keyword]
                left.pop(keyword)
        for keyword in left.keys() & words.ASSERTING:
            self.lost.add(losses.UNCHECKED, place.path, keyword)
        own = self.cut(words.clean(described), place)
        said = words.say_keywords(left, own) if self.room.text_chars else ""
        text = words.join(own, place.hint, *sentences, said)
        if text:
            schema["description"] = text
        return schema

    def cut(self, text: str, place: Place) -> str:
        """As much of a description as there is room for; the whole is kept in `texts`."""
        if len(text) > self.room.text_chars:
            self.lost.add(losses.CUT, place.path)
            self.texts[place.path] = text
        return words.cut(text, self.room.text_chars)

    def sketch(self, alternatives: list[Alternative]) -> str:
        """What a value looks like; empty where nothing can be said, or there is no room for it."""
        if self.room.sketch_chars <= 0 or all(one.kind == ANY and one.values is None for one in alternatives):
            return ""
        return self.sketch_in(alternatives, self.room.sketch_chars)

    def sketch_in(self, alternatives: list[Alternative], chars: int) -> str:
        """The same in about `chars` characters."""
        return words.clean(Sketch(self.unfolding, chars).draw(alternatives))

    def _write_array(self, one: Alternative, place: Place) -> Form:
        union = list_item_schemas(one)
        schema: JSONObject = {"type": "array"}
        inner = [Alternative()] if union is None else self.unfolding.unfold(union)
        if one.places:
            self.lost.add(losses.COMBINATION, place.path)
        self.describe(schema, one, place, self._describe_places(one))
        if not inner:
            return Form({**schema, "maxItems": 0, "items": {"type": "string"}}, {})
        schema["items"], how = self.write(inner, place.enter_items())
        return Form(schema, {"items": how} if how else {})

    def _describe_places(self, one: Alternative) -> str:
        if not one.places or not self.room.sketch_chars:
            return ""
        drawn = [self.sketch(self.unfolding.unfold(union)) or ANY for union in one.places]
        return f"the items are, in this order, [{', '.join(drawn)}]"

    def _write_object(self, one: Alternative, place: Place, hints: dict[str, str]) -> Form:
        return self._write_objects(self, one, place, hints)

    def _write_values(self, alternatives: list[Alternative], place: Place) -> Form | None:
        """An enum, of texts where the values are of several types; None where not all of them can be listed."""
        values = _list_values(alternatives)
        if values is None:
            return None
        if len(values) > self.room.values or words.is_long(values):
            self.lost.add(losses.UNCHECKED, place.path, "enum")
            return None
        storable = [value for value in values if words.is_storable(value)]
        if len(storable) < len(values):
            self.lost.add(losses.VALUE, place.path)
        if not storable:
            return None
        described, _, _ = merge([_drop_values(one) for one in alternatives])
        kinds = {kind_of(value) for value in storable}
        kind = next(iter(kinds)) if len(kinds) == 1 else "number" if kinds == {"integer", "number"} else "string"
        texts = _name_values(storable)
        is_native = kind != "string" or all(text == value for text, value in texts.items())
        if kind in _SCALARS and is_native and (kind != "string" or kinds == {"string"}):
            schema: JSONObject = {"type": kind, "enum": storable}
            return Form(self.describe(schema, described, place), {})
        schema = {"type": "string", "enum": list(texts)}
        changed = {text: value for text, value in texts.items() if text != value}
        return Form(self.describe(schema, described, place), {"values": changed})

    def _write_text(self, alternatives: list[Alternative], place: Place) -> Form:
        """A text that holds JSON, or that is meant as it is where one of the alternatives is a text."""
        self.lost.add(losses.TEXT, place.path)
        kinds = [kind for kind in KINDS if any(one.kind in (kind, ANY) for one in alternatives)]
        described, _, _ = merge([_drop_values(one) for one in alternatives])
        kept = {key: value for key, value in described.keywords.items() if key in limits.TEXTS}
        schema = self.describe(
            {"type": "string"}, Alternative(kind="text", keywords=kept), place, self._say_text(alternatives, kinds)
        )
        return Form(schema, {"json": kinds})

    def _say_text(self, alternatives: list[Alternative], kinds: list[str]) -> str:
        """How to write a value of one of these kinds as text."""
        if len(kinds) == len(KINDS):
            return "any JSON value, written as text; other text is taken as it is"
        plain = [one for one in alternatives if one.kind == "string" and one.values is None]
        if plain and not {"array", "object"}.intersection(kinds):
            return f"text, or {' or '.join(_SCALAR_WORDS[kind] for kind in kinds if kind != 'string')}, written as text"
        sketch = self.sketch([one for one in alternatives if one not in plain])
        form = f": {sketch}" if sketch else ""
        if plain:
            return f"text as it is, or JSON written as text{form}"
        article = _ARTICLES.get(kinds[0], "JSON") if len(kinds) == 1 else "JSON"
        return f"{article}, written as text{form}"


def write_union(writer: Writer, union: Union, place: Place) -> Form | None:
    """The form of a value that fits a union; None where no value does."""
    alternatives = writer.unfolding.unfold(union)
    return writer.write(alternatives, place) if alternatives else None


def _group(alternatives: list[Alternative]) -> list[list[Alternative]]:
    """The alternatives by their type; integers stand with the numbers where there are numbers."""
    has_numbers = any(one.kind == "number" for one in alternatives)
    grouped: dict[str, list[Alternative]] = {}
    for one in alternatives:
        kind = "number" if has_numbers and one.kind == "integer" else one.kind
        grouped.setdefault(kind, []).append(one)
    return list(grouped.values())


def _list_values(alternatives: list[Alternative]) -> list[object] | None:
    """Every value that fits, each once; None where they are not listed."""
    listed: list[object] = []
    for one in alternatives:
        finite: dict[str, list[object]] = {"null": [None], "boolean": [True, False]}
        values = finite.get(one.kind) if one.values is None else one.values
        if values is None:
            return None
        listed += values
    return list_distinct(listed)


def _name_values(values: list[object]) -> dict[str, object]:
    """Texts for values: a text is itself, what it hides made visible; others are JSON.

    Where two would be one, the later one is quoted.
    """
    named: dict[str, object] = {}
    for value in sorted(values, key=lambda value: isinstance(value, str)):
        text = value if isinstance(value, str) else strict_json.dumps(value).decode()
        text = make_visible(text).replace("\r", "<CR>")
        while text in named:
            text = strict_json.dumps(text).decode()
        named[text] = value
    order = {id(value): index for index, value in enumerate(values)}
    return dict(sorted(named.items(), key=lambda item: order[id(item[1])]))


def _drop_values(one: Alternative) -> Alternative:
    return Alternative(kind=one.kind, keywords=one.keywords)


def _include(left: JSONObject, exclusive: str, inclusive: str, step: int) -> None:
    """Write an exclusive limit as an inclusive one, where integers make that the same; in draft 4 it was a flag."""
    limit = left.get(exclusive)
    if isinstance(limit, bool):
        flag = left.pop(exclusive)
        if not flag or not limits.is_number(left.get(inclusive)):
            return
        limit = left.pop(inclusive)
        left[exclusive] = limit
    if step and limits.is_number(limit):
        nearest = limit + step if float(limit).is_integer() else limit
        choose = max if step > 0 else min
        left.pop(exclusive)
        present = left.get(inclusive)
        left[inclusive] = choose(nearest, present) if limits.is_number(present) else nearest


def _is_limit(keyword: str, value: object) -> bool:
    if not limits.is_number(value):
        return False
    return keyword not in _COUNTS or (value >= 0 and float(value).is_integer())
