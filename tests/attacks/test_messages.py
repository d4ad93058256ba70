"""What a tool's process says to the host: it changes nothing that the admin has decided, and holds nobody up."""

from __future__ import annotations

import asyncio
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


FLOODS = {
    "secrets": """b"".join(b's"%08x-secret"\\n' % i for i in range(60000))""",
    "a large secret": """b's"' + b"x" * 60000 + b'"\\n'""",
    "events": """b'e{"a":1}\\n' * 20000""",
    "lines that are no message": """b"\\n" * 200000""",
    "more than the client reads": """b"r{" + b" " * 200000 + b"}\\n" """,
    "lists of what was denied": """b'd[["open","/etc/x"]]\\n' * 100""",
    "questions": """b'q{"a":1}\\n' * 10000""",
    "names of wrappers": """b'w"x"\\n' * 20000""",
    "preliminary results": """b"kr{}\\n" * 100""",
    "listeners": """b"l3\\n" * 10""",
    "lists of imported modules": """b'm["os"]\\n' * 10""",
    "words on its further use": """b"utrue\\n" * 10""",
}


@pytest.mark.parametrize("what", FLOODS)
def test_a_process_that_says_too_much_is_ended_with_an_error_that_names_it(what: str, machine: Machine) -> None:
    _install(machine, "", f'say(b"\\n" + {FLOODS[what]})\n    return {{"text": "x" * 60000}}')

    done = machine.ferrule("run", "evil", stdin=b"{}")

    assert done.code == 1
    assert what.removeprefix("a large ") in done.document["error"]
    assert done.document["error_code"] == "INTERNAL_ERROR"


@pytest.mark.slow
def test_a_server_goes_on_while_one_process_says_too_much(machine: Machine) -> None:
    """Of each kind, in one server, with another tool's call beside each of them that is answered."""
    machine.install("innocent", properties={}, permissions=NOTHING, execute="return {'well': True}")
    floods = {f"evil{number}": flood for number, flood in enumerate(FLOODS.values())}
    for name, flood in floods.items():
        body = f'say(b"\\n" + {flood})\n    return {{}}'
        machine.install(name, top=_SAY, execute=body, properties={}, permissions=NOTHING)

    async def work(pool: Pool) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        async def document(name: str) -> dict[str, Any]:
            said: dict[str, Any] = json.loads((await pool.call(name, NO_ARGUMENTS)).document)
            return said

        return [tuple(await asyncio.gather(document(name), document("innocent"))) for name in floods]  # type: ignore[misc] # gather returns a list of both

    answers = Served(machine).run(work)
    assert [innocent for _, innocent in answers] == [{"well": True}] * len(floods)
    assert {evil.get("error_code") for evil, _ in answers} == {"INTERNAL_ERROR"}


ODD = {
    "a deep event": "[b'e{\"a\":' + b'[' * n + b']' * n + b'}' for n in range(940, 999)]",
    "deep questions": "[b'q{\"run\":' + b'[' * n + b']' * n + b'}' for n in range(940, 999)]",
    "a failure without a code": "[b'f{\"admin\":5}']",
    "a failure of nothing": "[b'f{}']",
    "a failure of other kinds": '[b\'f{"code":1,"message":[],"admin":{}}\']',
    "a denial without details": '[b\'f{"code":"PERMISSION_DENIED","message":"m","details":[1],"hint":7}\']',
}


def test_a_server_goes_on_while_one_process_says_what_is_no_message(machine: Machine) -> None:
    """A defect of the process that serves would end the calls of all other tools."""
    machine.install("innocent", properties={}, permissions=NOTHING, execute="return {'well': True}")
    machine.install("asked", properties={}, permissions=NOTHING, execute="return {}")
    names = [f"evil{number}" for number in range(len(ODD))]
    for name, lines in zip(names, ODD.values(), strict=True):
        body = f'say(b"\\n" + b"\\n".join({lines}) + b"\\n")\n    return {{}}'
        asks = {"network": [], "tools": ["asked"]}
        machine.install(name, top=_SAY, execute=body, properties={}, permissions=asks)

    async def work(pool: Pool) -> list[list[bytes]]:
        return [[(await pool.call(one, NO_ARGUMENTS)).document for one in (name, "innocent")] for name in names]

    answers = Served(machine).run(work)
    assert [innocent for _, innocent in answers] == [b'{"well":true}'] * len(names)
    assert not [evil for evil, _ in answers if b"supervised" in evil or b"defect" in evil]
