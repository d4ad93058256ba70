"""opennotes_list, as a client calls it."""

import json
import os

import pytest

pytestmark = pytest.mark.process


@pytest.fixture
def write(notebook):
    """Put a note into the notebook: `write("tasks/one.md", "text", mtime)`; its root is what the CLI chose."""
    config = next(file for file in notebook.iterdir() if file.name in (".opennotes.json", ".jot.json"))
    root = notebook / json.loads(config.read_text())["root"]

    def write(path, text="", mtime=None):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        if mtime is not None:
            os.utime(file, (mtime, mtime))
        return file

    return write


def paths(document):
    return [note["path"] for note in document["notes"]]


def test_an_empty_notebook_has_no_notes(cli, notebook, answer):
    document = answer("list", notebook=str(notebook))
    assert document["notes"] == []
    assert document["pagination"] == {"total": 0, "returned": 0, "page": 1, "pageSize": 50, "hasMore": False}
    assert document["notebook"] == {"name": "notebook", "path": str(notebook)}


def test_notes_are_summed_up_with_what_their_frontmatter_says(cli, notebook, write, answer):
    write("tasks/one.md", "---\ntitle: 'One: first'\ntags:\n  - a\n  - b\ncreated: 2026-01-01T10:00:00Z\n---\n", 1.8e9)
    assert answer("list", notebook=str(notebook))["notes"] == [
        {
            "path": "tasks/one.md",
            "title": "One: first",
            "tags": ["a", "b"],
            "created": "2026-01-01T10:00:00Z",
            "modified": "2027-01-15T08:00:00Z",
        }
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ["b.md", "d.md", "a.md", "c.md"]),
        ({"sortOrder": "asc"}, ["c.md", "a.md", "d.md", "b.md"]),
        ({"sortBy": "path"}, ["a.md", "b.md", "c.md", "d.md"]),
        ({"sortBy": "path", "sortOrder": "desc"}, ["d.md", "c.md", "b.md", "a.md"]),
        ({"sortBy": "title"}, ["c.md", "a.md", "b.md", "d.md"]),
        ({"sortBy": "created"}, ["d.md", "a.md", "b.md", "c.md"]),
        ({"sortBy": "created", "sortOrder": "asc"}, ["a.md", "d.md", "b.md", "c.md"]),
    ],
)
def test_notes_come_in_the_order_that_was_asked_for(opennotes, notebook, write, answer, arguments, expected):
    write("a.md", "---\ntitle: beta\ncreated: 2026-01-01\n---\n", 200)
    write("b.md", "---\ntitle: Gamma\n---\n", 400)
    write("c.md", "---\ntitle: Alpha\nmodified: 1970-01-01T00:00:01Z\n---\n", 900)
    write("d.md", "---\ntitle: gamma\ncreated: 2026-01-01T23:00:00-10:00\n---\n", 300)
    assert paths(answer("list", arguments, notebook=str(notebook))) == expected


def test_notes_that_are_alike_in_the_order_come_by_path(opennotes, notebook, write, answer):
    for name in "cab":
        write(f"{name}.md", "", 500)
    for order in ("asc", "desc"):
        assert paths(answer("list", sortOrder=order, notebook=str(notebook))) == ["a.md", "b.md", "c.md"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("tasks/*.md", ["tasks/a.md", "tasks/b_1.md"]),
        ("tasks/**", ["tasks/a.md", "tasks/b_1.md", "tasks/deep/c.md"]),
        ("tasks/", ["tasks/a.md", "tasks/b_1.md", "tasks/deep/c.md"]),
        ("**/b_?.md", ["tasks/b_1.md"]),
        ("*.md", ["top.md"]),
        ("nothing/*", []),
    ],
)
def test_a_pattern_keeps_the_notes_that_fit(opennotes, notebook, write, answer, pattern, expected):
    for path in ("top.md", "tasks/a.md", "tasks/b_1.md", "tasks/deep/c.md"):
        write(path)
    document = answer("list", pattern=pattern, sortBy="path", notebook=str(notebook))
    assert paths(document) == expected
    assert document["pagination"]["total"] == len(expected)


@pytest.mark.parametrize("pattern", ["../*.md", "/etc/*", "~/x/*.md", "a/../../*.md", "C:\\x\\*.md"])
def test_a_pattern_that_leads_out_is_refused(opennotes, notebook, failure, pattern):
    assert failure("list", pattern=pattern, notebook=str(notebook))["code"] == "PATH_TRAVERSAL"


def test_pages_put_together_are_the_whole_list(opennotes, notebook, write, answer):
    for number in range(130):
        write(f"n{number:03}.md", "", number)
    gathered, offset = [], 0
    while offset is not None:
        document = answer("list", offset=offset, limit=40, notebook=str(notebook))
        gathered += paths(document)
        offset = document["pagination"].get("nextOffset")
        if offset is not None:
            assert document["_guidance"] == f"More results available. To fetch next page: {{ offset: {offset} }}"
    assert gathered == [f"n{number:03}.md" for number in reversed(range(130))]


def test_what_is_no_note_is_not_listed(opennotes, notebook, write, answer, tmp_path):
    write("a.md")
    write("b.txt")
    write(".git/c.md")
    write(".jot/d.md")
    write(".hidden/e.md")
    outside = tmp_path / "secret.md"
    outside.write_text("secret")
    root = write("a.md").parent
    (root / "link.md").symlink_to(outside)
    (root / "alias.md").symlink_to(root / "a.md")
    (root / "folder").symlink_to(tmp_path)
    (root / "dangling.md").symlink_to(root / "nowhere.md")
    (root / "dir.md").mkdir()
    os.mkfifo(root / "pipe.md")
    assert paths(answer("list", sortBy="path", notebook=str(notebook))) == [".hidden/e.md", "a.md", "alias.md"]


def test_folders_that_programs_keep_for_themselves_hold_no_notes(opennotes, notebook, write, answer, failure):
    for folder in (".trash", ".obsidian/templates", "node_modules/pkg", ".git", "sub/.trash", "trash", ".mine"):
        write(f"{folder}/n.md")
    assert sorted(paths(answer("list", notebook=str(notebook)))) == [".mine/n.md", "trash/n.md"]
    assert failure("get", path=".trash/n.md", notebook=str(notebook))["code"] == "NOTE_NOT_FOUND"


def test_optional_arguments_that_a_strict_client_fills_with_nothing_count_as_absent(opennotes, notebook, write, answer):
    write("a.md")
    document = answer("list", {"pattern": "", "limit": 0, "offset": 0, "notebook": str(notebook), "sortBy": None})
    assert paths(document) == ["a.md"]


def test_a_file_name_that_is_no_utf_8_is_listed_and_can_be_got(opennotes, notebook, write, answer):
    folder = os.fsencode(write("a.md").parent)
    with open(folder + b"/caf\xe9.md", "w") as file:
        file.write("coffee")
    listed = paths(answer("list", sortBy="path", notebook=str(notebook)))
    assert listed == ["a.md", "caf\ufffd.md"]
    assert answer("get", path=listed[1], notebook=str(notebook))["note"]["content"] == "coffee"


@pytest.mark.slow
def test_ten_thousand_notes_are_listed(opennotes, notebook, write, answer):
    root = write("a.md").parent
    for folder in range(20):
        (root / f"f{folder}").mkdir()
        for number in range(500):
            (root / f"f{folder}" / f"{number}.md").write_text(f"---\ntitle: Note {number}\n---\n")
    document = answer("list", sortBy="title", limit=1000, offset=9_990, notebook=str(notebook))
    assert document["pagination"]["total"] == 10_001
    assert document["pagination"]["returned"] == 11


def test_a_page_has_as_many_notes_as_its_bytes_hold_however_many_lines_they_would_take(
    opennotes, notebook, write, answer
):
    for number in range(400):
        write(f"{number:03}.md", f"---\ntitle: A title {number}\ntags: [one, two]\n---\n")
    document = answer("list", limit=1000, notebook=str(notebook))
    size = len(json.dumps(document["notes"]).encode())
    assert 300 < document["pagination"]["returned"] <= 400
    assert document["pagination"]["returned"] == 400 or size > 30_000


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("list", {}), ("search", {"query": "text"}), ("views", {"view": "today"}), ("get", {"path": "a.md"})],
)
def test_notes_that_a_tool_may_not_read_are_not_told_as_none(
    opennotes, notebook, failure, tmp_path_factory, tool, arguments
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "a.md").write_text("A text.\n")
    (notebook / ".opennotes.json").write_text(json.dumps({"root": os.path.relpath(elsewhere, notebook)}))
    document = failure(tool, arguments, notebook=str(notebook))
    assert document["code"] == "PERMISSION_DENIED"
    assert f"wanted to read {elsewhere}" in document["message"]


def test_the_notes_of_a_notebook_that_is_the_home_are_read_from_any_folder(opennotes, notebook, home, answer):
    (home / ".opennotes.json").write_text('{"root": ".notes"}')
    (home / ".notes").mkdir()
    (home / ".notes/a.md").write_text("A note.\n")
    assert paths(answer("list", notebook=str(home), cwd=notebook)) == ["a.md"]
