"""What a tool declares that it needs: a version of the host, modules and programs. What is told where it is missing."""

import json
import re
import subprocess
from typing import Any

import pytest

from ferrule import __version__
from ferrule_testkit.machine import BIN, Finished, Machine
from ferrule_testkit.runs import run_forked

pytestmark = pytest.mark.process

EXTRA = {"module": "nowhere_pdf.reader", "install": "dist-alpha[pdf]", "purpose": "reads PDF files"}
PROGRAM = {"names": ["nowhere-notes", "jot"], "install": "apt install notes"}
INSTALL = "ferrule install 'dist-alpha[pdf]'"


def declare(machine: Machine, **content: object) -> None:
    (machine.site / "module_alpha.tool.json").write_text(json.dumps(content))


def run_executable(machine: Machine, *arguments: str) -> Finished:
    """The console script of alpha, as pip would write it; a call by it is made in a fork."""
    script = machine.work / "alpha-tool"
    script.write_text(f"#!{BIN / 'python'}\nfrom ferrule.dispatch import main\nmain()\n")
    script.chmod(0o755)
    if not arguments:
        ended = run_forked(script, environment=machine.environment, cwd=machine.work)
        return Finished(ended.exit_code, ended.stdout.decode(), ended.stderr.decode())
    done = subprocess.run(
        [script, *arguments], input=b"{}", capture_output=True, env=machine.environment, timeout=60, check=False
    )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


def entry(machine: Machine, *options: str) -> dict[str, Any]:
    (listed,) = (one for one in machine.ferrule("list", "--json", *options).document["tools"] if one["name"] == "alpha")
    return dict(listed)


@pytest.mark.slow
def test_a_tool_of_a_later_host_is_refused_wherever_it_is_asked_for(machine: Machine) -> None:
    machine.install("alpha", top="from ferrule import SomethingOfALaterFerrule")
    declare(machine, requires_ferrule=">=99", title="Alpha")
    said = f"alpha of dist-alpha 1.0 requires ferrule >=99, and this is ferrule {__version__}."
    called = run_executable(machine)
    assert called.code == 1
    assert called.document["error"].startswith(said)
    assert "ferrule install --upgrade 'ferrule>=99'" in called.document["error"]
    printed = run_executable(machine, "--schema")
    assert (printed.code, printed.document["success"]) == (1, False)
    assert said in printed.err
    assert said in machine.ferrule("link", "alpha").out
    assert not machine.tools.exists() or not list(machine.tools.iterdir())
    for options in ((), ("--check",)):
        listed = entry(machine, *options)
        assert (listed["state"], listed["error"]["message"]) == ("broken", said)
    for command in (("list",), ("show", "alpha"), ("doctor",), ("validate", "alpha")):
        assert said in machine.ferrule(*command).out


@pytest.mark.slow
@pytest.mark.parametrize("required", [">=0.1", "<1", "==0.1.*", "!=0.0.9"])
def test_a_tool_that_requires_this_host_is_run(machine: Machine, required: str) -> None:
    machine.install("alpha")
    declare(machine, requires_ferrule=required)
    assert run_executable(machine).document == {"got": {}}
    assert run_executable(machine, "--schema").document["name"] == "alpha"
    assert entry(machine, "--check")["state"] == "ok"


@pytest.mark.slow
def test_hooks_and_keys_of_a_later_host_are_warnings_of_a_tool_that_runs(machine: Machine) -> None:
    machine.install(
        "alpha", top="@hookimpl\ndef permisions():\n    return []\n\n@hookimpl\ndef validat():\n    return 5"
    )
    declare(machine, telemetry=[], titel="Alpha", title="Alpha")
    assert run_executable(machine).document == {"got": {}}
    listed = entry(machine, "--check")
    assert listed["state"] == "ok"
    kinds = [(one["id"], one["message"].split(" in ")[0].split(" is not")[0]) for one in listed["warnings"]]
    assert kinds == [
        ("unknown-key", "The key telemetry"),
        ("unknown-key", "The key titel"),
        ("unknown-hook", "The hook permisions"),
        ("unknown-hook", "The hook validat"),
    ]
    fixes = [one["fix"] for one in listed["warnings"]]
    assert fixes[1] == "Call it title, or update ferrule if it is of a later one."
    assert fixes[3] == "Call it validate, or update ferrule if it is of a later one."
    assert (
        "alpha  unknown-hook  The hook validat is not one that this ferrule knows"
        in machine.ferrule("list", "--check").out
    )
    assert "  warning unknown-hook: alpha\n    The hook validat is not one" in machine.ferrule("doctor").out
    assert "The hook validat is not one" in machine.ferrule("show", "alpha").out
    validated = machine.ferrule("validate", "alpha")
    assert (validated.code, validated.out.partition("\n")[0]) == (0, "alpha: ok, 4 warnings")
    assert "\n  warning unknown-hook\n    The hook validat is not one" in validated.out
    assert machine.ferrule("validate", "alpha", "--strict").code == 1
    silenced = machine.ferrule("validate", "alpha", "--strict", *("--silence", "unknown-hook"), "--silence=unknown-key")
    assert (silenced.out, silenced.err, silenced.code) == ("alpha: ok\n", "", 0)
    linked = machine.ferrule("link", "alpha")
    assert linked.code == 0, linked.err


@pytest.mark.slow
def test_a_wrapper_with_a_hook_of_a_later_host_surrounds_calls_and_is_warned_of(machine: Machine) -> None:
    machine.install("alpha")
    source = (
        "from ferrule import hookimpl\n\n@hookimpl(wrapper=True)\ndef execute():\n"
        "    return {**(yield), 'wrapped': True}\n\n@hookimpl\ndef later():\n    return 1\n"
    )
    (machine.site / "around.py").write_text(source)
    metadata = machine.site / "dist_around-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text("[ferrule.wrappers]\naround = around\n")
    machine.environment["FERRULE_WRAPPERS"] = "around"
    assert run_executable(machine).document == {"got": {}, "wrapped": True}
    said = "This ferrule does not know its hook later, and never calls it."
    assert f"dist-around 1.0  {said}\n" in machine.ferrule("list", "--check").out
    assert f"  warning unknown-hook: around\n    {said}\n" in machine.ferrule("doctor").out


def test_a_declaration_that_cannot_be_read_is_a_warning_and_stops_no_call(machine: Machine) -> None:
    machine.install("alpha")
    path = machine.site / "module_alpha.tool.json"
    path.write_text('{"requires_ferrule": ">=99", "title": 5}')
    assert run_executable(machine).document == {"got": {}}
    (warning,) = entry(machine)["warnings"]
    assert warning["id"] == "declaration-unreadable"
    assert warning["message"] == f"Its declaration cannot be read: title in {path} is no text of one printable line."
    assert "warning declaration-unreadable: alpha" in machine.ferrule("doctor").out


def test_what_is_declared_is_listed_without_an_import_and_shown(machine: Machine) -> None:
    machine.install("alpha", top="open('imported', 'w')")
    content = {"title": "The first letter", "read_only": True, "open_world": False, "examples": [{"city": "Oslo"}]}
    declare(machine, **content)
    listed = entry(machine)
    assert (listed["state"], listed["declaration"], listed["warnings"]) == ("unchecked", content, [])
    assert not (machine.work / "imported").exists()
    assert machine.ferrule("show", "alpha", "--json").document["declaration"] == content
    shown = machine.ferrule("show", "alpha").out
    assert "  Title         The first letter\n" in shown
    assert "  Hints         read-only, not open-world\n" in shown
    assert '  Example       {"city":"Oslo"}\n' in shown


@pytest.mark.slow
def test_a_module_that_is_missing_is_told_with_the_command_that_brings_it(machine: Machine) -> None:
    machine.install("alpha")
    declare(machine, extras=[EXTRA, {"module": "json.decoder", "install": "python"}])
    listed = machine.ferrule("list", "--check")
    assert listed.code == 0
    assert re.search(
        rf"nowhere_pdf\.reader +missing +dist-alpha 1\.0 +reads PDF files; {re.escape(INSTALL)}\n", listed.out
    )
    assert "json.decoder        found    dist-alpha 1.0\n" in listed.out
    assert f"nowhere_pdf.reader, missing: reads PDF files; {INSTALL}\n" in machine.ferrule("show", "alpha").out
    doctor = machine.ferrule("doctor")
    told = "It is not installed, and alpha can use it (reads PDF files)."
    assert doctor.code == 0
    assert f"  warning module-missing: nowhere_pdf.reader\n    {told}\n    {INSTALL}\n" in doctor.out
    (missing, found) = machine.ferrule("show", "alpha", "--json").document["extras"]
    assert (missing["state"], missing["install"], missing["tools"]) == ("missing", INSTALL, ["alpha"])
    assert found["state"] == "found"


@pytest.mark.parametrize(
    ("execute", "advice"),
    [
        ("import nowhere_pdf.reader", f"It needs the module nowhere_pdf.reader (reads PDF files): {INSTALL}"),
        ("raise ImportError('nowhere_pdf.reader: missing optional module')", INSTALL),
        (
            "try: import nowhere_pdf.reader\n    except ImportError: raise ToolError('NO_PDF', 'No.')",
            INSTALL,
        ),
        ("import subprocess; subprocess.run(['jot'])", "It needs the program nowhere-notes or jot: apt install notes"),
    ],
)
def test_an_error_of_a_call_says_how_to_get_what_is_missing(machine: Machine, execute: str, advice: str) -> None:
    machine.install("alpha", execute=execute)
    declare(machine, extras=[EXTRA], programs=[PROGRAM])
    answer = run_executable(machine).document
    assert answer["success"] is False
    assert answer["error"].endswith(advice)


@pytest.mark.parametrize(
    "execute", ["import nowhere_else", "open('/nowhere')", "raise ToolError('CODE', 'nowhere_pdf')"]
)
def test_an_error_of_another_kind_carries_no_such_advice(machine: Machine, execute: str) -> None:
    machine.install("alpha", execute=execute)
    declare(machine, extras=[EXTRA], programs=[PROGRAM])
    assert "It needs" not in run_executable(machine).document["error"]


def test_a_plugin_that_imports_what_is_missing_is_broken_with_the_command_that_brings_it(machine: Machine) -> None:
    machine.install("alpha", top="import nowhere_pdf.reader")
    declare(machine, extras=[EXTRA])
    assert entry(machine, "--check")["error"]["hint"].endswith(INSTALL)
    assert run_executable(machine).document["error"].endswith(INSTALL)
