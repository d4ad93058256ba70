"""`ferrule run`: the same answer as the executable's, from arguments that people can type."""

import json
import subprocess

import pytest

from ferrule_testkit.machine import BIN, Machine
from ferrule_testkit.runs import Run, run_forked
from ferrule_testkit.scripts import shebang

pytestmark = pytest.mark.process


PROPERTIES = {
    "city": {"type": "string", "description": "A city.", "minLength": 2},
    "days": {"type": "integer", "description": "Days.", "minimum": 1},
    "kinds": {"type": "array", "items": {"type": "string"}, "description": "Kinds."},
    "exact": {"type": "boolean", "description": "Whether it matters."},
}


def executable(machine: Machine, name: str, stdin: bytes) -> "subprocess.CompletedProcess[bytes]":
    """The tool as its console script runs it."""
    script = machine.work / f"{name}-tool"
    script.write_text(f"{shebang()}from ferrule.dispatch import main\nmain()\n")
    script.chmod(0o755)
    return subprocess.run([script], input=stdin, env=machine.environment, capture_output=True, check=False)


def forked(machine: Machine, name: str, stdin: bytes) -> Run:
    """The same in a fork, which does what the script does."""
    return run_forked(machine.work / f"{name}-tool", stdin, environment=machine.environment, cwd=machine.work)


@pytest.mark.parametrize("static", [True, False], ids=["schema-file", "computed-schema"])
def test_words_become_arguments_in_the_types_of_the_schema(machine: Machine, static: bool) -> None:
    machine.install("alpha", properties=PROPERTIES, static=static)
    words = ("city=Oslo", "days=3", "kinds=a", "kinds=b", "exact=true")
    run = machine.ferrule("run", "alpha", *words)
    assert run.code == 0
    assert run.document == {"got": {"city": "Oslo", "days": 3, "kinds": ["a", "b"], "exact": True}}
    assert run.err == ""


def test_json_is_taken_from_the_command_line_and_from_stdin(machine: Machine) -> None:
    machine.install("alpha", properties=PROPERTIES)
    expected = {"got": {"city": "Łódź"}}
    text = json.dumps({"city": "Łódź"}, ensure_ascii=False)
    assert machine.ferrule("run", "alpha", text).document == expected
    assert machine.ferrule("run", "alpha", stdin=text.encode()).document == expected
    assert machine.ferrule("run", "alpha", "-", stdin=text.encode()).document == expected


@pytest.mark.parametrize(
    "stdin",
    [
        pytest.param(b'{"city": "Oslo"}', id="well"),
        pytest.param(b'{"city": "x"}', id="refused-by-the-schema"),
        pytest.param(b'{"city": "Oslo", "days": 0, "kinds": []}', id="fillers"),
        pytest.param(b'{"town": "Oslo"}', id="misspelt"),
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="no-json"),
        pytest.param(b"[]", id="no-object"),
        pytest.param(b"\xff", id="no-utf-8"),
        pytest.param(b'{"city": "Rome"}', id="tool-error"),
        pytest.param(b'{"city": "Paris"}', id="crash"),
        pytest.param(b'{"city": "Lyon"}', id="exit"),
    ],
)
@pytest.mark.parametrize("agent", ["", pytest.param("agent-1", marks=pytest.mark.slow)])
def test_the_answer_is_byte_for_byte_the_executables(machine: Machine, stdin: bytes, agent: str) -> None:
    execute = (
        "city = arguments.get('city')\n"
        "    if city == 'Rome': raise ToolError('NOT_NOW', 'Not now.', hint='Later.', event={'kind': 'told'})\n"
        "    if city == 'Lyon': import os; print('bye', flush=True); os._exit(3)\n"
        "    if city == 'Paris': 1 / 0\n"
        "    print('a word'); return {'got': arguments}"
    )
    machine.install("alpha", properties=PROPERTIES, execute=execute)
    if agent:
        machine.environment["IKIGAI_AGENT_ID"] = agent
    expected = forked(machine, "alpha", stdin)
    for option in ((), ("--json",)):
        run = machine.ferrule("run", "alpha", *option, stdin=stdin)
        assert (run.code, run.out, run.err) == (
            expected.exit_code,
            expected.stdout.decode(),
            expected.stderr.decode(),
        )


def test_a_failure_is_a_document_on_stdout_a_line_on_stderr_and_exit_code_1(machine: Machine) -> None:
    machine.install("alpha", execute="raise ToolError('NOT_NOW', 'Not now.')")
    run = machine.ferrule("run", "alpha", "city=Oslo")
    assert run.code == 1
    assert run.document == {"success": False, "error": "Not now.", "error_code": "NOT_NOW"}
    assert run.err == "alpha: NOT_NOW: Not now.\n"


def test_a_word_of_the_wrong_type_is_named_by_the_check_of_arguments(machine: Machine) -> None:
    machine.install("alpha", properties=PROPERTIES)
    run = machine.ferrule("run", "alpha", "days=five")
    assert run.code == 1
    assert "days: expected integer, got string 'five'" in run.document["error"]


def test_an_unknown_tool_is_a_failure_in_the_same_shape_with_the_name_that_was_meant(machine: Machine) -> None:
    machine.install("almanac")
    run = machine.ferrule("run", "almanack", "{}")
    assert run.code == 1
    assert run.document["success"] is False
    assert "Did you mean almanac?" in run.document["error"]


def test_a_clash_and_a_disabled_tool_are_failures_in_the_same_shape(machine: Machine) -> None:
    machine.install("alpha", distribution="one")
    disabled = machine.ferrule("run", "alpha", "{}", environment={"FERRULE_DISABLE": "alpha"})
    assert "disabled by FERRULE_DISABLE" in disabled.document["error"]
    machine.install("alpha", distribution="two")
    clash = machine.ferrule("run", "alpha", "{}")
    assert "claimed by one 1.0 and by two 1.0" in clash.document["error"]


def test_dry_run_checks_the_arguments_and_executes_nothing(machine: Machine) -> None:
    marker = machine.work / "executed"
    machine.install(
        "alpha",
        properties=PROPERTIES,
        top="@hookimpl\ndef validate(arguments):\n    return ['days must be even'] if arguments['days'] % 2 else []",
        execute=f"open({str(marker)!r}, 'w')",
    )
    assert machine.ferrule("run", "alpha", "days=2", "--dry-run").document == {"valid": True}
    refused = machine.ferrule("run", "alpha", "days=3", "--dry-run")
    assert refused.code == 1
    assert "days must be even" in refused.document["error"]
    assert machine.ferrule("run", "alpha", "days=0", "--dry-run").code == 1
    assert not marker.exists()


@pytest.mark.parametrize("words", [("city", "days=1"), ("=1",), ("oslo",)])
def test_words_that_are_no_arguments_are_a_usage_error(machine: Machine, words: tuple[str, ...]) -> None:
    machine.install("alpha", properties=PROPERTIES)
    run = machine.ferrule("run", "alpha", *words)
    assert (run.code, run.out) == (2, "")
    assert "neither key=value nor key:=JSON" in run.err


def test_json_on_the_command_line_that_is_none_is_refused_as_an_argument(machine: Machine) -> None:
    machine.install("alpha")
    assert "The argument is not valid JSON" in machine.ferrule("run", "alpha", "{").document["error"]


def test_the_document_is_indented_on_a_terminal_and_plain_with_json(machine: Machine) -> None:
    machine.install("alpha", execute="return {'got': arguments, 'odd': '\\x9b2J'}")
    shown = machine.on_terminal("run", "alpha", "city=Oslo")
    assert '{\n  "got": {\n    "city": "Oslo"\n  },\n  "odd": "\\u009b2J"\n}\n' in shown.out
    plain = machine.on_terminal("run", "alpha", "city=Oslo", "--json")
    assert '{"got":{"city":"Oslo"},' in plain.out


def test_of_an_event_the_text_is_shown_on_a_terminal_and_the_line_elsewhere(machine: Machine) -> None:
    event = {"kind": "config_required", "content": "Set it up:\n  \x9b2J https://keys.example", "data_json": "{}"}
    machine.install("alpha", properties={}, execute=f"raise ToolError('AUTH_MISSING', 'No key.', event={event!r})")
    shown = machine.on_terminal("run", "alpha")
    assert shown.out.endswith("}\nSet it up:\n  \\u009b2J https://keys.example\n")
    assert '"content"' in machine.on_terminal("run", "alpha", "--json").out
    assert json.loads(machine.ferrule("run", "alpha", "{}").err) == event


def test_what_is_no_event_is_shown_as_it_was_printed_on_a_terminal(machine: Machine) -> None:
    lines = [
        '{"content": "x"}',
        '{"event": "x", "content": 5}',
        '{"kind": "x", "content": "x"}',
        '["event"]',
        "words",
        "{",
    ]
    machine.install("alpha", properties={}, execute=f"print({chr(10).join(lines)!r}); return {{}}")
    assert machine.on_terminal("run", "alpha").out.endswith("\n".join(lines) + "\n")


def test_on_a_terminal_a_tool_without_parameters_needs_no_arguments(machine: Machine) -> None:
    machine.install("alpha", properties={})
    assert '"got": {}' in machine.on_terminal("run", "alpha").out


def test_a_tool_that_hangs_is_ended_at_the_deadline(machine: Machine) -> None:
    machine.install("alpha", execute="import time; time.sleep(1000)")
    run = machine.ferrule("run", "alpha", "city=Oslo", environment={"FERRULE_DEADLINE": "1"})
    assert run.code == 1
    assert run.document["error_code"] == "TIMEOUT"


def test_a_closed_stdin_is_a_failure_and_no_crash(machine: Machine) -> None:
    machine.install("alpha")
    command = ["sh", "-c", 'exec "$0" run alpha <&-', BIN / "ferrule"]
    done = subprocess.run(command, env=machine.environment, capture_output=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error_code"] == "INVALID_INPUT"


def test_what_a_plugin_prints_never_reaches_stdout(machine: Machine) -> None:
    execute = "import os; os.write(1, b'raw '); os.system('echo child'); print('printed'); return {}"
    machine.install("alpha", execute=execute, permissions={"programs": ["/bin/sh"]})
    run = machine.ferrule("run", "alpha", "city=Oslo")
    assert run.out == "{}\n"
    assert all(word in run.err for word in ("raw", "child", "printed"))


def test_the_working_folder_is_no_place_for_plugins(machine: Machine) -> None:
    machine.install("alpha", execute="import somewhere; return {'file': somewhere.__file__}")
    (machine.work / "somewhere.py").touch()
    run = machine.ferrule("run", "alpha", "city=Oslo")
    assert "ModuleNotFoundError" in run.document["error"]


def test_a_failure_is_shown_once_on_a_terminal(machine: Machine) -> None:
    machine.install("alpha", execute="print('printed'); raise ToolError('NO_CITY', 'There is no such city.')")
    shown = machine.on_terminal("run", "alpha", "city=Oslo")
    assert (shown.code, shown.out.count("There is no such city."), shown.out.count("printed")) == (1, 1, 1)
    assert machine.on_terminal("run", "absent").out.count("offers a tool named 'absent'") == 1


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
def test_a_terminal_obeys_nothing_that_a_plugin_says(machine: Machine, options: tuple[str, ...]) -> None:
    machine.install(
        "alpha",
        top="import sys",
        execute="print('\\x1b]0;printed\\x07'); raise ToolError('E\\x1b[31m', 'Red\\x9b31m \\u202e and \\x7f.')",
    )
    shown = machine.on_terminal("run", "alpha", *options)
    assert shown.code == 1
    assert not {"\x1b", "\x9b", "\u202e", "\x7f", "\x07"} & set(shown.out)
    assert "\\u001b]0;printed" in shown.out
    assert "Red\\u009b31m" in shown.out


def test_json_on_a_terminal_is_the_same_document_without_what_a_terminal_obeys(machine: Machine) -> None:
    machine.install("alpha", execute="return {'text': 'Red\\x9b31m \\u202e and \\x7f.'}")
    shown = machine.on_terminal("run", "alpha", "--json")
    assert shown.document == {"text": "Red\x9b31m \u202e and \x7f."}
    assert not {"\x9b", "\u202e", "\x7f"} & set(shown.out)
    machine.install("beta", description="Red\x9b31m\x7f.")
    listed = machine.on_terminal("show", "beta", "--json")
    assert listed.document["schema"]["description"] == "Red\x9b31m\x7f."
    assert not {"\x9b", "\x7f"} & set(listed.out)


@pytest.mark.parametrize(
    ("tool", "configuration", "code"),
    [
        pytest.param("absent", "", "TOOL_UNKNOWN", id="unknown"),
        pytest.param("alpha", "[tools.alpha]\nenabled = false\n", "TOOL_DISABLED", id="disabled"),
        pytest.param("twice", "", "TOOL_NAME_CLASH", id="clash"),
        pytest.param("alpha", "[tools.alpha\n", "CONFIG_MALFORMED", id="malformed"),
        pytest.param("alpha", "locked = true\n", "LOCK_UNUSABLE", id="no-lock"),
    ],
)
def test_what_keeps_a_tool_from_being_called_has_a_code_of_its_own(
    machine: Machine, tool: str, configuration: str, code: str
) -> None:
    machine.install("alpha")
    for name in ("one", "two"):
        machine.install("twice")
        (machine.site / "dist_twice-1.0.dist-info").rename(machine.site / f"{name}-1.0.dist-info")
        (machine.site / f"{name}-1.0.dist-info" / "METADATA").write_text(f"Name: {name}\nVersion: 1.0\n")
    folder = machine.home / ".config" / "ferrule"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(configuration)
    run = machine.ferrule("run", tool)
    assert (run.code, run.document["error_code"]) == (1, code)
    run = executable(machine, tool, b"{}")
    assert (run.returncode, json.loads(run.stdout)["error_code"]) == (1, code)
