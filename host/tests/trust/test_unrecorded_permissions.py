"""Where nothing can be recorded, no update can be held: each place says so, and an admin may refuse such calls."""

from pathlib import Path

import pytest

from ferrule_testkit.machine import Finished, Machine

pytestmark = pytest.mark.process

SAYS = "cannot be recorded in"


@pytest.fixture(params=["no folder can be made", pytest.param("a file is in its place", marks=pytest.mark.slow)])
def unrecorded(machine: Machine, request: pytest.FixtureRequest) -> Machine:
    machine.install("radio", properties={})
    state = Path("/proc/nowhere") if request.param.startswith("no") else machine.home / "state"
    if request.param.startswith("a file"):
        state.write_text("")
    machine.environment["FERRULE_STATE"] = str(state)
    return machine


def call(machine: Machine) -> Finished:
    return machine.ferrule("run", "radio", "{}", "--json")


@pytest.mark.slow
def test_the_call_permissions_and_doctor_say_that_an_update_is_not_held(unrecorded: Machine) -> None:
    done = call(unrecorded)
    assert done.document == {"got": {}}
    assert SAYS in done.err
    assert SAYS in " ".join(unrecorded.ferrule("permissions", "radio").out.split())
    assert SAYS in " ".join(unrecorded.ferrule("permissions").out.split())
    (shown,) = unrecorded.ferrule("permissions", "radio", "--json").document["tools"]
    assert SAYS in shown["unrecorded"]
    findings = unrecorded.ferrule("doctor", "--json").document["findings"]
    assert "permissions-unrecorded" in {one["id"] for one in findings}


def test_an_admin_may_refuse_such_calls(unrecorded: Machine) -> None:
    config = unrecorded.home / ".config/ferrule/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[permissions]\nunenforced = "refuse"\n')
    refused = call(unrecorded).document
    assert refused["error_code"] == "PERMISSION_DENIED"
    assert SAYS in refused["error"]


def test_a_locked_tool_needs_no_record(unrecorded: Machine) -> None:
    assert unrecorded.ferrule("lock").code == 0
    config = unrecorded.home / ".config/ferrule/config.toml"
    config.write_text('locked = true\n[permissions]\nunenforced = "refuse"\n')
    done = call(unrecorded)
    assert done.document == {"got": {}}
    assert done.err == ""
    assert unrecorded.ferrule("permissions", "radio", "--json").document["tools"][0]["unrecorded"] is None


def test_where_it_can_be_recorded_nothing_is_said(machine: Machine) -> None:
    machine.install("radio", properties={})
    assert machine.ferrule("permissions", "radio", "--json").document["tools"][0]["unrecorded"] is None
    assert call(machine).err == ""
