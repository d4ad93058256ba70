"""A plugin of plain functions is called without a plugin manager, and just as pluggy would call it."""

import functools
import sys
import time
import types
from collections.abc import Callable
from typing import Any

import pluggy
import pytest

from ferrule import Context, ResultPolicy, hookimpl, tool
from ferrule.discovery import InstalledTool
from ferrule.plugin.hooks.hookspecs import PROJECT, ToolSpec, hookspec
from ferrule.plugin.loader import LoadedTool, find_hooks, load, new_manager

OPTIONS: list[dict[str, Any]] = [
    {},
    {"optionalhook": True},
    {"tryfirst": True},
    {"trylast": True},
    {"specname": "execute"},
    {"wrapper": True},
    {"hookwrapper": True},
]
PLAIN = """
@hookimpl
def schema():
    return {"name": "plain"}

@hookimpl
def credentials():
    return None

@hookimpl(tryfirst=True)
def validate(arguments, strict=False):
    return [] if strict else [str(arguments)]

@hookimpl
def execute(context, arguments):
    return {"arguments": arguments, "context": context}
"""
ODD = {
    "a wrapper": "@hookimpl(wrapper=True)\ndef execute(arguments):\n    return (yield)\n",
    "another name": "@hookimpl(specname='execute')\ndef run(arguments):\n    return {}\n",
    "a hook of a later host": "@hookimpl\ndef prices(arguments):\n    return {}\n",
    "an argument of a later host": "@hookimpl\ndef execute(arguments, price):\n    return {}\n",
    "a wrapped function": "@hookimpl\n@functools.wraps(print)\ndef execute(*given):\n    return {}\n",
    "a method": "class Own:\n    @hookimpl\n    def execute(self, arguments):\n        return {}\n"
    "execute = Own().execute\n",
    "a function of a class": "class Own:\n    @hookimpl\n    def execute(arguments):\n        return {}\n"
    "execute = Own.execute\n",
    "a static method": "@hookimpl\n@staticmethod\ndef execute(arguments):\n    return {}\n",
    "names of its own": "@hookimpl\ndef execute(arguments):\n    return {}\ndef __dir__():\n    return []\n",
}


def module_of(code: str) -> types.ModuleType:
    module = types.ModuleType("directly_called")
    module.__dict__.update(hookimpl=hookimpl, functools=functools)
    exec(code, module.__dict__)
    return module


@pytest.mark.parametrize("options", OPTIONS)
def test_a_mark_is_that_of_pluggy(options: dict[str, Any]) -> None:
    def hook() -> None: ...

    def same() -> None: ...

    ours: Callable[..., Any] = hookimpl(**options)(hook) if options else hookimpl(hook)
    theirs = pluggy.HookimplMarker(PROJECT)(**options)(same)
    assert ours is hook
    assert vars(ours) == vars(theirs)
    assert hookimpl.project_name == PROJECT


def test_a_specification_is_that_of_pluggy() -> None:
    def hook() -> None: ...

    def same() -> None: ...

    assert vars(hookspec(firstresult=True)(hook)) == vars(pluggy.HookspecMarker(PROJECT)(firstresult=True)(same))


def test_plain_functions_answer_as_a_manager_would_have_them() -> None:
    module = module_of(PLAIN)
    hooks, manager = find_hooks(module), new_manager()
    manager.register(module)
    assert hooks is not None
    given: dict[str, dict[str, object]] = {
        "schema": {},
        "credentials": {},
        "result_policy": {},
        "validate": {"arguments": {"a": 1}},
        "execute": {"arguments": {"a": 1}, "context": 2},
    }
    assert set(given) == {name for name, spec in vars(ToolSpec).items() if hasattr(spec, f"{PROJECT}_spec")}
    for name, arguments in given.items():
        hook = getattr(manager.hook, name)
        assert hooks.call(name, **arguments) == hook(**arguments)
        assert hooks.has(name) == bool(hook.get_hookimpls())


@pytest.mark.parametrize("code", ODD.values(), ids=ODD)
def test_what_is_more_than_that_is_left_to_a_manager(code: str) -> None:
    assert find_hooks(module_of(code)) is None


@tool(result_policy=ResultPolicy(cache_seconds=5), validate=lambda arguments: ["no"] if arguments["city"] == "" else [])
def greet(city: str, days: int = 3, *, context: Context) -> dict[str, object]:
    """Greets a city."""
    return {"city": city, "days": days, "tool": context.tool}


def test_a_function_tool_answers_as_a_manager_would_have_it() -> None:
    hooks, manager = find_hooks(greet), new_manager()
    manager.register(greet)
    assert hooks is not None
    given: dict[str, dict[str, object]] = {
        "credentials": {},
        "result_policy": {},
        "validate": {"arguments": {"city": ""}},
        "execute": {"arguments": {"city": "Oslo"}, "context": Context("greet", time.monotonic() + 5)},
    }
    for name, arguments in given.items():
        hook = getattr(manager.hook, name)
        assert hooks.has(name) == bool(hook.get_hookimpls()) == (name != "credentials")  # of which it was given none
        assert hooks.call(name, **arguments) == (hook(**arguments) or None)


def test_a_function_tool_with_a_hook_of_its_own_is_left_to_a_manager() -> None:
    def changed(city: str) -> str:
        """Greets."""
        return city

    made = tool(changed)
    vars(made)["execute"] = lambda arguments: arguments
    assert find_hooks(made) is None


def test_an_object_is_left_to_a_manager() -> None:
    assert find_hooks(types.SimpleNamespace(execute=hookimpl(lambda arguments: {}))) is None


def test_what_is_no_hook_is_not_looked_into() -> None:
    code = f"{PLAIN}class Proxy:\n    def __getattr__(self, name):\n        raise SystemError(name)\nproxy = Proxy()\n"
    assert find_hooks(module_of(code)) is not None


def test_a_manager_is_made_for_whoever_wants_to_stand_around(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "directly_called", module_of(PLAIN))
    loaded: LoadedTool = load(InstalledTool("plain", "directly_called", "ferrule-plain", "1.0", "/nowhere"))
    assert loaded.schema() == {"name": "plain"}

    @hookimpl(wrapper=True)
    def schema() -> Any:
        return {**(yield), "is_wrapped": True}

    loaded.manager.register(types.SimpleNamespace(schema=schema))
    assert loaded.schema() == {"name": "plain", "is_wrapped": True}
    assert loaded.manager is loaded.manager
