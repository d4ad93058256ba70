"""`ferrule` as a whole: help, errors, exit codes, what it imports, how it leaves."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ferrule.cli.commands import BUILT_IN
from ferrule.cli.program import program
from ferrule_testkit.machine import BIN, Machine

COLOUR = re.compile(r"\x1b\[[\d;]*m")
HEAVY = ("httpx", "jsonschema", "pluggy", "platformdirs", "subprocess", "tempfile")


@pytest.mark.process
def test_help_lists_every_command_with_what_it_is_for(machine: Machine) -> None:
    shown = machine.ferrule("--help")
    assert shown.code == 0
    for name, purpose in BUILT_IN.items():
        assert f"{name} " in shown.out
        assert purpose.split(":")[0] in shown.out


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_command_has_an_example_exit_codes_and_json(name: str) -> None:
    shown = CliRunner().invoke(program, [name, "--help"]).output
    assert "Example" in shown
    if name not in ("credentials", "cache", "keep", "permissions"):  # a group: each of its commands says so
        assert "Exit code" in shown
        assert "--json" in shown


@pytest.mark.process
@pytest.mark.parametrize(
    "arguments",
    [
        ("list",),
        pytest.param(("show", "example"), marks=pytest.mark.slow),
        pytest.param(("validate", "example"), marks=pytest.mark.slow),
        pytest.param(("schemas", "example", "--for", "mcp"), marks=pytest.mark.slow),
        ("run", "example", "city=Oslo"),
        ("link", "example"),
        pytest.param(("unlink", "example"), marks=pytest.mark.slow),
        pytest.param(("credentials",), marks=pytest.mark.slow),
        pytest.param(("cache",), marks=pytest.mark.slow),
        pytest.param(("doctor",), marks=pytest.mark.slow),
        pytest.param(("new", "weather"), marks=pytest.mark.slow),
        pytest.param(("completion", "bash"), marks=pytest.mark.slow),
        ("no-such-command",),
    ],
    ids=lambda arguments: arguments[0],
)
def test_every_command_does_in_a_fork_what_it_does_as_a_program(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    forked, started = Machine(tmp_path / "a"), Machine(tmp_path / "b")
    if arguments == ("doctor",):  # which loads each of them, for two seconds
        forked.hide_commands()
        started.hide_commands()
    shown = forked.ferrule(*arguments)
    really = started.ferrule(*arguments, start_new_session=True)
    assert shown.code == really.code
    assert shown.out.replace(str(tmp_path / "a"), str(tmp_path / "b")) == really.out
    assert shown.err.replace(str(tmp_path / "a"), str(tmp_path / "b")) == really.err


@pytest.mark.parametrize("name", ["show", "set", "unset"])
def test_every_command_for_credentials_has_an_example_exit_codes_and_json(name: str) -> None:
    shown = CliRunner().invoke(program, ["credentials", name, "--help"]).output
    assert all(text in shown for text in ("Example", "Exit code", "--json"))


@pytest.mark.process
def test_the_version_is_that_of_the_distribution(machine: Machine) -> None:
    from ferrule import __version__

    assert machine.ferrule("--version").out == f"ferrule {__version__}\n"


@pytest.mark.process
def test_python_m_ferrule_is_ferrule_and_leaves_the_working_folder_out(machine: Machine) -> None:
    machine.install("alpha")
    environment = {**machine.environment, "PYTHONPATH": ""}
    command = [sys.executable, "-m", "ferrule", "list", "--json"]
    listed = subprocess.run(command, cwd=machine.site, env=environment, capture_output=True, check=True).stdout
    assert "alpha" not in [tool["name"] for tool in json.loads(listed)["tools"]]


@pytest.mark.slow
@pytest.mark.process
def test_what_python_m_ferrule_links_finds_every_folder_of_pythonpath(machine: Machine) -> None:
    machine.install("alpha")
    command = [sys.executable, "-m", "ferrule", "link", "alpha"]
    subprocess.run(command, cwd=machine.work, env=machine.environment, capture_output=True, check=True)
    elsewhere = {name: value for name, value in machine.environment.items() if name != "PYTHONPATH"}
    linked = [machine.tools / "alpha-tool"]
    answer = subprocess.run(linked, input=b'{"city": "Oslo"}', env=elsewhere, capture_output=True, check=False).stdout
    assert json.loads(answer) == {"got": {"city": "Oslo"}}


@pytest.mark.process
def test_a_command_that_there_is_not_is_a_usage_error_with_the_one_that_was_meant(machine: Machine) -> None:
    shown = machine.ferrule("lst")
    assert shown.code == 2
    assert "Did you mean 'list'?" in shown.err


@pytest.mark.process
def test_a_usage_error_is_json_where_json_was_asked_for(machine: Machine) -> None:
    shown = machine.ferrule("list", "--nonsense", "--json")
    assert shown.code == 2
    assert shown.document["error"]["code"] == "USAGE"
    assert shown.err == ""


@pytest.mark.process
def test_an_error_is_one_message_with_a_hint_and_no_traceback(machine: Machine) -> None:
    machine.install("web_fetched")
    shown = machine.ferrule("show", "web_fetchd")
    assert shown.code == 1
    assert shown.out == ""
    assert shown.err == (
        "Error: No installed distribution offers a tool named 'web_fetchd'.\nDid you mean web_fetched"
        + shown.err.partition("Did you mean web_fetched")[2]
    )
    assert "Traceback" not in shown.err


@pytest.mark.process
def test_an_error_is_json_on_stdout_where_json_was_asked_for(machine: Machine) -> None:
    shown = machine.ferrule("show", "nothing_of_that_name", "--json")
    assert shown.code == 1
    assert shown.err == ""
    assert "nothing_of_that_name" in shown.document["error"]["message"]


@pytest.mark.process
def test_a_traceback_is_shown_to_whoever_debugs(machine: Machine) -> None:
    shown = machine.ferrule("show", "nothing", environment={"FERRULE_DEBUG": "1"})
    assert "Traceback" in shown.err


@pytest.mark.process
def test_a_malformed_configuration_is_an_error_with_its_place(machine: Machine) -> None:
    path = machine.home / "config.toml"
    path.write_text("[tools\n")
    shown = machine.ferrule("list", environment={"FERRULE_CONFIG": str(path)})
    assert shown.code == 1
    assert str(path) in shown.err
    assert "line 1" in shown.err


@pytest.mark.process
def test_list_imports_nothing_that_it_does_not_need(machine: Machine) -> None:
    machine.install("alpha")
    code = (
        "import os, sys\n"
        "from ferrule.cli.program import run\n"
        "code = run(['list'])\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "print(code, loaded, 'module_alpha' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], env=machine.environment, capture_output=True, text=True, check=True
    )
    assert printed.stdout.splitlines()[-1] == "0 [] False"


@pytest.mark.process
def test_help_imports_no_command() -> None:
    code = (
        "import sys\n"
        "from ferrule.cli.program import run\n"
        "run(['--help'])\n"
        "print([name for name in sys.modules if name.startswith(('ferrule.cli.', 'ferrule_'))])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.splitlines()[-1] == "['ferrule.cli.exits', 'ferrule.cli.commands', 'ferrule.cli.program']"


@pytest.mark.process
def test_a_reader_that_goes_away_ends_the_command_without_a_word(machine: Machine) -> None:
    for number in range(30):
        machine.install(f"tool_{number}", description="x" * 4000)
    reader, writer = os.pipe()
    os.close(reader)
    with machine.start("list", "--json", stdout=writer, stderr=subprocess.PIPE) as process:
        os.close(writer)
        error = process.stderr.read() if process.stderr else b""
    assert (process.returncode, error) == (141, b"")


@pytest.mark.process
def test_a_full_disk_is_said(machine: Machine) -> None:
    with Path("/dev/full").open("wb") as full, machine.start("list", stdout=full, stderr=subprocess.PIPE) as process:
        error = process.stderr.read() if process.stderr else b""
    assert process.returncode == 1
    assert b"cannot be written" in error


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_harm_nothing(machine: Machine, closed: str) -> None:
    machine.install("alpha")
    command = ["sh", "-c", f'exec "$0" list --check {closed}', str(BIN / "ferrule")]
    done = subprocess.run(command, env=machine.environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("alpha" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))


@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_whole_command_also_while_a_plugin_is_loaded(
    machine: Machine, number: signal.Signals
) -> None:
    gate = machine.gate()
    machine.install("a_slow_one", top=f"open({str(gate)!r}).read()")
    with machine.start("list", "--check", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process, gate.open("w"):
        process.send_signal(number)
        out, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in error


@pytest.mark.process
def test_letters_that_the_stream_has_not_got_are_written_out(machine: Machine) -> None:
    machine.install("alpha", description="Zażółć")
    latin = {"PYTHONIOENCODING": "latin-1"}
    assert r"Za\u017c" in machine.ferrule("list", environment=latin, encoding="latin-1").out
    tools = machine.ferrule("list", "--json", environment=latin).document["tools"]
    assert "Zażółć" in [tool["description"] for tool in tools]


@pytest.mark.process
def test_nothing_that_a_plugin_says_reaches_the_terminal_as_a_command(machine: Machine) -> None:
    machine.install(
        "alpha", description="red\x1b[31m \x9b2J and\nnew lines", execute="return {'a': '\\x9b2J \\x1b[2J'}"
    )
    for command in (["list"], ["show", "alpha"], ["run", "alpha", "city=Oslo"]):
        shown = machine.on_terminal(*command, environment={"NO_COLOR": "1"}).out
        assert "\x9b" not in shown
        assert "\x1b[31m" not in shown
        assert "\x1b[2J" not in shown


@pytest.mark.slow
@pytest.mark.process
def test_colour_is_for_terminals_and_for_those_who_want_it(machine: Machine) -> None:
    machine.install("alpha")
    assert "\x1b[32mok" in machine.on_terminal("list", "--check").out
    # Colours alone: on a busy machine a line of progress comes and is erased.
    assert not COLOUR.search(machine.on_terminal("list", "--check", environment={"NO_COLOR": "1"}).out)
    assert "\x1b[" not in machine.ferrule("list", "--check").out
