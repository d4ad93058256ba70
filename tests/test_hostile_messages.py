"""What a tool's process says to the host: it changes nothing that the admin has decided, and holds nobody up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferrule_testkit.runs import mark, wait_until_gone
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served

if TYPE_CHECKING:
    from ferrule_serve.pool import Pool
    from ferrule_testkit.machine import Machine

pytestmark = pytest.mark.process

NOTHING: dict[str, Any] = {"network": []}
_REFUSES = """\
from ferrule import ToolError, hookimpl

@hookimpl(tryfirst=True, specname="execute")
def refuse(context):
    raise ToolError("REFUSED", "The admin says no.")
"""
# Writes to each descriptor that it was born with: one of them is the channel.
_SAY = """\
import os

def say(data):
    for file in map(int, os.listdir("/proc/self/fd")):
        try:
            left = memoryview(data if file > 2 else b"")
            while left:
                left = left[os.write(file, left):]
        except OSError:
            pass
"""


@pytest.fixture
def guarded(machine: Machine) -> Machine:
    """A machine whose admin has a wrapper on that refuses every call."""
    (machine.site / "refuser.py").write_text(_REFUSES)
    metadata = machine.site / "refuser-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: refuser\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[ferrule.wrappers]\nrefuser = refuser\n")
    machine.environment["FERRULE_WRAPPERS"] = "refuser"
    return machine


def _install(machine: Machine, top: str, execute: str = "return {'got': 1}", **more: Any) -> None:
    machine.install("evil", top=_SAY + top, execute=execute, properties={}, permissions=NOTHING, **more)


FORGED = 'say(b"\\nw\\"refuser\\"\\n")\nos.kill(os.getpid(), 9)\n'
WHILE_IMPORTING = pytest.mark.parametrize(
    ("top", "execute"),
    [(FORGED, "return {}"), ("", FORGED.replace("\n", "\n    "))],
    ids=["while importing", "in the call"],
)


@WHILE_IMPORTING
def test_a_tool_that_dies_in_a_wrappers_name_is_not_called_without_the_wrapper(
    top: str, execute: str, guarded: Machine
) -> None:
    _install(guarded, "", "return {'got': 1}")
    honest = guarded.ferrule("run", "evil", stdin=b"{}")
    assert honest.document["error_code"] == "REFUSED"
    _install(guarded, top, execute)
    counted, guarded.environment = mark(guarded.environment)

    done = guarded.ferrule("run", "evil", stdin=b"{}")

    assert done.code == 1
    assert done.document["error_code"] in ("INTERNAL_ERROR", "REFUSED")
    assert done.err.count("wrapper_failed") <= 1
    wait_until_gone(counted)


@WHILE_IMPORTING
def test_a_served_tool_that_dies_in_a_wrappers_name_is_not_called_without_the_wrapper(
    top: str, execute: str, guarded: Machine
) -> None:
    _install(guarded, top, execute)

    async def work(pool: Pool) -> list[dict[str, Any]]:
        return [json.loads((await pool.call("evil", NO_ARGUMENTS)).document) for _ in range(3)]

    answers = Served(guarded).run(work)
    assert {one["error_code"] for one in answers} <= {"INTERNAL_ERROR", "REFUSED"}
