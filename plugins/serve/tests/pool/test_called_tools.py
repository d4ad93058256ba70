"""A served tool that has another one run: neither finds a key of the other one, nor of calls that were made before."""

import asyncio
import json
from typing import Any

import pytest

from ferrule_serve.pool import Pool
from ferrule_testkit.machine import Machine
from ferrule_testkit.runs import mark
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served, install

pytestmark = pytest.mark.process

KEYS = {"OUTER_KEY": "sk-of-the-outer-one-11", "INNER_KEY": "sk-of-the-inner-one-22", "OTHER_KEY": "sk-of-others-333"}
REVERSED = [key[::-1] for key in KEYS.values()]
TOP = """
def traces():
    '''Which keys are in this process's memory. They stand here reversed, so that looking for them leaves none.'''
    # Each byte is one more than in the memory: a copy of what was read shows no key to a later look.
    more = bytes((byte + 1) %% 256 for byte in range(256))
    marks = {one: bytes(more[byte] for byte in reversed(one.encode())) for one in %r}
    found = set()
    with open("/proc/self/maps") as maps:
        areas = [line.split() for line in maps]
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for area in areas:
            start, end = (int(part, 16) for part in area[0].split("-"))
            if "r" in area[1] and area[-1] not in ("[vvar]", "[vsyscall]", "[vvar_vclock]"):
                try:
                    memory.seek(start)
                    data = memory.read(end - start).translate(more)
                except (OSError, ValueError, OverflowError):
                    continue
                found.update(key for key, mark in marks.items() if mark in data)
    return sorted(found)

@hookimpl
def credentials():
    return [Credential("api_key", environment="%s_KEY", path="%s.api_key")]
"""
OUTER = """
    from ferrule.installed import run_tool

    outcome = run_tool("inner", {}, deadline=time.monotonic() + 20)
    told = {"inner": (outcome.result or b"").decode(), "failure": outcome.failure}
    return {**told, "traces": traces(), "has_key": len(context.credential("api_key"))}
""".strip()
INNER = 'return {"traces": traces(), "has_key": len(context.credential("api_key"))}'


def test_no_key_passes_between_a_tool_and_one_that_it_has_run(machine: Machine) -> None:
    served = Served(machine)
    served.mark, served.environment = mark({**machine.environment, **KEYS})
    for name, execute, tools in (("inner", INNER, []), ("other", INNER, []), ("outer", OUTER, ["inner"])):
        declared = {"permissions": {"network": [], "tools": tools}}
        install(served, execute, name=name, top=TOP % (REVERSED, name.upper(), name), declared=declared)

    async def work(pool: Pool) -> list[dict[str, Any]]:
        answers = [await pool.call(name, NO_ARGUMENTS) for name in ("other", "outer", "other", "outer")]
        return [json.loads(answer.document) for answer in answers]

    _, first, _, second = served.run(work)
    for told in (first, second):
        assert told["failure"] is None
        inner = json.loads(told["inner"])
        assert (told["has_key"], inner["has_key"]) == (len(KEYS["OUTER_KEY"]), len(KEYS["INNER_KEY"]))
        assert set(told["traces"]) == {KEYS["OUTER_KEY"][::-1]}
        assert set(inner["traces"]) == {KEYS["INNER_KEY"][::-1]}


def test_an_upgrade_during_a_call_gives_it_no_tool_that_was_not_accepted(machine: Machine) -> None:
    served = Served(machine)
    more = json.dumps({"permissions": {"network": [], "tools": ["inner"]}})
    wait = f"""
    while open(__file__.removesuffix(".py") + ".tool.json").read() != {more!r}:
        time.sleep(0.02)
    from ferrule.installed import run_tool

    return {{"failure": run_tool("inner", {{}}, deadline=time.monotonic() + 20).failure}}
""".strip()
    install(served, "return {}", name="inner", declared={"permissions": {"network": []}})
    path = install(served, wait, name="outer", declared={"permissions": {"network": []}})

    async def work(pool: Pool) -> dict[str, Any]:
        call = asyncio.ensure_future(pool.call("outer", NO_ARGUMENTS))
        while not (machine.home / ".local/state/ferrule/permissions/outer.json").exists():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.2)
        path.with_suffix(".tool.json").write_text(more)
        answer: dict[str, Any] = json.loads((await call).document)
        return answer

    assert served.run(work)["error_code"] == "PERMISSION_DENIED"
