"""Text that nobody sees, on each of the ways to a client or a model: it is told, and it does not arrive."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ferrule.installed import ALL, InventorySnapshot
from ferrule.schema.providers import FORMATS
from ferrule.text.visibility import may_hide, may_json_hide
from ferrule_testkit.machine import BIN, Finished, Machine
from ferrule_testkit.serve.service import HttpService

TAGS = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
PERSIAN = "\u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \N{WOMAN}\u200d\N{PERSONAL COMPUTER}"


def schema(where: str, hidden: str) -> dict[str, Any]:
    """The schema of alpha with a hidden text in one of the places that a model reads."""
    city: dict[str, Any] = {"type": "string", "description": "A city.", "enum": ["Oslo", "Rome"]}
    made: dict[str, Any] = {"name": "alpha", "description": "Looks.", "parameters": {"type": "object"}}
    name = "city"
    if where == "description":
        made["description"] += hidden
    elif where == "enum":
        city["enum"][1] += hidden
    elif where == "title":
        city["title"] = f"City{hidden}"
    else:
        name += hidden
    made["parameters"]["properties"] = {name: city}
    return made


PLACES = [("description", TAGS), ("enum", "\u202e"), ("title", "\x1b\x9b"), ("name", "\u200b\u200d")]


@pytest.mark.parametrize(("where", "hidden"), PLACES, ids=[place for place, _ in PLACES])
def test_no_form_of_a_provider_is_made_of_a_schema_that_hides_something(where: str, hidden: str) -> None:
    assert all(format_(schema(where, "")) for format_ in FORMATS.values())
    for format_ in FORMATS.values():
        with pytest.raises(ValueError, match="hidden-characters"):
            format_(schema(where, hidden))


def executable(machine: Machine, *arguments: str) -> Finished:
    script = machine.work / "alpha-tool"
    script.write_text(f"#!{BIN / 'python'}\nfrom ferrule.dispatch import main\nmain()\n")
    script.chmod(0o755)
    done = subprocess.run(
        [script, *arguments], input=b"{}", capture_output=True, env=machine.environment, timeout=60, check=False
    )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("is_static", [True, False], ids=["file", "computed"])
@pytest.mark.parametrize(("where", "hidden"), PLACES, ids=[place for place, _ in PLACES])
@pytest.mark.usefixtures("commands")
def test_a_schema_that_hides_something_is_an_error_and_reaches_nobody(
    where: str, hidden: str, is_static: bool, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.install("alpha", schema=schema(where, hidden), static=is_static)
    validated = machine.ferrule("validate", "alpha")
    assert (validated.code, "error hidden-characters" in validated.out) == (1, True)
    outputs = [validated, executable(machine), executable(machine, "--schema")]
    outputs += [
        machine.ferrule(*words)
        for words in (["link", "alpha"], ["list", "--check"], ["schemas", "alpha", "--for", "mcp"])
    ]
    for one in outputs:
        assert one.code == 1
        assert set(hidden).isdisjoint(one.out + one.err)
    assert not (machine.tools / "alpha-tool").exists()
    monkeypatch.setattr(sys, "path", [*sys.path, str(machine.site)])
    (tool,) = InventorySnapshot(["alpha"], machine.environment).document(60)["tools"]
    assert (tool["state"], tool["schema"]) == ("invalid", None)
    with HttpService(machine.environment, work=tmp_path) as service:
        assert '"name":"alpha"' not in service.post("tools/list", {})[1].replace(" ", "")


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.usefixtures("commands")
def test_a_declaration_that_hides_something_keeps_the_tool_out(machine: Machine, tmp_path: Path) -> None:
    machine.install("alpha")
    path = machine.site / "module_alpha.tool.json"
    path.write_text(json.dumps({"title": PERSIAN}))
    assert machine.ferrule("validate", "alpha").code == 0
    path.write_text(json.dumps({"title": "Alpha", "result_schema": {"properties": {f"a{TAGS}": {}}}}))
    told = machine.ferrule("validate", "alpha")
    assert told.code == 1
    assert f"{path} hides something at /result_schema/properties/a<U+E006F>" in told.out
    assert machine.ferrule("link", "alpha").code == 1
    with HttpService(machine.environment, work=tmp_path) as service:
        assert '"name":"alpha"' not in service.post("tools/list", {})[1].replace(" ", "")


@pytest.mark.slow
@pytest.mark.process
def test_a_link_of_an_earlier_version_asks_each_time_and_shows_what_this_version_may_show(machine: Machine) -> None:
    machine.install("alpha", description=f"Looks. {PERSIAN}")
    assert machine.ferrule("link", "alpha").code == 0
    orders = {
        "tool": "alpha",
        "names": {},
        "provider": "",
        "translation": {},
        "config": "/none",
        "marks": "/none/marks",
    }
    start = [sys.executable, "-c", "from ferrule.dispatch import run_linked; run_linked()", json.dumps(orders), "marks"]

    def ask() -> Finished:
        done = subprocess.run([*start, "--schema"], env=machine.environment, capture_output=True, check=False)
        return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())

    shown = ask()
    assert PERSIAN in shown.document["description"]
    assert "This link is out of date; run `ferrule link alpha`." in shown.err
    machine.install("alpha", description=f"Looks. {TAGS}")
    hidden = ask()
    assert (hidden.code, set(TAGS) & set(hidden.out)) == (1, set())
    link = machine.tools / "alpha-tool"
    link.write_text(link.read_text().replace('"form": 2, ', ""))
    found = machine.ferrule("doctor", "--json").document["findings"]
    assert {one["id"] for one in found if one["subject"] == str(link)} == {"link-failing"}


@pytest.mark.slow
@pytest.mark.process
def test_all_tools_that_hide_nothing_are_as_they_were(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.install("alpha", description=PERSIAN)
    machine.install("beta", schema={**schema("description", TAGS), "name": "beta"})
    monkeypatch.setattr(sys, "path", [*sys.path, str(machine.site)])
    tools = {one["name"]: one for one in InventorySnapshot([ALL], machine.environment).document(60)["tools"]}
    assert (tools["alpha"]["state"], tools["beta"]["state"]) == ("ok", "invalid")
    assert (tools["alpha"]["schema"] or {})["description"] == PERSIAN
    assert executable(machine).document == {"got": {}}


def test_a_look_at_the_bytes_of_a_document_misses_nothing_that_a_walk_finds() -> None:
    letters = [chr(number) for number in range(1, 0x3000)] + ["\U000e0041", "\ufeff", "\U000e01ef"]
    for text in letters:
        for printed in (json.dumps([text]), json.dumps([text], ensure_ascii=False)):
            assert may_json_hide(printed.encode()) or not may_hide(text)
    assert not may_json_hide(json.dumps({"of": 'tabs,\t lines\n and "quotes"/ with \\'}).encode())
