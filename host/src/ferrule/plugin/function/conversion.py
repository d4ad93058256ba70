"""Between the JSON of a call and the values of Python that a signature names.

Most types are what JSON has, and nothing is done to their values. The others are made by a function of one value, which
raises ValueError with a sentence where the value, though it fits the schema, is none.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, MutableSequence, Sequence, Set
from enum import Enum
from types import UnionType

Convert = Callable[[typing.Any], object]

_AS_THEY_ARE = (str, int, bool, object, typing.Any, type(None), None)
LISTS = (list, Sequence, Iterable, Collection, MutableSequence)
_SETS: dict[object, Convert] = {set: set, frozenset: frozenset, Set: frozenset}
_MAPPINGS = (dict, Mapping)
CONTAINERS = (*LISTS, *_SETS, *_MAPPINGS, tuple)
_TIMES = {
    "datetime": "a date and time such as 2025-01-31T12:30:00+01:00",
    "date": "a date such as 2025-01-31",
    "time": "a time of day such as 12:30:00",
}


class NotConvertible(TypeError):
    """A type of which no value can be made from JSON."""


def find_converter(annotation: object) -> Convert | None:
    """What makes a value of this type from JSON; None where the JSON is such a value. Raises NotConvertible."""
    annotation = bare(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal or annotation in _AS_THEY_ARE or (origin or annotation) in _MAPPINGS:
        return None
    if origin in (typing.Union, UnionType):
        return _find_union_converter(arguments)
    kind = origin or annotation
    if kind in LISTS:
        return _of_items(arguments, None)
    if kind in _SETS:
        return _of_items(arguments, _SETS[kind])
    if kind is tuple:
        return _of_items(arguments, tuple)
    if isinstance(kind, type):
        return _find_class_converter(kind)
    raise NotConvertible(f"{show(annotation)} is not a type that JSON can be made into")


def bare(annotation: object) -> object:
    """The type without its metadata, and without the names that other types are given."""
    while True:
        if typing.get_origin(annotation) in (typing.Annotated, typing.Required, typing.NotRequired):
            annotation = typing.get_args(annotation)[0]
        elif (target := target_of(annotation)) is not annotation:
            annotation = target
        else:
            return annotation


def target_of(annotation: object) -> object:
    """What a NewType or a `type` statement is another name for; the annotation itself where it is neither."""
    if type(annotation).__name__ == "TypeAliasType":
        return annotation.__value__  # type: ignore[attr-defined] # Python 3.12 has it
    return getattr(annotation, "__supertype__", annotation)


def is_path(annotation: object) -> bool:
    """Whether it is a class of pathlib."""
    return _is_of(annotation, "pathlib", "PurePath")


def show(annotation: object) -> str:
    """The type as an author writes it."""
    if annotation is type(None):
        return "None"
    is_class = isinstance(annotation, type) and not typing.get_args(annotation)
    return getattr(annotation, "__name__", "") if is_class else str(annotation).replace("typing.", "")


def describe_form(annotation: object) -> str:
    """What the text of such a value must look like, beside being text; empty where any text will do."""
    kind = bare(annotation)
    return next((form for name, form in _TIMES.items() if _is_of(kind, "datetime", name)), "")


def to_json(value: object) -> object:
    """A value as JSON: dataclasses as objects, enums as their values, dates as text. Anything else is left as it is."""
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, Enum)):
        return value
    if isinstance(value, dict):
        return {name: to_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(inner) for inner in value]
    if isinstance(value, Enum):
        return to_json(value.value)
    if any(_is_of(type(value), "datetime", name) for name in ("date", "time")):
        return value.isoformat()  # type: ignore[attr-defined] # which both have
    if is_path(type(value)):
        return str(value)
    if not hasattr(type(value), "__dataclass_fields__"):
        return value
    from dataclasses import fields  # which the class has imported

    return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}  # type: ignore[arg-type] # a dataclass, as was looked at


def _find_union_converter(members: Sequence[object]) -> Convert | None:
    kinds = [member for member in members if member is not type(None)]
    if len(kinds) == 1:
        convert = find_converter(kinds[0])
        return convert and (lambda value: value if value is None else convert(value))
    if any(map(find_converter, kinds)):
        raise NotConvertible("it cannot be known which type of a union a value is meant to be")
    return None


def _of_items(arguments: Sequence[object], collect: Convert | None) -> Convert | None:
    convert = find_converter(arguments[0]) if arguments else None
    if convert is None:
        return collect
    return lambda values: (collect or list)([convert(value) for value in values])


def _find_class_converter(kind: type) -> Convert | None:
    if issubclass(kind, Enum | float) or is_path(kind):
        return kind
    if form := describe_form(kind):
        return _time_reader(kind, form)
    if hasattr(kind, "__dataclass_fields__"):
        return lambda value: kind(**_convert_fields(kind, value))
    if typing.is_typeddict(kind):
        return lambda value: _convert_fields(kind, value)
    raise NotConvertible(f"{show(kind)} is not a type that JSON can be made into")


def _is_of(kind: object, module: str, name: str) -> bool:
    """Whether it is a class of a module that is not imported for this: who has such a class has imported it."""
    parent = getattr(sys.modules.get(module), name, None)
    return parent is not None and isinstance(kind, type) and issubclass(kind, parent)


def _time_reader(kind: typing.Any, form: str) -> Convert:
    def read(text: str) -> object:
        try:
            return kind.fromisoformat(text)
        except ValueError:
            raise ValueError(f"expected {form}, got {text[:60]!r}") from None

    return read


def _convert_fields(kind: typing.Any, value: Mapping[str, object]) -> dict[str, object]:
    """The fields as values of their types. The schema allows others, of which no object can be made."""
    types = typing.get_type_hints(kind)
    fields = getattr(kind, "__dataclass_fields__", None)
    known = types if fields is None else {name for name, field in fields.items() if field.init}
    for name in value:
        if name not in known:
            raise ValueError(f"{name[:60]}: {kind.__name__} has no such key")
    return {name: _convert(inner, types.get(name, object), name) for name, inner in value.items()}


def _convert(value: object, annotation: object, name: str) -> object:
    convert = find_converter(annotation)
    try:
        return convert(value) if convert else value
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
