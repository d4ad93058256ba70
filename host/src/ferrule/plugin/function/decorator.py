"""`@tool`: a function, and the hooks of a tool that it is made into."""

from __future__ import annotations

from ferrule.plugin.function.signature import Definition
from ferrule.plugin.hooks.hookspecs import hookimpl

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

    from ferrule.plugin.hooks.context import Context
    from ferrule.plugin.hooks.credentials import Credential
    from ferrule.plugin.hooks.result_policy import ResultPolicy
    from ferrule.text.json_types import JSONMapping, JSONObject

    Parameters = ParamSpec("Parameters")
    Returned = TypeVar("Returned")

    class _Typed(Generic[Parameters, Returned]):
        """The types of the function, which are for type checkers alone: making them would cost each call."""

    class _Decorator(Protocol):
        """What `tool(…)` returns."""

        def __call__(self, function: Callable[Parameters, Returned], /) -> FunctionTool[Parameters, Returned]: ...

else:
    Parameters = Returned = None

    class _Typed:
        def __class_getitem__(cls, _types: object) -> type:
            return cls


_Function = type(lambda: None)


class FunctionTool(_Typed[Parameters, Returned]):
    """A function with the hooks of a tool. It can be called as the function that it was made from.

    definition: the function itself, and the name of the tool.
    """

    def __init__(
        self,
        function: Callable[Parameters, Returned],
        *,
        name: str | None = None,
        credentials: Sequence[Credential] = (),
        result_policy: ResultPolicy | None = None,
        validate: Callable[[JSONObject], list[str]] | None = None,
    ) -> None:
        if not _is_routine(function):
            raise TypeError(f"@tool makes a tool of a function, not of {function!r:.100}")
        self.definition = Definition(function, name)
        self._credentials = list(credentials)
        self._result_policy = result_policy
        self._validate = validate
        for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
            setattr(self, attribute, getattr(function, attribute, None))
        self.__wrapped__ = function

    def __call__(self, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Returned:
        """Call the function."""
        function: Callable[Parameters, Returned] = self.__wrapped__
        return function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.definition.name} of {self.__module__}>"

    def __dir__(self) -> list[str]:
        """The hooks that do something. pluggy looks at each name that is listed here, in each call."""
        given = {"credentials": self._credentials, "result_policy": self._result_policy}
        return ["schema", "validate", "execute", *(name for name, one in given.items() if one)]

    @hookimpl
    def schema(self) -> JSONObject:
        """The schema of its file; one that is made now where it has none."""
        from ferrule.plugin.function import files

        return files.read_schema(self.definition) or files.make(self.definition).schema

    @hookimpl
    def credentials(self) -> list[Credential]:
        """The credentials that the decorator was given."""
        return self._credentials

    @hookimpl
    def validate(self, arguments: JSONObject) -> list[str]:
        """What cannot be made into the type of its parameter, and what the decorator's own function finds."""
        findings: list[str] = []
        _convert(self.definition, arguments, findings)
        return findings or (self._validate(arguments) if self._validate else [])

    @hookimpl
    def execute(self, arguments: JSONObject, context: Context) -> Any:
        """Call the function with arguments of its own types, and return its result as JSON or content.

        Raises SchemaInvalid where the arguments, which fit the schema file, are not those of the function.
        """
        values = _convert(self.definition, arguments)
        for name in self.definition.context_parameters():
            values[name] = context
        self._require_fitting(values)
        returned = self.definition.function(**values)  # were held against the schema
        return _as_answer(_to_json(_run(returned) if hasattr(type(returned), "cr_frame") else returned))

    @hookimpl
    def result_policy(self) -> ResultPolicy | None:
        """The policy that the decorator was given."""
        return self._result_policy

    def _require_fitting(self, values: JSONMapping) -> None:
        if self.definition.is_callable_with(values):
            return
        import inspect

        try:
            inspect.signature(self.definition.function).bind(**values)
        except TypeError as error:
            from ferrule.errors import SchemaInvalid

            raise SchemaInvalid(
                f"The schema file of {self.definition.name} is not that of its function: {error}.",
                hint=f"Run `ferrule schema --write {self.definition.name}`.",
            ) from None


if TYPE_CHECKING:

    @overload
    def tool(function: Callable[Parameters, Returned], /) -> FunctionTool[Parameters, Returned]: ...

    @overload
    def tool(
        *,
        name: str | None = None,
        credentials: Sequence[Credential] = (),
        result_policy: ResultPolicy | None = None,
        validate: Callable[[JSONObject], list[str]] | None = None,
    ) -> _Decorator: ...


def tool(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    credentials: Sequence[Credential] = (),
    result_policy: ResultPolicy | None = None,
    validate: Callable[[JSONObject], list[str]] | None = None,
) -> Any:
    """Make a tool of a function: `@tool`, or `@tool(credentials=[…])`.

    The name of the function is that of the tool, its docstring the description, its parameters the parameters. A
    parameter whose type is Context is given the context of the call.

    Args:
        function: what `@tool` stands on; None where it has options.
        name: another name for the tool.
        credentials: what it needs, as the hook of that name lists it.
        result_policy: what may be done with its results.
        validate: is given the arguments as JSON, and says what is wrong with them that the types cannot say, one
            sentence each.

    Raises:
        TypeError for anything but a function.
    """

    def make(made: Any) -> FunctionTool[..., Any]:
        return FunctionTool(made, name=name, credentials=credentials, result_policy=result_policy, validate=validate)

    return make if function is None else make(function)


def _convert(definition: Definition, arguments: JSONMapping, findings: list[str] | None = None) -> dict[str, object]:
    """The arguments as values of their parameters' types. findings: collects what is none instead of raising it."""
    values = dict(arguments)
    for name, value in arguments.items():
        if definition.takes_json(name):
            continue
        convert = definition.float_converter(name) or _find_converter(definition.type_of(name))
        if convert is None:
            continue
        try:
            values[name] = convert(value)
        except ValueError as error:
            if findings is None:
                raise
            findings.append(f"{name}: {error}")
    return values


def _find_converter(kind: object) -> Callable[[Any], object] | None:
    from ferrule.plugin.function.conversion import find_converter

    return find_converter(kind)


def _is_routine(function: object) -> bool:
    """What `inspect.isroutine` says, which is not imported for a plain function."""
    if type(function) is _Function:
        return True
    import inspect

    return inspect.isroutine(function)


def _to_json(value: object) -> object:
    """A value as JSON, see `conversion.to_json`, which is not imported for what is JSON already."""
    if _is_json(value):
        return value
    from ferrule.plugin.function.conversion import to_json

    return to_json(value)


def _is_json(value: Any) -> bool:
    """Whether it is made of JSON's own types alone."""
    kind = type(value)
    if kind is dict:
        return all(map(_is_json, value.values()))
    return kind in (str, int, float, bool, type(None)) or (kind is list and all(map(_is_json, value)))


def _as_answer(value: object) -> object:
    """Numbers, booleans and lists of them are JSON, but no answer: they become one with the key `result`."""
    is_plain = isinstance(value, int | float)
    if isinstance(value, list) and value:
        is_plain = all(isinstance(item, int | float) for item in value)
    return {"result": value} if is_plain else value


def _run(coroutine: Coroutine[object, object, object]) -> object:
    """The result of a coroutine, from a loop of its own; in another thread where this one has a running loop."""
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, coroutine).result()
