"""Installed tools, as programs call them: in processes of their own, as executables or run by the host."""

import asyncio
import json
import sys
import time
from collections.abc import Mapping

import pytest

from ferrule import ToolError, installed
from ferrule.errors import ArgumentsInvalid
from ferrule.installed import (
    Outcome,
    ProcessResult,
    execute,
    has_operation,
    python_command,
    resolve,
    run_process,
    run_tool,
)
from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.service import is_alive, wait_until

SECRET = "sk-0123456789"
CREDENTIALS = """
@hookimpl
def credentials():
    return [Credential("api_key", environment="TALLY_KEY", path="tally.api_key")]

def look(arguments, tool):
    return {
        "declared": [one.name for one in tool.credentials()],
        "seconds": tool.result_policy().cache_seconds,
        "source": tool.tool.source,
        "findings": tool.validate({"count": 3}),
        "length": len(tool.context.credential("api_key")),
    }

@hookimpl
def validate(arguments):
    return ["count: it is odd"] if arguments["count"] % 2 else []
"""


@pytest.fixture
def tally(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A tool with a credential, on this process's own path."""
    machine.install(
        "tally",
        properties={"count": {"type": "integer"}},
        top=CREDENTIALS,
        execute="context.event({'event': 'counted'}); return {**arguments, 'key': context.credential('api_key')}",
    )
    monkeypatch.setattr(sys, "path", [*sys.path, str(machine.site)])
    monkeypatch.setenv("TALLY_KEY", SECRET)
    monkeypatch.setenv("HOME", str(machine.home))
    return machine


@pytest.mark.parametrize("name", installed.__all__)
def test_every_public_name_is_what_it_is_said_to_be(name: str) -> None:
    """Not the module of the same name, which Python makes an attribute of the package when it is imported."""
    found = getattr(installed, name)
    assert type(found).__name__ != "module"
    assert sorted(installed.__all__) == sorted(name for names in installed._MODULES.values() for name in names)


def run(arguments: Mapping[str, int], name: str = "tally", **more: str) -> Outcome:
    return run_tool(name, arguments, deadline=time.monotonic() + 30, **more)


@pytest.mark.process
def test_a_tool_is_run_and_its_result_has_no_secret(tally: Machine) -> None:
    outcome = run({"count": 4})
    assert outcome.failure is None
    assert json.loads(outcome.result or b"") == {"count": 4, "key": "[redacted]"}
    assert list(outcome.events) == [{"event": "counted"}]
    assert list(outcome.secrets) == []


@pytest.mark.process
def test_an_operation_gets_the_tool(tally: Machine) -> None:
    (tally.site / "module_tally.tool.json").write_text('{"operations": {"look": "module_tally:look"}}')
    outcome = run({"count": 4}, operation="look")
    assert json.loads(outcome.result or b"") == {
        "declared": ["api_key"],
        "seconds": 0,
        "source": "dist-tally 1.0",
        "findings": ["count: it is odd"],
        "length": len(SECRET),
    }
    assert has_operation("tally", "look")
    assert not has_operation("tally", "other")
    assert not has_operation("nothing", "look")
    failure = run({"count": 4}, operation="other").failure
    assert failure
    assert failure["code"] == "OPERATION_UNKNOWN"


@pytest.mark.process
def test_a_tools_own_findings_and_those_of_its_schema_differ(tally: Machine) -> None:
    for arguments, words in (({"count": 3}, "count: it is odd"), ({"number": 3}, "number")):
        failure = run(arguments).failure
        assert failure is not None
        assert failure["code"] == ArgumentsInvalid.code
        assert words in failure["message"]


@pytest.mark.process
def test_a_tool_that_is_not_there_is_the_failure(tally: Machine) -> None:
    failure = run({}, name="nothing").failure
    assert failure is not None
    assert "nothing" in failure["message"]


def test_a_name_of_an_entry_point_is_imported() -> None:
    assert resolve("ferrule.errors:ToolError") is ToolError


@pytest.mark.process
def test_a_tool_is_executed_as_its_executable_does(tally: Machine) -> None:
    ended = asyncio.run(execute("tally", b'{"count": 2}', 30, {**tally.environment, "TALLY_KEY": SECRET}))
    assert (json.loads(ended.stdout)["count"], ended.has_failed, ended.is_late) == (2, False, False)
    ended = asyncio.run(execute("tally", b'{"count": 2}', 30, {**tally.environment, "FERRULE_EXIT_ZERO": "1"}))
    assert (json.loads(ended.stdout)["error_code"], ended.has_failed) == ("AUTH_MISSING", True)


@pytest.mark.process
def test_an_interpreter_has_this_ones_path_and_the_rest_of_its_arguments(
    tally: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tally.site / "entry.py").write_text(
        "import json, sys\ndef main():\n    print(json.dumps([sys.argv[1:], sys.flags.isolated]))"
    )
    command = python_command("entry:main", "one", "two")
    ended = asyncio.run(run_process(command, b"", 30))
    assert json.loads(ended.stdout) == [["one", "two"], 1]
    command = python_command("entry:main", isolated=False)
    ended = asyncio.run(run_process(command, b"", 30, {"PYTHONPATH": str(tally.site)}))
    assert json.loads(ended.stdout) == [[], sys.flags.isolated]


@pytest.mark.slow
@pytest.mark.process
def test_a_process_that_takes_too_long_is_ended_with_what_it_had_written(tally: Machine) -> None:
    async def run_late() -> ProcessResult:
        return await run_process(["/bin/sh", "-c", "echo $$; trap '' TERM; while :; do sleep 0.01; done"], b"", 0.5)

    ended = asyncio.run(run_late())
    assert ended.is_late
    wait_until(lambda: not is_alive(int(ended.stdout)), "the end of the process")


@pytest.mark.process
def test_a_process_is_ended_where_its_caller_is_cancelled(tally: Machine) -> None:
    mark = tally.work / "process"

    async def start() -> None:
        command = ["/bin/sh", "-c", f"echo $$ > {mark}.new; mv {mark}.new {mark}; exec sleep 600"]
        task = asyncio.create_task(run_process(command, b"", 600))
        await asyncio.to_thread(wait_until, mark.exists, "the start of the process")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(start())
    assert not is_alive(int(mark.read_text()))


@pytest.mark.process
def test_what_cannot_be_started_is_an_error() -> None:
    with pytest.raises(OSError, match="nowhere"):
        asyncio.run(run_process(["/nowhere/python"], b"", 5))
