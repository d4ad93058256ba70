"""`ferrule list`."""

from typing import Any

import pytest

from ferrule_testkit.machine import Finished, Machine

pytestmark = pytest.mark.process


def tools(listed: Finished) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in listed.document["tools"]}


def row(listed: Finished, name: str) -> str:
    return next(line for line in listed.out.splitlines() if line.startswith(name))


def test_tools_are_listed_in_order_with_state_distribution_and_first_sentence(machine: Machine) -> None:
    machine.install("zeta")
    machine.install("alpha", description="Greets a city. At length.")
    listed = machine.ferrule("list")
    assert listed.code == 0
    assert row(listed, "alpha").split(maxsplit=4) == ["alpha", "unchecked", "dist-alpha", "1.0", "Greets a city."]
    names = [line.split()[0] for line in listed.out.splitlines()[1:]]
    assert names == sorted(names)


def test_no_plugin_is_imported_unless_it_is_asked_for(machine: Machine) -> None:
    machine.install("alpha", top="raise RuntimeError('it was imported')", static=False)
    listed = machine.ferrule("list", "--json")
    assert tools(listed)["alpha"]["state"] == "unchecked"
    assert "it was imported" not in listed.out + listed.err
    assert "it was imported" in tools(machine.ferrule("list", "--check", "--json"))["alpha"]["error"]["message"]


@pytest.mark.slow
def test_check_says_of_each_what_is_wrong_and_the_others_are_well(machine: Machine) -> None:
    machine.install("alpha")
    machine.install("crashing", top="import os\nos._exit(3)")
    machine.install("missing", top="import nothing_of_that_name")
    machine.install("misnamed", schema={"name": "other", "description": "", "parameters": {}}, static=False)
    machine.install("claimed", distribution="one")
    machine.install("claimed", distribution="two")
    listed = machine.ferrule("list", "--check", "--json")
    assert listed.code == 1
    found = tools(listed)
    states = {name: found[name]["state"] for name in ("alpha", "crashing", "missing", "misnamed", "claimed")}
    assert states == {
        "alpha": "ok",
        "crashing": "broken",
        "missing": "broken",
        "misnamed": "invalid",
        "claimed": "clash",
    }
    assert "ModuleNotFoundError: No module named 'nothing_of_that_name'" in found["missing"]["error"]["message"]
    assert found["missing"]["error"]["details"]["distribution"] == "dist-missing"
    assert [one["name"] for one in found["claimed"]["distributions"]] == ["one", "two"]
    assert {finding["id"] for finding in found["misnamed"]["findings"]} >= {"name-mismatch", "parameters-structure"}
    assert "Traceback" not in listed.err


def test_without_check_what_is_wrong_is_shown_and_is_no_failure(machine: Machine) -> None:
    machine.install("claimed", distribution="one")
    machine.install("claimed", distribution="two")
    machine.install("unsound", schema={"name": "unsound", "description": "", "parameters": {}})
    listed = machine.ferrule("list")
    assert listed.code == 0
    assert "claimed by one 1.0 and by two 1.0" in row(listed, "claimed")
    assert row(listed, "unsound").split()[1] == "invalid"


def test_a_disabled_tool_is_no_fault(machine: Machine) -> None:
    machine.install("crashing", top="import os\nos._exit(3)")
    listed = machine.ferrule("list", "--check", environment={"FERRULE_DISABLE": "crashing"})
    assert listed.code == 0
    assert row(listed, "crashing").split()[1] == "disabled"
    assert "FERRULE_DISABLE" in row(listed, "crashing")


@pytest.mark.slow
def test_a_plugin_that_hangs_is_broken_and_says_what_to_do(machine: Machine) -> None:
    machine.install("hanging", top="import time\ntime.sleep(1000)")
    found = tools(machine.ferrule("list", "--check", "--json"))["hanging"]
    assert found["state"] == "broken"
    assert "after 5 s" in found["error"]["message"]
    assert "execute" in found["error"]["hint"]


def test_a_plugin_that_answers_for_the_host_is_broken(machine: Machine) -> None:
    forge = (
        "import os\n"
        "for file in os.listdir('/proc/self/fd'):\n"
        "    try: os.write(int(file), b'\\nr[1]\\n')\n"
        "    except OSError: pass\n"
        "os._exit(0)"
    )
    machine.install("forging", top=forge)
    assert tools(machine.ferrule("list", "--check", "--json"))["forging"]["state"] == "broken"


def test_a_credential_in_an_error_is_kept_out(machine: Machine) -> None:
    top = (
        "import os\n@hookimpl\ndef credentials():\n"
        "    return [Credential('key', environment='ALPHA_KEY', path='alpha.key')]\n"
    )
    machine.install("alpha", static=False, top=top, execute="pass")
    module = machine.site / "module_alpha.py"
    module.write_text(
        module.read_text().replace("    return {'name'", "    raise OSError(os.environ['ALPHA_KEY'])\n    {'name'")
    )
    listed = machine.ferrule("list", "--check", "--json", environment={"ALPHA_KEY": "top-secret-value"})
    assert tools(listed)["alpha"]["state"] == "broken"
    assert "top-secret-value" not in listed.out + listed.err


@pytest.mark.slow
def test_progress_is_shown_on_a_terminal_that_waits(machine: Machine) -> None:
    machine.install("aaa_slow", top="import time\ntime.sleep(1.5)")
    machine.install("zeta")
    assert " tools\r" in machine.on_terminal("list", "--check").out.replace("\x1b[K", "").replace("\n", "\r") + "\r"


def test_a_long_description_is_wrapped_on_a_terminal_and_nowhere_else(machine: Machine) -> None:
    machine.install("alpha", description="word " * 100)
    assert len(row(machine.ferrule("list"), "alpha")) > 400
    assert machine.on_terminal("list").out.count("word") == 100


def test_whoever_debugs_a_plugin_sees_its_traceback(machine: Machine) -> None:
    machine.install("alpha", top="import nothing_of_that_name")
    shown = machine.ferrule("list", "--check", environment={"FERRULE_DEBUG": "1"})
    assert "Traceback" in shown.err
    assert "module_alpha.py" in shown.err


def test_plugins_that_end_their_parent_while_they_are_loaded_are_broken_and_the_others_are_listed(
    machine: Machine,
) -> None:
    ending = {f"ends_by_{signal.lower()}": signal for signal in ("SIGTERM", "SIGINT", "SIGHUP", "SIGKILL")}
    machine.install("alpha")
    for name, signal in ending.items():
        machine.install(name, top=f"import os, signal, time\nos.kill(os.getppid(), signal.{signal})\ntime.sleep(60)")
    shown = machine.ferrule("list", "--check", "--json")
    assert shown.code == 1
    tools = {one["name"]: one for one in shown.document["tools"]}
    assert tools["alpha"]["state"] == "ok"
    for name in ending:
        assert tools[name]["state"] == "broken", name
        assert "wanted to send a signal to another process" in tools[name]["error"]["message"], name


def test_an_entry_point_that_names_no_module_is_told_as_that(machine: Machine) -> None:
    machine.install("alpha")
    (machine.site / "dist_alpha-1.0.dist-info" / "entry_points.txt").write_text("[ferrule.tools]\nalpha =\n")
    shown = machine.ferrule("list", "--check", "--json")
    (tool,) = [one for one in shown.document["tools"] if one["name"] == "alpha"]
    assert tool["error"]["hint"].startswith("Its entry point names no module; correct it, or update or uninstall dist-")
