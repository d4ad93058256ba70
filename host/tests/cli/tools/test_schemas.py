"""`ferrule schemas`, and what `ferrule validate` says of the forms."""

import json
import os
from typing import Any

import pytest

from ferrule.schema.providers import FORMATS
from ferrule_testkit.machine import CITY, Machine

pytestmark = pytest.mark.process


TEXT = {"type": "string", "description": "A text.", "minLength": 2}
SCHEMA: dict[str, Any] = {
    "name": "alpha",
    "description": "Looks things up.",
    "parameters": {"type": "object", "properties": {"a b": TEXT}, "anyOf": [{"required": ["a b"]}]},
}


@pytest.mark.slow
def test_the_tools_are_printed_in_the_form_that_is_asked_for(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("beta")
    schemas = [machine.ferrule("show", tool, "--json").document["schema"] for tool in ("alpha", "beta")]
    for name, form in FORMATS.items():
        printed = machine.ferrule("schemas", "--for", name, "beta", "alpha")
        assert (printed.code, printed.err) == (0, "")
        assert printed.document == form.tools(schemas)


def test_without_a_name_all_tools_that_are_ok_are_printed(machine: Machine) -> None:
    machine.install("alpha")
    names = [form["name"] for form in machine.ferrule("schemas", "--for", "anthropic").document]
    listed = machine.ferrule("list", "--json").document["tools"]
    assert names == [tool["name"] for tool in listed]
    assert "alpha" in names


def test_a_tool_that_is_named_is_printed_alone(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("beta")
    (form,) = machine.ferrule("schemas", "--for", "anthropic", "beta").document
    assert form["name"] == "beta"


def test_losses_are_lines_on_stderr_and_the_form_is_printed_all_the_same(machine: Machine) -> None:
    machine.install("alpha", schema=SCHEMA)
    printed = machine.ferrule("schemas", "--for", "gemini", "alpha")
    assert printed.code == 0
    assert len(printed.document) == 1
    refused, lost = printed.err.splitlines()
    assert refused.startswith("alpha: gemini refuses /parameters/properties/a b: Gemini refuses every request")
    assert lost.startswith("alpha: gemini loses /parameters/properties/a b/minLength: ")


def test_what_is_left_out_is_told_and_is_a_failure_only_where_it_was_named(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("beta", top="import nothing_of_that_name")
    everything = machine.ferrule("schemas", "--for", "mcp")
    assert everything.code == 0
    assert "beta" not in [form["name"] for form in everything.document]
    assert "beta: left out, it is broken. " in everything.err
    named = machine.ferrule("schemas", "--for", "mcp", "alpha", "beta")
    assert named.code == 1
    assert [form["name"] for form in named.document] == ["alpha"]


def test_a_disabled_tool_is_left_out_in_silence_unless_it_was_named(machine: Machine) -> None:
    machine.install("alpha")
    machine.environment["FERRULE_DISABLE"] = "alpha"
    everything = machine.ferrule("schemas", "--for", "mcp")
    assert (everything.code, everything.err) == (0, "")
    assert "alpha" not in [form["name"] for form in everything.document]
    named = machine.ferrule("schemas", "--for", "mcp", "alpha")
    assert (named.code, named.out) == (1, "[]\n")
    assert "alpha: left out, it is disabled." in named.err


def test_a_tool_that_is_not_installed_is_an_error_and_nothing_is_printed(machine: Machine) -> None:
    machine.install("alpha")
    printed = machine.ferrule("schemas", "--for", "mcp", "alpha", "alpa")
    assert (printed.code, printed.out) == (1, "")
    assert "Did you mean alpha?" in printed.err


def test_one_document_has_the_tools_their_losses_and_what_is_left_out(machine: Machine) -> None:
    machine.install("alpha", schema=SCHEMA)
    machine.install("beta", top="import nothing_of_that_name")
    printed = machine.ferrule("schemas", "--for", "openai", "--json", "alpha", "beta")
    assert (printed.code, printed.err) == (1, "")
    document = printed.document
    assert document["form"] == "openai"
    assert [form["function"]["name"] for form in document["tools"]] == ["alpha"]
    (loss,) = document["losses"]["alpha"]
    assert (loss["pointer"], loss["refused"], loss["rule"]) == ("/parameters/anyOf", True, "unused-composition")
    (left_out,) = document["left_out"]
    assert (left_out["tool"], left_out["state"]) == ("beta", "broken")
    assert "nothing_of_that_name" in left_out["error"]["message"]


@pytest.mark.parametrize("arguments", [[], ["--for", "nobody"]])
def test_the_provider_has_to_be_one_of_those_there_are(machine: Machine, arguments: list[str]) -> None:
    refused = machine.ferrule("schemas", *arguments)
    assert refused.code == 2
    assert "openai-responses" in refused.err or "--for" in refused.err


@pytest.mark.parametrize(
    ("line", "expected"),
    [("ferrule schemas --for g", "gemini"), ("ferrule schemas --for mcp al", "alpha"), ("ferrule sch", "schemas")],
)
def test_the_shell_completes_providers_and_tools(machine: Machine, line: str, expected: str) -> None:
    machine.install("alpha")
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1), "_FERRULE_COMPLETE": "bash_complete"}
    machine.environment.update(words)
    assert f"plain,{expected}" in machine.ferrule().out.split()


def test_validate_says_what_each_form_is_refused_for_or_loses(machine: Machine) -> None:
    machine.install("alpha", schema=SCHEMA)
    validated = machine.ferrule("validate", "alpha")
    assert validated.code == 0
    assert "  refused by anthropic: /parameters/anyOf\n" in validated.out
    assert "  refused by openai, openai-responses: /parameters/anyOf\n" in validated.out
    assert "  lost for gemini: /parameters/properties/a b/minLength\n" in validated.out
    forms = machine.ferrule("validate", "alpha", "--json").document["targets"][0]["forms"]
    assert list(forms) == list(FORMATS)
    assert forms["mcp"] == []
    assert {loss["pointer"]: loss["refused"] for loss in forms["gemini"]} == {
        "/parameters/properties/a b": True,
        "/parameters/properties/a b/minLength": False,
    }


def test_alike_losses_of_a_form_are_one_paragraph(machine: Machine) -> None:
    machine.install("alpha", properties={"a": TEXT, "b": TEXT})
    said = machine.ferrule("validate", "alpha").out
    assert "  lost for gemini: /parameters/properties/a/minLength, /parameters/properties/b/minLength\n" in said
    assert said.count("Gemini") == 1


@pytest.mark.parametrize("kind", ["draft", "executable"])
def test_drafts_and_executables_have_forms_too(machine: Machine, kind: str) -> None:
    path = machine.work / "alpha-tool"
    path.write_text(
        f"#!/bin/sh\ncat <<'END'\n{json.dumps(SCHEMA)}\nEND\n" if kind == "executable" else json.dumps(SCHEMA)
    )
    if kind == "executable":
        os.chmod(path, 0o755)
    (target,) = machine.ferrule("validate", str(path), "--json").document["targets"]
    assert (target["kind"], [loss["pointer"] for loss in target["forms"]["openai"]]) == (kind, ["/parameters/anyOf"])


def test_strict_makes_errors_of_warnings_and_not_of_losses(machine: Machine) -> None:
    machine.install("alpha", properties={"a": TEXT})
    strict = machine.ferrule("validate", "alpha", "--strict", "--json")
    assert strict.code == 0
    assert strict.document["targets"][0]["forms"]["gemini"]
    machine.install("beta", schema={**SCHEMA, "name": "beta"})
    assert machine.ferrule("validate", "beta", "--strict").code == 1


def test_silence_leaves_out_what_the_rule_warns_of_in_the_forms_as_well(machine: Machine) -> None:
    machine.install("alpha", schema=SCHEMA)
    rules = ("--silence", "unused-composition", "--silence", "parameter-name-refused")
    silenced = machine.ferrule("validate", "alpha", "--strict", *rules)
    assert silenced.code == 0
    assert "refused" not in silenced.out
    assert "lost for gemini" in silenced.out


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"name": "x"}'])
def test_what_is_no_schema_has_no_forms(machine: Machine, text: bytes) -> None:
    (target,) = machine.ferrule("validate", "-", "--json", stdin=text).document["targets"]
    assert target["forms"] is None


def test_a_tool_that_is_broken_has_no_forms_and_a_schema_that_ships_has_them(machine: Machine) -> None:
    machine.install("alpha", top="import nothing_of_that_name", static=False)
    machine.install("beta", top="import nothing_of_that_name", properties={**CITY, "a": TEXT})
    targets = machine.ferrule("validate", "alpha", "beta", "--json").document["targets"]
    assert targets[0]["forms"] is None
    assert targets[1]["forms"]["gemini"]
