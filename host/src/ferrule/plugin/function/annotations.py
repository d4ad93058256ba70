"""Types as an author writes them, rewritten into types and constraints that msgspec knows.

A text in `Annotated` is a description. Bounds are `Range`, or whatever names them as annotated_types, pydantic and
msgspec do: `ge`, `gt`, `le`, `lt`, `min_length`, `max_length`. Dataclasses and TypedDicts become structs, since msgspec
would sort the fields of a TypedDict and does not know our descriptions.
"""

from __future__ import annotations

import dataclasses
import typing
from enum import Enum
from types import UnionType

import msgspec

from ferrule.plugin.function import conversion
from ferrule.plugin.function.signature import Range

if typing.TYPE_CHECKING:
    from collections.abc import Iterable

_Bounds = dict[str, typing.Any]  # as msgspec.Meta takes them, numbers
_BOUNDS = ("ge", "gt", "le", "lt", "min_length", "max_length")
_UNSAID = {"pattern": "a pattern", "multiple_of": "a multiple", "func": "a function that checks"}
_BY_VALIDATE = "Say it in the description, and check it in a function that you give to @tool(validate=…)."


class NotDescribable(Exception):
    """What the format cannot say. place: of the value, such as `stops[].city`. way_out: what the author can do."""

    def __init__(self, place: str, problem: str, way_out: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem
        self.way_out = way_out


class Field(typing.NamedTuple):
    """One member of an object: a parameter, or a field. default: None if there is none to be told."""

    name: str
    annotation: object
    is_required: bool
    default: object


class Rewriter:
    """Rewrites types. is_result: describe what comes out, where null may stand and every field is there."""

    def __init__(self, *, is_result: bool = False) -> None:
        self._is_result = is_result
        self._around: list[object] = []
        self._objects = 0

    def rewrite(self, annotation: object, place: str, *, may_be_left_out: bool = False, default: str = "") -> object:
        """The type for msgspec.

        Args:
            may_be_left_out: None only stands for that.

        Raises:
            NotDescribable.
        """
        description = ""
        bounds: _Bounds = {}
        annotation, metadata = _split(annotation)
        if may_be_left_out and not self._is_result:
            annotation, more = _split(_without_none(annotation))
            metadata = more + metadata
        for one in metadata:
            text, limits = self._read(one, place)
            description = text or description
            bounds.update(limits)
        form = "" if self._is_result else conversion.describe_form(annotation)
        description = _join(description, form, default)
        inner = _without_none(annotation)
        _close_bounds(bounds, inner, place)
        _require_fitting_bounds(bounds, inner, place)
        if bounds and inner is not annotation:  # msgspec wants bounds at the type that they are of
            annotation, bounds = typing.Optional[typing.Annotated[inner, msgspec.Meta(**bounds)]], {}  # noqa: UP045 - `|` drops what Annotated adds
        kind, extra = self._rewrite_bare(annotation, place)
        if not (description or bounds or extra):
            return kind
        meta = msgspec.Meta(**bounds, description=description or None, extra_json_schema=extra or None)
        return typing.Annotated[kind, meta]

    def _rewrite_bare(self, annotation: object, place: str) -> tuple[object, dict[str, object]]:
        origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
        if origin is typing.Literal:
            return _values(arguments, place)
        if isinstance(annotation, type) and issubclass(annotation, Enum):
            return _values([member.value for member in annotation], place)
        if is_object(annotation):
            return self._rewrite_object(annotation, place), {}
        if not self._is_result:
            _require_one_type(annotation, place)
        if origin in (typing.Union, UnionType):
            return typing.Union[tuple(self.rewrite(one, place) for one in arguments)], {}  # noqa: UP007 - made now
        if arguments and origin is not None:
            inner = (one if one is ... else self.rewrite(one, f"{place}[]") for one in arguments)
            return (list if origin in conversion.LISTS else origin)[tuple(inner)], {}
        return str if conversion.is_path(annotation) else annotation, {}

    def _rewrite_object(self, annotation: typing.Any, place: str) -> object:
        if annotation in self._around:
            raise NotDescribable(place, f"{annotation.__name__} holds itself", "Give it a fixed depth.")
        self._around.append(annotation)
        try:
            fields = [
                (
                    one.name,
                    self.rewrite(
                        one.annotation,
                        f"{place}.{one.name}",
                        may_be_left_out=not one.is_required,
                        default="" if self._is_result else describe_default(one.default),
                    ),
                    *(() if one.is_required or self._is_whole(annotation) else (_left_out(),)),
                )
                for one in self._fields(annotation, place)
            ]
        finally:
            self._around.pop()
        self._objects += 1  # msgspec tells definitions apart by name, and one class may be described twice
        return msgspec.defstruct(f"{annotation.__name__}{self._objects}", fields, kw_only=True)

    def _fields(self, annotation: typing.Any, place: str) -> Iterable[Field]:
        try:
            types = typing.get_type_hints(annotation, include_extras=True)
        except NameError as error:
            way_out = "Define or import it at the module."
            raise NotDescribable(place, f"{error} in {annotation.__name__}", way_out) from None
        if typing.is_typeddict(annotation):
            for name, one in types.items():
                yield Field(name, one, _is_required(one, name in annotation.__required_keys__), None)
            return
        for field in dataclasses.fields(annotation):
            if field.init or self._is_result:
                has_default = field.default is not dataclasses.MISSING
                is_required = not has_default and field.default_factory is dataclasses.MISSING
                yield Field(field.name, types[field.name], is_required, field.default if has_default else None)

    def _is_whole(self, annotation: type) -> bool:
        """A dataclass that comes out has all of its fields."""
        return self._is_result and dataclasses.is_dataclass(annotation)

    def _read(self, one: object, place: str) -> tuple[str, _Bounds]:
        """The description and the bounds that a piece of metadata has."""
        if isinstance(one, str):
            return one, {}
        if isinstance(one, Range):
            return "", {name: value for name, value in (("ge", one.min), ("le", one.max)) if value is not None}
        for name, what in _UNSAID.items():
            if getattr(one, name, None) is not None:
                raise NotDescribable(place, f"the format has no word for {what}", _BY_VALIDATE)
        bounds: _Bounds = {
            name: value for name in _BOUNDS if isinstance(value := getattr(one, name, None), int | float)
        }
        text = getattr(one, "description", None)
        for inner in _inner_metadata(one):
            bounds.update(self._read(inner, place)[1])
        return text if isinstance(text, str) else "", bounds


def is_object(annotation: object) -> bool:
    """Whether it is a dataclass or a TypedDict."""
    return isinstance(annotation, type) and (dataclasses.is_dataclass(annotation) or typing.is_typeddict(annotation))


def describe_default(default: object) -> str:
    """What a description says of a default: nothing of one that is empty, or no JSON."""
    value = conversion.to_json(default)
    if value is None or value == "" or (isinstance(value, list | dict) and not value):
        return ""
    if isinstance(value, str):
        return f"default: {value}"
    try:
        return f"default: {msgspec.json.encode(value).decode()}"
    except (TypeError, ValueError):
        return ""


def _split(annotation: object) -> tuple[typing.Any, list[object]]:
    """The type, and all metadata of it, its own names resolved."""
    metadata: list[object] = []
    while True:
        if typing.get_origin(annotation) is typing.Annotated:
            annotation, *more = typing.get_args(annotation)
            metadata = [*more, *metadata]
        elif typing.get_origin(annotation) in (typing.Required, typing.NotRequired):
            annotation = typing.get_args(annotation)[0]
        elif (inner := conversion.target_of(annotation)) is not annotation:
            annotation = inner
        else:
            return annotation, metadata


def _without_none(annotation: object) -> object:
    members = typing.get_args(annotation)
    if typing.get_origin(annotation) is typing.Literal:
        return typing.Literal[tuple(one for one in members if one is not None)] if None in members else annotation
    if typing.get_origin(annotation) not in (typing.Union, UnionType):
        return annotation
    return typing.Union[tuple(one for one in members if one is not type(None))]  # noqa: UP007 - made now


def _is_required(annotation: object, is_total: bool) -> bool:
    """Whether a key is required; what a class says of it is wrong where its annotations are texts."""
    marks = [typing.get_origin(one) for one in (annotation, *typing.get_args(annotation)[:1])]
    return typing.Required in marks or (is_total and typing.NotRequired not in marks)


def _values(values: Iterable[object], place: str) -> tuple[object, dict[str, object]]:
    """A type of these values, and what msgspec does not write: their order and their type."""
    listed = list(values)
    names = {bool: "boolean", int: "integer", str: "string"}
    kinds = {names.get(type(value)) for value in listed}
    if len(kinds) != 1 or None in kinds:
        shown = ", ".join(map(repr, listed))
        raise NotDescribable(place, f"values are texts, whole numbers or booleans, not {shown}", "Use texts alone.")
    return type(listed[0]), {"type": kinds.pop(), "enum": listed}


def _require_one_type(annotation: object, place: str) -> None:
    """What the call is given must be of a type that is known, and that can be made from JSON."""
    members = typing.get_args(annotation)
    if typing.get_origin(annotation) in (typing.Union, UnionType):
        way_out = "Give it one type, such as str, and tell the cases apart in the function; or make it two parameters."
        if type(None) in members:
            way_out = "Give it the default None, so that it may be left out."
            if place.endswith("]"):
                way_out = "Leave None out of the list."
        raise NotDescribable(place, f"the format has no union ({' or '.join(map(conversion.show, members))})", way_out)
    if annotation in (typing.Any, object):
        raise NotDescribable(place, "its type allows any value", "Name the type that it has.")
    if typing.get_origin(annotation) in conversion.CONTAINERS or typing.get_origin(annotation) is typing.Literal:
        return  # each member of which is looked at by itself
    try:
        conversion.find_converter(annotation)
    except conversion.NotConvertible as error:
        way_out = "Take str, a dataclass or a TypedDict, and make it of that in the function."
        raise NotDescribable(place, str(error), way_out) from None


def _close_bounds(bounds: _Bounds, annotation: object, place: str) -> None:
    """The format has no bounds that are excluded; for whole numbers there is another way to say them."""
    for excluded, included, step in (("gt", "ge", 1), ("lt", "le", -1)):
        if excluded in bounds:
            if annotation is not int:
                raise NotDescribable(
                    place, "the format has no bound that is excluded", f"Use Range, or {included}. {_BY_VALIDATE}"
                )
            bounds[included] = int(bounds.pop(excluded)) + step


def _require_fitting_bounds(bounds: _Bounds, annotation: object, place: str) -> None:
    """msgspec's own words on bounds are of its classes, which the author does not know."""
    limits = {name: bounds[name] for name in ("ge", "gt", "le", "lt") if name in bounds}
    if limits and annotation not in (int, float):
        problem = f"the least and the greatest are of a number, and its type is {conversion.show(annotation)}"
        raise NotDescribable(place, problem, "For the length of a text or a list, use annotated_types.Len(1, 5).")
    if annotation is int:
        for name, limit in limits.items():
            if not float(limit).is_integer():
                raise NotDescribable(place, f"a whole number has no bound {limit}", "Round it, or make it a float.")
            bounds[name] = int(limit)


def _inner_metadata(one: object) -> Iterable[object]:
    """What pydantic's Field has collected."""
    found = getattr(one, "metadata", None)
    return found if isinstance(found, list) else ()


def _left_out() -> object:
    """A default that msgspec does not write into the schema."""
    return msgspec.field(default_factory=object)


def _join(description: str, form: str, default: str) -> str:
    """`Days to look ahead (default: 3)`; a default that the author has told is not told again."""
    told = [form, "" if "default" in description.lower() else default]
    notes = "; ".join(filter(None, told))
    if not notes:
        return description
    return f"{description.rstrip(' .')} ({notes})" if description else notes[0].upper() + notes[1:]
