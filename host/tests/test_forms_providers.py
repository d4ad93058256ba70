"""The forms, held against the types that the providers publish for Python themselves.

Importing them takes seconds and some 300 MB, so one process does it, in a fixture, and all tests are in one group.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings

from ferrule.provider_formats import FORMATS
from ferrule_testkit.effort import examples
from ferrule_testkit.tool_schemas import SHIPPED, tool_schemas

pytestmark = pytest.mark.timeout(300)

INTEGERS: dict[str, Any] = {
    "name": "rate",
    "description": "Rates.",
    "parameters": {"type": "object", "properties": {"stars": {"type": "integer", "enum": [1, 2, 3]}}},
}


class Oracle(NamedTuple):
    """Reads a form as a provider's own type does, and gives back what the type has kept of it."""

    name: str
    read: Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def oracles() -> list[Oracle]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the packages warn of when they are imported is theirs to mend
        from anthropic.types import ToolParam
        from google.genai import types as gemini
        from mcp import types as mcp
        from openai.types.chat import ChatCompletionFunctionToolParam
        from openai.types.responses import FunctionToolParam
        from pydantic import TypeAdapter

        typed = {
            "anthropic": ToolParam,
            "openai": ChatCompletionFunctionToolParam,
            "openai-responses": FunctionToolParam,
        }
        models = {"gemini": gemini.Tool, "mcp": mcp.Tool}
        adapters = {name: TypeAdapter(kind) for name, kind in {**typed, **models}.items()}
        for adapter in adapters.values():
            adapter.rebuild()

    def reader(name: str) -> Callable[[dict[str, Any]], Any]:
        adapter = adapters[name]
        if name in typed:  # a key that the type does not have is dropped, not refused
            return adapter.validate_python
        return lambda form: adapter.dump_python(
            adapter.validate_python(form), mode="json", by_alias=True, exclude_unset=True
        )

    return [Oracle(name, reader(name)) for name in adapters]


def test_every_form_has_an_oracle(oracles: list[Oracle]) -> None:
    assert sorted(oracle.name for oracle in oracles) == sorted(FORMATS)


@pytest.mark.parametrize("tool", SHIPPED)
def test_every_provider_reads_each_shipped_tool_and_keeps_all_of_it(tool: str, oracles: list[Oracle]) -> None:
    for oracle in oracles:
        form = FORMATS[oracle.name](SHIPPED[tool])
        assert oracle.read(form) == form, oracle.name


def test_every_provider_reads_all_shipped_tools_of_one_request(oracles: list[Oracle]) -> None:
    for oracle in oracles:
        tools = FORMATS[oracle.name].tools(SHIPPED.values())
        assert list(map(oracle.read, tools)) == tools, oracle.name


@pytest.mark.process
def test_every_provider_reads_any_schema_within_the_rules_and_keeps_all_of_it(oracles: list[Oracle]) -> None:
    @settings(deadline=None, database=None, max_examples=examples(100), suppress_health_check=list(HealthCheck))
    @given(tool_schemas())
    def hold(schema: dict[str, Any]) -> None:
        for oracle in oracles:
            form = FORMATS[oracle.name](schema)
            assert oracle.read(form) == form, oracle.name

    hold()


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("anthropic", lambda form: form.pop("input_schema")),
        ("anthropic", lambda form: form.update(inputSchema=form.pop("input_schema"))),
        ("anthropic", lambda form: form.update(parameters={})),
        ("openai", lambda form: form.update(function={"description": "x"})),
        ("openai", lambda form: form["function"].update(inputSchema={})),
        ("openai", lambda form: form.update(type="tool")),
        ("openai-responses", lambda form: form.pop("strict")),
        ("openai-responses", lambda form: form.update(function={})),
        ("gemini", lambda form: form["functionDeclarations"][0].update(strict=False)),
        ("gemini", lambda form: form["functionDeclarations"][0].update(inputSchema={})),
        ("mcp", lambda form: form.update(input=form.pop("inputSchema"))),
        ("mcp", lambda form: form.update(parameters={})),
    ],
)
def test_an_oracle_notices_what_is_no_form_of_its_provider(
    name: str, spoil: Callable[[dict[str, Any]], object], oracles: list[Oracle]
) -> None:
    form = FORMATS[name](INTEGERS)
    spoil(form)
    (oracle,) = [oracle for oracle in oracles if oracle.name == name]
    try:
        read = oracle.read(form)
    except ValueError:
        return
    assert read != form


def test_gemini_takes_an_enum_of_integers_in_our_form_and_not_in_the_older_one(oracles: list[Oracle]) -> None:
    (oracle,) = [oracle for oracle in oracles if oracle.name == "gemini"]
    form = FORMATS["gemini"](INTEGERS)
    assert oracle.read(form) == form
    declaration = form["functionDeclarations"][0]
    declaration["parameters"] = declaration.pop("parametersJsonSchema")
    with pytest.raises(ValueError, match=r"enum"):
        oracle.read(form)
