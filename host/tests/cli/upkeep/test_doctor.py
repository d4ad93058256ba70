"""`ferrule doctor`: what is wrong, and how to fix it."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule.supervision.memory.group import find_parent
from ferrule_testkit.machine import Finished, Machine

pytestmark = pytest.mark.process


def findings(shown: Finished) -> dict[tuple[str, str], dict[str, Any]]:
    """What was found, by its id and its subject."""
    return {(one["id"], one["subject"]): one for one in shown.document["findings"]}


def of(shown: Finished, subject: object) -> list[str]:
    return sorted(one["id"] for one in shown.document["findings"] if one["subject"] == str(subject))


def link(machine: Machine, name: str, *options: str) -> str:
    assert machine.ferrule("link", name, *options).code == 0
    return str(machine.tools / f"{name}-tool")


@pytest.mark.slow
def test_where_all_is_well_that_is_said(machine: Machine) -> None:
    machine.install("alpha")
    link(machine, "alpha")
    shown = machine.ferrule("doctor")
    assert (shown.code, shown.out) == (0, "All is well.\n")
    assert machine.ferrule("doctor", "--json").document == {"healthy": True, "findings": []}


def test_tools_that_are_not_well_are_errors_with_their_reasons(machine: Machine) -> None:
    machine.install("broken", top="import nothing_of_that_name")
    machine.install("claimed", distribution="one")
    machine.install("claimed", distribution="two")
    machine.install("unsound", schema={"name": "unsound", "description": "", "parameters": {}})
    shown = machine.ferrule("doctor", "--json")
    assert shown.code == 1
    assert [of(shown, name) for name in ("broken", "claimed", "unsound")] == [
        ["tool-broken"],
        ["tool-clash"],
        ["tool-invalid"],
    ]
    assert "nothing_of_that_name" in findings(shown)["tool-broken", "broken"]["message"]


@pytest.mark.slow
def test_every_finding_says_how_to_fix_it(machine: Machine) -> None:
    machine.install("alpha")
    path = link(machine, "alpha")
    os.utime(path, (0, 0))
    shown = machine.ferrule("doctor")
    assert shown.code == 1
    assert f"  error link-stale: {path}\n" in shown.out
    assert f"    ferrule link alpha --to {machine.tools}\n" in shown.out
    assert shown.out.endswith("1 error.\n")
    assert machine.ferrule("link", "alpha").code == 0
    assert machine.ferrule("doctor").code == 0


@pytest.mark.slow
def test_a_link_whose_distribution_was_upgraded_is_stale(machine: Machine) -> None:
    machine.install("alpha")
    path = link(machine, "alpha", "--as", "alpha")
    (machine.site / "dist_alpha-1.0.dist-info").rename(machine.site / "dist_alpha-2.0.dist-info")
    found = findings(machine.ferrule("doctor", "--json"))["link-stale", path]
    assert "dist-alpha 1.0, and dist-alpha 2.0 is installed" in found["message"]


@pytest.mark.slow
def test_a_link_whose_tool_is_gone_disabled_or_failing_is_told(machine: Machine) -> None:
    for name in ("gone", "disabled", "failing", "claimed"):
        machine.install(name)
    paths = {name: link(machine, name) for name in ("gone", "disabled", "failing", "claimed")}
    shutil.rmtree(machine.site / "dist_gone-1.0.dist-info")
    machine.install("failing", top="import nothing_of_that_name")
    machine.install("claimed", distribution="another")
    shown = machine.ferrule("doctor", "--json", environment={"FERRULE_DISABLE": "disabled"})
    assert shown.code == 1
    assert {name: of(shown, path) for name, path in paths.items()} == {
        "gone": ["link-gone"],
        "disabled": ["link-disabled"],
        "failing": ["link-failing"],
        "claimed": ["link-failing"],
    }
    found = findings(shown)
    assert found["link-gone", paths["gone"]]["fix"] == f"ferrule unlink gone --from {machine.tools}"
    assert found["link-disabled", paths["disabled"]]["severity"] == "warning"


@pytest.mark.slow
def test_a_link_that_was_renamed_by_hand_is_told(machine: Machine) -> None:
    machine.install("alpha")
    path = link(machine, "alpha")
    os.rename(path, machine.tools / "beta-tool")
    assert "link-renamed" in of(machine.ferrule("doctor", "--json"), machine.tools / "beta-tool")


@pytest.mark.slow
def test_a_link_made_by_another_interpreter_is_no_fault(machine: Machine) -> None:
    machine.install("alpha")
    path = link(machine, "alpha")
    content = (machine.tools / "alpha-tool").read_text().splitlines(keepends=True)
    facts = json.loads(content[1].removeprefix("# ferrule link: "))
    content[1] = f"# ferrule link: {json.dumps({**facts, 'python': '/bin/sh', 'watched': []})}\n"
    (machine.tools / "alpha-tool").write_text("".join(content))
    shown = machine.ferrule("doctor", "--json")
    assert shown.code == 0
    assert findings(shown)["link-foreign", path]["severity"] == "note"


@pytest.mark.slow
def test_a_link_made_by_another_interpreter_that_is_gone_is_stale(machine: Machine) -> None:
    machine.install("alpha")
    path = link(machine, "alpha")
    file = machine.tools / "alpha-tool"
    file.write_text(file.read_text().replace('"python": "', '"python": "/gone'))
    found = findings(machine.ferrule("doctor", "--json"))["link-stale", path]
    assert "is gone" in found["message"]
    command = f"{sys.executable} -m ferrule"
    assert f"{command} link alpha --to {machine.tools}, or: {command} unlink alpha" in found["fix"]
    file.write_text(file.read_text().replace('"tool": "alpha"', '"tool": "beta"'))
    found = findings(machine.ferrule("doctor", "--json"))["link-stale", path]
    assert found["fix"] == f"ferrule unlink alpha --from {machine.tools}"


def test_what_the_client_cannot_start_is_told(machine: Machine) -> None:
    machine.tools.mkdir(parents=True)
    (machine.tools / "plain-tool").touch(0o644)
    (machine.tools / "dangling-tool").symlink_to("nowhere")
    (machine.tools / "notes.txt").touch(0o644)
    os.mkfifo(machine.tools / "pipe-tool", 0o755)
    shown = machine.ferrule("doctor", "--json")
    assert shown.code == 1
    assert of(shown, machine.tools / "plain-tool") == ["not-executable"]
    assert of(shown, machine.tools / "dangling-tool") == ["link-dangling"]
    assert of(shown, machine.tools / "notes.txt") == []
    fix = findings(shown)["not-executable", str(machine.tools / "plain-tool")]["fix"]
    assert fix == f"chmod +x {machine.tools / 'plain-tool'}"


@pytest.mark.slow
def test_links_in_a_folder_that_the_client_does_not_read_are_told(machine: Machine) -> None:
    machine.install("alpha")
    link(machine, "alpha", "--to", "tools")
    assert machine.ferrule("doctor").out == "All is well.\n"
    shown = machine.ferrule("doctor", "--folder", "tools", "--json")
    assert shown.code == 0
    assert of(shown, machine.work / "tools") == ["folder-not-read"]
    os.utime(machine.work / "tools" / "alpha-tool", (0, 0))
    assert machine.ferrule("doctor", "--folder", "tools").code == 1


@pytest.mark.slow
def test_a_link_that_a_later_folder_overrides_is_told(machine: Machine) -> None:
    machine.install("alpha")
    path = link(machine, "alpha")
    link(machine, "alpha", "--to", ".ikigai/tools")
    found = findings(machine.ferrule("doctor", "--json"))["link-overridden", path]
    assert str(machine.work / ".ikigai" / "tools" / "alpha-tool") in found["message"]


def test_a_malformed_configuration_is_told_and_the_rest_is_examined_all_the_same(machine: Machine) -> None:
    machine.install("broken", top="import nothing_of_that_name")
    path = machine.home / ".config" / "ferrule" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[tools\n")
    shown = machine.ferrule("doctor", "--json")
    assert shown.code == 1
    assert of(shown, path) == ["configuration-malformed"]
    assert of(shown, "broken") == ["tool-broken"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("tools = 5", "configuration-malformed", id="no-table"),
        pytest.param("[tool.web_fetch]\nenabled = false", "configuration-malformed", id="tool-for-tools"),
        pytest.param("[tools.alhpa]\nenabled = false", "configuration-unused", id="misspelt-tool"),
    ],
)
def test_a_configuration_that_does_nothing_is_told(machine: Machine, text: str, found: str) -> None:
    path = machine.home / ".config" / "ferrule" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert of(machine.ferrule("doctor", "--json"), path) == [found]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "mode", "found"),
    [
        ("{}", 0o644, ["credentials-readable"]),
        ("{}", 0o666, ["credentials-unusable"]),
        ("{", 0o600, ["credentials-unusable"]),
        ("{}", 0o600, []),
    ],
)
def test_a_credentials_file_that_is_not_safe_is_told(machine: Machine, text: str, mode: int, found: list[str]) -> None:
    machine.credentials.parent.mkdir(parents=True)
    machine.credentials.write_text(text)
    machine.credentials.chmod(mode)
    assert of(machine.ferrule("doctor", "--json"), machine.credentials) == found


@pytest.mark.slow
def test_credentials_that_are_missing_or_no_keys_are_told(machine: Machine) -> None:
    hook = "@hookimpl\ndef credentials():\n    return [Credential('key', environment='ALPHA_KEY', path='alpha.key')]"
    machine.install("alpha", top=hook)
    missing = machine.ferrule("doctor", "--json")
    assert missing.code == 0
    assert findings(missing)["credential-missing", "alpha"]["fix"] == "ferrule credentials set alpha key"
    unusable = machine.ferrule("doctor", "--json", environment={"ALPHA_KEY": "two words"})
    assert unusable.code == 1
    assert "two words" not in unusable.out


@pytest.mark.slow
def test_console_scripts_outside_of_path_are_a_note(machine: Machine) -> None:
    shown = machine.ferrule("doctor", "--json")
    machine.environment["PATH"] = "/usr/bin:/bin"
    outside = machine.ferrule("doctor", "--json")
    assert outside.code == shown.code
    assert {one["severity"] for one in outside.document["findings"]} <= {"note"}


@pytest.mark.slow
@pytest.mark.parametrize("text", ['enabled = "false"', "disabled = true", "memory = -1"])
def test_a_setting_that_is_malformed_is_told_with_what_it_does(machine: Machine, text: str) -> None:
    machine.install("alpha")
    path = machine.home / ".config" / "ferrule" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(f"[tools.alpha]\n{text}\n")
    found = findings(machine.ferrule("doctor", "--json"))["configuration-malformed", str(path)]
    assert found["severity"] == "error"
    assert ("alpha is off" in found["message"]) == ("memory" not in text)


@pytest.mark.slow
def test_a_state_folder_that_others_may_write_to_is_told(machine: Machine) -> None:
    machine.install("alpha")
    link(machine, "alpha")
    folder = machine.home / ".local" / "state" / "ferrule"
    assert of(machine.ferrule("doctor", "--json"), folder) == []
    folder.chmod(0o777)
    shown = machine.ferrule("doctor", "--json")
    assert of(shown, folder) == ["state-folder-unsafe"]
    assert findings(shown)["state-folder-unsafe", str(folder)]["fix"] == f"chmod go-w {folder}"


@pytest.mark.slow
def test_a_tool_without_what_it_needs_is_told_until_that_is_set(machine: Machine) -> None:
    machine.install("alpha")
    declared = {"settings": [{"variable": "ALPHA_URL", "setting": "url", "purpose": "the URL of your server"}]}
    (machine.site / "module_alpha.tool.json").write_text(json.dumps(declared))
    machine.install("whole", permissions={"tools": ["alpha*"]})
    shown = machine.ferrule("doctor", "--json")
    found = findings(shown)
    missing = found["setting-missing", "alpha"]
    assert missing["message"] == "It needs the URL of your server, which is not set."
    assert missing["fix"] == "Set ALPHA_URL, or url in [tools.alpha] of config.toml."
    assert "alpha (the URL of your server)" in found["tools-missing", "whole"]["message"]
    shown = machine.ferrule("doctor", "--json", environment={"ALPHA_URL": "http://127.0.0.1:1"})
    assert {one for one, _ in findings(shown)}.isdisjoint({"setting-missing", "tools-missing"})
    machine.install("whole", permissions={"tools": ["absent_*"]})
    assert (
        "none of them is installed"
        in findings(machine.ferrule("doctor", "--json"))["tools-missing", "whole"]["message"]
    )


@pytest.mark.slow
def test_a_redis_that_cannot_be_used_is_told_by_the_place_that_names_it(machine: Machine) -> None:
    config = machine.home / ".config" / "ferrule" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[wrappers.cache]\nenabled = true\nredis = "redis://ada:password-of-ada@127.0.0.1"\n')
    assert of(machine.ferrule("doctor", "--json"), "[wrappers.cache] redis") == []
    (machine.site / "hiredis.py").write_text("raise ImportError")  # in a program of its own, which has not imported it
    shown = machine.ferrule("doctor", "--json", environment={"FERRULE_REDIS": "http://127.0.0.1"}, umask=0o22)
    assert of(shown, "FERRULE_REDIS") == ["redis-unusable"]
    found = findings(shown)["redis-unusable", "[wrappers.cache] redis"]
    assert "hiredis is not installed" in found["message"]
    assert "ferrule[redis]" in found["fix"]
    assert "password-of-ada" not in shown.out


def test_it_says_what_bounds_the_memory_of_programs_here(machine: Machine) -> None:
    machine.install("alpha", permissions={"programs": ["cat"]})
    machine.install("beta")
    shown = machine.ferrule("doctor", "--json")
    told = findings(shown)["programs-memory", "alpha"]
    held, watched = "The kernel holds what its programs have in memory", "is looked at every 50 ms, and not held"
    assert (held if find_parent() else watched) in told["message"]
    assert of(shown, "beta") == []


@pytest.mark.slow
def test_a_link_whose_launcher_was_uninstalled_is_stale(machine: Machine) -> None:
    machine.install("alpha")
    path = Path(link(machine, "alpha"))
    text, times = path.read_bytes(), path.stat()
    path.write_bytes(b"#!/gone/ferrule-launcher\n" + text.partition(b"\n")[2])
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    found = findings(machine.ferrule("doctor", "--json"))["link-stale", str(path)]
    assert "the program /gone/ferrule-launcher that starts it is gone" in found["message"]
    assert found["fix"] == f"ferrule link alpha --to {machine.tools}"
    assert machine.ferrule("link", "alpha").code == 0
    assert machine.ferrule("doctor").code == 0
