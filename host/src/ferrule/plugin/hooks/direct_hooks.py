"""The hooks of a plugin that is one module of plain functions, or one `@tool`, called as pluggy would call them.

With one implementation a hook, and nothing around it, a plugin manager passes the arguments on that a function names,
and hands its result back. To import one costs twice the interpreter's start, so it is made only where a call has
wrappers, or where a plugin does more than that: each doubt is pluggy's to settle. A test holds both ways together.
"""

from __future__ import annotations

import sys

from ferrule.plugin.hooks.hookspecs import PROJECT, ToolSpec

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_IMPLEMENTATION, _SPECIFICATION = f"{PROJECT}_impl", f"{PROJECT}_spec"
_AROUND_OTHERS = ("wrapper", "hookwrapper", "specname")  # options that only a manager can follow
_ODD: dict[str, object] = {"wrapper": True}
_ARGUMENTS = {
    name: found.__code__.co_varnames[1 : found.__code__.co_argcount]
    for name, found in vars(ToolSpec).items()
    if hasattr(found, _SPECIFICATION)
}


class DirectHooks:
    """The hooks of one plugin, by name: each function, and the arguments that it wants."""

    def __init__(self, found: dict[str, tuple[Callable[..., Any], tuple[str, ...]]]) -> None:
        self._found = found

    def has(self, name: str) -> bool:
        """Whether the plugin implements a hook."""
        return name in self._found

    def call(self, name: str, **arguments: object) -> Any:
        """What the hook returns, None if there is none. Raises what it raises."""
        if name not in self._found:
            return None
        function, wanted = self._found[name]
        return function(*[arguments[one] for one in wanted])


# What `types` names, without importing it.
_Function, _Method, _Module = type(DirectHooks.has), type(DirectHooks({}).has), type(sys)


def find_hooks(plugin: object) -> DirectHooks | None:
    """The hooks of a plugin; None where a manager is needed to say what they are, or what is wrong with them."""
    if (made := _find_hooks_of_function(plugin)) is not None:
        return made
    if type(plugin) is not _Module or "__dir__" in vars(plugin):
        return None
    found = {}
    for name, value in vars(plugin).items():
        options = _options(value)
        if options is None:
            continue
        wanted = _wanted(value) if name in _ARGUMENTS and not any(map(options.get, _AROUND_OTHERS)) else None
        if wanted is None or not set(wanted) <= set(_ARGUMENTS[name]):
            return None
        found[name] = value, wanted
    return DirectHooks(found)


def _find_hooks_of_function(plugin: object) -> DirectHooks | None:
    """The hooks of what `@tool` made; None for all else, and where its module has changed one of them."""
    decorator = sys.modules.get("ferrule.plugin.function.decorator")
    if decorator is None or type(plugin) is not decorator.FunctionTool:
        return None
    found = {}
    for name in dir(plugin):
        method: Any = getattr(plugin, name)
        kind: object = type(method)
        if kind is not _Method:
            return None
        code = method.__func__.__code__
        found[name] = method, code.co_varnames[1 : code.co_argcount]
    return DirectHooks(found)


def _options(value: Any) -> dict[str, object] | None:
    """The options of what is marked as a hook, None for all else; those of a marked object that is no function are odd.

    No code of the object runs for that, such as a `__getattr__`.
    """
    if type(value) is _Function:
        options = vars(value).get(_IMPLEMENTATION)
        return options if isinstance(options, dict) else None
    if isinstance(value, type):
        return None
    kind: object = type(value)
    marked = value.__func__ if kind is _Method else value
    try:
        object.__getattribute__(marked, _IMPLEMENTATION)
    except AttributeError:
        return None
    return _ODD


def _wanted(function: Any) -> tuple[str, ...] | None:
    """The arguments without a default; None for a function that stands for another one, or was defined in a class."""
    if "__wrapped__" in vars(function) or "." in function.__qualname__.rpartition("<locals>.")[2]:
        return None
    code, defaults = function.__code__, function.__defaults__ or ()
    return tuple(code.co_varnames[: code.co_argcount - len(defaults)])
