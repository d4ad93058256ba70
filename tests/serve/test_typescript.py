"""Results and failures of `ferrule serve` as the official TypeScript SDK gives them to its caller.

It holds each structured content against the schema that was listed, that of an error too, and throws where it does not
fit: then the caller, and so a model, sees nothing of the result.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.programs.node import TYPESCRIPT_SDK, script
from ferrule_testkit.serve.service import BIN, SECONDS, HttpService

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("typescript")]

WHAT = {"what": {"type": "string", "description": "What to return."}}
TEXT = {"type": "string"}
RESULTS = """\
from ferrule import Image, ToolError
    what = arguments["what"]
    if what == "raised":
        raise ToolError("NO_LUCK", "Not today.", retry_after=5)
    if what == "crashed":
        import os; os._exit(3)
    return {
        "fitting": {"success": True, "city": "Oslo"},
        "wrong": {"success": True, "city": 12},
        "an image": Image(b"\\x89PNG\\r\\n\\x1a\\n" + bytes(30)),
        "told": {"success": False, "error": "No such city.", "error_code": "NOT_FOUND"},
    }[what]
"""
FAILURES = {
    "wrong": "The result is not what strict declares as its result_schema: $.city: 12 is not of type 'string'.",
    "an image": "The result is not what strict declares as its result_schema: it has no JSON object.",
    "told": "No such city.",
    "raised": "Not today.",
    "crashed": "strict",
}
STRICT = {
    "type": "object",
    "properties": {"success": {"const": True}, "city": TEXT},
    "required": ["success", "city"],
    "additionalProperties": False,
}
# What its validator would read otherwise than the host: formats, patterns of Python, references, tuples, `$id`.
ODD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://schemas.example/odd",
    "type": "object",
    "properties": {
        "at": {"type": "string", "format": "date-time"},
        "url": {"type": "string", "format": "uri"},
        "format": {"type": "string"},
        "code": {"type": "string", "pattern": r"(?P<letter>[a-z])\Z"},
        "pair": {"type": "array", "prefixItems": [TEXT, {"type": "integer"}], "items": False},
        "same": {"$ref": "#/properties/code"},
        "amount": {"$ref": "#/$defs/amount"},
        "inner": {"$ref": "#"},
    },
    "required": ["at"],
    "$defs": {"amount": {"type": "integer"}},
}
ODDITIES = {
    "at": "2026-07-28T12:00:00", "url": "http://a.example/a b", "format": "csv", "code": "a", "pair": ["a", 1],
    "same": "b", "amount": 3, "inner": {"at": "today"},
}  # fmt: skip

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("typescript")).uncover_the_host()
    _install(machine, "strict", STRICT, RESULTS)
    _install(machine, "odd", ODD, f"return {ODDITIES!r}")
    _install(machine, "elsewhere", {**STRICT, "properties": {"city": {"$ref": "https://a.example/city"}}}, RESULTS)
    machine.install("free", properties=WHAT, execute=RESULTS)
    return machine


def _install(machine: Machine, name: str, schema: dict[str, Any], execute: str) -> None:
    machine.install(name, properties=WHAT, execute=execute)
    (machine.site / f"module_{name}.tool.json").write_text(json.dumps({"result_schema": schema}))


@pytest.fixture(scope="module")
def service(machine: Machine) -> Iterator[HttpService]:
    with HttpService(machine.environment, "--workers=2", work=machine.work) as service:
        yield service


@pytest.fixture(params=["stdio", "http"])
def ask(request: pytest.FixtureRequest, machine: Machine) -> Ask:
    """Calls a tool once for each word, by a client that is connected for all of them."""

    def ask(tool: str, *words: str, wrong: bool = False) -> dict[str, Any]:
        calls = [{"name": tool, "arguments": {"what": 3 if wrong else word}} for word in words]
        if request.param == "http":
            server = {"url": request.getfixturevalue("service").url}
        else:
            server = {"command": str(BIN / "ferrule"), "args": ["serve"], "env": machine.environment}
        done = subprocess.run(
            [*script("call_tools.cjs", TYPESCRIPT_SDK), json.dumps({**server, "calls": calls})],
            cwd=machine.work, capture_output=True, text=True, timeout=SECONDS * 2, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    return ask


def test_each_failure_of_a_tool_with_a_declared_result_reaches_the_caller(ask: Ask) -> None:
    answers = dict(zip(FAILURES, ask("strict", *FAILURES)["answers"], strict=True))
    for what, words in FAILURES.items():
        answer = answers[what]
        assert answer.get("isError") is True, answer
        assert words in answer["content"][0]["text"]
        assert "structuredContent" not in answer


def test_arguments_that_do_not_fit_are_told_to_the_caller(ask: Ask) -> None:
    (answer,) = ask("strict", "", wrong=True)["answers"]
    assert answer.get("isError") is True, answer
    assert json.loads(answer["content"][0]["text"])["error_code"] == "INVALID_INPUT"


def test_a_result_that_fits_is_structured(ask: Ask) -> None:
    (answer,) = ask("strict", "fitting")["answers"]
    assert answer["isError"] is False
    assert answer["structuredContent"] == json.loads(answer["content"][0]["text"]) == {"success": True, "city": "Oslo"}


def test_a_failure_of_a_tool_that_declares_no_result_is_structured(ask: Ask) -> None:
    (answer,) = ask("free", "raised")["answers"]
    assert answer["isError"] is True
    assert answer["structuredContent"]["error_code"] == "NO_LUCK"


def test_a_schema_that_clients_read_in_their_own_way_refuses_no_result(ask: Ask) -> None:
    told = ask("odd", "")
    (answer,) = told["answers"]
    assert answer.get("structuredContent") == ODDITIES, answer
    listed = {tool["name"]: tool.get("outputSchema") for tool in told["tools"]}
    assert listed["odd"]["anyOf"][0]["properties"]["format"] == {"type": "string"}
    assert listed["elsewhere"] is None
