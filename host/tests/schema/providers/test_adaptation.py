"""Schemas in the words that a provider takes from the client, and arguments on their way back."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from ferrule.errors import ArgumentsInvalid
from ferrule.schema.arguments import prepare
from ferrule.schema.providers import measure_links
from ferrule.schema.providers.adaptation import adapt
from ferrule.schema.providers.profiles import PROFILES
from ferrule.schema.providers.translation import translate
from ferrule.schema.rules import check
from ferrule_testkit.effort import examples
from ferrule_testkit.schemas.tool_schemas import SHIPPED, tool_schemas

EACH_PROVIDER = pytest.mark.parametrize("provider", PROFILES)
TEXT = {"type": "string", "description": "A text."}
OPEN = {"type": "object", "description": "Anything.", "properties": {}, "required": []}


def tool(properties: dict[str, Any], *required: str, **top: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required), **top}
    return {"name": "almanac", "description": "Looks.", "parameters": parameters}


def refused(schema: dict[str, Any], provider: str) -> list[str]:
    """What the provider refuses, but for the name, and what breaks a rule of the format."""
    name = PROFILES[provider].provider
    return [
        finding.pointer
        for finding in check(schema)
        if finding.severity == "error" or (name in finding.refused_by and finding.pointer != "/name")
    ]


@EACH_PROVIDER
@pytest.mark.parametrize("name", SHIPPED)
def test_no_shipped_tool_is_refused_in_the_words_of_a_provider(name: str, provider: str) -> None:
    adapted = adapt(SHIPPED[name], provider)
    assert refused(adapted.schema, provider) == []
    assert adapted.schema["parameters"]["properties"].keys() - {"unused"} == {
        *SHIPPED[name]["parameters"]["properties"]
    }


def test_what_a_provider_takes_stays_as_it_is_and_nothing_is_said_to_have_changed() -> None:
    for provider in PROFILES:
        assert adapt(SHIPPED["example"], provider) == (SHIPPED["example"], {}, [])
    assert adapt(SHIPPED["web_fetch"], "anthropic") == (SHIPPED["web_fetch"], {}, [])


@pytest.mark.slow
@pytest.mark.process
@EACH_PROVIDER
def test_any_schema_within_the_rules_has_words_that_the_provider_takes(provider: str) -> None:
    @settings(deadline=None, database=None, max_examples=examples(200), suppress_health_check=list(HealthCheck))
    @given(tool_schemas())
    def hold(schema: dict[str, Any]) -> None:
        before = json.dumps(schema)
        adapted = adapt(schema, provider)
        assert json.dumps(schema) == before
        assert set(refused(adapted.schema, provider)) <= {
            one.pointer for one in check(schema) if one.id == "metaschema"
        }

    hold()


@pytest.mark.parametrize(
    ("provider", "schema", "sent", "meant"),
    [
        pytest.param("gemini", tool({"data": OPEN}), {"data": '{"a": [1]}'}, {"data": {"a": [1]}}, id="object-as-text"),
        pytest.param("openai", tool({"data": OPEN}), {"data": ""}, {}, id="a-blank-for-an-optional-object"),
        pytest.param(
            "openai", tool({"data": OPEN}), {"data": {"a": 1}}, {"data": {"a": 1}}, id="an-object-all-the-same"
        ),
        pytest.param(
            "gemini",
            tool({"n": {"type": "integer", "enum": [1, 2]}}),
            {"n": "2"},
            {"n": 2},
            id="an-enum-of-integers",
        ),
        pytest.param(
            "gemini",
            tool({"list": {"type": "array"}}),
            {"list": ["1", "Oslo", '{"a": 2}']},
            {"list": [1, "Oslo", {"a": 2}]},
            id="an-array-of-anything",
        ),
        pytest.param("gemini", tool({}), {"unused": "yes"}, {}, id="no-parameters"),
        pytest.param("anthropic", tool({"a b": TEXT}, "a b"), {"a_b": "x"}, {"a b": "x"}, id="a-name-with-a-blank"),
        pytest.param(
            "gemini",
            tool({"box": {"type": "object", "properties": {"c-d": OPEN, "c_d": TEXT}}}),
            {"box": {"c_d_2": "{}", "c_d": "x"}},
            {"box": {"c-d": {}, "c_d": "x"}},
            id="a-name-inside-that-is-taken",
        ),
        pytest.param(
            "openai",
            tool({"filter": {"type": "object", "properties": {"and": {"type": "array", "items": TEXT}, "n": TEXT}}}),
            {"filter": {"and": ["a=b"], "n": ""}},
            {"filter": {"and": ["a=b"]}},
            id="a-blank-inside",
        ),
        pytest.param(
            "openai",
            tool({"filter": {"type": "object", "properties": {"and": {"type": "array", "items": TEXT}}}}),
            {"filter": {"and": []}},
            {},
            id="an-optional-object-of-blanks",
        ),
        pytest.param(
            "openai",
            tool(
                {
                    "box": {
                        "type": "object",
                        "properties": {
                            "deep": {"type": "boolean"},
                            "n": {"type": "integer", "minimum": 0},
                            "m": {"type": "number"},
                            "unit": {**TEXT, "enum": ["C", "F"]},
                            "city": TEXT,
                        },
                        "required": ["city"],
                    }
                }
            ),
            {"box": {"deep": "false", "n": "0", "m": "", "unit": "", "city": ""}},
            {"box": {"deep": False, "n": 0, "city": ""}},
            id="optional-ones-inside-that-have-no-blank-of-their-own",
        ),
        pytest.param(
            "openai",
            tool(
                {"where": {"type": "object", "anyOf": [{"properties": {"city": TEXT}}, {"properties": {"id": TEXT}}]}}
            ),
            {"where": {"city": "Oslo", "id": ""}},
            {"where": {"city": "Oslo"}},
            id="alternatives",
        ),
        pytest.param(
            "gemini",
            tool({"a": {"type": "string", "$ref": "#/$defs/unit"}}, **{"$defs": {"unit": {**TEXT, "enum": ["C"]}}}),
            {"a": "C"},
            {"a": "C"},
            id="a-reference",
        ),
        pytest.param(
            "gemini",
            tool({"tree": {"type": "object", "properties": {"next": {"type": "object", "$ref": "#/properties/tree"}}}}),
            {"tree": {"next": {"next": '{"next": {}}'}}},
            {"tree": {"next": {"next": {"next": {}}}}},
            id="a-circle",
        ),
    ],
)
def test_arguments_in_the_providers_form_are_those_that_the_tool_takes(
    provider: str, schema: dict[str, Any], sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    adapted = adapt(schema, provider)
    assert refused(adapted.schema, provider) == []
    assert set(sent) <= adapted.schema["parameters"]["properties"].keys()
    stored = json.loads(json.dumps(adapted.translation))  # as it stands in the link
    assert prepare(translate(sent, stored), schema["parameters"]) == meant


def test_a_text_that_should_hold_json_and_does_not_is_an_error_that_names_it() -> None:
    adapted = adapt(tool({"box": {"type": "object", "properties": {"data": OPEN}}}), "gemini")
    with pytest.raises(ArgumentsInvalid, match=r"box/data: expected a JSON object, written as text: "):
        translate({"box": {"data": '{"a": '}}, adapted.translation)


@pytest.mark.parametrize(
    ("provider", "schema", "change"),
    [
        ("gemini", tool({"data": OPEN}), "JSON as text: data"),
        ("gemini", tool({"u": {**TEXT, "format": "uri"}}), "said in the description: format of u"),
        ("openai", tool({"n": {"type": "integer", "default": 3}}), "said in the description: default of n"),
        ("openai", tool({"u": TEXT}, anyOf=[{"required": ["u"]}]), "said in the description: anyOf"),
        ("anthropic", tool({"u v": TEXT}), "renamed: 'u v' to u_v"),
        ("gemini", tool({"b": {"type": "integer", "enum": [1]}}), "values as text: b"),
        ("openai", {**tool({}), "description": "d" * 1025}, "description cut: to 1,024 characters"),
    ],
    ids=["text", "format", "default", "alternatives", "name", "enum", "description"],
)
def test_each_change_is_told_with_its_place(provider: str, schema: dict[str, Any], change: str) -> None:
    assert adapt(schema, provider).changes == [change]


@pytest.mark.parametrize("provider", ["openai", "gemini", "plain"])
def test_alternatives_inside_are_said_and_keep_every_type_that_they_have(provider: str) -> None:
    either = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
    where = {
        "type": "object",
        "properties": {"city": TEXT},
        "required": ["city"],
        "allOf": [{"properties": {"at": either}}],
    }
    adapted = adapt(tool({"where": where}, "where"), provider)
    shown = adapted.schema["parameters"]["properties"]["where"]
    assert '{"allOf":[{"properties":{"at":{"anyOf":' in shown["description"]
    assert shown["properties"]["at"]["type"] == "string"
    for said, meant in (("7", 7), ("Oslo", "Oslo")):
        sent = {"where": {"city": "a", "at": said}}
        assert translate(sent, adapted.translation) == {"where": {"city": "a", "at": meant}}


def test_what_cannot_be_said_in_keywords_is_said_in_the_description() -> None:
    adapted = adapt(
        tool({"u": {**TEXT, "format": "uri", "minLength": 2}, "n": {"type": "integer", "default": 5}}), "openai"
    )
    u, n = (adapted.schema["parameters"]["properties"][name] for name in "un")
    assert u == {"type": "string", "description": "A text. At least 2 characters, uri."}
    assert n == {"type": "integer", "description": "Default 5."}
    top = adapt(tool({"u": TEXT}, anyOf=[{"required": ["u"]}]), "anthropic").schema
    assert top["description"] == 'Looks.\n\nThe arguments must also fit: {"anyOf":[{"required":["u"]}]}'


def test_what_a_link_prints_for_each_provider_can_be_measured() -> None:
    schema = tool({"data": OPEN})
    sizes = measure_links(schema)
    assert list(sizes) == list(PROFILES)
    printed = json.dumps(adapt(schema, "openai").schema, ensure_ascii=False, separators=(",", ":"))
    assert sizes["openai"] == len(f"{printed}\n".encode())
