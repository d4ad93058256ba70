"""The schema of a tool's results as clients get it: one that each of them can read, and reads alike."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ferrule_serve.output_schema import LINK, OutputSchema

TEXT = {"type": "string"}


def own(declared: dict[str, Any]) -> dict[str, Any]:
    form = OutputSchema(declared).form
    assert form is not None
    assert form["anyOf"][1] == LINK
    return form["anyOf"][0]


def test_formats_and_patterns_are_left_to_the_server_and_properties_of_these_names_stay() -> None:
    declared = {"properties": {"format": {**TEXT, "format": "uri"}, "pattern": {**TEXT, "pattern": r"(?P<a>b)\Z"}}}
    assert own(declared) == {"properties": {"format": TEXT, "pattern": TEXT}}
    assert declared["properties"]["format"] == {**TEXT, "format": "uri"}
    assert "'x' does not match" in OutputSchema(declared).find_fault({"pattern": "x"})


def test_a_tuple_has_no_items_which_an_older_draft_would_hold_against_all_of_them() -> None:
    pair = {"type": "array", "prefixItems": [TEXT, {"type": "integer"}], "items": False, "minItems": 2}
    assert own({"properties": {"pair": pair}})["properties"]["pair"].keys() == {"type", "prefixItems", "minItems"}


@pytest.mark.parametrize("reference", ["#", "#/properties/a", "#/$defs/text", "#/definitions/text", "#here"])
@pytest.mark.parametrize("whole", [{}, {"$id": "https://schemas.example/odd"}], ids=["", "with-an-id"])
def test_a_reference_leads_in_the_form_to_where_it_led(reference: str, whole: dict[str, Any]) -> None:
    declared = {
        **whole,
        "type": "object",
        "properties": {"a": {**TEXT, "$anchor": "here"}, "b": {"$ref": reference}},
        "$defs": {"text": TEXT},
        "definitions": {"text": TEXT},
    }
    fitting = {"b": {"a": "x"}} if reference == "#" else {"b": "x"}
    validator = Draft202012Validator(OutputSchema(declared).form)
    assert validator.is_valid(fitting)
    assert not validator.is_valid({"b": 3})


@pytest.mark.parametrize("reference", ["https://a.example/text", "text.json", "#/$defs/none", "#/title", "#nowhere"])
def test_a_schema_that_refers_to_what_is_not_in_it_counts_as_not_declared(reference: str) -> None:
    output = OutputSchema({"title": "Odd", "properties": {"a": {"$ref": reference}}})
    assert output.form is None
    assert output.find_fault({"a": 1}) == ""
