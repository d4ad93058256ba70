"""Calls that are shared out among workers which have loaded the tools ahead."""

import asyncio
import json
import os
import resource
import signal
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ferrule import discovery
from ferrule.calls.server_interface import ServerFacts
from ferrule.discovery import InstalledTool
from ferrule_serve.pool import CallAnswer, Pool
from ferrule_testkit.machine import Machine
from ferrule_testkit.runs import marked, wait_for, wait_until_gone
from ferrule_testkit.serve.pool import NO_ARGUMENTS, Served, install

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="processes that wait for a call are forked elsewhere"),
]
RENEWALS = 5  # more than the times that a tool is loaded for one call where it ends by itself
CHILD = "import subprocess; subprocess.Popen(['sleep', '1000'], start_new_session=True)"


@pytest.fixture
def served(machine: Machine) -> Served:
    return Served(machine)


def test_a_plugin_is_loaded_anew_after_so_many_calls(served: Served) -> None:
    install(served, "return {'loaded': LOADED}", top="LOADED = os.getpid()")

    loaded = [one["loaded"] for one in served.calls("probe", 5, workers=1, calls=2)]

    assert loaded[0] == loaded[1]
    assert len({loaded[0], loaded[2], loaded[4]}) == 3


@pytest.mark.parametrize("end", ["os._exit(3)", "os.abort()", "time.sleep(1000)"])
def test_a_plugin_is_loaded_anew_after_a_crash_and_a_deadline(end: str, served: Served) -> None:
    install(
        served,
        f"os.path.exists({str(served.machine.work / 'fail')!r}) and ({end})\n    return {{'loaded': LOADED}}",
        top="LOADED = os.getpid()",
    )

    async def work(pool: Pool) -> list[CallAnswer]:
        first = await pool.call("probe", NO_ARGUMENTS)
        (served.machine.work / "fail").touch()
        failed = await pool.call("probe", NO_ARGUMENTS, seconds=0.3)
        (served.machine.work / "fail").unlink()
        return [first, failed, await pool.call("probe", NO_ARGUMENTS)]

    first, failed, last = served.run(work, workers=1)
    assert [one.is_error for one in (first, failed, last)] == [False, True, False]
    assert first.document != last.document


def test_a_call_has_what_it_has_in_an_executable(served: Served) -> None:
    install(
        served,
        "import sys\n    return {'stdin': sys.stdin.read(), 'cwd': os.getcwd(), 'here': os.environ.get('HERE'), "
        "'files': len(os.listdir('/dev/fd')), 'leads': os.getsid(0) == os.getpid()}",
    )
    served.environment["HERE"] = "yes"
    expected = json.loads(served.machine.ferrule("run", "probe", "{}", environment={"HERE": "yes"}).out)

    done = served.calls("probe", 2, workers=1)

    assert done == [{**expected, "cwd": os.getcwd()}] * 2
    assert expected["stdin"] == ""


def test_a_call_sees_no_token_of_the_server(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    install(served, "return {'token': os.environ.get('FERRULE_SERVE_TOKEN')}")
    for name, value in {**served.environment, "FERRULE_SERVE_TOKEN": "sk-0123456789"}.items():
        monkeypatch.setenv(name, value)

    assert served.calls("probe", 1, environment=None) == [{"token": None}]


def test_arguments_are_prepared_and_refused_as_on_the_command_line(served: Served) -> None:
    served.machine.install("probe")
    command = served.machine.ferrule("run", "probe", "{}")

    async def work(pool: Pool) -> list[bytes]:
        asked = ({}, b"[]", b"{", {"city": "Oslo", "town": ""}, {"city": "Oslo"})
        return [(await pool.call("probe", arguments)).document for arguments in asked]

    documents = served.run(work)
    assert documents[0] == command.out.strip().encode()
    assert b"holds an array" in documents[1]
    assert b"is not valid JSON" in documents[2]
    assert documents[4] == b'{"got":{"city":"Oslo"}}'


def test_events_come_while_the_call_runs_and_without_secrets(served: Served) -> None:
    install(
        served,
        f"context.event({{'event': 'progress', 'message': 'with sk-0123456789'}})\n"
        f"    while not os.path.exists({str(served.machine.work / 'go')!r}): time.sleep(0.01)\n"
        "    print('the key is sk-0123456789')\n    return {'key': 'sk-0123456789'}",
        top="from ferrule import Credential\n@hookimpl\ndef credentials():\n"
        "    return [Credential('key', environment='PROBE_KEY', path='probe.key')]",
    )
    served.environment["PROBE_KEY"] = "sk-0123456789"
    events = []

    def take(event: dict[str, Any]) -> None:
        events.append(event)
        (served.machine.work / "go").touch()

    answered = served.run(lambda pool: pool.call("probe", NO_ARGUMENTS, on_event=take))

    assert [event["event"] for event in events] == ["progress"]
    assert answered.text.startswith("the key is ")
    assert "sk-0123456789" not in f"{events} {answered}"


def test_what_takes_the_events_may_fail_and_gets_its_own_error(served: Served) -> None:
    install(served, "context.event({'event': 'log'})\n    time.sleep(1000)")

    def take(event: dict[str, Any]) -> None:
        raise LookupError(event["event"])

    with pytest.raises(LookupError, match="log"):
        served.run(lambda pool: pool.call("probe", NO_ARGUMENTS, on_event=take))


def test_more_calls_than_workers_wait_and_all_are_answered(served: Served) -> None:
    install(served, "return {'process': os.getpid()}")
    install(served, "return {'process': os.getpid()}", name="other")

    async def work(pool: Pool) -> list[CallAnswer]:
        calls = (pool.call(name, NO_ARGUMENTS) for _ in range(25) for name in ("probe", "other"))
        return await asyncio.gather(*calls)

    answers = served.run(work, workers=2)
    assert len({one.document for one in answers}) == 50
    assert not any(one.is_error for one in answers)


@pytest.mark.slow
def test_a_deadline_counts_from_when_the_call_begins(served: Served) -> None:
    install(served, "time.sleep(0.5)\n    return {}")

    async def work(pool: Pool) -> list[CallAnswer]:
        return await asyncio.gather(*(pool.call("probe", NO_ARGUMENTS, seconds=3) for _ in range(8)))

    assert not any(one.is_error for one in served.run(work, workers=1))


def test_a_full_queue_refuses_a_call_with_an_error(served: Served) -> None:
    install(served, "time.sleep(0.2)\n    return {}")

    async def work(pool: Pool) -> list[CallAnswer]:
        return await asyncio.gather(*(pool.call("probe", NO_ARGUMENTS) for _ in range(5)))

    answers = served.run(work, workers=1, queue=2)
    assert [one.is_error for one in answers] == [False, False, False, True, True]
    assert b"2 calls are waiting already" in answers[-1].document


def test_what_the_pool_refuses_is_told_in_the_tools_own_shape(served: Served) -> None:
    """Rendered by the plugin in a process of its own, and where that fails, in the web tools' shape."""
    top = 'def render(facts): return {"own": facts["message"]}\ndef fail(facts): os._exit(3)'
    install(served, "time.sleep(0.2)\n    return {}", top=top)
    install(served, "return {}", top=top, name="other")

    async def work(pool: Pool) -> list[CallAnswer]:
        own, failing = (_rendered(served, name, by) for name, by in (("probe", "render"), ("other", "fail")))
        return await asyncio.gather(*(pool.call(tool, NO_ARGUMENTS) for tool in (own, own, own, own, own, failing)))

    *_, refused, also_refused, unrendered = served.run(work, workers=1, queue=2)
    assert json.loads(refused.document) == {"own": "2 calls are waiting already, and no more are taken."}
    assert also_refused.document == refused.document
    assert json.loads(unrendered.document)["error_code"] == "INTERNAL_ERROR"
    assert b"2 calls are waiting already" in unrendered.document


def _rendered(served: Served, name: str, function: str) -> InstalledTool:
    metadata = served.machine.site / f"dist_{name}-1.0.dist-info"
    with (metadata / "entry_points.txt").open("a") as file:
        file.write(f"[ferrule.failures]\n{name} = module_{name}:{function}\n")
    return discovery.scan([str(served.machine.site)])[name][0]


def test_a_cancelled_call_ends_the_tool_and_all_it_has_started(served: Served) -> None:
    began = served.machine.work / "began"
    install(served, f"{CHILD}; open({str(began)!r}, 'w').close(); time.sleep(1000)")
    install(served, "return {'well': True}", name="other")

    async def work(pool: Pool) -> CallAnswer:
        call = asyncio.create_task(pool.call("probe", NO_ARGUMENTS))
        while not began.exists():
            await asyncio.sleep(0.01)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.to_thread(wait_for, lambda: not any("sleep" in line for line in marked(served.mark)))
        return await pool.call("other", NO_ARGUMENTS)

    assert served.run(work, workers=1).document == b'{"well":true}'


def test_a_call_that_is_cancelled_while_it_waits_never_begins(served: Served) -> None:
    began = served.machine.work / "began"
    install(served, "time.sleep(0.3)\n    return {}")
    install(served, f"open({str(began)!r}, 'w').close()\n    return {{}}", name="other")

    async def work(pool: Pool) -> CallAnswer:
        running = asyncio.create_task(pool.call("probe", NO_ARGUMENTS))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(pool.call("other", NO_ARGUMENTS))
        await asyncio.sleep(0)
        waiting.cancel()
        await running
        return await pool.call("probe", NO_ARGUMENTS)

    assert not served.run(work, workers=1).is_error
    assert not began.exists()


def test_many_calls_that_are_cancelled_while_they_wait_hold_up_none(served: Served) -> None:
    gate = served.machine.work / "gate"
    install(served, f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n    return {{'well': True}}")

    async def work(pool: Pool) -> list[CallAnswer]:
        running, *waiting = [asyncio.create_task(pool.call("probe", NO_ARGUMENTS)) for _ in range(6)]
        while pool.stats().queued < 5:
            await asyncio.sleep(0)
        for task in waiting[:-1]:
            task.cancel()
        gate.touch()
        await asyncio.gather(*waiting[:-1], return_exceptions=True)
        assert all(task.cancelled() for task in waiting[:-1])
        return [await running, await waiting[-1]]

    assert [one.document for one in served.run(work, workers=1)] == [b'{"well":true}'] * 2


def test_a_supervisor_that_is_killed_in_a_call_costs_that_call(served: Served) -> None:
    began = served.machine.work / "began"
    install(served, f"open({str(began)!r}, 'w').close(); time.sleep(1000)")
    install(served, "return {'well': True}", name="other")

    async def work(pool: Pool) -> list[CallAnswer]:
        call = asyncio.create_task(pool.call("probe", NO_ARGUMENTS))
        while not began.exists():
            await asyncio.sleep(0.01)
        _kill(pool.stats().supervisor)
        return [await call, await pool.call("other", NO_ARGUMENTS)]

    lost, other = served.run(work)
    assert lost.is_error
    assert b"has ended before the tool had answered" in lost.document
    assert other.document == b'{"well":true}'


@pytest.mark.parametrize("whom", ["supervisor", "plugin", "copy"])
@pytest.mark.parametrize("is_reusable", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_what_is_killed_between_calls_costs_none(whom: str, is_reusable: bool, served: Served) -> None:
    install(served, "return {'well': True}", declared={"reusable": is_reusable})

    async def work(pool: Pool) -> list[CallAnswer]:
        answers = []
        for _ in range(3):
            answers.append(await pool.call("probe", NO_ARGUMENTS))
            assert not answers[-1].is_error, answers
            (plugin,) = (await _idle(pool))["plugins"]
            (copy,) = plugin["copies"]
            process = {"supervisor": pool.stats().supervisor, "plugin": plugin["process"], "copy": copy}[whom]
            _kill(process)
            await asyncio.to_thread(wait_for, partial(_has_ended, process))
        return answers

    assert [one.document for one in served.run(work)] == [b'{"well":true}'] * 3


async def _idle(pool: Pool) -> ServerFacts:
    """What is loaded, once the pool does nothing any more."""
    while not (facts := await pool.facts())["is_idle"]:
        await asyncio.sleep(0.01)
    return facts


def _has_ended(process: int | None) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _kill(process: int | None) -> None:
    assert process is not None
    os.kill(process, signal.SIGKILL)


def test_a_killed_server_leaves_nothing_running(served: Served) -> None:
    began = served.machine.work / "began"
    install(served, f"{CHILD}; open({str(began)!r}, 'w').close(); time.sleep(1000)")
    code = "import asyncio\nfrom ferrule_serve.pool import Pool\nasyncio.run(Pool(2).call('probe', {}))"
    process = os.posix_spawn(sys.executable, [sys.executable, "-P", "-c", code], served.environment)
    wait_for(began.exists)

    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)

    wait_until_gone(served.mark)


def test_configuration_and_credentials_are_read_for_each_call(served: Served) -> None:
    install(
        served,
        "return {'setting': context.setting('depth', 'PROBE_DEPTH'), 'has_key': bool(context.credential('key'))}",
        top="from ferrule import Credential\n@hookimpl\ndef credentials():\n"
        "    return [Credential('key', environment='PROBE_KEY', path='probe.key')]",
    )
    configuration = served.machine.home / "config.toml"
    served.environment["FERRULE_CONFIG"] = str(configuration)

    async def work(pool: Pool) -> list[CallAnswer]:
        configuration.write_text("[tools.probe]\ndepth = 1\n")
        refused = await pool.call("probe", NO_ARGUMENTS)
        served.machine.credentials.parent.mkdir(parents=True)
        served.machine.credentials.write_text('{"probe": {"key": "sk-0123456789"}}')
        served.machine.credentials.chmod(0o600)
        first = await pool.call("probe", NO_ARGUMENTS)
        configuration.write_text("[tools.probe]\ndepth = 2\n")
        second = await pool.call("probe", NO_ARGUMENTS)
        configuration.write_text("[tools.probe]\nenabled = false\n")
        return [refused, first, second, await pool.call("probe", NO_ARGUMENTS)]

    refused, first, second, disabled = served.run(work, workers=1)
    assert refused.is_error
    assert json.loads(first.document) == {"setting": 1, "has_key": True}
    assert json.loads(second.document) == {"setting": 2, "has_key": True}
    assert b"disabled" in disabled.document


def test_an_upgraded_distribution_is_not_served_from_old_code(served: Served) -> None:
    module = install(served, "return {'version': VERSION}", top="VERSION = 'one'")

    async def work(pool: Pool) -> list[CallAnswer]:
        first = await pool.call("probe", NO_ARGUMENTS)
        module.write_text(module.read_text().replace("'one'", "'three'"))
        old = served.machine.site / "dist_probe-1.0.dist-info"
        old.rename(served.machine.site / "dist_probe-2.0.dist-info")
        second = await pool.call("probe", NO_ARGUMENTS)
        module.write_text(module.read_text().replace("'three'", "'fourteen'"))
        await pool.renew("probe")
        return [first, second, await pool.call("probe", NO_ARGUMENTS)]

    documents = [json.loads(one.document)["version"] for one in served.run(work, workers=1)]
    assert documents == ["one", "three", "fourteen"]


def test_a_call_that_waits_while_its_tool_is_renewed_again_and_again_is_made(served: Served) -> None:
    gate = served.machine.gate()
    held = f"try:\n    open({str(gate)!r}).read()\nexcept FileNotFoundError:\n    pass"
    install(served, "return {'is': 'made'}", top=held)

    async def work(pool: Pool) -> CallAnswer:
        call = asyncio.ensure_future(pool.call("probe", NO_ARGUMENTS))
        with await asyncio.to_thread(open, gate, "w"):  # which waits until the tool is being loaded
            for _ in range(RENEWALS):
                await pool.renew("probe")
            gate.unlink()
        return await call

    assert json.loads(served.run(work, workers=1).document) == {"is": "made"}


def test_a_tool_that_is_slow_to_import_is_slow_once(served: Served) -> None:
    counted = served.machine.work / "counted"
    install(served, "return {}", top=f"time.sleep(0.3)\nopen({str(counted)!r}, 'a').write('x')")

    served.calls("probe", 3, workers=1)

    assert counted.read_text() == "x"


def test_a_tool_is_loaded_ahead_of_its_first_call(served: Served) -> None:
    loaded = served.machine.work / "loaded"
    install(served, "return {}", top=f"open({str(loaded)!r}, 'w').close()")

    async def work(pool: Pool) -> None:
        pool.prepare("probe")
        while not loaded.exists():
            await asyncio.sleep(0.01)

    served.run(work)


def test_a_plugin_that_nobody_needs_is_ended(served: Served) -> None:
    install(served, "return {'loaded': LOADED}", top="LOADED = os.getpid()")

    async def work(pool: Pool) -> list[bytes]:
        first = await pool.call("probe", NO_ARGUMENTS)
        while (await _idle(pool))["plugins"]:
            await asyncio.sleep(0.01)
        return [first.document, (await pool.call("probe", NO_ARGUMENTS)).document]

    assert len(set(served.run(work, idle=0.1))) == 2


def test_a_closed_pool_lets_calls_end_and_takes_none(served: Served) -> None:
    install(served, "time.sleep(0.3)\n    return {}")

    async def work(pool: Pool) -> list[CallAnswer]:
        running = asyncio.create_task(pool.call("probe", NO_ARGUMENTS))
        await asyncio.sleep(0)
        await pool.close(grace_seconds=60)
        return [await running, await pool.call("probe", NO_ARGUMENTS)]

    running, late = served.run(work)
    assert not running.is_error
    assert b"takes no more calls" in late.document


def test_a_pool_whose_supervisor_cannot_start_says_so(served: Served) -> None:
    served.environment["PYTHONHOME"] = "/nowhere"

    answered = served.run(lambda pool: pool.call("probe", NO_ARGUMENTS))

    assert answered.is_error
    assert b"ended before it could take the call" in answered.document


@pytest.mark.slow
def test_many_calls_leave_no_memory_no_processes_and_no_descriptors(served: Served) -> None:
    install(served, "return {'text': 'x' * 10_000}")

    async def work(pool: Pool) -> list[list[int]]:
        held = []
        for times in (20, 200):
            for _ in range(times):
                await pool.call("probe", NO_ARGUMENTS)
            await _idle(pool)
            held.append(_held(pool, served.mark))
        return held

    before, after = served.run(work, workers=1)
    assert after == before


def _held(pool: Pool, mark: str) -> list[int]:
    """Open descriptors of this process and of the supervisor, and processes."""
    return [len(os.listdir(f"/proc/{process}/fd")) for process in ("self", pool.stats().supervisor)] + [
        len(marked(mark))
    ]


def test_a_call_is_made_where_the_server_can_start_nothing_more(served: Served) -> None:
    install(served, "return {}")
    install(served, "return {'well': True}", name="other")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def work(pool: Pool) -> CallAnswer:
        await pool.call("probe", NO_ARGUMENTS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
        try:
            return await pool.call("other", NO_ARGUMENTS)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)

    assert served.run(work).document == b'{"well":true}'


def test_a_plugin_that_is_loaded_anew_does_not_hold_up_another_tool(served: Served) -> None:
    gate = served.machine.work / "gate"
    install(
        served,
        f"open({str(gate)!r}, 'w').close(); os._exit(3)",
        top=f"while os.path.exists({str(gate)!r}):\n    time.sleep(0.01)",
        name="crashing",
    )
    install(served, "return {'answered': True}", name="other")

    async def work(pool: Pool) -> bytes:
        assert (await pool.call("crashing", NO_ARGUMENTS)).is_error
        try:
            # The crashing one goes on loading for as long as a call may take, which is 25 seconds.
            return (await asyncio.wait_for(pool.call("other", NO_ARGUMENTS), 15)).document
        finally:
            gate.unlink()

    assert json.loads(served.run(work, workers=3)) == {"answered": True}


def test_more_arguments_than_an_executable_reads_are_refused(served: Served) -> None:
    install(served, "return {'answered': True}")

    answered = served.run(lambda pool: pool.call("probe", b'{"a": "' + b"x" * (1 << 20) + b'"}'))

    assert answered.is_error
    assert json.loads(answered.document)["error_code"] == "INVALID_INPUT"
