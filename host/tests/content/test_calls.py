"""Tools that return text, images and files, as their callers see it: the executable, `ferrule run`, another plugin."""

import json
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.machine import Finished, Machine

pytestmark = pytest.mark.process

PNG = b"\x89PNG\r\n\x1a\n" + bytes(300)
SECRET = "s3cr3t-Value-0815"
_TOP = """\
from ferrule import File, Image

PNG = b"\\x89PNG\\r\\n\\x1a\\n" + bytes(300)

@hookimpl
def credentials():
    return [Credential("key", environment="CHARTS_KEY", path="charts.key", url="nowhere")]
"""
_EXECUTE = """\
what = arguments["what"]
    key = context.credential("key") if what.startswith("secret") else ""
    if what == "all":
        return ["Sales of May\\x1b[31m", {"sum": 12}, Image(PNG, name="may.png"), File(__file__)]
    if what == "large file":
        return File(b"\\xff" * 8_000_000)
    if what == "large text":
        return ["x" * 70_000, Image(PNG)]
    if what == "secret text":
        return [f"The key is {key}.", {"key": key}, File(f"key,{key}".encode(), "text/csv")]
    if what == "secret image":
        return Image(PNG + key.encode())
    if what == "nan":
        return {"number": float("nan")}
    return "Only text."
"""
WHAT = {"what": {"type": "string", "description": "What to return."}}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    machine = Machine(tmp_path_factory.mktemp("content")).uncover_the_host()
    machine.install("charts", properties=WHAT, top=_TOP, execute=_EXECUTE)
    machine.environment["CHARTS_KEY"] = SECRET
    return machine


def ask(machine: Machine, what: str, **environment: str) -> Finished:
    return machine.ferrule("run", "charts", json.dumps({"what": what}), environment=environment)


def test_text_alone_is_one_item(machine: Machine) -> None:
    done = ask(machine, "text")
    assert (done.code, done.err) == (0, "")
    assert done.document == {"success": True, "content": [{"type": "text", "text": "Only text."}]}


@pytest.mark.parametrize("wrappers", ["", "artifacts,timing", "cache,artifacts"])
def test_the_answer_names_each_file_with_its_handle_type_size_and_path(wrappers: str, machine: Machine) -> None:
    done = ask(machine, "all", FERRULE_WRAPPERS=wrappers)
    text, value, image, file = done.document["content"]
    assert (done.code, done.err) == (0, "")
    assert text == {"type": "text", "text": "Sales of May\x1b[31m"}
    assert value == {"type": "json", "value": {"sum": 12}}
    assert (image["type"], image["mimeType"], image["name"], image["bytes"]) == ("image", "image/png", "may.png", 308)
    assert Path(image["path"]).read_bytes() == PNG
    assert Path(file["path"]).read_text() == (machine.site / "module_charts.py").read_text()
    read = machine.ferrule("run", "artifact_read", f"resource={image['resource']}")
    assert read.document["content"][0]["value"]["bytes"] == 308
    assert {**read.document["content"][1], "expiresAt": ""} == {**image, "expiresAt": ""}


def test_a_terminal_shows_texts_and_where_files_are_and_obeys_nothing_in_them(machine: Machine) -> None:
    content = ask(machine, "all").document["content"]
    shown = machine.on_terminal("run", "charts", "what=all").out.replace("\r\n", "\n")
    lines = shown.splitlines()
    assert lines[:4] == ["Sales of May\\u001b[31m", "{", '  "sum": 12', "}"]
    assert lines[4] == f"image (may.png, image/png, 308 bytes): {content[2]['path']}"
    assert lines[5].endswith(f" bytes): {content[3]['path']}")
    assert json.loads(machine.on_terminal("run", "charts", "what=text", "--json").out)["content"][0]["type"] == "text"


def test_megabytes_are_a_file_and_never_in_the_answer(machine: Machine) -> None:
    done = ask(machine, "large file")
    (item,) = done.document["content"]
    assert (item["bytes"], item["mimeType"], len(done.out) < 600) == (8_000_000, "application/octet-stream", True)
    assert Path(item["path"]).stat().st_size == 8_000_000


def test_too_much_text_is_linked_where_artifacts_are_on_and_told_where_they_are_not(machine: Machine) -> None:
    assert "more than the 65,534" in ask(machine, "large text").document["error"]
    linked = ask(machine, "large text", FERRULE_WRAPPERS="artifacts").document
    assert linked["linked"] is True
    assert linked["summary"].endswith("Items: 1 text, 1 image. Read it with artifact_read.")


def test_a_credential_is_in_no_item_and_in_no_file(machine: Machine) -> None:
    done = ask(machine, "secret text", FERRULE_WRAPPERS="artifacts")
    text, value, file = done.document["content"]
    assert text["text"] == "The key is [redacted]."
    assert value["value"] == {"key": "[redacted]"}
    assert Path(file["path"]).read_bytes() == b"key,[redacted]"
    refused = ask(machine, "secret image")
    assert (refused.code, refused.document["error_code"]) == (1, "INTERNAL_ERROR")
    assert "holds a credential, and is not given" in refused.document["error"]
    state = machine.home / ".local/state/ferrule/artifacts"
    kept = [path.read_bytes() for path in state.rglob("*") if path.is_file()]
    assert kept
    assert not any(SECRET.encode() in body for body in (*kept, done.out.encode(), refused.out.encode()))


@pytest.mark.parametrize("wrappers", ["", "artifacts"])
def test_where_nothing_can_be_stored_text_still_comes_and_a_file_is_an_error(wrappers: str, machine: Machine) -> None:
    nowhere = {"FERRULE_STATE": "/proc/no", "FERRULE_WRAPPERS": wrappers}
    assert ask(machine, "text", **nowhere).code == 0
    failed = ask(machine, "all", **nowhere)
    assert failed.code == 1
    assert "could not be stored" in failed.document["error"]
    assert "FERRULE_STATE" in failed.document["error"]


def test_another_plugin_gets_the_items_of_a_tool_that_it_calls(machine: Machine) -> None:
    machine.install(
        "asks",
        properties={},
        permissions={"processes": 1, "state": ["artifacts"], "tools": ["charts"]},
        top="from ferrule.content.artifacts import read_artifact\nfrom ferrule.content import items_in\n"
        "from ferrule.installed import run_tool\nimport time",
        execute=(
            "deadline = time.monotonic() + 20\n"
            "    outcome = run_tool('charts', {'what': 'all'}, deadline=deadline, max_bytes=65_536)\n"
            "    import json\n"
            "    items = items_in(json.loads(outcome.result))\n"
            "    return {'types': [one['type'] for one in items], 'bytes': len(read_artifact(items[2]['resource'])[0])}"
        ),
    )
    done: Any = machine.ferrule("run", "asks", "{}").document
    assert done == {"types": ["text", "json", "image", "file"], "bytes": 308}
