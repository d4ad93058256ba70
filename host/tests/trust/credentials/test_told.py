"""Each variable, and each key of the credentials file, that a tool may be told is shown by the commands, and locked."""

import json
import shutil
from typing import Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.pool import Served

pytestmark = pytest.mark.process

LISTED = [
    {"name": "api_key", "environment": "RADIO_KEY", "path": "radio.api_key"},
    {"name": "token", "environment": "GITHUB_TOKEN", "path": "code.token"},
]
HOOK = f"""
import os
LISTED = {LISTED!r}
@hookimpl
def credentials():
    listed = LISTED if os.environ.get("FERRULE_TEST_MORE") else LISTED[:1]
    return [Credential(**one) for one in listed]
"""
TOLD = "is told the credentials RADIO_KEY or radio.api_key, GITHUB_TOKEN or code.token"
TOLD_UNTIL_ACCEPTED = "is told the credentials RADIO_KEY or radio.api_key, code.token"
ENVIRONMENT = {"RADIO_KEY": "sk-of-the-radio-4711", "GITHUB_TOKEN": "ghp-of-another-4712"}


@pytest.fixture
def declared(machine: Machine) -> Machine:
    machine.install("radio", properties={})
    (machine.site / "module_radio.tool.json").write_text(json.dumps({"credentials": LISTED}))
    return machine


@pytest.mark.slow
def test_permissions_show_and_link_tell_each(declared: Machine) -> None:
    for command in (["permissions", "radio"], ["link", "radio"], ["show", "radio"], ["permissions"]):
        finished = declared.ferrule(*command)
        assert TOLD_UNTIL_ACCEPTED in " ".join(finished.out.split()), command
    for command in (["permissions", "radio"], ["link", "radio"], ["show", "radio"]):
        finished = declared.ferrule(*command)
        said = " ".join((finished.out + finished.err).split())
        assert "GITHUB_TOKEN, which programs of a host of code go by" in said, command
        assert "ferrule credentials accept radio" in said, command
    (shown,) = declared.ferrule("permissions", "radio", "--json").document["tools"]
    assert shown["credentials"] == LISTED
    assert [one["key"] for one in shown["claims"]] == ["GITHUB_TOKEN"]
    assert declared.ferrule("show", "radio", "--json").document["permissions"]["credentials"] == LISTED
    assert declared.ferrule("link", "radio", "--json").document["tools"][0]["credentials"] == LISTED
    assert declared.ferrule("credentials", "accept", "radio").code == 0
    assert TOLD in " ".join(declared.ferrule("permissions", "radio").out.split())


@pytest.mark.slow
def test_what_a_hook_names_is_shown_once_it_has_been_asked(machine: Machine) -> None:
    machine.install("radio", properties={}, top=HOOK)
    (before,) = machine.ferrule("permissions", "radio", "--json").document["tools"]
    assert before["credentials"] is None
    assert "not known before it is loaded" in machine.ferrule("permissions", "radio").out
    assert "is told the credential RADIO_KEY or radio.api_key" in machine.ferrule("link", "radio").out
    (after,) = machine.ferrule("permissions", "radio", "--json").document["tools"]
    assert after["credentials"] == LISTED[:1]


@pytest.mark.slow
def test_the_lock_has_them_and_shows_one_more(declared: Machine) -> None:
    path = declared.home / ".config/ferrule/ferrule.lock"
    (declared.site / "module_radio.tool.json").write_text(json.dumps({"credentials": LISTED[:1]}))
    assert declared.ferrule("lock").code == 0
    locked = json.loads(path.read_text())["tools"]["radio"]["credentials"]
    assert locked == LISTED[:1]
    (declared.site / "module_radio.tool.json").write_text(json.dumps({"credentials": LISTED}))
    path.with_name("config.toml").write_text("locked = true\n")
    differs = declared.ferrule("lock", "--diff", "radio")
    assert differs.code == 1
    assert '"environment": "GITHUB_TOKEN"' in differs.out
    refused = declared.ferrule("run", "radio", "--json", stdin=b"{}").document
    assert refused["error_code"] == "PERMISSION_DENIED" or "differs" in refused["error"]


def call(machine: Machine, **more: str) -> Any:
    return machine.ferrule("run", "radio", "{}", "--json", environment={**ENVIRONMENT, **more}).document


@pytest.mark.slow
def test_a_locked_tool_whose_hook_names_one_more_is_not_told_it_even_where_all_records_are_gone(
    machine: Machine,
) -> None:
    both = HOOK.replace("GITHUB_TOKEN", "TUNER_KEY")
    machine.install("radio", properties={}, top=both, execute="return {'length': len(context.credential('token'))}")
    assert machine.ferrule("lock").code == 0
    (machine.home / ".config/ferrule/config.toml").write_text("locked = true\n")
    shutil.rmtree(machine.home / ".local/state/ferrule")
    more = {"FERRULE_TEST_MORE": "1", "TUNER_KEY": "sk-of-another-4713"}
    for _ in range(2):
        refused = call(machine, **more)
        assert "It wants token (TUNER_KEY, code.token) as well" in refused["error"]
        assert "The administrator decides about that." in refused["error"]
    served = Served(machine)
    served.environment.update(ENVIRONMENT, **more)
    assert all("It wants token" in one["error"] for one in served.calls("radio", 2))


@pytest.mark.slow
def test_a_hook_adds_nothing_to_what_tool_json_says_by_being_listed(machine: Machine) -> None:
    """The environment of a call has the variables that were given before."""
    execute = "return {'seen': os.environ.get('RADIO_KEY') is not None}"
    machine.install("radio", properties={}, top=HOOK, execute=execute)
    (machine.site / "module_radio.tool.json").write_text('{"credentials": []}')
    for command in (["list", "--check"], ["credentials"], ["link", "radio"], ["show", "radio"], ["doctor"]):
        machine.ferrule(*command, environment=ENVIRONMENT)
    for _ in range(2):
        done = call(machine)
        assert done.get("seen") is not True
        assert "RADIO_KEY" in done.get("error", "RADIO_KEY")
