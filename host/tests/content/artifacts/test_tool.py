"""`artifact-read-tool` gives every byte of what was stored, each once, and finds things in it without hanging."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ferrule.content import items_in
from ferrule.content.artifacts import ArtifactStore, Label, Settings
from ferrule.content.artifacts.handles import digest, uri
from ferrule.plugin.hooks.context import Context
from ferrule.wrappers.artifacts import tool
from ferrule.wrappers.artifacts.grep import matching
from ferrule_dev import testing
from ferrule_testkit.effort import examples
from ferrule_testkit.runs import Run, run_tool
from ferrule_testkit.schemas.declared_results import require_declared_shape

WORDS = json.dumps({"text": " ".join(f"wörd{number}" for number in range(20_000))}, ensure_ascii=False).encode()
LINES = b"first line\nsecond has tea\nthird\ntea and more tea\n"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(300)
HEAD = {"success": True, "resource": uri("0" * 64), "mimeType": "application/json"}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def read(state: Path) -> Any:
    """Call the executable: `read(resource, grep="tea")`, in a fork; stdout is one JSON document, or the test fails."""

    def read(resource: str, /, environ: dict[str, str] | None = None, **arguments: Any) -> Run:
        run = run_tool(
            "artifact_read",
            {"resource": resource, **arguments},
            environ={"FERRULE_STATE": str(state), "FERRULE_CONFIG": str(state / "config.toml"), **(environ or {})},
        )
        if run.exit_code == 0:
            require_declared_shape("artifact_read", run.document)
        return run

    return read


def put(state: Path, body: bytes, seconds: int = 1000) -> str:
    """Store a body; its handle."""
    name = digest(body)
    ArtifactStore(Settings(lambda key, variable: None), str(state / "artifacts")).put(name, body, seconds)
    return uri(name)


def whole(read: Any, resource: str, **arguments: Any) -> tuple[str, int]:
    """The text of all pages, and how many pages it took."""
    text, offset, pages = "", 0, 0
    while offset is not None:
        document = read(resource, offset=offset, **arguments).document
        assert document["success"] is True
        assert document["offset"] == offset == len(text)
        text += document["content"]
        offset = document.get("next_offset")
        pages += 1
        assert offset is None or offset == len(text)
    assert document["total"] == len(text)
    return text, pages


def context(max_bytes: int = 65_534) -> Context:
    return Context("artifact_read", time.monotonic() + 60, max_bytes=max_bytes)


@pytest.mark.process
def test_a_small_artifact_comes_whole(state: Path, read: Any) -> None:
    body = '{"text":"Ünïcode 😀 \\" \\\\ and é"}'.encode()
    resource = put(state, body)
    run = read(resource)
    assert run.exit_code == 0
    assert run.document == {
        "success": True,
        "resource": resource,
        "mimeType": "application/json",
        "content": body.decode(),
        "offset": 0,
        "total": len(body.decode()),
    }
    assert read(resource.rpartition("/")[2]).document == run.document, "the digits alone do as well"


@pytest.mark.slow
@pytest.mark.process
def test_the_pages_of_a_large_artifact_are_its_bytes(state: Path, read: Any) -> None:
    body = json.dumps({"text": 'é😀"\\\x07\u2028 plain' * 20_000}, ensure_ascii=False).encode()
    text, pages = whole(read, put(state, body))
    assert text.encode() == body
    assert pages > 5


@pytest.mark.slow
@pytest.mark.process
def test_one_line_of_a_million_bytes_is_read_by_pages(state: Path, read: Any) -> None:
    body = b'{"text":"' + os.urandom(500_000).hex().encode() + b'"}'
    text, pages = whole(read, put(state, body))
    assert text.encode() == body
    assert pages < len(body) / 65_000 + 2, "pages are as large as the client takes them"


@pytest.mark.process
def test_a_limit_is_kept(state: Path, read: Any) -> None:
    text, pages = whole(read, put(state, WORDS[:5000] + b'"}'), limit=1000)
    assert text.encode() == WORDS[:5000] + b'"}'
    assert pages == -(-len(text) // 1000)


@pytest.mark.process
@pytest.mark.parametrize("limit", [1, 7, 65_534, 10**9])
def test_any_page_is_that_part_of_the_text(limit: int, state: Path, read: Any) -> None:
    document = read(put(state, WORDS), offset=100_000, limit=limit).document
    assert document["content"] == WORDS.decode()[100_000 : document.get("next_offset")]
    assert len(document["content"]) == min(limit, len(document["content"])) > 0


@pytest.mark.process
def test_what_strict_mode_fills_in_means_the_whole(state: Path, read: Any) -> None:
    resource = put(state, LINES)
    assert read(resource, offset=0, limit=0, grep="").document["content"] == LINES.decode()


@pytest.mark.process
def test_the_end_is_an_empty_page_and_what_is_past_it_an_error(state: Path, read: Any) -> None:
    resource = put(state, LINES)
    at_end = read(resource, offset=len(LINES)).document
    assert (at_end["content"], "next_offset" in at_end) == ("", False)
    past = read(resource, offset=len(LINES) + 1)
    assert past.document["error_code"] == "INVALID_INPUT"
    assert f"the artifact has {len(LINES)} characters" in past.document["error"]
    assert past.exit_code == 1


@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), room=st.integers(270, 700))
def test_pages_of_any_text_are_the_text(text: str, room: int) -> None:
    text = text * 9
    read, offset = "", 0
    while True:
        answer = tool.cut_page(HEAD, text, offset, None, context(room))
        assert context().size(answer) <= room
        read += answer["content"]
        if "next_offset" not in answer:
            break
        assert answer["next_offset"] > offset
        offset = answer["next_offset"]
    assert read == text


@pytest.mark.slow
@pytest.mark.process
@settings(max_examples=examples(30), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=st.text(st.sampled_from("ab \n😀"), max_size=60),
    expression=st.sampled_from(["a", "a+", "b*", "^a", "b$", "(?<=a)b", "[^a]", ".", "a|b", "😀.", "x", r"\Aa"]),
    limit=st.integers(1, 5),
)
def test_matches_over_all_pages_are_those_of_one_search(text: str, expression: str, limit: int) -> None:
    import re

    found, offset = [], 0
    while offset is not None:
        answer = matching(HEAD, text, expression, offset, limit, context())
        assert len(answer["matches"]) <= limit
        found += [match["offset"] for match in answer["matches"]]
        offset = answer.get("next_offset")
    assert found == [one.start() for one in re.finditer(expression, text, re.MULTILINE) if one.group()]


@pytest.mark.process
def test_grep_tells_the_line_the_place_and_what_stands_around(state: Path, read: Any) -> None:
    resource = put(state, LINES)
    document = read(resource, grep="tea").document
    assert document == {
        "success": True,
        "resource": resource,
        "mimeType": "application/json",
        "matches": [
            {"line": 2, "offset": 22, "content": "second has tea"},
            {"line": 4, "offset": 32, "content": "tea and more tea"},
            {"line": 4, "offset": 45, "content": "tea and more tea"},
        ],
        "offset": 0,
        "total": len(LINES),
    }
    for match in document["matches"]:
        assert read(resource, offset=match["offset"], limit=3).document["content"] == "tea"


@pytest.mark.process
def test_grep_in_one_long_line_shows_a_part_of_it(state: Path, read: Any) -> None:
    document = read(put(state, WORDS), grep=r"wörd1234\b").document
    (match,) = document["matches"]
    assert match["line"] == 1
    assert WORDS.decode()[match["offset"] :].startswith("wörd1234 ")
    assert "wörd1233 wörd1234 wörd1235" in match["content"]
    assert len(match["content"]) < 400


@pytest.mark.slow
@pytest.mark.process
def test_grep_goes_on_where_it_stopped(state: Path, read: Any) -> None:
    resource = put(state, WORDS)
    offset: int | None = 0
    found: list[int] = []
    while offset is not None:
        document = read(resource, grep=r"wörd\d*7\b", offset=offset, limit=1500).document
        found += [match["offset"] for match in document["matches"]]
        offset = document.get("next_offset")
    assert len(found) == len(set(found)) == 2000


@pytest.mark.process
def test_a_match_of_everything_is_cut(state: Path, read: Any) -> None:
    document = read(put(state, WORDS), grep=".*").document
    (match,) = document["matches"]
    assert match["offset"] == 0
    assert WORDS.decode().startswith(match["content"])


@pytest.mark.process
def test_nothing_found_is_no_error(state: Path, read: Any) -> None:
    document = read(put(state, WORDS), grep="coffee").document
    assert (document["success"], document["matches"]) == (True, [])


@pytest.mark.process
@pytest.mark.parametrize("expression", ["(", "[a", "a{2,1}", "(?P<x>", "*", "(?z)", "a" + "(" * 5000, "\\"])
def test_what_is_no_expression_is_said(expression: str, state: Path, read: Any) -> None:
    document = read(put(state, LINES), grep=expression).document
    assert document["error_code"] == "INVALID_INPUT"
    assert "grep: it is no regular expression" in document["error"]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("expression", [r"(w+)+$x", r"(?s).*.*.*.*.*x"])
def test_an_expression_that_takes_years_is_ended(expression: str, state: Path, read: Any) -> None:
    patient = {"FERRULE_DEADLINE": "600"}  # it is not the call's own end that ends it
    run = read(put(state, b"w" * 60 + b"a" * 200_000 + b"\n"), patient, grep=expression)
    assert run.document["error_code"] == "INVALID_INPUT"
    assert "takes longer than" in run.document["error"]


@pytest.mark.process
def test_a_search_that_uses_up_the_memory_is_an_error(state: Path, read: Any) -> None:
    run = read(put(state, b"ab" * 3_000_000), {"FERRULE_MEMORY": "120"}, grep="(?:(a)|(b))*c")
    assert run.document["error_code"] == "INVALID_INPUT"
    assert "more memory" in run.document["error"]


@pytest.mark.process
def test_a_search_has_less_memory_than_the_call(state: Path, read: Any) -> None:
    expression = r"\A(?:(a)|(b))*c"  # remembers each repetition: 366 MiB on the larger text, of the 1,024 of the call
    assert read(put(state, b"ab" * 200_000), grep=expression).document["matches"] == []
    assert "more memory" in read(put(state, b"ab" * 1_000_000), grep=expression).document["error"]


NOT_FOUND = [
    "",
    "0" * 64,
    uri("0" * 64),
    "{upper}",
    "research://artifact/{upper}",
    "file://{name}",
    "research://artifact/../artifacts/{name}",
    "{path}",
    "../../../../../../etc/passwd",
    "research://artifact/..%2f..%2fetc%2fpasswd",
    "research://artifact/" + "../" * 20 + "etc",
    "\u0660" * 64,
    "x" * 5000,
    "new\nline",
]


@pytest.mark.process
@pytest.mark.parametrize("resource", NOT_FOUND)
def test_what_is_no_artifact_is_not_found_and_nothing_else_is_told(resource: str, state: Path, read: Any) -> None:
    name = put(state, LINES).rpartition("/")[2]
    path = str(state / "artifacts" / name[:2] / name)
    asked = resource.format(name=name, upper=name.upper(), path=path)
    run = read(asked)
    assert run.exit_code == 1
    shown = uri(asked) if len(asked) == 64 and asked == "0" * 64 else asked[:120]
    assert run.document["success"] is False
    assert run.document["error_code"] == "NOT_FOUND"
    assert run.document["error"].startswith(f"artifact not found (it may have expired): {shown}"[:160])
    assert str(state) not in (run.document["error"] + run.stderr.decode()).replace(shown, "")


@pytest.mark.process
@pytest.mark.parametrize("change", ["expired", "corrupted", "removed", "a-symlink", "unreadable-as-json-text"])
def test_what_has_gone_is_not_found_with_its_uri(change: str, state: Path, read: Any, tmp_path: Path) -> None:
    resource = put(state, WORDS)
    name = resource.rpartition("/")[2]
    path = state / "artifacts" / name[:2] / name
    if change == "expired":
        os.utime(path, (time.time() - 1, time.time() - 1))
    elif change == "corrupted":
        expires = path.stat().st_mtime
        path.write_bytes(WORDS.replace(b"rd1", b"rd2", 1))
        os.utime(path, (expires, expires))
    elif change == "unreadable-as-json-text":
        path.write_bytes(b"\xff" * len(WORDS))
        os.utime(path, (time.time() + 60, time.time() + 60))
    else:
        path.rename(tmp_path / "elsewhere")
        if change == "a-symlink":
            path.symlink_to(tmp_path / "elsewhere")
    run = read(resource)
    assert run.document == {
        "success": False,
        "error": f"artifact not found (it may have expired): {resource}",
        "error_code": "NOT_FOUND",
    }


@pytest.mark.process
def test_another_state_folder_has_other_artifacts(state: Path, read: Any, tmp_path: Path) -> None:
    resource = put(tmp_path / "theirs", LINES)
    assert read(resource).document["error_code"] == "NOT_FOUND"
    assert read(resource, {"FERRULE_STATE": str(tmp_path / "theirs")}).document["content"] == LINES.decode()


@pytest.mark.process
def test_a_redis_that_does_not_answer_is_a_network_error_without_its_url(state: Path, read: Any) -> None:
    pytest.importorskip("hiredis", reason="hiredis is not installed")
    run = read(uri("0" * 64), {"FERRULE_REDIS": "redis://me:hunter2@127.0.0.1:1/0"})
    assert run.document["error_code"] == "NETWORK_ERROR"
    assert "hunter2" not in json.dumps(run.document) + run.stderr.decode()


@pytest.mark.process
def test_the_redis_of_the_wrappers_table_is_the_one_that_is_read(state: Path, read: Any) -> None:
    pytest.importorskip("hiredis", reason="hiredis is not installed")
    state.mkdir()
    (state / "config.toml").write_text('[wrappers.artifacts]\nredis = "redis://127.0.0.1:1/0"\n')
    assert read(uri("0" * 64)).document["error_code"] == "NETWORK_ERROR"


@pytest.mark.process
@pytest.mark.parametrize(
    ("label", "body", "shown"),
    [
        pytest.param(Label("image/png", "a.png"), PNG, ("image", "image/png", "a.png"), id="image"),
        pytest.param(Label("audio/wav"), b"RIFF\xff", ("audio", "audio/wav", None), id="audio"),
        pytest.param(Label("text/plain"), b"\xff\xfe no text", ("file", "text/plain", None), id="text-that-is-none"),
        pytest.param(None, b"\xff\xfe no text", ("file", "application/octet-stream", None), id="no-label"),
    ],
)
def test_what_is_no_text_is_described_with_the_place_of_its_file(
    label: Label | None, body: bytes, shown: tuple[str, str, str | None], state: Path, read: Any
) -> None:
    settings = Settings(lambda key, variable: None)
    store, name = ArtifactStore(settings, str(state / "artifacts")), digest(body)
    if label is None:
        store.put(name, body, 1000)
    else:
        store.keep(body, label, 1000)
    document = read(uri(name), offset=5, grep="tea").document
    facts, item = document["content"]
    assert facts["value"] == {"success": True, "resource": uri(name), "mimeType": shown[1], "bytes": len(body)}
    assert (item["type"], item["mimeType"], item.get("name")) == shown
    assert (item["resource"], item["bytes"]) == (uri(name), len(body))
    assert Path(item["path"]).read_bytes() == body
    assert items_in(document) == [facts, item]


@pytest.mark.process
def test_a_file_of_text_is_read_by_pages_with_its_own_type(state: Path, read: Any) -> None:
    settings = Settings(lambda key, variable: None)
    ArtifactStore(settings, str(state / "artifacts")).keep(LINES, Label("text/csv", "a.csv"), 1000)
    document = read(uri(digest(LINES)), limit=10).document
    assert (document["mimeType"], document["content"], document["next_offset"]) == ("text/csv", "first line", 10)
    assert read(uri(digest(LINES)), grep="^second").document["matches"][0]["line"] == 2


@pytest.mark.process
def test_the_schema_that_is_printed_is_the_hooks_and_holds_every_rule() -> None:
    assert testing.schema_of("artifact_read") == tool.schema()
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "ferrule", "validate", "--strict", "artifact_read"]
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
