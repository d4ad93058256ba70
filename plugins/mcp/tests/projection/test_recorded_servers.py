"""Every tool that 39 servers list: none is left out for its schema, and each takes what it took before."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from ferrule.errors import ArgumentsInvalid
from ferrule.schema.arguments import needs_jsonschema, prepare
from ferrule.schema.providers import FORMATS, MAX_BYTES, measure_links
from ferrule.schema.providers.adaptation import adapt
from ferrule.schema.providers.profiles import PROFILES
from ferrule.schema.rules import Finding, check
from ferrule.text import strict_json
from ferrule_mcp.projection import Projection, name_tools, project, translate_arguments
from ferrule_testkit.effort import examples
from ferrule_testkit.projections.accounts import is_told
from ferrule_testkit.projections.arguments import arguments_for, drop_defaults, projected_arguments
from ferrule_testkit.projections.expression import express, is_same
from ferrule_testkit.projections.recorded import SERVERS, read_recorded

pytestmark = pytest.mark.process

Schema = dict[str, Any]
_EXAMPLES = 4  # each of which has arguments for every tool of a server


@cache
def list_projections(server: str) -> list[tuple[Schema, Projection]]:
    """What each tool's server lists, and what it becomes."""
    tools = read_recorded()[server]
    names = name_tools(server, [tool["name"] for tool in tools])
    return [(tool["inputSchema"], project(tool, names[tool["name"]])) for tool in tools]


def test_all_tools_are_recorded() -> None:
    recorded = read_recorded()
    assert set(recorded) == set(SERVERS)
    assert sum(map(len, recorded.values())) == 495


@pytest.mark.parametrize("server", SERVERS)
def test_no_rule_and_no_provider_refuses_a_projected_schema(server: str) -> None:
    for _, projection in list_projections(server):
        schema = projection.schema
        assert [one for one in check(schema, name=schema["name"]) if one.severity == "error"] == []
        assert not needs_jsonschema(schema["parameters"]), "a call would import jsonschema"
        for form in FORMATS.values():
            assert [loss for loss in form.losses(schema) if loss.refused] == []
        findings: dict[str, list[Finding]] = {}  # by the schema's text, which is the same for most of the providers
        for provider, profile in PROFILES.items():
            adapted = adapt(schema, provider).schema
            text = strict_json.dumps(adapted)
            if text not in findings:
                findings[text] = check(adapted, size=0)
            assert [one for one in findings[text] if profile.provider in one.refused_by] == []


@pytest.mark.parametrize("server", SERVERS)
def test_what_a_link_prints_for_a_provider_fits_or_is_told(server: str) -> None:
    for _, projection in list_projections(server):
        too_large = [name for name, size in measure_links(projection.schema).items() if size > MAX_BYTES]
        assert too_large == [loss.place for loss in projection.details if loss.kind == "link"]


@pytest.mark.parametrize("server", SERVERS)
def test_the_record_of_a_projection_is_json(server: str) -> None:
    for _, projection in list_projections(server):
        record = [projection.schema, projection.translation, projection.lost, projection.texts]
        assert strict_json.loads(strict_json.dumps(record)) == record
        assert bool(projection.lost) == bool(projection.details)


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
@settings(max_examples=examples(_EXAMPLES))
@given(data=st.data())
def test_what_fits_the_servers_schema_can_be_said_in_ours(server: str, data: st.DataObject) -> None:
    for original, projection in list_projections(server):
        arguments = data.draw(arguments_for(original))
        if not Draft202012Validator(original).is_valid(arguments):
            continue
        parameters = projection.schema["parameters"]
        written = express(projection.translation, parameters, arguments)
        translated = translate_arguments(projection.translation, prepare(written, parameters))
        assert is_same(drop_defaults(translated, original), drop_defaults(arguments, original)), (arguments, written)


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
@settings(max_examples=examples(_EXAMPLES))
@given(data=st.data())
def test_what_fits_ours_fits_the_servers_schema_or_the_loss_is_told(server: str, data: st.DataObject) -> None:
    for original, projection in list_projections(server):
        parameters = projection.schema["parameters"]
        written = data.draw(projected_arguments(parameters, projection.translation))
        try:
            translated = translate_arguments(projection.translation, prepare(written, parameters))
        except ArgumentsInvalid:
            continue
        for error in Draft202012Validator(original).iter_errors(translated):
            assert is_told(error, projection.details), (error.message, written, projection.lost)


def test_most_of_what_is_made_up_fits() -> None:
    """The proof above would be worth nothing if it skipped most of what is drawn."""
    fitting, drawn = 0, 0

    @settings(max_examples=2)
    @given(data=st.data())
    def count(data: st.DataObject) -> None:
        nonlocal fitting, drawn
        for tools in read_recorded().values():
            for tool in tools[:3]:
                arguments = data.draw(arguments_for(tool["inputSchema"]))
                fitting += Draft202012Validator(tool["inputSchema"]).is_valid(arguments)
                drawn += 1

    count()
    assert fitting > 0.7 * drawn
