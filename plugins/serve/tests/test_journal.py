"""What served calls leave in the journal."""

import asyncio
import json
import os
import signal
from typing import Any

import pytest

from ferrule_serve.pool import CallAnswer, Pool
from ferrule_testkit.machine import Machine
from ferrule_testkit.runs import wait_for
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served, install
from ferrule_testkit.serve.service import ERAS, connected, on_stdio
from ferrule_testkit.serve.tools import install_two

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("serve-ends")]


def journal(machine: Machine) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (machine.home / "calls.jsonl").read_text().splitlines()]


@pytest.fixture
def journaled(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    path = machine.home / "config.toml"
    path.write_text(f'[journal]\nenabled = true\npath = "{machine.home}/calls.jsonl"\n')
    machine.environment |= {"FERRULE_CONFIG": str(path), "IKIGAI_AGENT_ID": "agent-7"}
    monkeypatch.setenv("FERRULE_CONFIG", str(path))  # the serving process of some tests is this one
    return machine


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_served_calls_name_their_client(era: str, journaled: Machine) -> None:
    async def talk() -> None:
        async with connected(on_stdio(install_two(journaled).environment), era) as client:
            await client.call_tool("hello", {})
            await client.call_tool("hello", {"x": 1})

    asyncio.run(talk())
    well, wrong = journal(journaled)
    assert (well["tool"], well["way"], well["outcome"], well["agent"]) == ("hello", "serve", "ok", "agent-7")
    assert (well["client"]["name"], well["output_bytes"]) == ("mcp", len(b'{"hello":true}'))
    assert (wrong["outcome"], wrong["input_bytes"]) == ("INVALID_INPUT", len(b'{"x":1}'))


def test_a_call_whose_worker_is_lost_is_written_down_by_the_server(journaled: Machine) -> None:
    served = Served(journaled)
    install(served, "context.event({'event': 'begun'}); time.sleep(1000)")

    async def work(pool: Pool) -> list[CallAnswer]:
        begun = asyncio.Event()
        call = asyncio.create_task(pool.call("probe", NO_ARGUMENTS, on_event=lambda _: begun.set()))
        await begun.wait()
        os.kill(pool.stats().supervisor or 0, signal.SIGKILL)
        return [await call]

    (lost,) = served.run(work, workers=1)
    (line,) = journal(journaled)
    assert (line["tool"], line["way"], line["outcome"]) == ("probe", "serve", "INTERNAL_ERROR")
    assert line["output_bytes"] == len(lost.document)


def test_a_call_that_its_client_cancels_is_written_down_as_that(journaled: Machine) -> None:
    served = Served(journaled)
    install(served, "context.event({'event': 'begun'}); time.sleep(1000)")

    async def work(pool: Pool) -> None:
        begun = asyncio.Event()
        call = asyncio.create_task(pool.call("probe", NO_ARGUMENTS, on_event=lambda _: begun.set()))
        await begun.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await asyncio.to_thread(wait_for, lambda: (journaled.home / "calls.jsonl").exists())

    served.run(work)
    (line,) = journal(journaled)
    assert (line["tool"], line["outcome"]) == ("probe", "CANCELLED")


def test_a_call_that_is_cancelled_while_it_waits_is_written_down(journaled: Machine) -> None:
    served = Served(journaled)
    install(served, "context.event({'event': 'begun'}); time.sleep(1000)")

    async def work(pool: Pool) -> None:
        begun, waits = asyncio.Event(), asyncio.Event()
        running = asyncio.create_task(pool.call("probe", NO_ARGUMENTS, on_event=lambda _: begun.set()))
        await begun.wait()
        waiting = asyncio.create_task(pool.call("probe", {"a": 1}, on_event=lambda _: waits.set()))
        await waits.wait()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.to_thread(wait_for, lambda: (journaled.home / "calls.jsonl").exists())
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    served.run(work, workers=1)
    line = journal(journaled)[0]
    assert (line["tool"], line["outcome"], line["input_bytes"]) == ("probe", "CANCELLED", len(b'{"a":1}'))
