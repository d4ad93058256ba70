"""A version that wants to be told more than the accepted one is held, and is told nothing more, by whatever way."""

import json
import subprocess
from typing import Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.pool import Served

pytestmark = pytest.mark.process

OLD, NEW = "sk-that-it-had-before-4711", "sk-that-it-wants-now-4712"
ENVIRONMENT = {"RADIO_KEY": OLD, "TUNER_KEY": NEW}
HOOK = """
@hookimpl
def credentials():
    return [Credential(name, environment=environment, path=path) for name, environment, path in {listed!r}]
"""
FIRST = [("api_key", "RADIO_KEY", "radio.api_key")]
SECOND = [*FIRST, ("more", "TUNER_KEY", "tuner.api_key")]
EXECUTE = """
    import os
    from ferrule.supervision.channel.channel import current_channel
    asked = {"name": "more", "environment": "TUNER_KEY", "path": "tuner.api_key", "secret": False}
    answer = current_channel().ask({"tool": "radio", "credentials": [asked]})
    return {"got": list(repr(answer)), "in": os.environ.get("TUNER_KEY") is not None}
""".strip()


class Updated:
    """A tool of which a first version was accepted, and how it says what it needs."""

    def __init__(self, machine: Machine, way: str) -> None:
        self.machine = machine
        self._way = way
        self.environment = {**machine.environment, **ENVIRONMENT}
        self.install(FIRST, "1.0")

    def install(self, listed: list[tuple[str, str, str]], version: str) -> None:
        for other in self.machine.site.glob("dist_radio-*"):
            other.rename(self.machine.site / "dist_radio-1.0.dist-info")
        self.machine.install("radio", properties={}, top=HOOK.format(listed=listed), execute=EXECUTE)
        if self._way == "by tool.json":
            names = "name", "environment", "path"
            content = {"credentials": [dict(zip(names, one, strict=True)) for one in listed]}
            (self.machine.site / "module_radio.tool.json").write_text(json.dumps(content))
        metadata = self.machine.site / "dist_radio-1.0.dist-info"
        metadata.rename(metadata.with_name(f"dist_radio-{version}.dist-info"))

    def call(self) -> Any:
        return self.machine.ferrule("run", "radio", "{}", "--json", environment=ENVIRONMENT).document

    def schema(self) -> subprocess.CompletedProcess[bytes]:
        command = [self.machine.tools / "radio-tool", "--schema"]
        return subprocess.run(command, env=self.environment, capture_output=True, timeout=60, check=False)


@pytest.fixture(params=["by a hook", pytest.param("by tool.json", marks=pytest.mark.slow)])
def updated(machine: Machine, request: pytest.FixtureRequest) -> Updated:
    return Updated(machine, request.param)


def assert_held(document: Any) -> None:
    assert document["error_code"] == "PERMISSION_DENIED"
    assert "is told TUNER_KEY and tuner.api_key" in document["error"]
    assert NEW not in json.dumps(document)


def test_a_version_that_wants_one_more_is_held_from_its_first_call_until_it_is_accepted(updated: Updated) -> None:
    assert "PERMISSION_DENIED" in "".join(updated.call()["got"])  # it has not declared it
    updated.install(SECOND, "2.0")
    for _ in range(2):
        assert_held(updated.call())
    shown = updated.machine.ferrule("permissions", "radio", "--json")
    assert shown.code == 1
    assert [one["state"] for one in shown.document["tools"]] == ["held"]
    assert updated.machine.ferrule("permissions", "accept", "radio").code == 0
    assert "PERMISSION_DENIED" not in "".join(updated.call()["got"])


@pytest.mark.slow
def test_its_schema_is_not_printed_and_it_is_not_linked(updated: Updated) -> None:
    assert updated.machine.ferrule("link", "radio").code == 0
    updated.install(SECOND, "2.0")
    schema = updated.schema()
    assert schema.returncode == 1
    assert b"is told TUNER_KEY" in schema.stdout
    linked = updated.machine.ferrule("link", "radio")
    assert linked.code == 1
    assert "is told TUNER_KEY" in linked.out
    assert updated.machine.ferrule("permissions", "accept", "radio").code == 0
    assert updated.machine.ferrule("link", "radio").code == 0
    assert updated.schema().returncode == 0


def test_it_is_refused_as_link_finds_it_and_no_key_is_shown_to_its_hook(updated: Updated) -> None:
    updated.call()
    updated.install(SECOND, "2.0")
    listed = updated.machine.ferrule("list", "--check", "--json", environment=ENVIRONMENT).document
    assert {one["name"]: one["state"] for one in listed["tools"]}["radio"] == "held"
    assert_held(updated.call())


def test_a_server_holds_it_as_well(updated: Updated) -> None:
    """It does not wait for a hook, so that the first call of all may run, and is told nothing more."""
    updated.call()
    updated.install(SECOND, "2.0")
    served = Served(updated.machine)
    served.environment.update(ENVIRONMENT)
    for document in served.calls("radio", 2):
        assert NEW not in "".join(document.get("got", ()))
    for document in served.calls("radio", 2):
        assert_held(document)


@pytest.mark.slow
def test_a_version_that_wants_no_more_goes_on(updated: Updated) -> None:
    updated.call()
    updated.install(FIRST, "2.0")
    assert "got" in updated.call()
    updated.install([], "3.0")
    assert "got" in updated.call()
    updated.install(FIRST, "4.0")
    assert "got" in updated.call()


def test_an_answer_of_the_same_code_that_names_more_than_the_recorded_one_gives_nothing_more(machine: Machine) -> None:
    """Its hook goes by a file, which it may write: the host asked it before that was there."""
    flag = machine.work / "flag"
    top = HOOK.format(listed=FIRST).replace("return [", "import os\n    return [")
    top = top.replace(f"in {FIRST!r}]", f"in ({SECOND!r} if os.path.exists({str(flag)!r}) else {FIRST!r})]")
    machine.install("radio", properties={}, top=top, execute=EXECUTE, permissions={"read": [str(machine.work)]})
    served = Served(machine)
    served.environment.update(ENVIRONMENT)
    assert all("PERMISSION_DENIED" in "".join(one["got"]) for one in served.calls("radio", 1))
    flag.write_text("")
    for document in served.calls("radio", 2):
        told = "".join(document["got"])
        assert "PERMISSION_DENIED" in told
        assert NEW not in told
