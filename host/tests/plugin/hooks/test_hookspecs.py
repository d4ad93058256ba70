"""The hooks are documented, and what their documentation shows is a tool that works."""

import inspect
import re
import sys
import textwrap
import time
import types
from collections.abc import Callable
from typing import Any

import pluggy
import pytest

import ferrule
from ferrule.discovery import InstalledTool
from ferrule.errors import ToolError
from ferrule.plugin.hooks.context import Context
from ferrule.plugin.hooks.hookspecs import PROJECT, REQUIRED_HOOKS, ToolSpec
from ferrule.plugin.loader import LoadedTool, load
from ferrule.schema.rules import check

HOOKS = ["schema", "credentials", "validate", "execute", "result_policy"]


def example(hook: str) -> str:
    """The code of a hookspec's example."""
    text = inspect.getdoc(getattr(ToolSpec, hook)) or ""
    return textwrap.dedent(text.partition("Example::\n\n")[2])


def specification(hook: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(ToolSpec, hook)
    return found


@pytest.fixture
def dice(monkeypatch: pytest.MonkeyPatch) -> LoadedTool:
    """The tool that all examples together are, loaded as any plugin is."""
    module = types.ModuleType("examples_of_hooks")
    names = {name: getattr(ferrule, name) for name in ("Credential", "ResultPolicy", "ToolError", "hookimpl")}
    module.__dict__.update(names)
    exec("\n\n".join(map(example, HOOKS)), module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return load(InstalledTool("dice", module.__name__, "ferrule-dice", "1.0", "/nowhere"))


def test_there_are_five_hooks_and_two_must_be_there() -> None:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(ToolSpec)
    found = {name: hook.spec for name, hook in vars(manager.hook).items() if not name.startswith("_")}
    assert sorted(found) == sorted(HOOKS)
    assert all(spec is not None and spec.opts["firstresult"] for spec in found.values())
    assert set(REQUIRED_HOOKS) == {"schema", "execute"}


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_says_when_it_is_called_what_it_returns_and_shows_an_example(hook: str) -> None:
    paragraphs = (inspect.getdoc(specification(hook)) or "").split("\n\n")
    assert re.fullmatch(r"[A-Z].*[.:`]", paragraphs[0].replace("\n", " "))
    starts = [paragraph.split(" ")[0].rstrip(":") for paragraph in paragraphs[1:]]
    assert starts[:3] == ["Called", "Returns", "Example"]
    assert example(hook).startswith(f"@hookimpl\ndef {hook}(")


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_is_annotated_in_full_and_its_example_takes_the_same_arguments(hook: str) -> None:
    signature = inspect.signature(specification(hook))
    names = [name for name in signature.parameters if name != "self"]
    assert signature.return_annotation is not inspect.Signature.empty
    assert all(signature.parameters[name].annotation is not inspect.Parameter.empty for name in names)
    assert f"def {hook}({', '.join(names)}):" in example(hook)


def test_the_schema_of_the_examples_breaks_no_rule_and_costs_nothing(dice: LoadedTool) -> None:
    assert [str(finding) for finding in check(dice.schema(), name="dice")] == []


def test_the_examples_answer_a_call(dice: LoadedTool, monkeypatch: pytest.MonkeyPatch) -> None:
    (credential,) = dice.credentials()
    monkeypatch.setenv(credential.environment, "k3y-1")
    context = Context("dice", time.monotonic() + 60, credentials=[credential])
    assert context.credential("api_key") == "k3y-1"
    assert dice.validate({"sides": 8}) == dice.validate({}) == []
    for arguments in ({}, {"sides": 8}):
        result = dice.execute(arguments, context)
        assert result["success"] is True
        assert 1 <= result["rolled"] <= arguments.get("sides", 6)


def test_the_examples_refuse_a_call(dice: LoadedTool) -> None:
    assert dice.validate({"sides": 7}) == ["sides must be even"]
    with pytest.raises(ToolError) as caught:
        dice.execute({"sides": 102}, Context("dice", 0.0))
    assert (caught.value.code, caught.value.hint) == ("TOO_MANY_SIDES", "Use 100 or fewer.")
