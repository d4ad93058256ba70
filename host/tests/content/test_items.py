"""What a tool returns beside objects, and the items that its answer has for it."""

import os
from pathlib import Path
from typing import Any

import pytest

from ferrule import Audio, File, Image
from ferrule.content import items_in
from ferrule.content.artifacts import read_artifact
from ferrule.content.document import answer_of, what_is_wrong
from ferrule.content.items import has_stored
from ferrule.content.media_types import guess, is_text
from ferrule.errors import FerruleError, ResultInvalid, ResultNotStored
from ferrule.wrappers.cache.cached_call import _is_not_cacheable

PNG = b"\x89PNG\r\n\x1a\n" + bytes(300)
WAV = b"RIFF\0\0\0\0WAVEfmt " + bytes(64)
SECRET = "s3cr3t-Value-0815"
HANDLE = f"research://artifact/{'0' * 64}"
STORED = {"type": "image", "resource": HANDLE, "mimeType": "image/png", "bytes": 5, "expiresAt": "2026-01-01T00:00:00Z"}


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("FERRULE_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path / "state"


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("chart.png", b"", "image/png"),
        ("report.pdf", PNG, "application/pdf"),
        ("table.csv.gz", b"", "application/gzip"),
        ("beep.wav", b"", "audio/wav"),
        ("", PNG, "image/png"),
        ("odd name", b"\xff\xd8\xff\xe0" + bytes(300), "image/jpeg"),
        ("name.of-nothing-known", WAV, "audio/wav"),
        ("", b"%PDF-1.7\n" + bytes(300), "application/pdf"),
        ("", "Grüße".encode(), "text/plain"),
        ("", b"\xff\xfe\x00", "application/octet-stream"),
        ("", b"", "application/octet-stream"),
    ],
)
def test_a_media_type_follows_from_the_name_else_from_the_bytes(name: str, data: bytes, media_type: str) -> None:
    assert guess(name, data) == media_type


def test_types_that_are_read_as_text_are_told_from_others() -> None:
    texts = ("text/csv; charset=utf-8", "application/json", "image/svg+xml", "application/ld+json", "TEXT/HTML")
    assert all(map(is_text, texts))
    assert not any(map(is_text, ("image/png", "application/pdf", "application/octet-stream", "audio/wav", "")))


@pytest.mark.parametrize(
    ("returned", "wrong"),
    [
        pytest.param("text", "", id="text"),
        pytest.param([], "", id="nothing"),
        pytest.param(("text", {"a": 1}, Image(PNG)), "", id="tuple"),
        pytest.param([1], "list with int in it", id="number"),
        pytest.param(["text", ["text"]], "list with list in it", id="list-in-list"),
        pytest.param([None], "list with NoneType in it", id="none"),
        pytest.param(b"bytes", "bytes", id="bytes"),
    ],
)
def test_what_is_neither_object_nor_content_is_named(returned: object, wrong: str) -> None:
    assert what_is_wrong(returned) == wrong


def test_each_part_is_an_item_and_bytes_are_kept_under_their_handle(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Notes")
    parts = ["Sales", {"sum": 12}, Image(PNG, name="a.png"), Audio(bytearray(WAV)), File(path), File(str(path))]
    document = answer_of(parts, [])
    text, value, image, audio, file, same = items_in(document) or ()
    assert text == {"type": "text", "text": "Sales"}
    assert value == {"type": "json", "value": {"sum": 12}}
    shown = [(one["type"], one["mimeType"], one.get("name"), one["bytes"]) for one in (image, audio, file)]  # type: ignore[typeddict-item] # the keys of this kind of item
    assert shown == [("image", "image/png", "a.png", 308), ("audio", "audio/wav", None, 80),
                     ("file", "text/markdown", "notes.md", 7)]  # fmt: skip
    assert {**same, "expiresAt": ""} == {**file, "expiresAt": ""}
    for item, body in ((image, PNG), (audio, WAV), (file, b"# Notes")):
        found = read_artifact(item["resource"])  # type: ignore[typeddict-item] # the keys of this kind of item
        assert found is not None
        assert (found[0], found[1].path) == (body, item["path"])  # type: ignore[typeddict-item] # the keys of this kind of item
        assert Path(item["path"]).read_bytes() == body  # type: ignore[typeddict-item] # the keys of this kind of item


def test_a_name_of_any_bytes_is_shown_as_far_as_it_is_legible(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff\x1b[31mgr\xc3\xb6sse.csv")
    path.write_text("a,b")
    (item,) = answer_of(File(path), [])["content"]
    assert (item["name"], item["mimeType"]) == ("\ufffd\ufffd[31mgrösse.csv", "text/csv")
    assert len(answer_of(File(b"x", name="n" * 5000), [])["content"][0]["name"]) == 200


@pytest.mark.parametrize(
    ("name", "shown"), [("../../.bashrc", ".bashrc"), ("C:\\x\\a.csv", "a.csv"), ("folder/", "folder"), ("a/..", None)]
)
def test_a_name_leads_into_no_other_folder(name: str, shown: str | None) -> None:
    (item,) = answer_of(File(b"x", name=name), [])["content"]
    assert item.get("name") == shown


def refused(returned: object, secrets: Any = ()) -> FerruleError:
    with pytest.raises(FerruleError) as raised:
        answer_of(returned, secrets)
    return raised.value


def test_what_cannot_be_given_is_refused_with_the_reason(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.png")
    missing = refused(Image(tmp_path / "none.png"))
    assert isinstance(missing, ResultInvalid)
    assert "cannot be read: No such file or directory" in missing.message
    assert "is no regular file" in refused(Image(tmp_path)).message
    assert "is no regular file" in refused(File(tmp_path / "fifo.png")).message
    assert "cannot be read: embedded null byte" in refused(File("a\0b")).message
    other = refused(Image(b"%PDF-1.7\n" + bytes(300), name="a.pdf"))
    assert other.message == "The tool's image a.pdf is application/pdf."
    assert other.hint == "Name its media type, as in Image(data, 'image/…'), or use File."
    with pytest.raises(TypeError):
        File(5)  # type: ignore[arg-type] # wrong on purpose, or of another shape than the type


def test_a_file_of_more_than_64_mib_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "large.bin").open("wb") as file:
        file.truncate((64 << 20) + 1)
    assert "more than 67,108,864" in refused(File(tmp_path / "large.bin")).message


def test_a_credential_is_taken_out_of_text_and_refused_in_other_bytes(state: Path) -> None:
    key, nothing = SECRET.encode(), list[Path]()
    error = refused(Image(PNG + key, name="a.png"), [SECRET])
    assert error.message == "The tool's image a.png holds a credential, and is not given."
    assert SECRET not in str(error.facts())
    assert [path for path in state.rglob("*") if path.is_file()] == nothing
    (item,) = answer_of(File(b"key=" + key, "text/plain"), [SECRET])["content"]
    assert Path(item["path"]).read_bytes() == b"key=[redacted]"
    (item,) = answer_of(File(b"x", name=f"{SECRET}.csv"), [SECRET])["content"]
    assert item["name"] == "[redacted].csv"
    assert not any(key in path.read_bytes() for path in state.rglob("*") if path.is_file())


def test_where_nothing_can_be_stored_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_STATE", "/proc/no")
    error = refused(Image(PNG))
    assert isinstance(error, ResultNotStored)
    assert error.message.startswith("The tool's image (image/png, 308 bytes) could not be stored: ")
    assert "FERRULE_STATE" in str(error.hint)
    assert answer_of("text", []) == {"success": True, "content": [{"type": "text", "text": "text"}]}


@pytest.mark.parametrize(
    ("document", "is_content"),
    [
        pytest.param({"success": True, "content": []}, True, id="empty"),
        pytest.param({"success": True, "content": [STORED], "_meta": {"timing": {}}}, True, id="with-notes"),
        pytest.param({"success": True, "content": "text"}, False, id="text"),
        pytest.param({"success": True, "content": [STORED], "title": "Tea"}, False, id="other-keys"),
        pytest.param({"success": False, "content": [STORED]}, False, id="failure"),
        pytest.param({"success": True, "content": [{"type": "text"}]}, False, id="no-text"),
        pytest.param({"success": True, "content": [{**STORED, "resource": "file:///etc/passwd"}]}, False, id="path"),
        pytest.param({"success": True, "content": [{**STORED, "type": "video"}]}, False, id="other-type"),
        pytest.param({"success": True, "content": [{"type": "json", "value": 1}]}, False, id="no-object"),
        pytest.param([STORED], False, id="list"),
    ],
)
def test_only_an_answer_of_nothing_but_items_is_read_as_content(document: Any, is_content: bool) -> None:
    assert (items_in(document) is not None) is is_content
    assert has_stored(document) is (is_content and bool(document["content"]))


def test_an_answer_that_names_artifacts_is_not_kept_by_the_cache() -> None:
    assert _is_not_cacheable({"success": True, "content": [STORED]})
    assert not _is_not_cacheable({"success": True, "content": [{"type": "text", "text": "text"}]})
