"""Notebooks that are odd, broken or hostile, as a client meets them."""

import json
import os
import subprocess

import pytest

from ferrule_dev.testing import executable

pytestmark = pytest.mark.process


@pytest.fixture
def configure(notebook):
    """Change what the notebook's configuration says: `configure(root="x")`."""
    file = notebook / ".opennotes.json"

    def configure(**values):
        file.write_text(json.dumps({**json.loads(file.read_text()), **values}))

    return configure


@pytest.fixture
def register(home):
    """Write the folders that the global configuration registers, whatever they are."""

    def register(*folders):
        file = home / ".config" / "opennotes" / "config.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"notebooks": [str(folder) for folder in folders]}))

    return register


@pytest.mark.slow
def test_folders_within_folders_however_many_are_read(opennotes, notebook, answer):
    folder = notebook / ".notes"
    (folder / "a.md").write_text("[[nowhere]]")
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("deep.md", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    try:
        listed = answer("list", sortBy="path", notebook=str(notebook))["notes"]
        broken = answer("views", view="broken-links", notebook=str(notebook))["results"]
    finally:
        # pytest, which removes its folders by recursion, could not.
        subprocess.run(["rm", "-rf", folder / "d"], check=True)
    assert [note["path"] for note in listed] == ["a.md", "d/" * 1200 + "deep.md"]
    assert broken[0]["brokenLinks"] == ["nowhere"]


@pytest.mark.slow
@pytest.mark.parametrize("odd", ["a\0b", "a\ud800b"])
def test_texts_that_no_answer_can_hold_are_replaced_in_a_configuration(opennotes, notebook, configure, answer, odd):
    views = {odd: {"query": "tag:x", "description": odd}}
    configure(name=odd, root=odd, contexts=[odd], views=views)
    document = answer("list", notebook=str(notebook))
    assert document["notebook"]["name"] == "a\ufffdb"
    assert document["notes"] == []
    listed = answer("views", notebook=str(notebook))["views"]
    assert {"name": "a\ufffdb", "origin": "notebook", "description": "a\ufffdb"} in listed


def test_a_pipe_in_the_place_of_a_configuration_is_refused_and_not_waited_for(opennotes, notebook, failure):
    (notebook / ".opennotes.json").unlink()
    os.mkfifo(notebook / ".opennotes.json")
    document = failure("list", notebook=str(notebook))
    assert document["code"] == "NOTEBOOK_NOT_FOUND"
    assert document["message"].endswith("cannot be read: it is no regular file")


def test_a_folder_whose_name_is_no_utf_8_may_be_a_notebook(opennotes, notebook, answer, tmp_path):
    odd = os.fsencode(tmp_path) + b"/caf\xe9"
    os.rename(notebook, odd)
    document = answer("list", cwd=odd)
    assert document["notebook"]["path"] == f"{tmp_path}/caf\ufffd"
    assert answer("notebooks", cwd=odd)["current"]["path"] == f"{tmp_path}/caf\ufffd"


@pytest.mark.parametrize("arguments", [{"notebook": "work"}, {"notebook": "."}, {}])
@pytest.mark.parametrize("variable", ["", "work"])
def test_without_a_working_directory_a_relative_path_leads_nowhere(
    opennotes, environment, tmp_path, arguments, variable
):
    gone = tmp_path / "gone"
    gone.mkdir()
    script = 'cd "$1" && rmdir "$1" && exec "$2"'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", gone, executable("opennotes_list")],
        input=json.dumps(arguments).encode(),
        capture_output=True,
        env={**environment, "OPENNOTES_NOTEBOOK": variable},
        timeout=60,
        check=False,
    )
    assert json.loads(done.stdout)["code"] == "NOTEBOOK_NOT_FOUND"


def test_a_context_may_be_named_by_a_symbolic_link(opennotes, notebook, configure, register, answer, tmp_path):
    (tmp_path / "real" / "project").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    register(notebook)
    configure(contexts=[f"{tmp_path}/link/project"])
    assert answer("list", cwd=tmp_path / "real" / "project")["notebook"]["path"] == str(notebook)


@pytest.mark.slow
@pytest.mark.parametrize("context", [".", "", "project", "~"])
def test_a_context_that_is_no_absolute_path_is_none(opennotes, notebook, configure, register, failure, home, context):
    (home / "project").mkdir()
    register(notebook)
    configure(contexts=[context])
    assert failure("list", cwd=home / "project")["code"] == "NOTEBOOK_NOT_FOUND"


def test_a_context_may_be_everything(opennotes, notebook, configure, register, answer, home):
    register(notebook)
    configure(contexts=["/"])
    assert answer("list", cwd=home)["notebook"]["path"] == str(notebook)


def test_more_notebooks_than_an_answer_holds_are_cut_and_told(opennotes, register, answer, tmp_path):
    folders = [tmp_path / f"{number:04}{'x' * 80}" for number in range(400)]
    for folder in folders:
        folder.mkdir()
        (folder / ".opennotes.json").write_text("{}")
    register(*folders)
    document = answer("notebooks")
    shown = len(document["notebooks"])
    assert 50 < shown < 400
    assert document["_guidance"] == f"{400 - shown} more notebooks do not fit into one answer."


def test_folders_that_hold_no_notebook_are_told_and_counted(opennotes, register, answer, tmp_path):
    register(*(tmp_path / f"{number:04}{'x' * 80}" for number in range(1000)))
    document = answer("notebooks")
    assert document["notebooks"] == []
    assert document["_guidance"].startswith(f"Registered, but no notebook that can be read: {tmp_path}/0000")
    assert document["_guidance"].endswith(" and 990 more.")


def test_a_name_as_long_as_can_be_leaves_room_for_the_hint(opennotes, failure):
    document = failure("list", notebook="/x" * 50_000)
    assert document["hint"].startswith("Specify --notebook")
    assert len(json.dumps(document)) < 10_000


def test_descriptions_of_views_are_cut_so_that_the_others_have_room(opennotes, notebook, configure, answer):
    configure(views={name: {"query": "tag:x", "description": "d" * 70_000} for name in ("a", "b")})
    listed = answer("views", notebook=str(notebook))["views"]
    assert [view["name"] for view in listed if view["origin"] == "notebook"] == ["a", "b"]
    assert answer("views", view="a", notebook=str(notebook))["view"]["description"] == "d" * 1000 + "…"


def test_an_unknown_view_has_its_hint_however_many_there_are(opennotes, notebook, configure, failure):
    configure(views={f"{number}{'x' * 60}": {"query": "tag:x"} for number in range(3000)})
    document = failure("views", view="nothing", notebook=str(notebook))
    assert document["hint"] == "Use opennotes_views to list available views"
    assert len(document["details"]["available"]) == 100


DATES = "---\ncreated: 9999-12-31T23:59:59Z\nmodified: 0001-01-01T00:00:00Z\nx: 1e308\n---\n"
DATED = {
    "day": {"query": {"conditions": [{"field": "created_at", "operator": "=", "value": "2026-01-01"}]}},
    "last": {"query": "created:<=9999-12-31"},
    "first": {"query": "modified:>=0001-01-01"},
    "instant": {"query": "created:9999-12-31T23:59:59.999999Z"},
    "number": {"query": {"order_by": "(metadata->>'x')::INTEGER, (metadata->>'x')::DOUBLE DESC"}},
}


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize(
    ("view", "found"),
    [("today", 0), ("recent", 2), ("day", 0), ("last", 2), ("first", 2), ("instant", 0), ("number", 2)],
)
def test_the_ends_of_the_calendar_stop_no_view(opennotes, notebook, configure, answer, view, found, zone):
    for name in ("a.md", "b.md"):
        (notebook / ".notes" / name).write_text(DATES)
    configure(views=DATED)
    document = answer("views", view=view, notebook=str(notebook), environ={"TZ": zone})
    assert document["pagination"]["total"] == found
