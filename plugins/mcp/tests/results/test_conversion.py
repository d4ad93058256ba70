"""Results of servers, as results of tools."""

import base64
import json
from typing import Any

import pytest

from ferrule import Audio, File, Image, ToolError
from ferrule_mcp.results import blocks
from ferrule_mcp.results.conversion import read_result
from ferrule_mcp.results.repetition import describes_files

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
NO_BASE64 = "[The server sent an image whose data is no base64"


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def read(*blocks: object, **others: Any) -> Any:
    return read_result({"content": list(blocks), **others})


@pytest.mark.parametrize(
    ("result", "read_as"),
    [
        pytest.param({"content": [text("hello")]}, "hello", id="a text"),
        pytest.param({"content": [text('{"a": 1}')]}, '{"a": 1}', id="a text that is json stays a text"),
        pytest.param({"content": [text("a"), text("b")]}, ["a", "b"], id="texts in their order"),
        pytest.param({"content": []}, [], id="nothing"),
        pytest.param({}, [], id="not even content"),
        pytest.param({"content": "text"}, [], id="content that is no list"),
        pytest.param({"content": [7, None, text("a")]}, "a", id="entries that are no blocks"),
        pytest.param({"content": [text("a")], "isError": False, "_meta": {"x": 1}}, "a", id="no error, and meta"),
        pytest.param({"toolResult": {"a": 1}}, {"a": 1}, id="the first release"),
        pytest.param({"toolResult": "a"}, {"result": "a"}, id="the first release, a text"),
    ],
)
def test_a_result_without_structure(result: dict[str, Any], read_as: object) -> None:
    assert read_result(result) == read_as


@pytest.mark.parametrize(
    ("blocks", "structured", "read_as"),
    [
        pytest.param([text('{"a": [1, 2]}')], {"a": [1, 2]}, {"a": [1, 2]}, id="the same object"),
        pytest.param([text('{\n  "a": 1\n}\n')], {"a": 1}, {"a": 1}, id="the same, indented"),
        pytest.param([text("plain")], {"result": "plain"}, {"result": "plain"}, id="its only value, a text"),
        pytest.param([text("plain\n")], {"content": "plain"}, {"content": "plain"}, id="but for the line end"),
        pytest.param([text("42")], {"result": 42}, {"result": 42}, id="its only value, a number"),
        pytest.param([text("true")], {"ok": True}, {"ok": True}, id="its only value, true"),
        pytest.param([text("[1, 2]")], {"result": [1, 2]}, {"result": [1, 2]}, id="its only value, a list"),
        pytest.param([text("a"), text("b")], {"r": ["a", "b"]}, {"r": ["a", "b"]}, id="its only value, in pieces"),
        pytest.param([text('{"n": 1}'), text('{"n": 2}')], {"r": [{"n": 1}, {"n": 2}]}, {"r": [{"n": 1}, {"n": 2}]},
                     id="objects in pieces"),
        pytest.param([], {"a": 1}, {"a": 1}, id="nothing beside"),
        pytest.param([text("[1]")], [1], {"result": [1]}, id="a list becomes an object"),
        pytest.param([text("b")], {"r": ["a"]}, ["b", {"r": ["a"]}], id="another piece"),
        pytest.param([text("There are 2.")], {"n": 2}, ["There are 2.", {"n": 2}], id="words of its own"),
        pytest.param([text("a"), text('{"n": 2}')], {"n": 2}, ["a", {"n": 2}], id="words and the same"),
        pytest.param([text("{broken")], {"n": 2}, ["{broken", {"n": 2}], id="no json"),
        pytest.param([text("1")], {"a": None}, ["1", {"a": None}], id="null is no text"),
    ],
)  # fmt: skip
def test_structured_content_is_given_once(blocks: list[Any], structured: object, read_as: object) -> None:
    assert read(*blocks, structuredContent=structured) == read_as


def test_files_are_given_and_not_their_base64_once_more() -> None:
    picture = {"type": "image", "data": encode(PNG), "mimeType": "image/png"}
    (item,) = read({**picture, "annotations": {"priority": 1}}, structuredContent={"content": [picture]})
    assert item.read() == PNG
    other = {"content": [{**picture, "data": "AAAA"}]}
    assert read(picture, structuredContent=other)[1] == other
    assert read(text("a"), structuredContent={"content": [text("a")]}) == ["a", {"content": [text("a")]}]


@pytest.mark.parametrize(
    ("schema", "is_so"),
    [
        ({"type": "object", "properties": {"content": {"type": "array", "items": {"properties": {
            "type": {"const": "image"}, "data": {"type": "string"}, "mimeType": {"type": "string"}}}}}}, True),
        ({"properties": {"blob": {"type": "string"}, "mimeType": {"type": "string"}, "t": {"enum": ["audio"]}}}, True),
        ({"properties": {"data": {"type": "string"}, "kind": {"enum": ["image"]}}}, False),
        ({"properties": {"content": {"type": "string"}}}, False),
        ({}, False),
    ],
)  # fmt: skip
def test_a_schema_of_files_in_base64_is_none_of_the_result(schema: dict[str, Any], is_so: bool) -> None:
    assert describes_files(schema) is is_so


@pytest.mark.parametrize(
    "structured",
    [{"success": False, "error": "no"}, {"error": True, "message": "no"}, {"success": True, "content": []}],
)
def test_an_object_that_reads_like_the_host_s_own_answer_is_an_item(structured: dict[str, Any]) -> None:
    assert read(structuredContent=structured) == [structured]


def test_objects_next_to_structured_content_are_texts_so_that_it_is_the_only_one() -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
    first, second = read(link, structuredContent={"n": 1})
    assert json.loads(first) == link
    assert second == {"n": 1}


@pytest.mark.parametrize(("kind", "made"), [("image", Image), ("audio", Audio)])
@pytest.mark.parametrize("family", ["image/png", "audio/wav", "video/mp4", None])
def test_pictures_and_sounds_are_what_their_media_type_says(kind: str, made: type, family: str | None) -> None:
    block = {"type": kind, "data": encode(PNG)} | ({"mimeType": family} if family else {})
    (item,) = read(block)
    expected = {"image": Image, "audio": Audio}.get((family or "").partition("/")[0], File)
    assert type(item) is expected
    assert item.read() == PNG
    assert not family or item.media_type == family


@pytest.mark.parametrize(
    "data",
    [
        encode(b"\xfb\xff\xfe"),
        base64.urlsafe_b64encode(b"\xfb\xff\xfe").decode(),
        "data:image/png;base64," + encode(b"\xfb\xff\xfe"),
        "\n".join(encode(b"\xfb\xff\xfe")),
    ],
)
def test_base64_is_read_in_each_spelling(data: str) -> None:
    (item,) = read({"type": "image", "data": data, "mimeType": "image/png"})
    assert item.read() == b"\xfb\xff\xfe"


def test_padding_may_be_missing() -> None:
    (item,) = read({"type": "image", "data": encode(b"four").rstrip("="), "mimeType": "image/png"})
    assert item.read() == b"four"


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "image", "data": "no!!", "mimeType": "image/png"}, f"{NO_BASE64}: 4 characters.]"),
        ({"type": "image", "data": "Ü", "mimeType": "image/png"}, f"{NO_BASE64}: 1 characters.]"),
        ({"type": "audio", "mimeType": "audio/wav"}, "[The server sent an audio without data.]"),
        ({"type": "resource", "resource": {"uri": "x:/a"}}, "[The server sent a resource without data.]"),
        ({"type": "hologram", "data": 1, "_meta": {}}, '{"type":"hologram","data":1}'),
        ({"type": "hologram", "data": "x" * 5_000}, "(5,029 characters)"),
        ({"type": "text"}, '{"type":"text"}'),
        ({"type": "resource_link"}, '{"type":"resource_link"}'),
    ],
)  # fmt: skip
def test_a_block_that_is_wrong_or_unknown_is_a_text_about_it(block: dict[str, Any], words: str) -> None:
    (item,) = read(block, text("b"))[:1]
    assert item == words


def test_an_embedded_text_comes_with_where_it_is_from() -> None:
    block = {"uri": "file:///a/b.md", "mimeType": "text/markdown", "text": "# b", "_meta": {"x": 1}}
    assert read({"type": "resource", "resource": block}) == [
        {"type": "resource", "uri": "file:///a/b.md", "mimeType": "text/markdown", "text": "# b"}
    ]


@pytest.mark.parametrize(
    ("uri", "media_type", "kind", "name"),
    [
        ("demo://x/a%20b.gz?v=1#top", "application/gzip", File, "a b.gz"),
        ("demo://x/pic.png", "image/png", Image, "pic.png"),
        ("demo://x/pic", "audio/wav", Audio, "pic"),
        ("demo://x/", None, File, "x"),
        ("", None, File, ""),
    ],
)
def test_an_embedded_blob_is_a_file(uri: str, media_type: str | None, kind: type, name: str) -> None:
    resource = {"uri": uri, "blob": encode(b"body")} | ({"mimeType": media_type} if media_type else {})
    item: Any
    (item,) = read({"type": "resource", "resource": resource})
    assert type(item) is kind
    assert item.name == name
    assert item.read() == b"body"


def test_a_link_keeps_what_a_model_can_use() -> None:
    link = {"type": "resource_link", "uri": "x:/a", "name": "a", "size": 3, "mimeType": "text/plain", "title": "A",
            "description": "An a.", "annotations": {"priority": 1}, "icons": [], "_meta": {}}  # fmt: skip
    kept = {key: link[key] for key in ("type", "uri", "name", "title", "description", "mimeType", "size")}
    assert read(link) == [kept]


def test_far_too_many_blocks_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "_MAX_BLOCKS", 3)
    assert read(*[text("x")] * 5) == ["x", "x", "x", "[2 more blocks are left out.]"]


def test_an_error_result_raises() -> None:
    with pytest.raises(ToolError) as caught:
        read(text("Access denied"), text("to /etc"), isError=True)
    assert (caught.value.code, caught.value.message) == ("TOOL_ERROR", "Access denied\nto /etc")


@pytest.mark.parametrize("value", [1, "true", None])
def test_what_is_not_true_is_no_error(value: object) -> None:
    assert read(text("fine"), isError=value) == "fine"
