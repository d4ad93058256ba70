"""opennotes_get, as a client calls it."""

import json

import pytest

TEXT = (
    "---\ntitle: Project Alpha\nstatus: todo\npriority: 3\nratio: 0.5\nlist: [a, 1, true]\n---\n"
    "\n# Alpha\n\nFour words of body.\n"
)


@pytest.fixture
def root(notebook):
    config = next(file for file in notebook.iterdir() if file.name in (".opennotes.json", ".jot.json"))
    return (notebook / json.loads(config.read_text())["root"]).resolve()


@pytest.mark.process
def test_a_note_comes_with_its_content_its_fields_and_their_types(cli, notebook, root, answer):
    (root / "tasks").mkdir(parents=True)
    (root / "tasks" / "alpha.md").write_text(TEXT)
    assert answer("get", path="tasks/alpha.md", notebook=str(notebook)) == {
        "note": {
            "path": "tasks/alpha.md",
            "content": TEXT,
            "title": "Project Alpha",
            "frontmatter": {
                "title": "Project Alpha",
                "status": "todo",
                "priority": 3,
                "ratio": 0.5,
                "list": ["a", 1, True],
            },
            "wordCount": 6,
        },
        "notebook": {"name": "notebook", "path": str(notebook)},
    }


@pytest.mark.process
def test_without_content_there_is_all_but_the_content(opennotes, notebook, root, answer):
    (root / "alpha.md").write_text(TEXT)
    note = answer("get", path="alpha.md", includeContent=False, notebook=str(notebook))["note"]
    assert "content" not in note
    assert note["frontmatter"]["priority"] == 3
    assert note["wordCount"] == 6


@pytest.mark.process
@pytest.mark.parametrize("path", ["alpha.md", "./alpha.md", "alpha", ".//alpha.md"])
def test_a_path_may_be_written_in_several_ways(opennotes, notebook, root, answer, path):
    (root / "alpha.md").write_text(TEXT)
    assert answer("get", path=path, notebook=str(notebook))["note"]["path"] == "alpha.md"


@pytest.mark.process
@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "/etc/passwd",
        "a/../../secret.md",
        "~/secret.md",
        "..\\secret.md",
        "C:/x.md",
        "..",
        "/",
    ],
)
def test_a_path_that_leads_out_is_refused(cli, notebook, failure, path, tmp_path):
    (tmp_path / "secret.md").write_text("secret")
    document = failure("get", path=path, notebook=str(notebook))
    assert document["code"] == "PATH_TRAVERSAL"
    assert document["message"].startswith("Path traversal blocked: ")
    assert document["hint"] == "Use paths relative to notebook"


@pytest.mark.process
def test_symbolic_links_lead_nowhere_else_either(opennotes, notebook, root, failure, answer, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("secret")
    (root / "link.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "real").mkdir()
    (root / "real" / "a.md").write_text("inside")
    (root / "inner").symlink_to(root / "real")
    for path in ("link.md", "folder/secret.md"):
        assert failure("get", path=path, notebook=str(notebook))["code"] == "PATH_TRAVERSAL"
    assert answer("get", path="inner/a.md", notebook=str(notebook))["note"]["content"] == "inside"


@pytest.mark.process
def test_a_note_that_is_not_there_is_told_with_those_that_look_like_it(cli, notebook, root, failure):
    (root / "tasks").mkdir(parents=True)
    (root / "tasks" / "alpha.md").write_text("")
    document = failure("get", path="alpha.md", notebook=str(notebook))
    assert document["code"] == "NOTE_NOT_FOUND"
    assert document["message"] == "Note not found: alpha.md"
    assert document["hint"].startswith("Check path is relative to notebook root")
    assert document["details"] == {"path": "alpha.md", "similar": ["tasks/alpha.md"]}


@pytest.mark.process
@pytest.mark.parametrize(
    "path", ["folder", "folder/", "notes.txt", "", "x" * 100_000, "-rf", "--help", "\n", "a.md/b.md"]
)
def test_what_is_no_note_is_not_found(opennotes, notebook, root, failure, path):
    (root / "folder").mkdir()
    (root / "notes.txt").write_text("")
    (root / "a.md").write_text("")
    assert failure("get", path=path, notebook=str(notebook))["code"] == "NOTE_NOT_FOUND"


@pytest.mark.process
def test_a_long_note_comes_in_pages_that_are_together_the_note(opennotes, notebook, root, answer):
    text = "---\ntitle: Long\n---\n" + "".join(f"Line {number} “quoted” \x01\n" for number in range(4000)) + "no end"
    (root / "long.md").write_text(text)
    gathered, path = "", "long.md"
    while path:
        document = answer("get", path=path, notebook=str(notebook))
        gathered += document["note"]["content"]
        pagination = document["pagination"]
        assert pagination["total"] == 4004
        assert document["note"]["content"].count("\n") <= 1500
        path = None
        if pagination["hasMore"]:
            path = json.loads(document["_guidance"].partition(" with ")[2])["path"]
            assert path == f"long.md#L{pagination['nextOffset'] + 1}"
    assert gathered == text


@pytest.mark.slow
@pytest.mark.process
def test_a_line_longer_than_an_answer_comes_in_parts(opennotes, notebook, root, answer):
    text = "first\n" + "é\U0001f600x" * 40_000 + "\nlast\n"
    (root / "wide.md").write_text(text)
    gathered, path, calls = "", "wide.md", 0
    while path:
        document = answer("get", path=path, notebook=str(notebook))
        gathered += document["note"]["content"]
        guidance = document.get("_guidance")
        path = json.loads(guidance.partition(" with ")[2])["path"] if guidance else None
        calls += 1
    assert gathered == text
    assert calls > 5


@pytest.mark.process
def test_a_note_whose_name_looks_like_a_place_in_another_is_itself(opennotes, notebook, root, answer):
    (root / "a.md").write_text("one\ntwo\n")
    (root / "a.md#L2.md").write_text("odd\n")
    assert answer("get", path="a.md#L2.md", notebook=str(notebook))["note"]["content"] == "odd\n"
    assert answer("get", path="a.md#L2", notebook=str(notebook))["note"]["content"] == "two\n"
    beyond = answer("get", path="a.md#L7", notebook=str(notebook))
    assert beyond["note"]["content"] == ""
    assert beyond["_guidance"] == "The note has 2 lines."


@pytest.mark.process
def test_frontmatter_that_would_fill_the_answer_is_left_in_the_content(opennotes, notebook, root, answer):
    (root / "a.md").write_text("---\n" + "".join(f"k{n}: {'v' * 80}\n" for n in range(600)) + "---\nbody\n")
    note = answer("get", path="a.md", notebook=str(notebook))["note"]
    assert "frontmatter" not in note
    assert note["content"].startswith("---\nk0: vv")


@pytest.mark.process
def test_a_title_that_would_fill_the_answer_is_cut(opennotes, notebook, root, answer):
    (root / "a.md").write_text(f"---\ntitle: {'t' * 100_000}\n---\n" + "line\n" * 1000)
    note = answer("get", path="a.md#L4", notebook=str(notebook))["note"]
    assert note["title"] == "t" * 1000 + "…"
    assert note["content"] == "line\n" * 1000


@pytest.mark.process
def test_the_guidance_is_json_whatever_the_name_of_the_note(opennotes, notebook, root, answer):
    (root / 'say "hi".md').write_text("x\n" * 1501)
    guidance = answer("get", path='say "hi".md', notebook=str(notebook))["_guidance"]
    assert json.loads(guidance.partition(" with ")[2]) == {"path": 'say "hi".md#L1501'}


@pytest.mark.process
def test_the_last_part_of_a_long_line_says_that_it_is_the_last(opennotes, notebook, root, answer):
    (root / "a.md").write_text("x" * 38_401)
    document = answer("get", path="a.md#L1C38401", notebook=str(notebook))
    assert document["note"]["content"] == "x"
    assert document["pagination"] == {"total": 1, "returned": 1, "page": 1, "pageSize": 1500, "hasMore": False}


@pytest.mark.process
@pytest.mark.parametrize("path", [".git/a.md", ".jot/a.md", "deep/.git/a.md", ".git/a"])
def test_what_is_no_note_to_the_list_is_none_here(opennotes, notebook, root, failure, path):
    for folder in (".git", ".jot", "deep/.git"):
        (root / folder).mkdir(parents=True)
        (root / folder / "a.md").write_text("x")
    assert failure("get", path=path, notebook=str(notebook))["code"] == "NOTE_NOT_FOUND"


@pytest.mark.process
def test_a_note_that_may_not_be_read_says_so(opennotes, notebook, root, failure, monkeypatch):
    import os

    if os.geteuid() == 0:
        pytest.skip("only root can read what nobody may read")
    file = root / "a.md"
    file.write_text("x")
    file.chmod(0)
    assert "may not be read" in failure("get", path="a.md", notebook=str(notebook))["message"]


@pytest.mark.slow
@pytest.mark.process
def test_a_note_is_found_by_the_absolute_path_that_create_answers_with(cli, notebook, answer):
    created = answer("create", title="Alpha", notebook=str(notebook))["created"]
    note = answer("get", path=created["absolutePath"], notebook=str(notebook))["note"]
    assert note["path"] == created["path"]


@pytest.mark.process
def test_an_absolute_path_leads_out_of_the_notebook_all_the_same(opennotes, notebook, root, failure):
    for path in (f"{root}/../x.md", f"{root}x/a.md", f"{root}//etc/x.md"):
        assert failure("get", path=path, notebook=str(notebook))["code"] in ("PATH_TRAVERSAL", "NOTE_NOT_FOUND")


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "path"), [("e\u0301.md", "\u00e9.md"), ("\u00e9.md", "e\u0301"), ("\u00e9.md", "\u00e9")]
)
def test_a_letter_may_be_written_in_one_piece_or_two(opennotes, notebook, root, answer, name, path):
    (root / name).write_text("A note.\n")
    assert answer("get", path=path, notebook=str(notebook))["note"]["path"] == name


@pytest.mark.slow
@pytest.mark.process
def test_frontmatter_that_yaml_refuses_is_read_as_the_cli_reads_it_and_said(cli, notebook, root, answer, environment):
    (root / "n.md").write_text("---\ntitle: Meeting: budget\nstatus: todo\ntags: [a]\n---\n\nText.\n")
    document = answer("get", path="n.md", notebook=str(notebook))
    assert document["note"]["title"] == "Meeting: budget"
    assert document["note"]["frontmatter"] == {"title": "Meeting: budget", "status": "todo", "tags": ["a"]}
    assert document["_guidance"].startswith("YAML refuses the frontmatter (line 1: ")
    found = answer("search", filters={"and": ["data.status=todo", "data.tag=a"]}, notebook=str(notebook))["results"]
    assert [note["title"] for note in found] == ["Meeting: budget"]
    cards = answer("views", view="kanban", params={"status": "todo"}, notebook=str(notebook))["results"]
    assert [note["path"] for note in cards] == ["n.md"]
    assert not answer("views", view="untagged", notebook=str(notebook))["results"]
    if cli.name == "opennotes":
        listed = cli.run("notes", "list", f"--notebook={notebook}", environment=environment)
        assert "[Meeting: budget]" in listed.stdout


@pytest.mark.process
def test_what_create_returned_can_be_got(cli, notebook, answer):
    created = answer("create", title="One", path="sub", notebook=str(notebook))["created"]
    assert answer("get", path=created["absolutePath"], notebook=str(notebook))["note"]["path"] == created["path"]


@pytest.mark.process
def test_a_hard_link_is_a_file_of_the_notebook(opennotes, notebook, root, answer, tmp_path):
    (tmp_path / "outside").write_text("the same file")
    (root / "inside.md").hardlink_to(tmp_path / "outside")
    assert answer("get", path="inside.md", notebook=str(notebook))["note"]["content"] == "the same file"


@pytest.mark.process
def test_a_note_in_utf_16_is_read_and_told(opennotes, notebook, answer):
    (notebook / ".notes" / "a.md").write_bytes("Grüße und Worte.\n".encode("utf-16"))
    document = answer("get", path="a.md", notebook=str(notebook))
    assert document["note"]["content"] == "Grüße und Worte.\n"
    assert "The file is UTF-16" in document["_guidance"]
    assert answer("search", query="grüße", notebook=str(notebook))["pagination"]["total"] == 1
