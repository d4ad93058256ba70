"""`ferrule validate`: installed tools, executables on disk, drafts."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.machine import CITY, Finished, Machine

pytestmark = pytest.mark.process


SCHEMA: dict[str, Any] = {
    "name": "almanac",
    "description": "Looks things up.",
    "parameters": {"type": "object", "properties": CITY},
}


def executable(machine: Machine, body: str, name: str = "almanac-tool", shebang: str = "#!/bin/sh") -> Path:
    path = machine.work / name
    path.write_text(f"{shebang}\n{body}\n")
    path.chmod(0o755)
    return path


def printing(machine: Machine, text: str, **options: str) -> Path:
    (machine.work / "output").write_text(text)
    return executable(machine, f"cat {machine.work / 'output'}", **options)


def ids(validated: Finished, target: int = 0) -> list[str]:
    return [finding["id"] for finding in validated.document["targets"][target]["findings"]]


def test_a_tool_that_is_well_is_valid(machine: Machine) -> None:
    machine.install("alpha")
    validated = machine.ferrule("validate", "alpha")
    assert (validated.code, validated.out) == (0, "alpha: ok\n")


def test_without_a_target_all_installed_tools_are_validated(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("beta", top="import nothing_of_that_name")
    validated = machine.ferrule("validate", "--json")
    assert validated.code == 1
    assert validated.document["valid"] is False
    states = {target["target"]: target["state"] for target in validated.document["targets"]}
    assert (states["alpha"], states["beta"]) == ("ok", "broken")


def test_a_warning_is_told_with_pointer_and_fix_and_is_no_failure(machine: Machine) -> None:
    machine.install("alpha", properties={"url": {"type": "string", "format": "uri", "description": "A URL."}})
    validated = machine.ferrule("validate", "alpha")
    assert validated.code == 0
    assert "alpha: ok, 1 warning\n" in validated.out
    assert "warning unused-format: /parameters/properties/url/format\n" in validated.out
    assert "Say the form in the description" in validated.out


def test_strict_makes_warnings_errors_and_silence_takes_one_out(machine: Machine) -> None:
    machine.install("alpha", properties={"url": {"type": "string", "format": "uri", "description": "A URL."}})
    strict = machine.ferrule("validate", "alpha", "--strict", "--json")
    assert strict.code == 1
    assert strict.document["targets"][0]["findings"][0]["severity"] == "error"
    assert machine.ferrule("validate", "alpha", "--strict", "--silence", "unused-format").code == 0


def test_only_a_warning_can_be_silenced(machine: Machine) -> None:
    for rule in ("no-such-rule", "too-large"):
        refused = machine.ferrule("validate", "--silence", rule)
        assert refused.code == 2
        assert "unused-format" in refused.err


def test_all_findings_of_a_tool_are_told_not_only_the_first(machine: Machine) -> None:
    parameters = {"type": "array", "properties": {"a": {"type": "text"}, "b": {}}, "required": ["c"]}
    machine.install("alpha", schema={"name": "alpha", "description": "", "parameters": parameters})
    validated = machine.ferrule("validate", "alpha", "--json")
    assert validated.code == 1
    assert {"parameters-structure", "property-type", "required-undefined"} <= set(ids(validated))
    assert ids(validated).count("property-type") == 2


def test_a_draft_on_stdin_is_validated(machine: Machine) -> None:
    assert machine.ferrule("validate", "-", stdin=json.dumps(SCHEMA).encode()).code == 0
    refused = machine.ferrule("validate", "-", "--json", stdin=b'{"name": "x"}')
    assert refused.code == 1
    assert ids(refused) == ["required-fields", "required-fields"]


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[1] [2]", b'{"name": NaN}', b"[" * 100_000])
def test_a_draft_that_is_no_json_has_one_finding_that_says_so(machine: Machine, text: bytes) -> None:
    refused = machine.ferrule("validate", "-", "--json", stdin=text)
    assert refused.code == 1
    assert ids(refused) == ["valid-json"]


def test_a_draft_in_a_file_is_validated_and_its_size_is_what_the_host_would_print(machine: Machine) -> None:
    draft = machine.work / "draft.json"
    draft.write_text(json.dumps({**SCHEMA, "description": "x" * 900}, indent=200))
    assert machine.ferrule("validate", "draft.json").code == 0
    draft.write_text(json.dumps({**SCHEMA, "description": "x" * 8200}))
    assert "too-large" in ids(machine.ferrule("validate", "draft.json", "--json"))


def test_a_draft_that_cannot_be_read_is_an_error(machine: Machine) -> None:
    assert "Is a directory" in machine.ferrule("validate", ".").err
    (machine.work / "huge.json").write_bytes(b" " * (2 << 20))
    assert "larger than" in machine.ferrule("validate", "huge.json").err


def test_what_is_neither_a_tool_nor_a_file_is_an_error_before_anything_is_checked(machine: Machine) -> None:
    machine.install("alpha")
    refused = machine.ferrule("validate", "alpha", "alpa")
    assert (refused.code, refused.out) == (1, "")
    assert "'alpa' is neither an installed tool nor a file." in refused.err
    assert "Did you mean alpha?" in refused.err


def test_an_executable_is_validated_by_what_it_prints(machine: Machine) -> None:
    path = printing(machine, json.dumps(SCHEMA))
    for target in (str(path), "almanac-tool", "./almanac-tool"):
        validated = machine.ferrule("validate", target, "--json")
        assert validated.code == 0
        assert validated.document["targets"][0]["kind"] == "executable"


def test_a_folder_is_refused_by_its_name(machine: Machine) -> None:
    refused = machine.ferrule("validate", str(machine.work))
    assert (refused.code, refused.err) == (1, f"Error: {machine.work} cannot be read: Is a directory.\n")


def test_a_linked_executable_is_valid(machine: Machine) -> None:
    machine.install("alpha")
    machine.ferrule("link", "alpha")
    assert machine.ferrule("validate", str(machine.tools / "alpha-tool")).code == 0


def test_the_name_in_the_schema_has_to_be_that_of_the_file(machine: Machine) -> None:
    printing(machine, json.dumps(SCHEMA), name="calendar-tool")
    assert ids(machine.ferrule("validate", "calendar-tool", "--json")) == ["name-mismatch"]


def test_a_file_that_the_client_would_not_look_at_is_told(machine: Machine) -> None:
    printing(machine, json.dumps(SCHEMA), name="almanac")
    assert ids(machine.ferrule("validate", "almanac", "--json")) == ["file-name"]


@pytest.mark.parametrize("size", [8191, 8192, 200_000])
def test_the_size_of_a_printed_schema_is_measured_to_the_byte(machine: Machine, size: int) -> None:
    bare = len(json.dumps({**SCHEMA, "description": ""}))
    text = json.dumps({**SCHEMA, "description": "x" * (size - bare)})
    printing(machine, text)
    validated = machine.ferrule("validate", "almanac-tool", "--silence", "description-too-long", "--json")
    findings = validated.document["targets"][0]["findings"]
    assert [finding["id"] for finding in findings] == (["too-large"] if size > 8191 else [])
    assert size == 8191 or f"{size:,} bytes" in findings[0]["message"]


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        pytest.param("exit 3", "exit-code", id="fails"),
        pytest.param("kill -SEGV $$", "exit-code", id="crashes"),
        pytest.param(":", "silent", id="says-nothing"),
        pytest.param("sleep 100", "late", id="hangs"),
        pytest.param("sleep 100 & echo '{}'", "late", id="leaves-a-child-that-holds-stdout"),
        pytest.param("exec >&-; sleep 100", "late", id="closes-stdout-and-stays", marks=pytest.mark.slow),
        pytest.param(
            "trap '' TERM INT HUP; while :; do sleep 1; done", "late", id="ignores-signals", marks=pytest.mark.slow
        ),
        pytest.param("yes", "late", id="prints-for-ever", marks=pytest.mark.slow),
        pytest.param("echo Traceback", "valid-json", id="prints-no-json"),
    ],
)
def test_a_limit_of_the_client_that_is_missed_is_a_finding(machine: Machine, body: str, finding: str) -> None:
    executable(machine, body)
    validated = machine.ferrule("validate", "almanac-tool", "--json")
    assert validated.code == 1
    assert finding in ids(validated)


@pytest.mark.parametrize("shebang", ["", "#!/no/such/interpreter"])
def test_what_cannot_be_started_is_a_finding(machine: Machine, shebang: str) -> None:
    path = executable(machine, "true", shebang=shebang)
    if not shebang:
        path.write_bytes(b"\0\1\2")
    assert ids(machine.ferrule("validate", "almanac-tool", "--json")) == ["not-started"]


def test_an_executable_has_no_stdin_and_its_stderr_goes_nowhere(machine: Machine) -> None:
    executable(machine, f"cat; echo noise >&2; echo '{json.dumps(SCHEMA)}'")
    validated = machine.ferrule("validate", "almanac-tool", stdin=b"not for the tool")
    assert (validated.code, validated.err) == (0, "")


@pytest.mark.parametrize("start", ["", "setsid "])
def test_nothing_that_an_executable_has_started_is_left(machine: Machine, start: str) -> None:
    marker = machine.work / "process"
    child = f"{start}sh -c 'echo $$ > {marker}; sleep 1000' >/dev/null 2>&1 &"
    executable(machine, f"{child}\nwhile ! [ -s {marker} ]; do :; done\necho '{{}}'")
    machine.ferrule("validate", "almanac-tool")
    process = int(marker.read_text())
    limit = time.monotonic() + 10
    while _is_alive(process) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not _is_alive(process)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(
    ("top", "description"),
    [
        pytest.param("import time", "time.time_ns()", id="time"),
        pytest.param("import os", "os.environ['LANG']", id="language"),
        pytest.param("import os", "os.getcwd()", id="folder"),
        pytest.param("", "sorted({'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}, key=hash)", id="order-of-hashes"),
        pytest.param("", "'always'", id="the-same"),
    ],
)
def test_a_schema_that_differs_in_another_process_is_told(machine: Machine, top: str, description: str) -> None:
    path = machine.install("alpha", static=False, top=top)
    path.write_text(path.read_text().replace("'Does something.'", f"str({description})"))
    is_the_same = description == "'always'"
    shown = machine.ferrule("validate", "alpha", "--json").document["targets"][0]
    assert ("schema-varies" in [one["id"] for one in shown["findings"]]) != is_the_same
    assert machine.ferrule("validate", "alpha", "--strict").code == (not is_the_same)
    assert machine.ferrule("validate", "alpha", "--strict", "--silence", "schema-varies").code == 0
    assert ("another process, language and folder" in machine.ferrule("link", "alpha").err) != is_the_same


def test_an_executable_that_prints_another_schema_the_second_time_is_told(machine: Machine) -> None:
    schema = '{"name": "x", "description": "%s", "parameters": {"type": "object", "properties": {}}}'
    for description, is_told in (("$LANG", True), ("Looks.", False)):
        path = machine.work / "x-tool"
        path.write_text(f"#!/bin/sh\ncat <<END\n{schema % description}\nEND\n")
        path.chmod(0o755)
        shown = machine.ferrule("validate", "./x-tool", "--json").document["targets"][0]
        assert ("schema-varies" in [one["id"] for one in shown["findings"]]) == is_told
