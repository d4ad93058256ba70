"""A function that is a tool, and what its signature says, as far as a call needs it: it imports little."""

from __future__ import annotations

import os
import sys

from ferrule.plugin.hooks.context import Context

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from types import ModuleType
    from typing import Any

_CONTEXTS = ("Context", "WrapperContext")


class Range:
    """The least and the greatest value of a number, both included: `Annotated[int, Range(1, 7)]`.

    None stands for no bound. Raises ValueError where both are None, or min is greater than max.
    """

    __slots__ = ("max", "min")

    def __init__(self, min: float | None = None, max: float | None = None) -> None:
        if min is None and max is None:
            raise ValueError("Range needs a bound")
        if min is not None and max is not None and min > max:
            raise ValueError(f"Range({min}, {max}) holds no number")
        self.min = min
        self.max = max

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and (self.min, self.max) == (other.min, other.max)

    def __hash__(self) -> int:
        return hash((self.min, self.max))

    def __repr__(self) -> str:
        return f"Range({self.min}, {self.max})"


class Definition:
    """A function that is a tool, without the hooks. name: of the tool. attribute: of the function in its module."""

    __slots__ = ("_bare", "_types", "attribute", "function", "name")

    def __init__(self, function: Callable[..., Any], name: str | None) -> None:
        self.function = function
        self.attribute: str = function.__name__
        self.name = name or self.attribute
        self._types: dict[str, object] = {}
        self._bare: dict[str, object] = {}

    def type_of(self, name: str) -> object:
        """The type of a parameter, or of `return`; None where it has none. What cannot be resolved stays as it is."""
        if name not in self._types:
            annotation = _annotations(self.function).get(name)
            self._types[name] = annotation and _resolve(name, annotation, self._names())
        return self._types[name]

    def takes_json(self, name: str) -> bool:
        """Whether a parameter takes what JSON has as it is, where that can be seen without `typing`."""
        return _is_json(self._bare_type(name))

    def float_converter(self, name: str) -> Callable[[Any], float | None] | None:
        """What makes the value of a parameter that is a float, or one or None; None for others, and with `typing`."""
        kind = self._bare_type(name)
        if kind is float:
            return float
        return (lambda value: None if value is None else float(value)) if kind == float | None else None

    def _bare_type(self, name: str) -> object:
        if name not in self._bare:
            annotation = _annotations(self.function).get(name)
            self._bare[name] = _resolve_bare(annotation, self._names())
        return self._bare[name]

    def context_parameters(self) -> list[str]:
        """The parameters that are given the Context of the call."""
        names, found = self._names(), []
        for name, annotation in _annotations(self.function).items():
            # A name is looked up, which is far quicker than to resolve each annotation.
            one = names.get(annotation, annotation) if isinstance(annotation, str) else annotation
            if isinstance(one, str) and "Context" in one:
                one = self.type_of(name)
            if name != "return" and is_context(one):
                found.append(name)
        return found

    def _names(self) -> dict[str, object]:
        function = self.function
        if hasattr(function, "__wrapped__"):
            import inspect

            function = inspect.unwrap(function)
        return getattr(function, "__globals__", {})

    def is_callable_with(self, names: Collection[str]) -> bool:
        """Whether the function can be called with these keywords, where that can be seen without `inspect`."""
        code = getattr(self.function, "__code__", None)
        if code is None or hasattr(self.function, "__wrapped__") or code.co_posonlyargcount:
            return False
        known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        defaults, by_keyword = self.function.__defaults__ or (), self.function.__kwdefaults__ or {}
        optional = {*known[code.co_argcount - len(defaults) : code.co_argcount], *by_keyword}
        return set(known) - optional <= set(names) <= set(known)

    @property
    def module(self) -> ModuleType:
        """The module that it is in."""
        return sys.modules[self.function.__module__]

    @property
    def folder(self) -> str:
        """The folder of this module."""
        return os.path.dirname(os.path.abspath(self.module.__file__ or ""))


def definitions_in(module: ModuleType) -> list[Definition]:
    """The functions of a module that are tools; those that it has imported from another one are not its own."""
    found = (getattr(one, "definition", None) for one in vars(module).values())
    return [one for one in found if isinstance(one, Definition) and one.module is module]


class _NamesOfTyping(dict[str, object]):
    """A module's names, and those of `typing` that it imports for type checkers alone."""

    def __missing__(self, name: str) -> object:
        import builtins
        import typing

        if hasattr(builtins, name) or name not in typing.__all__:
            raise KeyError(name)
        return getattr(typing, name)


class _Bare:
    """A name of `typing` where nothing but the type counts. bare: the type of what stands in its brackets."""

    def __init__(self, bare: Callable[[Any], object]) -> None:
        self._bare = bare

    def __getitem__(self, key: Any) -> object:
        return self._bare(key)


_BARE: dict[str, object] = {
    "Annotated": _Bare(lambda key: key[0]),
    "Any": object,
    "Literal": _Bare(lambda _key: str),  # whose values are what JSON has
    "Optional": _Bare(lambda key: key | None),
}
_JSON = (str, int, bool, object, dict, list, type(None), None)  # types whose values are what JSON has
_List: type = type(list[int])  # what `types` names, without importing it
_Union: type = type(int | str)


class _Annotated:
    """What `typing.get_type_hints` takes for an object with one annotation."""

    def __init__(self, name: str, annotation: object) -> None:
        self.__annotations__ = {name: annotation}


def is_context(annotation: object) -> bool:
    """Whether a parameter of this type, or of this or None, is given the Context of the call."""
    if isinstance(annotation, type):
        return issubclass(annotation, Context)
    text = getattr(annotation, "__forward_arg__", annotation)
    if isinstance(text, str):  # the name is imported for type checkers alone, and nothing but the name is known
        return any(part.strip("'\" ").rpartition(".")[2] in _CONTEXTS for part in text.split("|"))
    import typing
    from types import UnionType

    return typing.get_origin(annotation) in (typing.Union, UnionType) and any(
        map(is_context, typing.get_args(annotation))
    )


def _annotations(function: Callable[..., object]) -> Mapping[str, object]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)
    return getattr(function, "__annotations__", {})


def _resolve_bare(annotation: object, names: dict[str, object]) -> object:
    """The type that a text stands for, without what is added to it, where the module has no names of `typing`."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, names, {**_BARE, **names})  # noqa: S307 - the author's own annotation, as typing does
    except Exception:  # noqa: BLE001 - as in `_resolve`, which comes next
        return annotation


def _is_json(kind: Any) -> bool:
    form: object = type(kind)
    if form is _List:
        return kind.__origin__ is dict or (kind.__origin__ is list and all(map(_is_json, kind.__args__)))
    return all(map(_is_json, kind.__args__)) if form is _Union else kind in _JSON


def _resolve(name: str, annotation: object, names: dict[str, object]) -> object:
    """The type that an annotation stands for, itself where a name in it is unknown."""
    try:
        if isinstance(annotation, str):
            # Code of the plugin, as typing would run it, at a third of the price.
            annotation = eval(annotation, names, _NamesOfTyping(names))  # noqa: S307 - the author's own, as typing does
        if not _holds_text(annotation):
            return annotation
        import typing

        known = _NamesOfTyping(names)
        return typing.get_type_hints(_Annotated(name, annotation), names, known, include_extras=True)[name]
    except Exception:  # noqa: BLE001 - a text may hold anything; who needs the type says what is wrong
        return annotation


def _holds_text(annotation: object) -> bool:
    """Whether a type inside of it is still a text, as in `list["Place"]`."""
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return False
    import typing

    if isinstance(annotation, str | typing.ForwardRef):
        return True
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return False
    return any(map(_holds_text, inner[:1] if origin is typing.Annotated else inner))
