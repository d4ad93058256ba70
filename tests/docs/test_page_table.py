"""The table of pages says of README, each tutorial and each guide what its reader needs, and what each block is for."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ferrule_testkit.pages import census, judges
from ferrule_testkit.pages.blocks import Block, find_pages, read_blocks
from ferrule_testkit.pages.script import Script
from ferrule_testkit.pages.table import PAGES, Page
from ferrule_testkit.pages.uses import file, unused

if TYPE_CHECKING:
    from pathlib import Path

PLACES = {"site": "http://127.0.0.1:1", "page": "http://127.0.0.1:1/tea", "port": "2"}
GUIDE = "docs/how-to/watch-calls.md"


@pytest.mark.parametrize("name", find_pages())
def test_the_table_has_each_page_with_each_block(name: str) -> None:
    assert census.find_faults(name) == []


def test_the_table_has_no_page_that_is_gone() -> None:
    assert set(PAGES) <= set(find_pages())


@pytest.mark.parametrize(
    ("page", "advice"),
    [
        (None, "is new. Say in "),
        (Page(), "what each is used for"),
        (replace(PAGES[GUIDE], left_out={"ferrule frobnicate": "reason"}), "Take it out of the table"),
    ],
)
def test_what_the_table_does_not_say_is_told_with_what_to_do(
    page: Page | None, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(census, "PAGES", {GUIDE: page} if page else {})
    assert any(advice in fault for fault in census.find_faults(GUIDE))


def test_each_block_that_is_not_run_has_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    census.main()
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert len(rows) == len(find_pages())
    for name, page in PAGES.items():
        _, left, reasons = census.count(name, page)
        assert not left or all(reasons), name
        assert bool(left) <= bool(reasons), name


def test_blocks_of_lists_are_blocks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("1. Do:\n\n   ```sh\n   ls \\\n     -l\n   ```\n\n```console\n$ pwd\n/\n```\n")
    first, second = read_blocks(page)
    assert (first.lines(), second.lines()) == (["ls    -l"], ["pwd"])


def test_a_script_does_all_in_the_order_of_the_page(tmp_path: Path) -> None:
    page = Page(uses=(file("a.py"), unused("text", "a picture")), left_out={"rm": "dangerous"}, fails={"false": 1})
    blocks = [Block("sh", "cat https://example.com/\nrm all\n"), Block("python", "URL = 'http://h:8700'\n")]
    script = Script(page, tmp_path, PLACES).write([*blocks, Block("text", "a\n"), Block("sh", "false\n")])
    ran = [line for line in script.splitlines() if line.startswith(("cat", "rm", "cp", "false"))]
    assert ran == ["cat http://127.0.0.1:1/tea", f"cp {tmp_path}/block-1 a.py", "false"]
    assert (tmp_path / "block-1").read_text() == "URL = 'http://h:2'\n"
    assert "[ $code != 1 ]" in script


@pytest.mark.parametrize(("text", "suits"), [("[a]\nb = 1\n", True), ("[a]\nb = 2\n", False), ("[c]\nb = 1\n", False)])
def test_a_part_of_a_file_has_to_stand_in_it(text: str, suits: bool, tmp_path: Path) -> None:
    (block := tmp_path / "block").write_text(text)
    (there := tmp_path / "there").write_text("[a]\nb = 1\nd = 3\n")
    if suits:
        judges.judge_part(str(block), str(there))
    else:
        with pytest.raises(AssertionError, match="has not"):
            judges.judge_part(str(block), str(there))


@pytest.mark.parametrize(
    ("said", "findings"),
    [("config.toml: what is this?", []), ("", [{"id": "configuration-unused", "severity": "warning"}])],
)
def test_a_complaint_about_config_toml_is_one(
    said: str, findings: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Done:
        stdout, stderr = json.dumps({"findings": findings}), said

    monkeypatch.setattr(judges, "_run", lambda *_: Done)
    with pytest.raises(AssertionError):
        judges.judge_config()
