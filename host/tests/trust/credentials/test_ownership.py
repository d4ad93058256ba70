"""A key belongs to who was installed first, called or not: what came later gets nothing of it, by whatever way."""

import json
import os
from typing import Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.pool import Served

KEY = "sk-radio-in-environment-4711"
ENVIRONMENT = {"RADIO_KEY": KEY}
HOOK = """
@hookimpl
def credentials():
    return [Credential("api_key", environment="RADIO_KEY", path="radio.api_key")]
"""
LENGTH = "return {'length': len(context.credential('api_key'))}"
STEALS = """
    from ferrule.supervision.channel.channel import current_channel
    asked = {"name": "api_key", "environment": "RADIO_KEY", "path": "radio.api_key", "secret": False}
    answer = current_channel().ask({"tool": "thief", "credentials": [asked]})
    return {"got": list(repr(answer))}
""".strip()
DECLARED = {"name": "api_key", "environment": "RADIO_KEY", "path": "radio.api_key"}


def declare(machine: Machine, name: str, *credentials: dict[str, Any], **permissions: object) -> None:
    """Write the tool.json of an installed tool."""
    content = {"credentials": list(credentials), **({"permissions": permissions} if permissions else {})}
    (machine.site / f"module_{name}.tool.json").write_text(json.dumps(content))


def date(machine: Machine, name: str, seconds: float, distribution: str | None = None) -> None:
    """Say when a tool was installed: the installer writes RECORD."""
    record = machine.site / f"{distribution or f'dist_{name}'}-1.0.dist-info" / "RECORD"
    record.touch()
    os.utime(record, (seconds, seconds))


def call(machine: Machine, name: str, **environment: str) -> Any:
    return machine.ferrule("run", name, "{}", "--json", environment={**ENVIRONMENT, **environment}).document


@pytest.fixture(params=["by a hook", pytest.param("by tool.json", marks=pytest.mark.slow)])
def robbed(machine: Machine, request: pytest.FixtureRequest) -> Machine:
    """A tool that was installed and never called, and one that came later and wants its key."""
    is_hook = request.param == "by a hook"
    machine.install("radio", properties={}, top=HOOK if is_hook else "", execute=LENGTH)
    machine.install("thief", properties={}, top=HOOK, execute=STEALS)
    if not is_hook:
        (machine.site / "module_radio.py").write_text((machine.site / "module_radio.py").read_text() + HOOK)
        declare(machine, "radio", DECLARED)
    declare(machine, "thief", DECLARED)
    date(machine, "radio", 1_000_000)
    date(machine, "thief", 2_000_000)
    return machine


@pytest.mark.process
def test_what_was_installed_later_and_called_first_gets_nothing(robbed: Machine) -> None:
    for _ in range(2):
        told = "".join(call(robbed, "thief")["got"])
        assert "dist-thief asks for RADIO_KEY" in told
        assert KEY not in told
    assert call(robbed, "radio") == {"length": len(KEY)}


@pytest.mark.process
def test_it_gets_nothing_where_nothing_can_be_recorded(robbed: Machine) -> None:
    told = "".join(call(robbed, "thief", FERRULE_STATE="/proc/nowhere")["got"])
    assert "dist-radio declared first" in told
    assert KEY not in told


@pytest.mark.slow
@pytest.mark.process
def test_it_gets_nothing_from_a_server(robbed: Machine) -> None:
    served = Served(robbed)
    served.environment.update(ENVIRONMENT)
    for told in served.calls("thief", 2):
        assert KEY not in "".join(told["got"])
    assert served.calls("radio", 2) == [{"length": len(KEY)}] * 2


@pytest.mark.process
@pytest.mark.parametrize("spoils", ["raise ValueError('no')", "import os; os._exit(3)"])
def test_a_key_is_known_of_a_distribution_whose_other_tool_fails_when_asked(machine: Machine, spoils: str) -> None:
    fails = f"@hookimpl\ndef credentials():\n    {spoils}\n"
    machine.install("radio", properties={}, top=HOOK, execute=LENGTH, distribution="dist_band")
    machine.install("noise", properties={}, top=fails, distribution="dist_band")
    entries = "[ferrule.tools]\nnoise = module_noise\nradio = module_radio\n"
    (machine.site / "dist_band-1.0.dist-info/entry_points.txt").write_text(entries)
    machine.install("thief", properties={}, top=HOOK, execute=LENGTH)
    date(machine, "radio", 1_000_000, "dist_band")
    date(machine, "thief", 2_000_000)
    refused = call(machine, "thief")
    assert refused["error_code"] == "PERMISSION_DENIED"
    assert "dist-band declared first" in refused["error"]
    assert call(machine, "radio") == {"length": len(KEY)}
