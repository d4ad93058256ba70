"""What is asked of the real CLIs alone, the one that needs a network for its notes among them."""

import pytest

from ferrule_testkit.programs import opennotes as opennotes_cli
from ferrule_testkit.programs.opennotes import GENERATIONS, OFFLINE

pytestmark = pytest.mark.process


@pytest.fixture(params=[*GENERATIONS, OFFLINE])
def chosen(request, tmp_path):
    """Each real program, instead of what stands for its generation in the other tests."""
    opennotes_cli.require_built(request.param)
    return opennotes_cli.real(request.param, tmp_path / "bin")


def test_the_real_program_makes_a_notebook_and_a_note(chosen, environment, make_notebook):
    folder = make_notebook(copy=False)
    added = chosen.run("notes", "add", f"--notebook={folder}", "--", "A note", environment=environment)
    assert added.returncode == 0
    assert [path.name for path in folder.rglob("*.md")] == ["a-note.md"]


@pytest.mark.slow
def test_the_tools_do_their_work_with_each_real_program(chosen, notebook, answer):
    created = answer("create", title="Über all", data={"status": "todo"}, cwd=notebook)["created"]
    assert answer("get", path=created["path"], cwd=notebook)["note"]["frontmatter"]["status"] == "todo"
    assert answer("list", cwd=notebook)["pagination"]["total"] == 1
    assert {view["name"] for view in answer("views", cwd=notebook)["views"]} >= {"kanban", "orphans"}
    rows = answer("search", sql="SELECT file_path FROM read_markdown('**/*.md')", cwd=notebook)["results"]
    assert rows == [{"file_path": created["path"]}]


def test_what_a_test_writes_to_its_program_leaves_the_build_alone(chosen, environment):
    chosen.path.write_text("#!/bin/sh\nexit 9\n")
    other = opennotes_cli.real(chosen.name if chosen.name == "jot" else OFFLINE, chosen.folder)
    assert other.run("version", environment=environment).stdout.endswith(" 0.0.2\n")
