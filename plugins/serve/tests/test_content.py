"""Results that are more than text, as the official client reads them: blocks, links, structured content."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from ferrule_testkit.machine import Machine
from ferrule_testkit.serve.sdk import types
from ferrule_testkit.serve.service import ERAS, HttpService, connected, on_stdio, text_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("serve")]

PNG = b"\x89PNG\r\n\x1a\n" + bytes(300)
WAV = b"RIFF\0\0\0\0WAVEfmt " + bytes(64)
RESULT_BYTES, MEDIA_BYTES = 100_000, 20_000
WHAT = {"what": {"type": "string", "description": "What to return."}}
COUNT = {"count": {"type": "integer", "description": "How many letters."}}
SUM = {
    "type": "object",
    "properties": {"sum": {"$ref": "#/$defs/amount"}, "text": {"type": "string"}},
    "required": ["sum"],
    "additionalProperties": False,
}
DECLARED = {**SUM, "$defs": {"amount": {"type": "integer"}}}
_TOP = """\
from ferrule import Audio, File, Image

PNG = b"\\x89PNG\\r\\n\\x1a\\n" + bytes(300)
WAV = b"RIFF\\0\\0\\0\\0WAVEfmt " + bytes(64)
"""
_MEDIA = """\
    return {
        "all": ["Sales", {"sum": 12}, Image(PNG, name="may.png"), Audio(WAV), File(b"a,b\\n", name="t.csv"),
                File(b"\\xff\\xfe", "application/pdf")],
        "large": [Image(PNG + bytes(20_000)), File(b"x" * 100_001, "text/plain", name="long.txt")],
        "many": [Image(PNG + bytes([n]) * 9_000) for n in range(3)],
        "text": "Only text.",
    }[arguments["what"]]
"""
_SEES = """\
    from ferrule import config

    settings = config.read()
    return {"content": dict(settings.content), "off": [name for name in ("adds", "off") if settings.is_disabled(name)]}
"""
_SUM = """\
    return {
        "one": {"sum": 12}, "large": {"sum": 1, "text": "x" * 100_000}, "wrong": {"sum": "12"},
        "failed": {"success": False, "error": "No."},
        "with a picture": [{"sum": 12}, Image(PNG)], "a picture": Image(PNG),
    }[arguments["what"]]
"""


CONFIGURATION = """\
[tools.adds]
key_of_adds = "only for adds"

[tools.off]
enabled = false

[wrappers.artifacts]
seconds = 600
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("content")).uncover_the_host()
    # The processes of calls cannot read it, and go by what they are given of it.
    machine.environment["FERRULE_CONFIG"] = str(machine.home / "config.toml")
    (machine.home / "config.toml").write_text(CONFIGURATION)
    machine.install("sees", execute=_SEES.strip())
    machine.install("media", properties=WHAT, top=_TOP, execute=_MEDIA.strip())
    machine.install("text", properties=COUNT, execute="return {'text': 'x' * arguments['count']}")
    machine.install("adds", properties=WHAT, top=_TOP, execute=_SUM.strip())
    (machine.site / "module_adds.tool.json").write_text(json.dumps({"result_schema": DECLARED}))
    machine.environment["FERRULE_WRAPPERS"] = "artifacts,timing"  # which notes the time in each result
    limits = {"FERRULE_SERVE_RESULT_BYTES": str(RESULT_BYTES), "FERRULE_SERVE_MEDIA_BYTES": str(MEDIA_BYTES)}
    machine.environment.update(limits)
    return machine


@pytest.fixture(scope="module")
def service(served: Machine) -> Iterator[HttpService]:
    with HttpService(served.environment, "--workers=2", work=served.work) as service:
        yield service


def call(service: HttpService, era: str, tool: str, arguments: dict[str, Any]) -> types.CallToolResult:
    async def made() -> types.CallToolResult:
        async with connected(service.url, era) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(made())


def read(service: HttpService, era: str, uri: str) -> types.TextResourceContents | types.BlobResourceContents:
    async def made() -> types.ReadResourceResult:
        async with connected(service.url, era) as client:
            return await client.read_resource(uri)

    (contents,) = asyncio.run(made()).contents
    return contents


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_each_item_is_a_block_of_its_kind(era: str, service: HttpService) -> None:
    result = call(service, era, "media", {"what": "all"})
    text, value, image, audio, table, file = result.content
    assert (result.is_error, result.structured_content) == (False, {"sum": 12})
    assert (text.text, value.text) == ("Sales", '{"sum":12}')  # type: ignore[union-attr] # the kind is known here, and another one fails the test
    assert isinstance(image, types.ImageContent)
    assert (image.mime_type, base64.b64decode(image.data)) == ("image/png", PNG)
    assert isinstance(audio, types.AudioContent)
    assert (audio.mime_type, base64.b64decode(audio.data)) == ("audio/wav", WAV)
    assert isinstance(table, types.EmbeddedResource)
    assert (table.resource.mime_type, table.resource.text) == ("text/csv", "a,b\n")  # type: ignore[union-attr] # the kind is known here, and another one fails the test
    assert isinstance(file, types.EmbeddedResource)
    assert (file.resource.mime_type, file.resource.blob) == ("application/pdf", "//4=")  # type: ignore[union-attr] # the kind is known here, and another one fails the test
    assert call(service, era, "media", {"what": "text"}).content == [types.TextContent(text="Only text.")]


@pytest.mark.slow
def test_a_call_is_given_what_concerns_it_of_the_configuration(service: HttpService) -> None:
    seen = json.loads(text_of(call(service, ERAS[0], "sees", {"city": "Oslo"})))
    tables = {"tools": {"off": {"enabled": False}}, "wrappers": {"artifacts": {"seconds": 600}}}
    assert (seen["content"], seen["off"]) == (tables, ["off"])


def test_a_picture_comes_as_it_is_beside_a_configuration(service: HttpService) -> None:
    result = call(service, ERAS[0], "media", {"what": "all"})
    assert [block.type for block in result.content] == ["text", "text", "image", "audio", "resource", "resource"]


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_file_above_the_limit_is_a_link_to_its_bytes(era: str, service: HttpService) -> None:
    image, text = call(service, era, "media", {"what": "large"}).content
    assert isinstance(image, types.ResourceLink)
    assert isinstance(text, types.ResourceLink)
    assert (image.mime_type, image.size) == ("image/png", len(PNG) + MEDIA_BYTES)
    assert (text.mime_type, text.size, text.name) == ("text/plain", RESULT_BYTES + 1, "long.txt")
    found = read(service, era, image.uri)
    assert (found.mime_type, base64.b64decode(found.blob)) == ("image/png", PNG + bytes(MEDIA_BYTES))  # type: ignore[union-attr] # the kind is known here, and another one fails the test
    assert read(service, era, text.uri).text == "x" * (RESULT_BYTES + 1)  # type: ignore[union-attr] # the kind is known here, and another one fails the test


def test_files_that_are_too_much_together_are_links_from_the_first_that_does_not_fit(service: HttpService) -> None:
    result = call(service, ERAS[0], "media", {"what": "many"})
    assert [block.type for block in result.content] == ["image", "image", "resource_link"]


@pytest.mark.slow
def test_artifact_read_gives_text_by_pages_and_an_image_as_one(service: HttpService) -> None:
    table = call(service, ERAS[1], "media", {"what": "all"}).content[4]
    uri = table.resource.uri  # type: ignore[union-attr] # the kind is known here, and another one fails the test
    assert json.loads(text_of(call(service, ERAS[1], "artifact_read", {"resource": uri})))["content"] == "a,b\n"
    link = call(service, ERAS[1], "media", {"what": "many"}).content[2]
    again = call(service, ERAS[1], "artifact_read", {"resource": link.uri})  # type: ignore[union-attr] # the kind is known here, and another one fails the test
    assert again.is_error is False
    assert again.structured_content is not None
    assert again.structured_content["mimeType"] == "image/png"
    assert base64.b64decode(again.content[1].data) == PNG + b"\2" * 9_000  # type: ignore[union-attr] # the kind is known here, and another one fails the test


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_result_of_any_tool_is_whole_up_to_the_limit_and_linked_above(era: str, service: HttpService) -> None:
    frame = len('{"text":""}')
    whole = call(service, era, "text", {"count": RESULT_BYTES - frame})
    assert len(text_of(whole)) == RESULT_BYTES
    assert whole.structured_content == json.loads(text_of(whole))
    for count in (RESULT_BYTES - frame + 1, 500_000):
        linked = call(service, era, "text", {"count": count})
        assert linked.is_error is False
        assert isinstance(linked.content[1], types.ResourceLink)
        found = read(service, era, linked.content[1].uri)
        assert json.loads(found.text) == {"text": "x" * count}  # type: ignore[union-attr] # the kind is known here, and another one fails the test


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_declared_result_is_structured_and_checked_by_the_client(era: str, service: HttpService) -> None:
    async def asked() -> dict[str, types.CallToolResult]:
        async with connected(service.url, era) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["text"].output_schema is None
            assert tools["adds"].output_schema is not None
            assert tools["adds"].output_schema["anyOf"][0] == SUM
            kinds = ("one", "with a picture", "large", "wrong", "a picture", "failed")
            # The client holds each structured content against the schema that was listed.
            return {what: await client.call_tool("adds", {"what": what}) for what in kinds}

    results = asyncio.run(asked())
    assert [what for what, result in results.items() if result.is_error] == ["wrong", "a picture", "failed"]
    assert results["one"].structured_content == results["with a picture"].structured_content == {"sum": 12}
    assert json.loads(text_of(results["one"]))["_meta"].keys() == {"timing"}
    assert results["large"].structured_content is not None
    assert results["large"].structured_content["linked"] is True
    told = [text_of(results[what]) for what in ("wrong", "a picture")]
    assert told[0] == "The result is not what adds declares as its result_schema: $.sum: '12' is not of type 'integer'."
    assert told[1].endswith("it has no JSON object.")
    assert len(results["failed"].content) == 1
    assert {results[what].structured_content for what in ("wrong", "a picture", "failed")} == {None}


@pytest.mark.slow
@pytest.mark.parametrize("is_script", [False, True], ids=["ferrule-serve", "media-mcp"])
def test_named_tools_come_with_the_reader_of_what_they_may_link_over_stdio(
    is_script: bool, served: Machine, tmp_path: Path
) -> None:
    server = on_stdio(served.environment, "media")
    if is_script:  # the console script of a package with this one tool
        script = tmp_path / "media-mcp"
        script.write_text(f"#!{sys.executable}\nfrom ferrule.cli import serve_tool\nserve_tool()\n")
        script.chmod(0o755)
        server = server.model_copy(update={"command": str(script), "args": []})

    async def asked() -> tuple[set[str], types.CallToolResult]:
        async with connected(server, ERAS[0]) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            return names, await client.call_tool("media", {"what": "all"})

    names, result = asyncio.run(asked())
    assert names == {"media", "artifact_read"}
    assert [block.type for block in result.content] == ["text", "text", "image", "audio", "resource", "resource"]
