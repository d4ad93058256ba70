"""One plugin, imported and registered with a manager of its own: what makes it a tool, and what is said if not."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ferrule.discovery import InstalledTool
from ferrule.errors import ToolBroken, ToolCrashed, ToolUnknown
from ferrule.plugin.hooks.context import Context
from ferrule.plugin.loader import LoadedTool, load, load_failure_renderer, resolve

WHOLE = """\
from ferrule import Credential, ToolError, hookimpl

@hookimpl
def schema():
    return {"name": "dice"}

@hookimpl
def execute(arguments, context):
    return {"got": arguments, "tool": context.tool}
"""
Write = Callable[..., InstalledTool]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Write the module of a plugin, which is forgotten after the test."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(source: str, value: str = "loaded_dice", module: str = "loaded_dice") -> InstalledTool:
        (tmp_path / f"{module}.py").write_text(source)
        return InstalledTool("dice", value, "ferrule-dice", "1.0", str(tmp_path))

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("loaded_"):
            del sys.modules[name]


def loaded(write: Write, extra: str) -> LoadedTool:
    return load(write(WHOLE + extra))


def test_a_plugin_with_the_two_required_hooks_is_a_tool(write: Write) -> None:
    tool = load(write(WHOLE))
    assert tool.schema() == {"name": "dice"}
    assert tool.credentials() == []
    assert tool.validate({"a": 1}) == []
    assert tool.execute({"a": 1}, Context("dice", 0.0)) == {"got": {"a": 1}, "tool": "dice"}


def test_every_hook_of_a_plugin_is_called(write: Write) -> None:
    extra = (
        "@hookimpl\ndef credentials():\n    return (Credential('key', environment='K', path='k'),)\n"
        "@hookimpl\ndef validate(arguments):\n    return ('first', 2) if arguments else None\n"
    )
    tool = loaded(write, extra)
    assert [credential.name for credential in tool.credentials()] == ["key"]
    assert tool.validate({"a": 1}) == ["first", "2"]
    assert tool.validate({}) == []


def test_hooks_that_are_not_known_are_named_unless_they_are_optional(write: Write) -> None:
    extra = "@hookimpl\ndef later():\n    1 / 0\n\n@hookimpl(optionalhook=True)\ndef maybe():\n    1 / 0\n"
    assert loaded(write, extra).unknown_hooks == ["later"]


def test_a_required_hook_that_is_misspelt_is_missing_and_the_other_name_is_told(write: Write) -> None:
    with pytest.raises(ToolBroken, match=r"has no hook `schema`\. Its hook `scheme` is not one that ferrule knows"):
        load(write(WHOLE.replace("def schema", "def scheme")))


def test_a_hook_may_leave_out_what_it_does_not_use(write: Write) -> None:
    source = WHOLE.replace("def execute(arguments, context):", "def execute():").replace("arguments,", "1,")
    assert load(write(source.replace("context.tool", "2"))).execute({}, Context("dice", 0.0)) == {"got": 1, "tool": 2}


def test_an_object_inside_of_a_module_can_be_the_plugin(write: Write) -> None:
    source = (
        "from ferrule import hookimpl\n"
        "class Outer:\n"
        "    class plugin:\n"
        "        @staticmethod\n        @hookimpl\n        def schema(): return {'name': 'inner'}\n"
        "        @staticmethod\n        @hookimpl\n        def execute(arguments): return {}\n"
    )
    assert load(write(source, "loaded_dice:Outer.plugin")).schema() == {"name": "inner"}


def test_two_tools_do_not_share_hooks(write: Write) -> None:
    one = load(write(WHOLE, module="loaded_one", value="loaded_one"))
    two = load(write(WHOLE.replace('"dice"', '"cards"'), module="loaded_two", value="loaded_two"))
    assert (one.schema(), two.schema()) == ({"name": "dice"}, {"name": "cards"})


@pytest.mark.parametrize(
    ("source", "value", "reason"),
    [
        pytest.param(None, "loaded_nowhere", "ModuleNotFoundError: No module named 'loaded_nowhere'", id="no-module"),
        pytest.param("1 +", "loaded_dice", "SyntaxError: invalid syntax", id="syntax"),
        pytest.param("1 / 0", "loaded_dice", "ZeroDivisionError: division by zero", id="raises"),
        pytest.param("raise SystemExit(3)", "loaded_dice", "SystemExit: 3", id="exits"),
        pytest.param("raise KeyboardInterrupt", "loaded_dice", "KeyboardInterrupt.", id="interrupts"),
        pytest.param(WHOLE, "loaded_dice:nothing", "AttributeError: module 'loaded_dice' has no", id="no-attribute"),
        pytest.param(WHOLE, "", "ValueError: Empty module name", id="no-value"),
        pytest.param(WHOLE, "not a module", "ModuleNotFoundError: No module named 'not a module'", id="garbled-value"),
        pytest.param(
            WHOLE.replace("schema()", "schema(x)"), "loaded_dice", "Argument(s) {'x'} are declared", id="wrong-argument"
        ),
        pytest.param(
            "class E(Exception):\n    def __str__(self): raise E\nraise E", "loaded_dice", "E: (its text", id="no-text"
        ),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_broken_with_the_reason_and_who_ships_it(
    write: Write, tmp_path: Path, source: str | None, value: str, reason: str
) -> None:
    tool = write(source or "", value)
    with pytest.raises(ToolBroken) as caught:
        load(tool)
    assert caught.value.message.startswith("dice of ferrule-dice 1.0 cannot be loaded: ")
    assert reason in caught.value.message
    hint = str(caught.value.hint)
    assert hint.endswith("or update or uninstall ferrule-dice.")
    assert "<frozen" not in hint
    if "ZeroDivisionError" in reason:
        assert f"Correct {tmp_path}/loaded_dice.py, line 1" in hint
    details: Any = caught.value.details
    assert f": {details['exception']}" in caught.value.message
    assert (details["distribution"], details["version"]) == ("ferrule-dice", "1.0")


def test_a_plugin_that_was_uninstalled_since_it_was_found_is_unknown(write: Write, tmp_path: Path) -> None:
    tool = write("", "loaded_dice_that_is_gone")
    tool.metadata = str(tmp_path / "gone.dist-info")
    with pytest.raises(ToolUnknown, match="No installed distribution offers a tool named 'dice'"):
        load(tool)


def test_the_reason_why_it_cannot_be_loaded_shows_no_credential(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "dice-0123456789"
    monkeypatch.setenv("DICE_API_KEY", key)
    with pytest.raises(ToolBroken) as caught:
        load(write(f"raise ValueError('{key} is refused')"))
    assert key not in str(caught.value.facts())
    assert "ValueError: [redacted] is refused" in caught.value.message


@pytest.mark.parametrize("hook", ["schema", "execute"])
def test_a_plugin_without_a_required_hook_is_told_which(write: Write, hook: str) -> None:
    with pytest.raises(ToolBroken, match=f"dice of ferrule-dice 1.0 has no hook `{hook}`") as caught:
        load(write(WHOLE.replace(f"@hookimpl\ndef {hook}", f"def {hook}")))
    assert (caught.value.hint or "").startswith(f"Decorate a function named {hook} in loaded_dice with @hookimpl;")


@pytest.mark.parametrize(
    ("hook", "returned", "reason"),
    [
        pytest.param("schema()", "[]", "schema returned list, an object was expected", id="schema-list"),
        pytest.param("schema()", "None", "schema returned NoneType, an object was expected", id="schema-nothing"),
        pytest.param("execute()", "{'s'}", "execute returned set, an object or content was expected", id="execute-set"),
        pytest.param(
            "execute()", "None", "execute returned NoneType, an object or content was expected", id="execute-nothing"
        ),
        pytest.param("validate()", "'bad'", "validate returned str, a list was expected", id="validate-text"),
        pytest.param("validate()", "{'a': 1}", "validate returned dict, a list was expected", id="validate-object"),
        pytest.param("credentials()", "'KEY'", "credentials returned str, a list was expected", id="credentials-text"),
        pytest.param("credentials()", "['KEY']", "returned a list with str in it", id="credentials-of-text"),
    ],
)
def test_what_a_hook_returns_is_checked(write: Write, hook: str, returned: str, reason: str) -> None:
    tool = loaded(write, f"@hookimpl\ndef {hook}:\n    return {returned}\n")
    name = hook.removesuffix("()")
    arguments: dict[str, tuple[Any, ...]] = {"validate": ({},), "execute": ({}, Context("dice", 0.0))}
    with pytest.raises(ToolCrashed, match=reason) as caught:
        getattr(tool, name)(*arguments.get(name, ()))
    assert caught.value.message.startswith("ferrule-dice 1.0: ")


def test_a_renderer_of_failures_is_found_by_its_entry_point(write: Write) -> None:
    tool = write("def render(facts):\n    return {'no': facts['code']}\n")
    tool.failures = "loaded_dice:render"
    assert load_failure_renderer(tool)({"code": "X"}) == {"no": "X"}


def test_a_value_names_a_module_or_what_is_in_it() -> None:
    import os.path

    assert resolve("os.path") is os.path
    assert resolve("os:path.join") is os.path.join
    assert resolve("os:") is os
