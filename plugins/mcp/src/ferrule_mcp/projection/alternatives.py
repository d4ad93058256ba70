"""A schema as the alternatives that it allows, each of one type, without references, unions and intersections.

Properties and items stay as they are written, each with the references that led to it; they are unfolded when it is
their turn. So a schema that refers to itself, or that would be endless when written out, costs what is shown of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from ferrule_mcp.projection import limits
from ferrule_mcp.projection.kinds import KINDS, infer_kind, keeps_keyword, kind_of, list_distinct, list_kinds
from ferrule_mcp.projection.references import NOWHERE, find_target

if TYPE_CHECKING:
    from ferrule import JSONObject

_MAX_WORK = 4000  # schemas that are looked at for one projection
_MAX_ALTERNATIVES = 200
_MAX_VALUES = 1000  # of an enum; more are not listed
_MAX_PRODUCT = 64  # combinations of alternatives that are kept apart
_MAX_NESTED = 60  # schemas inside one another that only refer to, or choose between, others
_STRUCTURE = {"properties", "required", "items", "prefixItems", "additionalItems", "additionalProperties"}
_RESOLVED = {"$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "type", "const", "enum"}

_ALL_NAMES: tuple[object, ...] = ({"type": "string"}, {}, True)  # schemas of names that say nothing

ANY = "any"
_WHOLE = ("integer", "number")


class Source(NamedTuple):
    """A schema as the server wrote it, and the references that were followed on the way to it."""

    schema: object
    trail: frozenset[str] = frozenset()


Term = tuple[Source, ...]
"""Schemas that hold all at once."""

Union = list[Term]
"""Terms of which one holds; with none, no value is right."""


@dataclass
class Alternative:
    """One type with all that holds for it.

    kind: a type of JSON Schema, or ANY. is_inferred: no schema says the type, its keywords suggest it. is_cut: there is
    more to it, which is not unfolded. values: those that are allowed, None for all of the kind. keywords: the others,
    as they are written. items: None where any are right. places: the first items, where each has a schema of its own.
    extras: of properties that have no schema of their own, None for any. is_open: the schema says that there may be
    such properties.
    """

    kind: str = ANY
    is_inferred: bool = False
    is_cut: bool = False
    values: list[object] | None = None
    keywords: JSONObject = field(default_factory=dict)
    properties: dict[str, Union] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    items: Union | None = None
    places: list[Union] = field(default_factory=list)
    extras: Union | None = None
    is_open: bool = False


class Unfolding:
    """One schema on its way. root: where references begin. lost: keywords that could not be taken into account."""

    def __init__(self, root: JSONObject) -> None:
        self.lost: set[str] = set()
        self.root = root
        self._work = _MAX_WORK
        self._known: dict[tuple[int, frozenset[str]], list[Alternative]] = {}

    def unfold(self, union: Iterable[Term]) -> list[Alternative]:
        """The alternatives of a union, without those that allow nothing, and none twice."""
        found: list[Alternative] = []
        for term in union:
            found += [one for one in self._unfold_term(term, 0) if one not in found]
            if len(found) > _MAX_ALTERNATIVES:
                return [Alternative(is_cut=True)]
        return found

    def _unfold_term(self, term: Term, nested: int) -> list[Alternative]:
        found = self._unfold_source(term[0], nested)
        for source in term[1:]:
            found = self._intersect(found, self._unfold_source(source, nested), "allOf")
        return found

    def _unfold_source(self, source: Source, nested: int) -> list[Alternative]:
        if source.schema is False:
            return []
        if not isinstance(source.schema, dict):
            return [Alternative()]
        key = (id(source.schema), source.trail)  # what it is a part of lives as long as this does
        if key not in self._known:
            self._work -= 1
            if self._work < 0 or nested > _MAX_NESTED:
                return [Alternative(is_cut=True)]
            self._known[key] = self._unfold_object(source.schema, source.trail, nested)
        return self._known[key]

    def _unfold_object(self, schema: JSONObject, trail: frozenset[str], nested: int) -> list[Alternative]:
        found = list(self._list_own(schema, trail))
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if keyword in schema:
                found = self._intersect(found, self._unfold_reference(schema[keyword], trail, nested), keyword)
        for branch in schema["allOf"][:_MAX_ALTERNATIVES] if isinstance(schema.get("allOf"), list) else ():
            found = self._intersect(found, self._unfold_source(Source(branch, trail), nested + 1), "allOf")
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                found = self._intersect(found, self._unfold_branches(schema, keyword, trail, nested), keyword)
        return found

    def _unfold_branches(
        self, schema: JSONObject, keyword: str, trail: frozenset[str], nested: int
    ) -> list[Alternative]:
        found: list[Alternative] = []
        if len(schema[keyword]) > _MAX_ALTERNATIVES:
            self.lost.add(keyword)
            return [Alternative(is_cut=True)]
        for branch in schema[keyword]:
            unfolded = self._unfold_source(Source(branch, trail), nested + 1)
            if keyword == "oneOf" and any(_shares_values(one, other) for one in unfolded for other in found):
                self.lost.add(keyword)
            found += [one for one in unfolded if one not in found]
        return found

    def _unfold_reference(self, reference: object, trail: frozenset[str], nested: int) -> list[Alternative]:
        target = find_target(reference, self.root)
        if target is NOWHERE:
            self.lost.add("$ref")
            return [Alternative(is_cut=True)]
        if str(reference) in trail:
            kinds = list_kinds(target.get("type")) if isinstance(target, dict) else []
            inferred = infer_kind(target) if isinstance(target, dict) else None
            return [Alternative(kind=kind, is_cut=True) for kind in kinds or [inferred or ANY]]
        return self._unfold_source(Source(target, trail | {str(reference)}), nested + 1)

    def _intersect(self, one: list[Alternative], other: list[Alternative], keyword: str) -> list[Alternative]:
        if len(one) * len(other) > _MAX_PRODUCT and min(len(one), len(other)) > 1:
            self.lost.add(keyword)
            return one
        both = (_intersect_two(left, right) for left in one for right in other)
        return [found for found in both if found is not None]

    def _list_own(self, schema: JSONObject, trail: frozenset[str]) -> Iterator[Alternative]:
        """What the schema says itself, for each type that it names."""
        values = _list_values(schema)
        kinds, inferred = list_kinds(schema.get("type")), None
        if not kinds and values is not None:
            present = set(map(kind_of, values))
            kinds = [kind for kind in KINDS if kind in present]
        elif not kinds:
            inferred = infer_kind(schema)
        for kind in kinds or [inferred or ANY]:
            fitting = None if values is None else _list_fitting(values, kind)
            if fitting and len(fitting) > _MAX_VALUES:
                yield Alternative(kind=kind, keywords={**_take_texts(schema), "enum": fitting})
            elif fitting != []:
                own = Alternative(kind=kind, values=fitting, is_inferred=inferred is not None)
                self._take_keywords(own, schema, trail)
                yield own

    def _take_keywords(self, own: Alternative, schema: JSONObject, trail: frozenset[str]) -> None:
        own.keywords = {
            keyword: value
            for keyword, value in schema.items()
            if keyword not in _STRUCTURE and keyword not in _RESOLVED and keeps_keyword(own.kind, keyword)
        }
        if own.keywords.get("propertyNames") in _ALL_NAMES:
            del own.keywords["propertyNames"]
        if own.kind in ("object", ANY):
            properties, required = schema.get("properties"), schema.get("required")
            if isinstance(properties, dict):
                own.properties = {name: [(Source(inner, trail),)] for name, inner in properties.items()}
            if isinstance(required, list):
                own.required = list(dict.fromkeys(name for name in required if isinstance(name, str)))
            if "additionalProperties" in schema:
                own.extras = _as_union(schema["additionalProperties"], trail)
                own.is_open = own.extras != []
        if own.kind in ("array", ANY):
            _take_items(own, schema, trail)


def _take_items(own: Alternative, schema: JSONObject, trail: frozenset[str]) -> None:
    items, rest = schema.get("items"), schema.get("items")
    places = schema.get("prefixItems")
    if isinstance(items, list):  # as tuples were written before draft 2020-12
        places, rest = items, schema.get("additionalItems")
    if isinstance(places, list):
        own.places = [[(Source(place, trail),)] for place in places[: limits.MAX_TUPLE_ITEMS]]
        if len(places) > limits.MAX_TUPLE_ITEMS:
            rest = None
    if rest is not None and not isinstance(rest, list):
        own.items = _as_union(rest, trail)


def _shares_values(one: Alternative, other: Alternative) -> bool:
    """Whether two alternatives are the same, or list a value that is the same: only one of them may hold."""
    if one.values is None or other.values is None:
        return one == other
    return list_distinct(one.values, other.values) != []


def _take_texts(schema: JSONObject) -> JSONObject:
    return {keyword: schema[keyword] for keyword in limits.TEXTS if keyword in schema}


def _as_union(schema: object, trail: frozenset[str]) -> Union | None:
    """None where it allows anything."""
    if schema is True or schema == {} or not isinstance(schema, dict | bool):
        return None
    return [(Source(schema, trail),)] if schema is not False else []


def _list_values(schema: JSONObject) -> list[object] | None:
    values = schema.get("enum")
    if "const" in schema:
        return [schema["const"]]
    return values if isinstance(values, list) else None


def _list_fitting(values: list[object], kind: str) -> list[object]:
    """The values of a type; integers are numbers, too."""
    return [value for value in values if kind == ANY or kind_of(value) == kind or (kind_of(value), kind) == _WHOLE]


def _intersect_two(one: Alternative, other: Alternative) -> Alternative | None:
    """What fits both; None where nothing does."""
    kind = _common_kind(one.kind, other.kind)
    if kind is None:
        return None
    values = one.values if other.values is None else other.values
    if one.values is not None and other.values is not None:
        values = list_distinct(one.values, other.values)
    if values is not None:
        values = _list_fitting(values, kind)
    if values == []:
        return None
    return replace(
        _join_structure(one, other),
        kind=kind,
        is_inferred=(one.is_inferred or one.kind == ANY) and (other.is_inferred or other.kind == ANY) and kind != ANY,
        is_cut=one.is_cut or other.is_cut,
        values=values,
        keywords={
            keyword: value
            for keyword, value in _join_keywords(one.keywords, other.keywords).items()
            if keeps_keyword(kind, keyword)
        },
    )


def _join_structure(one: Alternative, other: Alternative) -> Alternative:
    properties = {**one.properties}
    for name, union in other.properties.items():
        properties[name] = _product(properties[name], union) if name in properties else union
    longer, shorter = sorted((one.places, other.places), key=len, reverse=True)
    return Alternative(
        properties=properties,
        required=list(dict.fromkeys([*one.required, *other.required])),
        items=_join_unions(one.items, other.items),
        places=[*(_product(*both) for both in zip(shorter, longer, strict=False)), *longer[len(shorter) :]],
        extras=_join_unions(one.extras, other.extras),
        is_open=(one.is_open or other.is_open) and [] not in (one.extras, other.extras),
    )


def _join_unions(one: Union | None, other: Union | None) -> Union | None:
    if one is None or other is None:
        return other if one is None else one
    return _product(one, other)


def _product(one: Union, other: Union) -> Union:
    if len(one) * len(other) > _MAX_PRODUCT:
        return one
    return [left if left == right else left + right for left in one for right in other]


def _common_kind(one: str, other: str) -> str | None:
    if one == other or other == ANY:
        return one
    if one == ANY:
        return other
    return "integer" if {one, other} == {"integer", "number"} else None


def _join_keywords(one: JSONObject, other: JSONObject) -> JSONObject:
    """Both at once: the narrower limit. Of what cannot be compared, the first stays, and both are said."""
    joined = {**other, **one}
    for keyword in one.keys() & other.keys() - limits.TEXTS:
        left, right = one[keyword], other[keyword]
        if keyword in limits.LEAST and limits.is_number(left) and limits.is_number(right):
            joined[keyword] = max(left, right)
        elif keyword in limits.MOST and limits.is_number(left) and limits.is_number(right):
            joined[keyword] = min(left, right)
        elif left != right:
            joined["allOf"] = [*joined.get("allOf", ()), {keyword: right}]
    return joined
