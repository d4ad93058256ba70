"""`ferrule show`."""

import pytest

from ferrule.schema.parameters import Parameter, list_parameters
from ferrule_testkit.machine import Machine

PROPERTIES = {
    "query": {"type": "string", "description": "What to look for.", "minLength": 2},
    "count": {"type": "integer", "minimum": 1, "maximum": 20, "default": 10},
    "kinds": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "description": "Kinds."},
    "near": {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]},
}


def test_parameters_are_listed_in_their_order_with_those_inside_them() -> None:
    schema = {"parameters": {"type": "object", "properties": PROPERTIES, "required": ["query"]}}
    assert list(list_parameters(schema)) == [
        Parameter("query", "string", True, "at least 2 characters", "What to look for."),
        Parameter("count", "integer", False, "≥ 1, ≤ 20, default 10", ""),
        Parameter("kinds", "array of string", False, "", "Kinds."),
        Parameter("near", "object", False, "", ""),
        Parameter("near.town", "string", True, "", ""),
    ]


@pytest.mark.parametrize(
    "schema", [{}, {"parameters": 5}, {"parameters": {"properties": [1]}}, {"parameters": {"properties": {"a": 1}}}]
)
def test_a_schema_that_is_none_has_no_parameters(schema: dict[str, object]) -> None:
    assert list(list_parameters(schema)) == []


@pytest.mark.process
def test_a_tool_is_shown_with_all_that_is_known_of_it(machine: Machine) -> None:
    machine.install("alpha", properties=PROPERTIES, description="Finds things.")
    machine.ferrule("link", "alpha")
    shown = machine.ferrule("show", "alpha")
    assert shown.code == 0
    for text in ("dist-alpha 1.0", "module_alpha", "~/.ikigai/tools/alpha-tool", "Finds things.", "near.town"):
        assert text in shown.out


@pytest.mark.process
def test_json_has_the_schema_the_credentials_and_the_links(machine: Machine) -> None:
    hook = "@hookimpl\ndef credentials():\n    return [Credential('key', environment='ALPHA_KEY', path='alpha.key')]"
    machine.install("alpha", top=hook)
    machine.ferrule("link", "alpha")
    shown = machine.ferrule("show", "alpha", "--json", environment={"ALPHA_KEY": "the-very-secret"})
    document = shown.document
    assert document["schema"]["name"] == "alpha"
    assert document["links"] == [str(machine.tools / "alpha-tool")]
    (credential,) = document["credentials"]
    assert (credential["state"], credential["source"]) == ("set", "environment variable ALPHA_KEY")
    assert "the-very-secret" not in shown.out


@pytest.mark.process
def test_a_tool_that_is_not_well_is_shown_and_is_a_failure(machine: Machine) -> None:
    machine.install("alpha", top="import nothing_of_that_name")
    shown = machine.ferrule("show", "alpha")
    assert shown.code == 1
    assert "broken" in shown.out
    assert "nothing_of_that_name" in shown.out
    assert "A city." in shown.out  # its schema is a file, and can be shown all the same


@pytest.mark.process
def test_a_disabled_tool_is_shown_and_is_no_failure(machine: Machine) -> None:
    machine.install("alpha")
    shown = machine.ferrule("show", "alpha", environment={"FERRULE_DISABLE": "*"})
    assert shown.code == 0
    assert "disabled" in shown.out


@pytest.mark.process
def test_an_executables_name_leads_to_the_tool(machine: Machine) -> None:
    machine.install("web_almanac")
    shown = machine.ferrule("show", "web-almanac-tool")
    assert shown.code == 1
    assert "Did you mean web_almanac?" in shown.err


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("levels", [200, 450])
def test_a_schema_of_many_levels_is_shown(machine: Machine, levels: int) -> None:
    top = f"DEEP = {{}}\nfor _ in range({levels}):\n    DEEP = {{'properties': {{'x': DEEP}}}}"
    machine.install("alpha", static=False, top=top)
    module = machine.site / "module_alpha.py"
    source = module.read_text()
    start = source.index("return {'name'")
    line = source[start : source.index("\n", start)]
    module.write_text(source.replace(line, "return {'name': 'alpha', 'description': '', 'parameters': DEEP}"))
    for option in ((), ("--json",)):
        shown = machine.ferrule("show", "alpha", *option)
        assert shown.code == 1
        # A message of a tool's process has 500 objects in one another at most.
        assert ("levels of JSON" if levels < 250 else "nested too deeply") in shown.out, shown.err
