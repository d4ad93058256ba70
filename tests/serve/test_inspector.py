"""The protocol's inspector, from its command line, as a client of `ferrule serve` on stdio and over HTTP."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.programs.node import INSPECTOR, command
from ferrule_testkit.serve.service import BIN, SECONDS, HttpService
from ferrule_testkit.serve.tools import install

pytestmark = pytest.mark.slow


Inspect = Callable[..., "subprocess.CompletedProcess[str]"]
ERAS = ("legacy", "modern")
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
TOOL_FAILED = 5  # the inspector's exit code for a result that is an error


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = install(Machine(tmp_path_factory.mktemp("inspected")))
    for name, execute in (("declares", 'raise ToolError("NO_LUCK", "Not today.")'), ("breaks", "return {'sum': '12'}")):
        machine.install(name, execute=execute)
        (machine.site / f"module_{name}.tool.json").write_text(json.dumps({"result_schema": SUM}))
    return machine


@pytest.fixture(scope="module")
def service(machine: Machine) -> Iterator[HttpService]:
    with HttpService(machine.environment, "--workers=4", work=machine.work) as service:
        yield service


@pytest.fixture
def inspect(machine: Machine) -> Inspect:
    def inspect(*words: str, method: str, era: str) -> "subprocess.CompletedProcess[str]":
        fixed = ["--format", "json", "--connect-timeout", "60000", "--protocol-era", era, "--method", method]
        environment = {**machine.environment, "PATH": os.environ["PATH"]}
        return subprocess.run(
            [*command(INSPECTOR), "--cli", *words, *fixed],
            env=environment, cwd=machine.work, capture_output=True, text=True, timeout=SECONDS * 2, check=False,
        )  # fmt: skip

    return inspect


def result(done: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document.get("result", document)


@pytest.mark.parametrize("era", ERAS)
def test_the_strict_inspector_finds_no_fault_in_the_tools_over_http(
    era: str, service: HttpService, inspect: Inspect
) -> None:
    listed = result(inspect(service.url, "--strict", method="tools/list", era=era))
    assert {"echo", "large", "artifact_read"} <= {tool["name"] for tool in listed["tools"]}


@pytest.mark.parametrize("era", ERAS)
def test_the_strict_inspector_starts_the_server_itself(era: str, machine: Machine, inspect: Inspect) -> None:
    # It hands down no more of its environment than a shell would need.
    handed = [word for name in ("HOME", "PYTHONPATH") for word in ("-e", f"{name}={machine.environment[name]}")]
    started = [str(BIN / "ferrule"), "serve", "echo", *handed]
    listed = result(inspect(*started, "--strict", method="tools/list", era=era))
    assert [tool["name"] for tool in listed["tools"]] == ["artifact_read", "echo"]


@pytest.mark.parametrize("era", ERAS)
def test_what_the_inspector_reads_behind_a_link_is_the_whole_result(
    era: str, service: HttpService, inspect: Inspect
) -> None:
    called = result(inspect(service.url, "--tool-name", "large", method="tools/call", era=era))
    link = next(content for content in called["content"] if content["type"] == "resource_link")
    read = result(inspect(service.url, "--uri", link["uri"], method="resources/read", era=era))
    assert json.loads(read["contents"][0]["text"])["text"] == "x" * 40_000


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("tool", "told"), [("fails", "Not today."), ("declares", "Not today."), ("breaks", "'12' is not of type 'integer'")]
)
def test_the_inspector_shows_the_failure_of_a_tool(
    tool: str, told: str, era: str, service: HttpService, inspect: Inspect
) -> None:
    done = inspect(service.url, "--tool-name", tool, method="tools/call", era=era)
    assert done.returncode == TOOL_FAILED, done.stdout + done.stderr
    assert told in done.stdout + done.stderr


def test_all_calls_of_the_inspectors_load_are_answered(service: HttpService, inspect: Inspect) -> None:
    load = ["--load", "--load-requests", "60", "--load-concurrency", "12"]
    done = inspect(service.url, "--tool-name", "echo", "--tool-arg", "text=hi", *load, method="tools/call", era="auto")
    figures = result(done)
    assert (figures["ok"], figures["errors"], figures["toolErrors"]) == (60, 0, 0)
