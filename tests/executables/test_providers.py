"""Tools that a model provider refuses every request for: who says so, and what `ferrule link --for` makes of them."""

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from ferrule_testkit import ikigai
from ferrule_testkit.machine import Machine
from ferrule_testkit.schemas.agentkit import faults

pytestmark = pytest.mark.process

DATA = {"type": "object", "description": "Fields.", "properties": {}}
LENGTH = {"type": "string", "description": "A name of web_almanac.", "format": "uri"}


@pytest.fixture
def almanac(machine: Machine) -> Machine:
    machine.install("web_almanac", properties={"data": DATA, "name": LENGTH}, description="Looks.")
    return machine


def linked(machine: Machine) -> dict[str, ikigai.Tool]:
    return ikigai.discover([machine.tools])


def doctor(machine: Machine) -> dict[tuple[str, str], dict[str, Any]]:
    found = machine.hide_commands().ferrule("doctor", "--json").document["findings"]
    return {(one["id"], one["subject"]): one for one in found}


@pytest.mark.slow
def test_link_list_and_doctor_say_which_provider_refuses_a_tool_and_what_helps(almanac: Machine) -> None:
    almanac.install("alpha")
    done = almanac.ferrule("link", "web_almanac", "alpha")
    assert (done.code, done.err) == (
        0,
        "web_almanac: OpenAI and Gemini refuse every request with this tool in it, for "
        "/parameters/properties/data/properties, /parameters/properties/name/format. "
        "What helps: ferrule link web_almanac --for openai, or --for gemini\n",
    )
    listed = almanac.ferrule("list", "--check").out
    assert "web_almanac  openai, gemini  ferrule link web_almanac --for openai, or --for gemini" in listed
    tools = {one["name"]: one for one in almanac.ferrule("list", "--check", "--json").document["tools"]}
    assert tools["alpha"]["refused_by"] == {}
    assert tools["web_almanac"]["refused_by"]["openai"] == ["/parameters/properties/data/properties"]
    found = doctor(almanac)["provider-refuses", "web_almanac"]
    assert found["severity"] == "warning"
    assert "OpenAI and Gemini refuse every request" in found["message"]
    assert ("provider-refuses", "alpha") not in doctor(almanac)


@pytest.mark.slow
def test_a_tool_that_is_linked_for_a_provider_is_shown_in_its_words_and_called_in_the_tools_own(
    almanac: Machine,
) -> None:
    done = almanac.ferrule("link", "web_almanac", "--for", "gemini", "--as", "sky")
    said = "(JSON as text: data; said in the description: format of name)"
    assert (done.out, done.err) == (f"linked ~/.ikigai/tools/sky-tool {said}\n  no network\n", "")
    tool = linked(almanac)["sky"]
    properties = tool.schema["parameters"]["properties"]
    assert properties["data"] == {"type": "string", "description": "Fields. A JSON object, written as text."}
    assert properties["name"] == {"type": "string", "description": "A name of sky. Uri."}
    answer = ikigai.call(tool, {"data": '{"tags": ["a", "b"]}', "name": "x"})
    assert answer["result"] == {"got": {"data": {"tags": ["a", "b"]}, "name": "x"}}
    refused = ikigai.call(tool, {"data": "no JSON", "name": "x"})["result"]
    assert refused["error_code"] == "INVALID_INPUT"
    assert "data: expected a JSON object, written as text" in refused["error"]
    assert ("provider-refuses", "web_almanac") not in doctor(almanac)


@pytest.mark.slow
def test_a_tool_that_is_linked_in_the_plain_form_is_called_in_the_tools_own(almanac: Machine) -> None:
    done = almanac.ferrule("link", "web_almanac", "--for", "plain")
    assert "(JSON as text: data; said in the description: format of name)" in done.out
    tool = linked(almanac)["web_almanac"]
    assert list(faults(tool.schema["parameters"])) == []
    assert tool.schema["parameters"]["properties"]["name"]["description"] == "A name of web_almanac. A URI."
    answer = ikigai.call(tool, {"data": '{"tags": ["a", "b"]}', "name": "x"})
    assert answer["result"] == {"got": {"data": {"tags": ["a", "b"]}, "name": "x"}}


@pytest.mark.slow
def test_a_link_for_a_provider_that_is_out_of_date_keeps_to_its_words(almanac: Machine) -> None:
    almanac.ferrule("link", "web_almanac", "--for", "gemini")
    shown = linked(almanac)["web_almanac"].schema
    path = almanac.tools / "web-almanac-tool"
    os.utime(path, (0, 0))
    done = subprocess.run([path, "--schema"], env=almanac.environment, capture_output=True, check=True)
    assert b"out of date" in done.stderr
    assert json.loads(done.stdout) == shown
    again = doctor(almanac)["link-stale", str(path)]["fix"]
    assert again == f"ferrule link web_almanac --to {almanac.tools} --for gemini"
    assert almanac.ferrule(*again.split()[1:]).code == 0
    assert ("link-stale", str(path)) not in doctor(almanac)


@pytest.mark.slow
def test_the_changes_are_in_the_json_and_a_link_in_other_words_replaces_the_first(almanac: Machine) -> None:
    first = almanac.ferrule("link", "web_almanac", "--for", "openai", "--json").document["tools"][0]
    assert (first["result"], first["changes"][0]) == ("linked", "JSON as text: data")
    assert almanac.ferrule("link", "web_almanac", "--for", "openai").out.startswith("unchanged")
    own = almanac.ferrule("link", "web_almanac", "--json").document["tools"][0]
    assert (own["result"], own["changes"]) == ("linked", [])
    assert linked(almanac)["web_almanac"].schema["parameters"]["properties"]["data"] == DATA


@pytest.mark.parametrize(
    ("name", "told"),
    [
        pytest.param("bash", "It takes the place of the client's own tool of this name", id="the-clients-own"),
        pytest.param("UPPER", "it is not snake_case", id="upper-case"),
        pytest.param("_a", "it does not start with a letter", id="underscore-first"),
        pytest.param("9a", "it starts with a digit, and Gemini refuses every request", id="digit-first"),
        pytest.param("n" * 65, "it has 65 characters, and OpenAI refuses a request with more than 64", id="long"),
    ],
)
def test_a_name_that_costs_something_is_told_when_it_is_linked(machine: Machine, name: str, told: str) -> None:
    machine.install("alpha")
    done = machine.ferrule("link", "alpha", "--as", name)
    assert done.code == 0
    assert done.err.startswith(f"{name}: ")
    assert told in done.err


def test_a_name_that_a_provider_refuses_needs_another_name_and_no_other_words(machine: Machine) -> None:
    machine.install("alpha")
    done = machine.ferrule("link", "alpha", "--as", "9a", "--for", "gemini")
    assert "Gemini refuses every request with this tool in it, for /name." in done.err
    assert "ferrule link alpha --as NAME" in done.err


@pytest.mark.slow
def test_links_that_one_command_fixes_are_one_finding(machine: Machine) -> None:
    names = ("alpha", "beta", "gamma")
    for name in names:
        machine.install(name)
    machine.ferrule("link", *names)
    machine.ferrule("link", "alpha", "--as", "other")
    for path in machine.tools.iterdir():
        os.utime(path, (0, 0))
    found = {subject: one for (id_, subject), one in doctor(machine).items() if id_ == "link-stale"}
    assert set(found) == {str(machine.tools), str(machine.tools / "other-tool")}
    together = found[str(machine.tools)]
    assert together["message"] == "3 links are out of date: alpha, beta, gamma."
    assert machine.ferrule(*together["fix"].split()[1:]).code == 0
    assert set(linked(machine)) == {*names, "other"}
    assert ("link-stale", str(machine.tools)) not in doctor(machine)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "found", "severity"),
    [
        pytest.param("sleep 1000", "executable-late", "error", id="hangs"),
        pytest.param("while :; do echo x; done", "executable-late", "error", id="floods"),
        pytest.param("sleep 1000 &\necho '{}'", "executable-late", "error", id="leaves-a-child-with-stdout"),
        pytest.param("exit 3", "executable-exit-code", "warning", id="fails"),
        pytest.param("echo no JSON", "executable-valid-json", "warning", id="prints-no-json"),
    ],
)
def test_a_program_of_somebody_else_that_harms_the_client_is_told(
    machine: Machine, program: str, found: str, severity: str
) -> None:
    machine.tools.mkdir(parents=True)
    path = machine.tools / "x-tool"
    path.write_text(f"#!/bin/sh\n{program}\n")
    path.chmod(0o755)
    told = doctor(machine)[found, str(path)]
    assert told["severity"] == severity
    assert ("chmod -x" in str(told["fix"])) == (severity == "error")


@pytest.mark.slow
def test_a_program_of_somebody_else_that_is_well_is_no_finding_unless_it_replaces_the_clients_own(
    machine: Machine,
) -> None:
    machine.install("grep")
    machine.ferrule("link", "grep")
    shown = machine.ferrule("show", "grep", "--json").document["schema"]
    shutil.rmtree(machine.tools)
    machine.tools.mkdir()
    for name in ("grep", "other"):
        path = machine.tools / f"{name}-tool"
        path.write_text(f"#!/bin/sh\necho '{json.dumps({**shown, 'name': name})}'\n")
        path.chmod(0o755)
    assert [id_ for id_, subject in doctor(machine) if subject.endswith("-tool")] == ["client-tool-replaced"]


@pytest.mark.slow
def test_a_link_whose_name_is_claimed_twice_says_so_in_words(machine: Machine) -> None:
    machine.install("alpha")
    machine.ferrule("link", "alpha")
    machine.install("alpha", distribution="another")
    failing = doctor(machine)["link-failing", str(machine.tools / "alpha-tool")]
    assert failing["message"] == "Its tool alpha is claimed by more than one distribution, so every call fails."
