"""`ferrule check`: one executable or installed tool, run as clients run it."""

import os
import signal
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ferrule_testkit.machine import BIN, Machine

pytestmark = [pytest.mark.process, pytest.mark.timeout(240)]

SCHEMA = (
    '{"name": "greet", "description": "Greets a city.", "parameters": {"type": "object", "properties": '
    '{"city": {"type": "string", "description": "A city."}}, "required": ["city"]}}'
)
# A tool that answers two cities, and refuses everything else.
GREET = """#!/bin/sh
if [ "$1" = --schema ]; then echo 'SCHEMA'; exit; fi
input=$(cat)
EXTRA
case $input in
  '{"city":"example"}'|'{"city":"Oslo"}') echo '{"greeting": "hello"}' ;;
  *) echo '{"error": "city is missing or no text"}' ;;
esac
"""


def greeting(machine: Machine, extra: str = "") -> Path:
    path = machine.work / "greet-tool"
    path.write_text(GREET.replace("SCHEMA", SCHEMA).replace("EXTRA", extra))
    path.chmod(0o755)
    return path


def states(document: dict[str, object], target: int = 0) -> dict[str, str]:
    return {one["id"]: one["state"] for one in document["targets"][target]["checks"]}  # type: ignore[index] # JSON


@pytest.mark.slow
def test_a_good_tool_passes_and_its_report_is_written_as_junit_too(machine: Machine) -> None:
    path, report = greeting(machine), machine.work / "report.xml"
    checked = machine.ferrule("check", str(path), "--example", '{"city": "Oslo"}', "--junit", str(report), "--json")
    assert (checked.code, checked.document["conforms"]) == (0, True), checked.out
    found = states(checked.document)
    assert found["examples"] == found["not-json"] == found["sigterm"] == "passed"
    assert found["schema-agrees"] == found["bounds"] == found["permissions"] == "skipped"
    cases = ElementTree.parse(report).findall(".//testcase")
    assert [case.get("name") for case in cases] == list(found)


@pytest.mark.slow
def test_a_fault_is_told_with_what_to_do_and_nothing_is_left_of_the_calls(machine: Machine) -> None:
    left = machine.work / "left"
    path = greeting(machine, extra=f"sleep 600 >/dev/null 2>&1 & echo $! >> {left}")
    checked = machine.ferrule("check", str(path))
    assert checked.code == 1
    told = "\nfailed leftover-processes\n  After a call this was still running: sleep 600.\n  End what the call has"
    assert told in checked.out
    assert checked.out.splitlines()[-1].startswith("1 failed, ")
    pids = left.read_text().split()
    assert len(pids) > 10
    assert [pid for pid in pids if Path(f"/proc/{pid}").exists()] == []


@pytest.mark.slow
def test_a_tool_that_does_a_thing_once_is_not_accused_of_refusing_it_the_second_time(machine: Machine) -> None:
    once = """[ "$input" != '{"city":"example"}' ] || mkdir taken || { echo '{"error": "taken"}'; exit; }"""
    checked = machine.ferrule("check", str(greeting(machine, extra=once)), "--json")
    assert checked.code == 0, checked.out
    assert states(checked.document)["parallel"] == "skipped"


@pytest.mark.slow
def test_a_plugin_that_crashes_is_found_behind_its_host(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("beta", execute="return {'got': int(arguments.get('city', 'x'))}")
    checked = machine.ferrule("check", "alpha", "beta", "--json")
    assert checked.code == 1
    failed = [[id for id, state in states(checked.document, one).items() if state == "failed"] for one in (0, 1)]
    assert failed == [[], ["good-input"]]


@pytest.mark.slow
def test_a_function_whose_file_is_stale_fails_for_that_alone(machine: Machine) -> None:
    machine.install("tell", module="tell_it", static=False)
    module = machine.site / "tell_it.py"
    definition = "from ferrule import tool\n\n@tool\ndef tell(city: str) -> dict:\n"
    source = f'{definition}    """Tells a word."""\n    return {{"word": city}}\n'
    module.write_text(source)
    points = machine.site / "dist_tell-1.0.dist-info" / "entry_points.txt"
    points.write_text("[ferrule.tools]\ntell = tell_it:tell\n")
    assert machine.ferrule("schema", "--write", "tell").code == 0
    assert machine.ferrule("check", "tell").code == 0
    module.write_text(source.replace("a word", "two words"))
    checked = machine.ferrule("check", "tell", "--json")
    found = [id for id, state in states(checked.document).items() if state == "failed"]
    assert (checked.code, found) == (1, ["schema-agrees"])


@pytest.mark.slow
def test_a_schema_of_which_no_values_can_be_made_is_told_and_ends_no_check(machine: Machine) -> None:
    path = greeting(machine)
    odd = '{"city": {"type": {"a": 1}}, "at": 5, "of": {"enum": 7, "minimum": [], "items": 3, "type": ["array"]}}'
    path.write_text(path.read_text().replace('{"city": {"type": "string", "description": "A city."}}', odd))
    checked = machine.ferrule("check", str(path), "--json")
    found = states(checked.document)
    assert (checked.code, found["schema-rules"]) == (1, "failed")
    assert found["sigterm"] == found["parallel"] == "passed"


def test_what_is_not_there_is_an_error_and_no_report(machine: Machine) -> None:
    checked = machine.ferrule("check", "./weather-tool")
    assert checked.code == 1
    assert checked.err.startswith("Error: './weather-tool' is neither an installed tool nor a file.")


@pytest.mark.slow
def test_an_interrupt_ends_the_check_and_what_it_has_started(machine: Machine, tmp_path: Path) -> None:
    started = machine.work / "started"
    os.mkfifo(started)
    path = greeting(machine, extra=f"echo $$ > {started}; sleep 600")
    environment = {**machine.environment, "TMPDIR": str(tmp_path)}
    check = subprocess.Popen(
        [BIN / "ferrule", "check", path], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    tool = started.read_text().strip()  # which waits until the tool has written it
    check.send_signal(signal.SIGINT)
    output, errors = check.communicate(timeout=60)
    assert check.returncode == 130, errors
    assert (output, "Traceback" in errors) == ("", False)
    assert not Path(f"/proc/{tool}").exists()
    assert list(tmp_path.glob("ferrule-check-*")) == []


@pytest.mark.slow
def test_quick_leaves_out_what_does_not_fit_and_says_so(machine: Machine) -> None:
    checked = machine.ferrule("check", str(greeting(machine, extra="sleep 0.6")), "--seconds", "8", "--json")
    (target,) = checked.document["targets"]
    assert target["left_out"]
    skipped = [one for one in target["checks"] if one["message"].startswith("Left out")]
    assert len(skipped) >= 3
    assert {one["state"] for one in skipped} == {"skipped"}
