"""The forms, held against the types that the providers publish for Python themselves.

Importing them takes seconds and some 300 MB, so one process does it, in a fixture, and all tests are in one group.
"""

import json
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings

from ferrule.schema.providers import FORMATS
from ferrule.schema.providers.adaptation import adapt
from ferrule.schema.providers.profiles import PROFILES
from ferrule_testkit.effort import examples
from ferrule_testkit.schemas.tool_schemas import SHIPPED, tool_schemas

pytestmark = [pytest.mark.slow, pytest.mark.process, pytest.mark.timeout(300)]

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
        warnings.simplefilter("ignore")  # what the packages warn of when they are imported is theirs to fix
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
    assert sorted(oracle.name for oracle in oracles) == sorted(FORMATS.keys() - {"plain"})


@pytest.mark.parametrize("tool", SHIPPED)
def test_every_provider_reads_each_shipped_tool_and_keeps_all_of_it(tool: str, oracles: list[Oracle]) -> None:
    for oracle in oracles:
        form = FORMATS[oracle.name](SHIPPED[tool])
        assert oracle.read(form) == form, oracle.name


def test_every_provider_reads_all_shipped_tools_of_one_request(oracles: list[Oracle]) -> None:
    for oracle in oracles:
        tools = FORMATS[oracle.name].tools(SHIPPED.values())
        assert list(map(oracle.read, tools)) == tools, oracle.name


def test_every_provider_reads_any_schema_within_the_rules_and_keeps_all_of_it(oracles: list[Oracle]) -> None:
    @settings(deadline=None, database=None, max_examples=examples(100), suppress_health_check=list(HealthCheck))
    @given(tool_schemas())
    def hold(schema: dict[str, Any]) -> None:
        for oracle in oracles:
            form = FORMATS[oracle.name](schema)
            assert oracle.read(form) == form, oracle.name

    hold()


class Request(NamedTuple):
    """Tools as the client sends them, read by a provider's own type; what that has kept of them."""

    shape: Callable[[dict[str, Any]], dict[str, Any]]
    read: Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def requests(oracles: list[Oracle]) -> dict[str, Request]:
    """By provider. The client closes the parameters for OpenAI's strict mode, and has Gemini read `parameters`."""
    from google.genai import types as gemini
    from openai.lib._pydantic import _ensure_strict_json_schema
    from pydantic import ConfigDict

    class Declaration(gemini.FunctionDeclaration):
        model_config = ConfigDict(extra="forbid")

    by_name = {oracle.name: oracle.read for oracle in oracles}

    def as_openai(schema: dict[str, Any]) -> dict[str, Any]:
        closed = {
            **schema["parameters"],
            "required": [*schema["parameters"]["properties"]],
            "additionalProperties": False,
        }
        return {"type": "function", "function": {**schema, "parameters": closed, "strict": True}}

    def read_openai(form: dict[str, Any]) -> Any:
        strict = json.loads(json.dumps(form["function"]["parameters"]))
        assert _ensure_strict_json_schema(strict, path=(), root=strict) == form["function"]["parameters"]
        return by_name["openai"](form)

    def read_gemini(form: dict[str, Any]) -> Any:
        kept = Declaration.model_validate(form).model_dump(mode="json", by_alias=True, exclude_unset=True)
        kept["parameters"] = _lower_types(kept["parameters"])
        return kept

    def as_anthropic(schema: dict[str, Any]) -> dict[str, Any]:
        return {"name": schema["name"], "description": schema["description"], "input_schema": schema["parameters"]}

    return {
        "openai": Request(as_openai, read_openai),
        "gemini": Request(lambda schema: schema, read_gemini),
        "anthropic": Request(as_anthropic, by_name["anthropic"]),
    }


def _lower_types(schema: Any) -> Any:
    """Gemini's type names the types in capitals."""
    if isinstance(schema, list):
        return [_lower_types(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value.lower() if key == "type" and isinstance(value, str) else _lower_types(value)
        for key, value in schema.items()
    }


@pytest.mark.parametrize("provider", sorted(PROFILES.keys() - {"plain"}))
@pytest.mark.parametrize("tool", SHIPPED)
def test_every_provider_reads_each_shipped_tool_that_is_linked_for_it(
    tool: str, provider: str, requests: dict[str, Request]
) -> None:
    request = requests[provider]
    form = request.shape(adapt(SHIPPED[tool], provider).schema)
    assert request.read(form) == form


@pytest.mark.parametrize("tool", ["opennotes_create", "opennotes_search", "opennotes_views"])
def test_openais_strict_mode_refuses_these_as_they_are(tool: str, requests: dict[str, Request]) -> None:
    request = requests["openai"]
    with pytest.raises(AssertionError):
        request.read(request.shape(SHIPPED[tool]))


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
