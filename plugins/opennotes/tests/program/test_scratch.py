"""What the CLI at hand can do, and the scratch notebook that it works on."""

import json
import os
import resource
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ferrule import Context, ToolError
from ferrule_opennotes.program.process import Program
from ferrule_opennotes.program.scratch import add_note, scratch_notebook
from ferrule_testkit.programs.opennotes import Cli

pytestmark = pytest.mark.process


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_scratch_notebook_is_for_both_generations_and_for_nobody_else(temporary: Path):
    with scratch_notebook("text") as folder:
        assert os.path.isabs(folder)
        assert os.stat(folder).st_mode & 0o777 == 0o700
        for name in (".opennotes.json", ".jot.json"):
            config = json.loads((Path(folder) / name).read_text())
            assert (config["root"], config["templates"]) == (".", {"template": "text"})
    assert not list(temporary.iterdir())


def test_a_scratch_notebook_is_removed_when_something_fails(temporary: Path):
    def fail() -> None:
        with scratch_notebook() as folder:
            (Path(folder) / "note.md").write_text("x")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert not list(temporary.iterdir())


def test_a_scratch_notebook_that_cannot_be_made_is_an_error(
    program: Program, make_context: Callable[..., Context], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(ToolError, match="temporary notebook for it cannot be used: No such file") as raised:
        add_note(program, make_context(), title="x")
    assert raised.value.code == "CLI_FAILED"


def test_a_scratch_notebook_that_cannot_be_written_is_an_error(
    program: Program, make_context: Callable[..., Context], temporary: Path
):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(ToolError, match="temporary notebook for it cannot be used") as raised:
            add_note(program, make_context(), title="x", template="x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert raised.value.code == "CLI_FAILED"
    assert not list(temporary.iterdir())


def test_what_the_cli_wrote_and_cannot_be_read_is_an_error(
    make_context: Callable[..., Context], temporary: Path, tmp_path: Path
):
    path = tmp_path / "opennotes"
    path.write_text('#!/bin/sh\nrm -r "$PWD"\n')
    path.chmod(0o755)
    with pytest.raises(ToolError, match="temporary notebook for it cannot be used") as raised:
        add_note(Program(str(path), "opennotes"), make_context(), title="x")
    assert raised.value.code == "CLI_FAILED"


def fields_of(text: str) -> dict[str, Any]:
    """The frontmatter of a note that has exactly one block."""
    assert text.startswith("---\n")
    block, fence, body = text[4:].partition("\n---\n")
    assert fence
    assert "\n---\n" not in body
    return dict(yaml.safe_load(block))


def test_a_note_is_added_and_read_back(
    cli: Cli, program: Program, make_context: Callable[..., Context], temporary: Path
):
    added = add_note(program, make_context(), title="A new Note: 2")
    fields = fields_of(added.text)
    assert added.name == "a-new-note-2.md"
    assert fields["title"] == "A new Note: 2"
    assert set(fields) == {"title", "created"}
    assert added.text.endswith("---\n\n# A new Note: 2\n\n")
    assert not list(temporary.iterdir())


def test_a_template_is_filled_in(cli: Cli, program: Program, make_context: Callable[..., Context]):
    added = add_note(program, make_context(), title="Do it", template="## {{title}}\n\n{{title}} {{date}}\n")
    assert added.text.endswith("---\n\n## Do it\n\nDo it {{date}}\n")


TITLES = [
    *("-x", "--help", "--template=x y", "a\nb", "../../x", "/etc/x"),
    *("$(x)", 'it\'s: "x" # y', "{{title}}", "a" * 300),
]


@pytest.mark.parametrize("title", TITLES, ids=range(len(TITLES)))
def test_any_text_is_a_title(
    title: str, cli: Cli, program: Program, make_context: Callable[..., Context], temporary: Path
):
    added = add_note(program, make_context(), title=title)
    assert fields_of(added.text)["title"] == title
    assert f"# {title}\n" in added.text
    assert not list(temporary.iterdir())


# One of each kind: letters and pictures beyond ASCII, signs, what YAML reads as something else, what is not seen.
NAMELESS = [
    *("日本語", "🙂", "???", "---", "é: é", "\\", "\u2028", "\ufeff"),
    *(pytest.param(title, marks=pytest.mark.full) for title in ("--", "- ", "!", "#", "[", "'\"", "\x85é", "\x7f")),
]


@pytest.mark.parametrize("title", NAMELESS, ids=range(len(NAMELESS)))
def test_a_title_that_gives_no_file_name_is_a_title(
    title: str, cli: Cli, program: Program, make_context: Callable[..., Context]
):
    added = add_note(program, make_context(), title=title, template="# {{title}} and {{title}}\n")
    assert added.name is None
    assert fields_of(added.text)["title"] == title
    assert added.text.endswith(f"# {title} and {title}\n")
    assert "untitled" not in added.text


def test_a_title_that_is_too_long_for_a_file_name_is_a_title(
    cli: Cli, program: Program, make_context: Callable[..., Context]
):
    title = "long " * 20_000
    added = add_note(program, make_context(), title=title)
    assert added.name is None
    assert f"# {title}\n" in added.text


def test_a_cli_that_writes_nothing_is_an_error(
    standin: Cli, program: Program, make_context: Callable[..., Context], temporary: Path
):
    standin.behave(stdout="Created note: somewhere\n")
    with pytest.raises(ToolError, match="0 notes"):
        add_note(program, make_context(), title="x")
    assert not list(temporary.iterdir())


def test_the_first_refusal_is_the_one_that_is_told(
    standin: Cli, program: Program, make_context: Callable[..., Context], temporary: Path
):
    standin.behave(exit=3)
    with pytest.raises(ToolError, match="exit code 3") as raised:
        add_note(program, make_context(), title="x")
    assert raised.value.code == "CLI_FAILED"
    assert (raised.value.details or {})["command"] == [program.path, "notes", "add", "--", "x"]
    assert not list(temporary.iterdir())


@pytest.mark.slow
def test_a_cli_that_is_too_slow_is_not_asked_again(
    make_context: Callable[..., Context], temporary: Path, tmp_path: Path
):
    record, path = tmp_path / "record", tmp_path / "opennotes"
    path.write_text(f"#!/bin/sh\necho started >>{record}\nexec sleep 600\n")
    path.chmod(0o755)
    with pytest.raises(ToolError, match="did not answer"):
        add_note(Program(str(path), "opennotes"), make_context(seconds=4), title="x")
    assert record.read_text() == "started\n"
    assert not list(temporary.iterdir())
