"""What is installed and well, as a process of its own finds it out."""

import select
import sys
from collections.abc import Sequence

import pytest

from ferrule.errors import ToolFailed
from ferrule.installed import ALL, UNKNOWN, InventorySnapshot, Snapshot, ToolFacts
from ferrule.supervision import python_process
from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process


SECONDS = 60.0


@pytest.fixture
def many(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Tools of each kind, on this process's own path, so that an isolated interpreter gets them, too."""
    machine.install("alpha")
    machine.install("beta", top="import os; os._exit(7)", static=False)
    machine.install("gamma", top="raise ImportError('it cannot be')", static=False)
    machine.install("probe_one")
    machine.install("probe_two")
    monkeypatch.setattr(sys, "path", [*sys.path, str(machine.site)])
    return machine


def found(machine: Machine, *patterns: str, **environ: str) -> Snapshot:
    return InventorySnapshot(patterns, {**machine.environment, **environ}).document(SECONDS)


def names(tools: Sequence[ToolFacts]) -> list[str]:
    return [tool["name"] for tool in tools]


@pytest.mark.slow
@pytest.mark.parametrize("processors", [1, 2, 3, 16])
def test_each_tool_is_found_in_its_own_state_by_any_number_of_processes(
    processors: int, many: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many as there are processors, and the snapshot's own process sees another number of them."""
    code = f"import os; os.cpu_count = lambda: {processors}\n{python_process._CODE}"
    monkeypatch.setattr(python_process, "_CODE", code)
    tools = found(many, "alpha", "gamma", "probe_two", "beta", "probe_one")["tools"]
    assert names(tools) == ["alpha", "gamma", "probe_two", "beta", "probe_one"]
    assert [tool["state"] for tool in tools] == ["ok", "broken", "ok", "broken", "ok"]
    assert "it cannot be" in tools[1]["error"]["message"]
    assert [tool["tool"]["name"] for tool in tools] == names(tools)
    assert [tool["schema"]["name"] for tool in tools if tool["state"] == "ok"] == ["alpha", "probe_two", "probe_one"]


@pytest.mark.slow
def test_patterns_stand_for_what_fits_and_names_for_themselves(many: Machine) -> None:
    assert names(found(many, "probe_*")["tools"]) == ["probe_one", "probe_two"]
    assert names(found(many, "probe_two", "probe_*")["tools"]) == ["probe_two", "probe_one"]
    assert found(many, "nothing_*")["tools"] == []
    assert {"alpha", "beta", "gamma"} <= set(names(found(many, ALL)["tools"]))


def test_a_name_that_nothing_has_is_told_with_what_was_meant(many: Machine) -> None:
    unknown, alpha = found(many, "alhpa", "alpha")["tools"]
    assert (unknown["name"], unknown["state"]) == ("alhpa", UNKNOWN)
    assert unknown["error"]["hint"] == "Did you mean alpha?"
    assert alpha["state"] == "ok"


def test_only_what_is_asked_for_is_loaded(many: Machine) -> None:
    many.install("delta", top="raise RuntimeError('delta was loaded')")
    assert "delta was loaded" not in str(found(many, "alpha", "probe_*"))
    assert "delta was loaded" in str(found(many, "delta"))


def test_a_tool_comes_with_what_it_declares_which_is_watched(many: Machine) -> None:
    declaration = many.site / "module_alpha.tool.json"
    declaration.write_text('{"title": "Alpha", "read_only": true, "later": 1}')
    snapshot = found(many, "alpha", "probe_one")
    alpha, other = snapshot["tools"]
    assert alpha["declaration"] == {"title": "Alpha", "read_only": True}
    assert [warning["id"] for warning in alpha["warnings"]] == ["unknown-key"]
    assert (other["declaration"], other["warnings"]) == ({}, [])
    assert str(declaration) in snapshot["watched"]["files"]


def test_a_configuration_that_cannot_be_read_is_the_error(many: Machine) -> None:
    configuration = many.work / "config.toml"
    configuration.write_text("no toml")
    with pytest.raises(ToolFailed, match=r"config\.toml"):
        found(many, "alpha", FERRULE_CONFIG=str(configuration))


def test_what_is_asked_to_end_ends_with_the_plugin_that_it_loads(many: Machine) -> None:
    gate = many.gate()
    many.install("hangs", top=f"file = open({str(gate)!r})\nimport time\ntime.sleep(600)")
    begun = InventorySnapshot(["hangs", "alpha"], many.environment)
    with gate.open("w") as writer:
        begun.cancel()
        with pytest.raises(ToolFailed, match=r"has not answered|was ended"):
            begun.document(SECONDS)
        until_nobody_reads = select.poll()
        until_nobody_reads.register(writer, 0)
        assert until_nobody_reads.poll(SECONDS * 1000)


@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false"])
def test_an_interpreter_that_cannot_be_started_is_named(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(ToolFailed, match=program):
        InventorySnapshot(["alpha"]).document(SECONDS)
