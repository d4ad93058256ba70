"""`ferrule serve` with plain schemas: what clients are shown, and what becomes of their calls."""

from __future__ import annotations

import asyncio
import html
import json
import os
import re
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.schemas.agentkit import faults
from ferrule_testkit.schemas.tool_schemas import SHIPPED
from ferrule_testkit.serve.service import (
    BIN,
    ERAS,
    MODERN,
    SECONDS,
    HttpService,
    connected,
    on_stdio,
    text_of,
    wait_until,
)

if TYPE_CHECKING:
    from pathlib import Path

    import mcp_types as types
    from mcp.client.stdio import StdioServerParameters

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("plain")]

PROPERTIES = {
    "data": {"type": "object", "description": "Fields.", "properties": {}},
    "stars": {"type": "integer", "description": "How good.", "enum": [1, 2, 3]},
    "count": {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 20, "default": 10},
    "at": {"type": "string", "description": "Where.", "format": "uri"},
}
SENT = {"data": '{"a": [1]}', "stars": "3", "count": 2}
MEANT = {"data": {"a": [1]}, "stars": 3, "count": 2}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("plain")).uncover_the_host()
    machine.install("rate", properties=PROPERTIES)
    configure(machine, "plain")
    return machine


def configure(machine: Machine, form: str) -> None:
    machine.environment["FERRULE_CONFIG"] = str(machine.home / "config.toml")
    (machine.home / "config.toml").write_text(f'[serve]\nschemas = "{form}"\n')


@pytest.fixture(scope="module")
def service(machine: Machine) -> Iterator[HttpService]:
    with HttpService(machine.environment, "--workers=2", "--page", work=machine.work) as service:
        yield service


def listed(server: str | StdioServerParameters, era: str = MODERN) -> dict[str, types.Tool]:
    async def asked() -> list[types.Tool]:
        async with connected(server, era) as client:
            return (await client.list_tools()).tools

    return {tool.name: tool for tool in asyncio.run(asked())}


def call(server: str | StdioServerParameters, era: str, arguments: dict[str, Any]) -> types.CallToolResult:
    async def made() -> types.CallToolResult:
        async with connected(server, era) as client:
            return await client.call_tool("rate", arguments)

    return asyncio.run(made())


@pytest.mark.parametrize("era", ERAS)
def test_the_configured_form_is_listed_and_a_call_is_translated_back(era: str, service: HttpService) -> None:
    tools = listed(service.url, era)
    assert [fault for tool in tools.values() for fault in faults(tool.input_schema)] == []
    shown = tools["rate"].input_schema["properties"]
    assert shown["data"] == {"type": "string", "description": "Fields. A JSON object, written as text."}
    assert shown["count"] == {"type": "integer", "description": "How many. From 1 to 20. Default: 10."}
    assert json.loads(text_of(call(service.url, era, SENT))) == {"got": MEANT}
    assert json.loads(text_of(call(service.url, era, MEANT))) == {"got": MEANT}


@pytest.mark.parametrize("era", ERAS)
def test_what_the_plain_form_does_not_hold_the_host_does(era: str, service: HttpService) -> None:
    for arguments, place in (({"data": "{"}, "data: expected a JSON object"), ({"count": 21}, "count: ")):
        refused = call(service.url, era, arguments)
        document = json.loads(text_of(refused))
        assert (refused.is_error, document["error_code"]) == (True, "INVALID_INPUT")
        assert place in document["error"]


def test_the_page_has_the_form_and_a_shell_gets_the_arguments_of_the_tool(
    service: HttpService, machine: Machine
) -> None:
    url = service.url.removesuffix("/mcp")
    with urllib.request.urlopen(f"{url}/tools/rate", timeout=SECONDS) as answer:
        token = re.search(r'name="page_token" value="([^"]+)"', answer.read().decode())
    assert token is not None
    form = urllib.parse.urlencode({"page_token": token[1], "json": json.dumps(SENT)}).encode()
    request = urllib.request.Request(f"{url}/tools/rate", form, {"Origin": url})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        page = answer.read().decode()
    assert "From 1 to 20. Default: 10." in html.unescape(page)
    line = re.search(r"ferrule run rate .*", html.unescape(page))
    assert line is not None
    done = subprocess.run(
        ["sh", "-c", line[0].partition("</pre>")[0]],
        env=machine.environment, cwd=machine.work, capture_output=True, text=True, timeout=SECONDS, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout) == {"got": MEANT}


def test_the_option_wins_over_the_configuration(machine: Machine) -> None:
    tools = listed(on_stdio(machine.environment, "--schemas=mcp", "rate"))
    assert tools["rate"].input_schema == {"type": "object", "properties": PROPERTIES, "additionalProperties": False}


def test_all_shipped_tools_are_served_in_a_form_that_agentkit_takes(tmp_path: Path) -> None:
    from mcp.client.stdio import StdioServerParameters

    environment = {**os.environ, "FERRULE_STATE": str(tmp_path)}  # what a developer has accepted is another matter
    command = [str(BIN / "ferrule"), "serve", "--schemas", "plain"]
    tools = listed(StdioServerParameters(command=command[0], args=command[1:], env=environment))
    assert tools.keys() >= SHIPPED.keys()
    assert [(name, fault) for name, tool in tools.items() for fault in faults(tool.input_schema)] == []


def test_another_form_in_the_configuration_is_served_at_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    machine = Machine(tmp_path_factory.mktemp("changed"))
    machine.install("rate", properties=PROPERTIES)
    configure(machine, "mcp")
    with HttpService(machine.environment, "--workers=1", work=machine.work) as service:
        assert "additionalProperties" in listed(service.url)["rate"].input_schema
        configure(machine, "plain")
        wait_until(lambda: not list(faults(listed(service.url)["rate"].input_schema)), "the plain form")
        assert json.loads(text_of(call(service.url, MODERN, SENT))) == {"got": MEANT}


@pytest.mark.parametrize(
    ("form", "variable", "told"),
    [("simple", "", "schemas in [serve] of config.toml is 'simple'"), ("mcp", "odd", "FERRULE_SERVE_SCHEMAS is 'odd'")],
)
def test_a_form_that_there_is_not_is_refused_with_those_there_are(
    form: str, variable: str, told: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    machine = Machine(tmp_path_factory.mktemp("refused"))
    configure(machine, form)
    done = machine.ferrule("serve", environment={"FERRULE_SERVE_SCHEMAS": variable})
    assert done.code == 1
    assert f"{told}, and mcp and plain are the forms there are." in done.err
