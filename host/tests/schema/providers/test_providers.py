"""The forms of a schema for the providers: their shapes, what fits them, and what each provider refuses or drops."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

import ferrule
from ferrule.schema.providers import FORMATS, anthropic, gemini, mcp, openai_chat, openai_responses
from ferrule.schema.rules import check
from ferrule_testkit.effort import examples
from ferrule_testkit.schemas.tool_schemas import SHIPPED, arguments_for, tool_schemas

CITY = {"type": "string", "description": "A city."}
OPEN = {"type": "object", "properties": {}, "description": "Anything."}
SCHEMA: dict[str, Any] = {
    "name": "almanac",
    "description": "Looks things up.",
    "parameters": {"type": "object", "properties": {"city": CITY, "data": OPEN}, "required": ["city"]},
}
CLOSED = {**SCHEMA["parameters"], "additionalProperties": False}
EACH_FORM = pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
FAITHFUL = {name: form for name, form in FORMATS.items() if name != "plain"}  # which has tests of its own
EACH_FAITHFUL_FORM = pytest.mark.parametrize("form", FAITHFUL.values(), ids=FAITHFUL)
THOROUGH = settings(deadline=None, database=None, max_examples=examples(150), suppress_health_check=list(HealthCheck))


def tool(properties: dict[str, Any], name: str = "almanac", description: str = "Looks.", **top: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, **top}
    return {"name": name, "description": description, "parameters": parameters}


def parameters_of(name: str, shaped: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema that a provider finds in a form."""
    if name == "gemini":
        (declaration,) = shaped["functionDeclarations"]
        return declaration.get("parametersJsonSchema", {"additionalProperties": False})
    if name == "openai":
        return shaped["function"]["parameters"]
    return shaped[{"anthropic": "input_schema", "mcp": "inputSchema"}.get(name, "parameters")]


def fits(arguments: object, parameters: object) -> bool | None:
    """Whether the arguments are valid; None where the schema refers to what is not there, or to itself for ever."""
    try:
        return Draft202012Validator(parameters, registry=Registry()).is_valid(arguments)
    except Exception:
        return None


def losses(schema: dict[str, Any], name: str) -> dict[str, bool]:
    """The pointers of what a form loses, and whether it is refused for it."""
    return {loss.pointer.removeprefix("/parameters"): loss.refused for loss in FORMATS[name].losses(schema)}


def test_each_form_has_the_shape_of_its_provider() -> None:
    said = {"name": "almanac", "description": "Looks things up."}
    assert anthropic(SCHEMA) == {**said, "input_schema": SCHEMA["parameters"]}
    assert openai_chat(SCHEMA) == {"type": "function", "function": {**said, "parameters": CLOSED}}
    assert openai_responses(SCHEMA) == {"type": "function", **said, "parameters": CLOSED, "strict": False}
    assert gemini(SCHEMA) == {"functionDeclarations": [{**said, "parametersJsonSchema": CLOSED}]}
    assert mcp(SCHEMA) == {**said, "inputSchema": CLOSED}


def test_the_tools_of_a_request_are_an_entry_each_and_at_gemini_one_of_all() -> None:
    schemas = [SCHEMA, tool({}, name="other")]
    for form in FORMATS.values():
        assert form.tools([]) == []
        if form is not gemini:
            assert form.tools(schemas) == [form(schema) for schema in schemas]
    declarations = [gemini(schema)["functionDeclarations"][0] for schema in schemas]
    assert gemini.tools(schemas) == [{"functionDeclarations": declarations}]


def test_a_tool_without_parameters_has_no_empty_properties_at_gemini() -> None:
    assert gemini(tool({})) == {"functionDeclarations": [{"name": "almanac", "description": "Looks."}]}
    assert "parametersJsonSchema" in gemini(tool({}, minProperties=0))["functionDeclarations"][0]


@EACH_FAITHFUL_FORM
@pytest.mark.parametrize("top", [{"additionalProperties": True}, {"additionalProperties": CITY}])
def test_parameters_that_say_what_else_there_may_be_keep_it(form: Any, top: dict[str, Any]) -> None:
    shaped = parameters_of(form.name, form(tool({"city": CITY}, **top)))
    assert shaped["additionalProperties"] == top["additionalProperties"]


@EACH_FAITHFUL_FORM
@pytest.mark.parametrize("reference", ["#", "https://example.com/almanac", "#almanac"])
def test_parameters_are_not_closed_where_a_reference_may_lead_back_to_them(form: Any, reference: str) -> None:
    schema = tool({"inner": {"type": "object", "$ref": reference}}, **{"$id": "https://example.com/almanac"})
    schema["parameters"]["$anchor"] = "almanac"
    shaped = parameters_of(form.name, form(schema))
    assert "additionalProperties" not in shaped
    assert fits({"inner": {"city": 1}}, shaped) is True


def test_gemini_gets_no_dialect_since_it_refuses_the_keyword() -> None:
    schema = tool({"city": CITY}, **{"$schema": "https://json-schema.org/draft/2020-12/schema"})
    assert "$schema" not in json.dumps(gemini(schema))
    assert gemini.losses(schema) == ()


@EACH_FORM
def test_a_form_shares_nothing_with_the_schema_and_changes_nothing_of_it(form: Any) -> None:
    schema = copy.deepcopy(SCHEMA)
    shaped = form(schema)
    parameters_of(form.name, shaped)["properties"]["city"]["type"] = "integer"
    parameters_of(form.name, shaped)["required"].append("data")
    assert schema == SCHEMA
    assert json.loads(json.dumps(form(schema))) == form(schema)


@EACH_FORM
def test_tuples_of_a_hook_are_the_lists_of_json(form: Any) -> None:
    shaped = parameters_of(form.name, form(tool({"city": CITY}, required=("city",))))
    assert shaped["required"] == ["city"]


@EACH_FORM
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (None, "required-fields"),
        ([], "required-fields"),
        ({"name": "a", "description": "b"}, "required-fields"),
        (tool({}, name="a b"), "name-format"),
        (tool({"a": {}}), "property-type at /parameters/properties/a/type"),
        (tool({"a": {"type": ["string", "null"]}}), "property-type"),
        (tool({}, required=["a"]), "required-undefined"),
        (tool({"a": {**CITY, "default": float("nan")}}), "cannot be written as JSON"),
        (tool({"a": {**CITY, "default": "\ud800"}}), "cannot be written as JSON"),
        (tool({"a": {**CITY, "default": {1, 2}}}), "cannot be written as JSON"),
    ],
)
def test_what_breaks_a_rule_has_no_form_and_the_error_says_which(form: Any, schema: Any, why: str) -> None:
    for ask in (form, form.losses):
        with pytest.raises(ValueError, match=why):
            ask(schema)


@pytest.mark.slow
@pytest.mark.process
@THOROUGH
@given(st.data())
def test_what_the_host_takes_fits_every_form_and_what_fits_a_form_fits_the_schema(data: st.DataObject) -> None:
    schema = data.draw(st.one_of(tool_schemas(), tool_schemas(), st.sampled_from(list(SHIPPED.values()))))
    shapes = {name: parameters_of(name, form(schema)) for name, form in FAITHFUL.items()}
    for arguments in data.draw(st.lists(arguments_for(schema), min_size=5, max_size=5)):
        agree(arguments, schema["parameters"], shapes)


def agree(arguments: dict[str, Any], parameters: dict[str, Any], shapes: dict[str, dict[str, Any]]) -> None:
    """Hold the forms against the schema, and against the host, which refuses what is not defined at the top level."""
    in_schema = fits(arguments, parameters)
    is_known = "additionalProperties" in parameters or parameters["properties"].keys() >= arguments.keys()
    for name, shaped in shapes.items() if in_schema is not None else ():
        in_form = fits(arguments, shaped)
        assert in_form or not (in_schema and is_known), (name, shaped)
        assert in_schema or not in_form, (name, shaped)
        if shaped.get("additionalProperties") is False and "patternProperties" not in shaped:
            assert is_known or not in_form, (name, shaped)


def test_no_shipped_tool_is_refused_in_any_form() -> None:
    refused = [
        (name, tool, loss.pointer)
        for name, form in FORMATS.items()
        for tool, schema in SHIPPED.items()
        for loss in form.losses(schema)
        if loss.refused
    ]
    assert SHIPPED
    assert refused == []


@pytest.mark.parametrize(
    ("schema", "refusing", "losing"),
    [
        pytest.param(tool({"city": CITY}), "", "", id="nothing"),
        pytest.param(tool({}), "", "", id="no-parameters"),
        pytest.param(tool({"data": OPEN}), "", "", id="an-object-of-anything"),
        pytest.param(tool({"n": {"type": "integer", "enum": [1, 2]}}), "", "", id="an-enum-of-integers"),
        pytest.param(tool({"n": {"type": "boolean", "enum": [True]}}), "", "gemini", id="an-enum-of-booleans"),
        pytest.param(tool({"u": {**CITY, "format": "uri", "default": ""}}), "", "", id="format-and-default"),
        pytest.param(tool({"u": {**CITY, "pattern": "^a"}}), "", "gemini", id="pattern"),
        pytest.param(tool({"u": {**CITY, "maxLength": 3}}), "", "gemini", id="length"),
        pytest.param(tool({"u": {**CITY, "examples": ["x"]}}), "", "", id="an-annotation"),
        pytest.param(tool({"a": {"type": "array"}}), "openai openai-responses", "", id="array-without-items"),
        pytest.param(tool({"city": CITY}, name="n" * 64), "", "", id="the-longest-name"),
        pytest.param(tool({"city": CITY}, name="n" * 65), "openai openai-responses", "", id="a-long-name"),
        pytest.param(
            tool({"city": CITY}, name="n" * 129),
            "anthropic gemini openai openai-responses",
            "mcp",
            id="a-name-too-long-for-all",
        ),
        pytest.param(tool({"city": CITY}, name="9lives"), "gemini", "", id="a-digit-first"),
        pytest.param(tool({"city": CITY}, description="d" * 1024), "", "", id="the-longest-description"),
        pytest.param(
            tool({"city": CITY}, description="d" * 1025), "openai openai-responses", "", id="a-long-description"
        ),
        pytest.param(tool({"c-d": CITY}), "gemini", "", id="a-hyphen"),
        pytest.param(tool({"c d": CITY}), "anthropic gemini", "", id="a-space"),
        pytest.param(
            tool({"city": CITY}, anyOf=[{"required": ["city"]}]),
            "anthropic openai openai-responses",
            "",
            id="anyOf-at-the-top",
        ),
        pytest.param(
            tool({"city": CITY}, allOf=[{"required": ["city"]}]),
            "anthropic openai openai-responses",
            "gemini",
            id="allOf-at-the-top",
        ),
        pytest.param(
            tool({"city": CITY}, **{"not": {"required": ["x"]}}),
            "openai openai-responses",
            "gemini",
            id="not-at-the-top",
        ),
        pytest.param(tool({"c": {**CITY, "oneOf": [{"minimum": 1}]}}), "", "gemini", id="oneOf-below"),
        pytest.param(tool({"c": {**CITY, "anyOf": [{"minimum": 1}]}}), "", "", id="anyOf-below"),
        pytest.param(tool({"c": {**CITY, "if": {}, "then": {}}}), "", "gemini", id="a-condition"),
        pytest.param(tool({"c": {**CITY, "$ref": "#/properties/c"}}), "gemini", "", id="a-reference-with-company"),
        pytest.param(
            tool({"c": {**CITY, "anyOf": [{"$ref": "#/$defs/a"}]}}, **{"$defs": {"a": CITY}}),
            "",
            "",
            id="a-reference-alone",
        ),
        pytest.param(
            tool({"c": {**CITY, "$ref": "https://example.com/a"}}),
            "gemini",
            "anthropic mcp openai openai-responses",
            id="a-reference-to-elsewhere",
        ),
    ],
)
def test_each_provider_refuses_or_loses_what_it_is_known_to(schema: dict[str, Any], refusing: str, losing: str) -> None:
    refused = [name for name in sorted(FAITHFUL) if any(losses(schema, name).values())]
    lost = [name for name in sorted(FAITHFUL) if not all(losses(schema, name).values())]
    assert (" ".join(refused), " ".join(lost)) == (refusing, losing)


def test_nesting_that_gemini_may_not_take_is_said_once() -> None:
    inner: dict[str, Any] = CITY
    for _ in range(8):
        inner = {"type": "array", "description": "Many.", "items": inner}
    (loss,) = gemini.losses(tool({"a": inner}))
    assert (loss.pointer, loss.refused, loss.rule) == (
        "/parameters/properties/a" + "/items" * 4,
        False,
        "nesting-depth",
    )


@pytest.mark.slow
@THOROUGH
@given(tool_schemas())
def test_what_is_refused_is_what_a_rule_warns_of_in_the_same_place(schema: dict[str, Any]) -> None:
    warned = {(finding.pointer, finding.id) for finding in check(schema)}
    for form in FORMATS.values():
        for loss in form.losses(schema):
            assert loss.rule is not None or not loss.refused, loss
            assert loss.rule is None or (loss.pointer, loss.rule) in warned, loss
            assert loss.message.startswith(f"{form.provider} ") or form.provider not in loss.message
            assert loss.message.endswith(".")


SHAPING = ["type", "properties", "items", "required", "enum", "name", "description", "parameters", "const", "if"]
OTHERS = ["$ref", "$id", "$defs", "anyOf", "allOf", "not", "additionalProperties", "patternProperties"]
KEYS = st.sampled_from(SHAPING + OTHERS)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | st.sampled_from(["#", "object"])
)
ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@st.composite
def spoilt(draw: st.DrawFn) -> Any:
    """A schema that keeps the rules, but for any JSON instead of one of its parts."""
    schema: Any = draw(tool_schemas())
    place: Any = schema
    while isinstance(place, dict) and place:
        key = draw(st.sampled_from(sorted(place)))
        if draw(st.booleans()):
            place[key] = draw(ANY_JSON)
            break
        place = place[key]
    return schema


@pytest.mark.slow
@THOROUGH
@given(ANY_JSON | tool_schemas() | spoilt())
def test_any_json_has_every_form_or_an_error_and_a_finding(schema: Any) -> None:
    is_sound = not any(finding.severity == "error" for finding in check(schema)) and _is_json(schema)
    for form in FORMATS.values():
        for ask in (form, form.losses):
            complaint = ""
            try:
                json.dumps(ask(schema), default=lambda loss: loss.as_dict(), allow_nan=False)
            except ValueError as error:
                complaint = str(error)
            assert not (is_sound and complaint)
            assert not complaint or "breaks the rule" in complaint or "cannot be written as JSON" in complaint


def _is_json(value: Any) -> bool:
    try:
        return "\\u0000" not in json.dumps(value, allow_nan=False) and bool(repr(value).encode())
    except ValueError:
        return False


@pytest.mark.process
@pytest.mark.parametrize(
    ("forms", "others"), [(FAITHFUL, {"__future__", "_json"}), (FORMATS, sys.stdlib_module_names)], ids=["", "plain"]
)
def test_the_forms_need_neither_a_validator_nor_anything_of_the_providers(
    forms: dict[str, Any], others: set[str]
) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); before = set(sys.modules)\n"
        "from ferrule.schema.providers import FORMATS\n"
        "good = {'name': 'a', 'description': 'b', 'parameters': {'type': 'object', 'properties': {}}}\n"
        f"[(FORMATS[name](good), FORMATS[name].losses(good)) for name in {list(forms)}]\n"
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    source = str(Path(ferrule.__file__).parents[1])
    run = subprocess.run([sys.executable, "-I", "-c", program, source], capture_output=True, check=True, text=True)
    assert set(run.stdout.split()) <= {"ferrule", *others}
