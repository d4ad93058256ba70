"""`ferrule serve`: what a client of either era gets over HTTP, by the official client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Iterator
from http.client import HTTPConnection
from operator import le
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.sdk import types
from ferrule_testkit.serve.service import (
    ERAS,
    LEGACY,
    META,
    MODERN,
    Heard,
    HttpService,
    connected,
    descendants,
    is_alive,
    leave_a_call,
    text_of,
    wait_until,
)
from ferrule_testkit.serve.tools import SECRET, install

if TYPE_CHECKING:
    from mcp import Client, MCPError

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("serve")]
NAMES = {
    "artifact_read",
    "echo",
    "computed",
    "fails",
    "raises",
    "crashes",
    "prints",
    "tells",
    "leaks",
    "waits",
    "large",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return install(Machine(tmp_path_factory.mktemp("served")))


@pytest.fixture(scope="module")
def service(served: Machine) -> Iterator[HttpService]:
    with HttpService(served.environment, "--workers=3", work=served.work) as service:
        yield service


def call(service: HttpService, era: str, tool: str, arguments: dict[str, Any], **options: Any) -> types.CallToolResult:
    async def made() -> types.CallToolResult:
        heard, level = options.pop("heard", None), options.pop("level", None)
        async with connected(service.url, era, heard, level=level) as client:
            return await client.call_tool(tool, arguments, **options)

    return asyncio.run(made())


@pytest.mark.parametrize("era", ERAS)
def test_all_tools_that_are_well_are_listed_with_closed_schemas(era: str, service: HttpService) -> None:
    async def listed() -> list[types.Tool]:
        async with connected(service.url, era) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(listed())}
    assert set(tools) >= NAMES
    assert "broken" not in tools
    assert tools["echo"].input_schema["additionalProperties"] is False
    assert set(tools["echo"].input_schema["properties"]) == {"text", "n"}
    assert tools["echo"].description == "Does something."
    assert tools["echo"].title == "Echo of a text"
    assert _hints(tools["echo"]) == {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}
    assert (tools["fails"].title, _hints(tools["fails"])) == (None, {})
    assert _hints(tools["large"]) == {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}
    assert "Not served: broken (broken): broken of dist-broken 1.0 cannot be loaded" in service.told


def _hints(tool: types.Tool) -> dict[str, bool]:
    return tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}


CALLS = [
    ("echo", {"text": "Grüße \u2028 \U0001f600", "n": 3}),
    ("echo", {"text": "", "n": 0}),
    ("echo", {"n": 1.5}),
    ("echo", {"n": "many", "other": 1}),
    ("echo", {}),
    ("computed", {"city": "Oslo"}),
    ("computed", {"city": 5}),
    ("fails", {}),
    ("raises", {}),
    ("crashes", {}),
    ("prints", {}),
    ("leaks", {}),
    ("leaks", {"fail": True}),
]


def test_the_text_is_the_document_of_the_executable_byte_for_byte(service: HttpService, served: Machine) -> None:
    async def called(era: str) -> list[types.CallToolResult]:
        async with connected(service.url, era) as client:
            return [await client.call_tool(tool, arguments) for tool, arguments in CALLS]

    expected = [served.ferrule("run", tool, json.dumps(arguments)) for tool, arguments in CALLS]
    for era in ERAS:
        for made, result, shown in zip(CALLS, asyncio.run(called(era)), expected, strict=True):
            assert text_of(result) == shown.out.removesuffix("\n"), (era, made)
            assert result.structured_content == shown.document, (era, made)
            assert result.is_error == (shown.code != 0), (era, made)


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(era: str, service: HttpService) -> None:
    async def both() -> list[MCPError]:
        async with connected(service.url, era) as client:
            return [await error_of(client.call_tool(name, {})) for name in ("nothing", "broken")]

    nothing, broken = (error.error for error in asyncio.run(both()))
    assert (nothing.code, nothing.message) == (types.INVALID_PARAMS, "Unknown tool: 'nothing'.")
    assert broken.code == types.INVALID_PARAMS
    assert broken.message.startswith("The tool 'broken' is not served: broken of dist-broken 1.0 cannot be loaded")


async def error_of(request: Awaitable[object]) -> MCPError:
    from mcp import MCPError

    with pytest.raises(MCPError) as error:
        await request
    return error.value


@pytest.mark.parametrize("text", ["NaN", "1e999", '"\\ud800"'])
def test_arguments_that_are_no_json_are_invalid_input(text: str, service: HttpService) -> None:
    params = json.dumps({"_meta": META, "name": "echo", "arguments": {"text": "@"}}).replace('"@"', text)
    body = f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {params}}}'
    status, answer = service.post_bytes(body.encode(), **{"Mcp-Method": "tools/call", "Mcp-Name": "echo"})
    refused = status == 400 and "error" in json.loads(answer)
    assert refused or json.loads(answer)["result"]["structuredContent"]["error_code"] == "INVALID_INPUT"


@pytest.mark.parametrize("era", ERAS)
def test_a_crash_costs_one_call(era: str, service: HttpService) -> None:
    async def both() -> list[types.CallToolResult]:
        async with connected(service.url, era) as client:
            return [await client.call_tool(name, {}) for name in ("crashes", "echo")]

    crashed, after = asyncio.run(both())
    assert crashed.is_error
    assert "ended its process with exit code 3" in text_of(crashed)
    assert after.structured_content == {"got": {}}


@pytest.mark.parametrize("era", ERAS)
def test_events_are_log_messages_and_progress(era: str, service: HttpService) -> None:
    heard, progress = Heard(), []

    async def told(value: float, total: float | None, message: str | None) -> None:
        progress.append((value, total, message))

    result = call(service, era, "tells", {}, heard=heard, level="info", progress_callback=told)
    assert not result.is_error
    assert heard.logs == [
        ("tells", "info", {"kind": ["odd"], "event": {}}),
        ("tells", "warning", {"kind": "config_required", "content": "Set a key."}),
        ("tells", "error", {"event": "note", "level": "error", "content": "bad"}),
        ("tells", "info", {"event": "note", "level": "loud", "content": "usual"}),
    ]
    assert progress == [(1, 3, "begun"), (2, None, None)]


@pytest.mark.slow
def test_log_messages_come_from_the_level_on_that_is_asked_for(service: HttpService) -> None:
    heard = Heard()
    call(service, MODERN, "tells", {}, heard=heard, level="error")
    assert [level for _, level, _ in heard.logs] == ["error"]

    heard = Heard()
    call(service, MODERN, "tells", {}, heard=heard)
    assert heard.logs == []

    heard = Heard()
    call(service, MODERN, "prints", {}, heard=heard, level="debug")
    assert heard.logs == [("prints", "debug", {"printed": "to stdout\n"})]


@pytest.mark.parametrize("fail", [False, True])
def test_no_credential_is_on_the_wire(fail: bool, service: HttpService) -> None:
    params = {
        "name": "leaks",
        "arguments": {"fail": fail},
        "_meta": {"io.modelcontextprotocol/logLevel": "debug", "progressToken": "t"},
    }
    status, wire = service.post("tools/call", params)
    assert status == 200
    assert wire.count("notifications/message") == 2
    assert wire.count("notifications/progress") == 1
    assert "the key is" in wire
    assert "printed" in wire
    assert ("cannot use" if fail else "Bearer ") in wire
    assert SECRET not in wire
    assert SECRET not in service.told


@pytest.mark.parametrize("era", ERAS)
def test_a_large_result_is_a_link_that_can_be_read_as_long_as_it_lives(era: str, service: HttpService) -> None:
    async def both() -> tuple[types.CallToolResult, types.ReadResourceResult]:
        async with connected(service.url, era) as client:
            result = await client.call_tool("large", {"topic": era})
            return result, await client.read_resource(link_of(result).uri)

    result, read = asyncio.run(both())
    document, link, contents = result.structured_content, link_of(result), read.contents[0]
    assert document["linked"] is True
    assert (link.uri, link.size) == (document["resource"], document["bytes"])
    assert link.meta == {"ferrule/expiresAt": document["expiresAt"]}
    assert isinstance(contents, types.TextResourceContents)
    assert json.loads(contents.text) == {"title": "Much", "text": "x" * 40_000}
    assert contents.meta == {"ferrule/expiresAt": document["expiresAt"]}
    assert link.mime_type == contents.mime_type == "application/json"
    if era == MODERN:
        assert 0 < read.ttl_ms <= 1_800_000


def link_of(result: types.CallToolResult) -> types.ResourceLink:
    (link,) = (block for block in result.content if isinstance(block, types.ResourceLink))
    return link


@pytest.mark.parametrize(("era", "code"), [(LEGACY, -32002), (MODERN, -32602)])
@pytest.mark.parametrize("uri", ["research://artifact/" + "0" * 64, "research://artifact/x", "file:///etc/passwd"])
def test_what_is_no_artifact_is_not_found(uri: str, era: str, code: int, service: HttpService) -> None:
    async def read() -> MCPError:
        async with connected(service.url, era) as client:
            return await error_of(client.read_resource(uri))

    error = asyncio.run(read()).error
    assert error.code == code
    assert error.message.startswith("artifact not found (it may have expired): ")


def test_the_template_of_artifacts_is_listed_and_no_artifact_is(service: HttpService) -> None:
    async def listed() -> tuple[types.ListResourceTemplatesResult, types.ListResourcesResult]:
        async with connected(service.url, MODERN) as client:
            return await client.list_resource_templates(), await client.list_resources()

    templates, resources = asyncio.run(listed())
    assert [one.uri_template for one in templates.resource_templates] == ["research://artifact/{sha256}"]
    assert resources.resources == []


@pytest.mark.parametrize("era", ERAS)
def test_a_call_that_its_client_leaves_is_ended_with_all_that_it_started(
    era: str, service: HttpService, served: Machine
) -> None:
    mark = served.work / f"left-{era}"

    async def leave() -> None:
        async with connected(service.url, era) as client:
            await leave_a_call(client, mark)

    asyncio.run(leave())
    for process in map(int, mark.read_text().split()):
        wait_until(lambda process=process: not is_alive(process), "the end of the call's processes")
    assert not call(service, MODERN, "echo", {}).is_error


def test_a_tool_sees_what_its_executable_sees(service: HttpService, served: Machine) -> None:
    seen = call(service, MODERN, "sees", {}).structured_content
    executed = served.ferrule("run", "sees", "{}").document
    assert seen["cwd"] == executed["cwd"]
    assert set(seen["names"]) ^ set(executed["names"]) <= {"FERRULE_WRAPPERS_DEFAULT", "LC_CTYPE", "PWD"}


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_many_calls_at_one_time_are_all_answered(era: str, service: HttpService) -> None:
    async def all_of_them() -> list[types.CallToolResult]:
        async with connected(service.url, era) as client:
            return await asyncio.gather(*(client.call_tool("echo", {"n": number}) for number in range(1, 21)))

    results = asyncio.run(all_of_them())
    assert [result.structured_content for result in results] == [{"got": {"n": number}} for number in range(1, 21)]


@pytest.mark.slow
def test_many_calls_leave_no_processes_and_no_descriptors(service: HttpService) -> None:
    async def call_many(times: int) -> None:
        async with connected(service.url, MODERN) as client:
            turns = iter(range(1, times + 1))
            await asyncio.gather(*(caller(client, turns) for _ in range(20)))

    async def caller(client: Client, turns: Iterator[int]) -> None:
        for number in turns:
            result = await client.call_tool("echo", {"n": number})
            assert result.structured_content == {"got": {"n": number}}

    asyncio.run(call_many(60))
    spare = 8  # connections and copies that wait for the next call come and go; 300 calls would leave more
    most = [number + spare for number in held_by(service)]
    asyncio.run(call_many(300))
    wait_until(lambda: all(map(le, held_by(service), most)), "the end of what the calls had opened")


def held_by(service: HttpService) -> tuple[int, int]:
    """Open descriptors of the server, and processes."""
    process = service.process.pid
    return len(list(Path(f"/proc/{process}/fd").iterdir())), len(descendants(process))


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [("Origin", "http://evil.example", 403), ("Origin", "null", 403), ("Host", "evil.example", 421)],
)
def test_a_page_of_somebody_else_is_refused(header: str, value: str, status: int, service: HttpService) -> None:
    assert service.post("tools/list", {}, **{header: value})[0] == status
    assert service.post("tools/list", {}, Origin="http://localhost:3000")[0] == 200


def test_a_body_that_is_too_large_is_refused_before_it_is_read(service: HttpService) -> None:
    place = urlsplit(service.url)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=60)
    connection.putrequest("POST", place.path)
    for name, value in (("Content-Type", "application/json"), ("Content-Length", "2000000")):
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.slow
def test_nothing_is_left_of_a_service_that_has_ended(served: Machine) -> None:
    with HttpService(served.environment, "echo", work=served.work) as service:
        assert not call(service, MODERN, "echo", {}).is_error
        others = descendants(service.process.pid)
        assert others
        service.process.terminate()
        assert service.process.wait(60) == 0
    assert not [process for process in others if is_alive(process)]
