"""opennotes_create, as a client calls it, and what opennotes_get reads back."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from ferrule_dev.testing import Run, executable
from ferrule_testkit.programs.opennotes import Cli

pytestmark = pytest.mark.process


Answer = Callable[..., dict[str, Any]]
Write = Callable[..., Path]

FIELDS = {
    "tag": "meeting",
    "tags": ["project", "active: yes", "2026", "true", ""],
    "priority": 3,
    "ratio": 0.25,
    "huge": 1e21,
    "done": False,
    "answer": "yes",
    "due": "2026-01-01",
    "exponent": "1e3",
    "nothing": "~",
    "lines": "one\ntwo: 2\n---\nthree\n",
    "sign": "- # : 🎉 'x' \"y\" \\n",
    "long": "word " * 2000,
    "no": "a key like a truth value",
    "a key: with signs": "x",
}


@pytest.fixture
def config_file(notebook: Path) -> Path:
    return next(file for file in notebook.iterdir() if file.name in (".opennotes.json", ".jot.json"))


@pytest.fixture
def root(notebook: Path, config_file: Path) -> Path:
    return (notebook / json.loads(config_file.read_text())["root"]).resolve()


@pytest.fixture
def templates(config_file: Path) -> Callable[..., None]:
    """Give the notebook templates."""

    def write(**templates: object) -> None:
        config_file.write_text(json.dumps({**json.loads(config_file.read_text()), "templates": templates}))

    return write


@pytest.fixture
def create(answer: Answer, notebook: Path, root: Path) -> Write:
    """Create a note, and return its file."""

    def create(title: str, **arguments: Any) -> Path:
        document = answer("create", title=title, notebook=str(notebook), **arguments)
        created = document["created"]
        shown = title if len(title) <= 1000 else f"{title[:1000]}…"
        assert document == {
            "created": {"path": created["path"], "absolutePath": created["absolutePath"], "title": shown},
            "notebook": {"name": "notebook", "path": str(notebook)},
        }
        file = Path(created["absolutePath"])
        assert file.is_absolute()
        assert file.resolve() == root / created["path"]
        return file

    return create


@pytest.fixture
def refused(failure: Answer, notebook: Path, root: Path) -> Answer:
    """Create a note in vain, and return the document."""

    def refused(title: str, **arguments: Any) -> dict[str, Any]:
        before = everything(notebook)
        document = failure("create", title=title, notebook=str(notebook), **arguments)
        assert everything(notebook) == before
        return document

    return refused


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def parts(file: Path) -> tuple[dict[str, Any], str]:
    """The fields of a note, as another reader of YAML finds them, and its body."""
    _, block, body = re.split(r"^---\n", file.read_bytes().decode(), maxsplit=2, flags=re.MULTILINE)
    fields = yaml.safe_load(block)
    assert isinstance(fields, dict)
    return fields, body


@pytest.mark.slow
def test_a_note_has_a_title_a_date_and_a_heading(cli: Cli, create: Write) -> None:
    file = create("Project Alpha")
    assert file.name == "project-alpha.md"
    fields, body = parts(file)
    assert list(fields) == ["title", "created"]
    assert fields["title"] == "Project Alpha"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[-+]\d\d:\d\d)", fields["created"])
    assert body == "\n# Project Alpha\n\n"


def test_everything_that_is_given_comes_back_from_get(cli: Cli, create: Write, answer: Answer, notebook: Path) -> None:
    content = "# Über 🎉\r\n\r\n{{title}}\r\n---\r\nlast"
    file = create("Sprint: 1", path="meetings/2026/", content=content, data=FIELDS)
    note = answer("get", path="meetings/2026/sprint-1.md", notebook=str(notebook))["note"]
    assert note["title"] == "Sprint: 1"
    assert note["frontmatter"] == {**FIELDS, "title": "Sprint: 1", "created": note["frontmatter"]["created"]}
    assert type(note["frontmatter"]["done"]) is bool
    assert note["content"] == file.read_bytes().decode()
    assert parts(file)[1] == f"\n{content}\r\n"
    assert parts(file)[0] == note["frontmatter"]


def test_a_list_shows_what_was_created(cli: Cli, create: Write, answer: Answer, notebook: Path) -> None:
    create("One", path="a", data={"tags": ["x", "y"]})
    (note,) = answer("list", notebook=str(notebook))["notes"]
    assert (note["path"], note["title"], note["tags"]) == ("a/one.md", "One", ["x", "y"])


def test_the_cli_itself_finds_the_note(cli: Cli, create: Write, notebook: Path, environment: dict[str, str]) -> None:
    create("Project Alpha", data={"tags": ["a: b"], "x": "yes"})
    listed = cli.run(f"--notebook={notebook}", "notes", "list", environment=environment)
    assert "project-alpha.md" in listed.stdout
    again = cli.run(f"--notebook={notebook}", "notes", "add", "--", "Project Alpha", environment=environment)
    assert "note already exists" in again.stderr


@pytest.mark.slow
def test_a_template_gives_body_and_fields(cli: Cli, create: Write, templates: Callable[..., None]) -> None:
    templates(
        plain="# {{title}}\n\nAgenda of {{title}}:\n",
        full="---\ntitle: {{title}}\nstatus: todo\ntags: [meeting]\ndue: 2026-01-01\n---\n\n## {{title}}\n",
        bare="---\nstatus: todo\n---\n",
        empty="",
    )
    assert parts(create("A: 1", template="plain"))[1] == "\n# A: 1\n\nAgenda of A: 1:\n"
    fields, body = parts(create("B: 2", template="full", data={"tags": ["mine"]}))
    assert body == "\n## B: 2\n"
    assert (fields["title"], fields["status"], fields["tags"]) == ("B: 2", "todo", ["mine"])
    fields, body = parts(create("C", template="bare", content="Mine"))
    assert (fields["status"], body) == ("todo", "\nMine\n")
    assert parts(create("D", template="bare"))[1] == ""
    assert parts(create("E", template="empty"))[1] == ""


def test_content_with_frontmatter_of_its_own_gives_one_block(cli: Cli, create: Write) -> None:
    content = "---\ntitle: Other\nstatus: draft\npriority: 1\n---\n\nText\n"
    fields, body = parts(create("Mine", content=content, data={"priority": 2}))
    assert (fields["title"], fields["status"], fields["priority"], body) == ("Mine", "draft", 2, "\nText\n")


@pytest.mark.slow
def test_an_unknown_template_writes_nothing_and_starts_nothing(
    standin: Cli, refused: Answer, templates: Callable[..., None], config_file: Path, tmp_path: Path
) -> None:
    templates(meeting="x", task="y", broken=3)
    record = tmp_path / "told" / "record"
    record.parent.mkdir()
    standin.behave(kind=standin.name, record=str(record))
    for name in ("meting", "broken", "--help", "a\nb"):
        document = refused("A", path="new/", template=name)
        assert (document["code"], document["message"]) == ("TEMPLATE_NOT_FOUND", f"Template not found: {name}")
        assert document["hint"] == f"Check notebook {config_file.name} for templates"
        assert document["details"] == {"template": name, "available": ["meeting", "task"]}
    commands = [json.loads(line)["arguments"] for line in record.read_text().splitlines()] if record.exists() else []
    assert all(command == ["version"] for command in commands)  # which is asked for to tell BSD's jot from this one


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("-", "hyphen-minus.md"),
        ("--help", "help.md"),
        ("--template=x", "templatex.md"),
        ("; rm -rf $(HOME) `x` | y", None),
        ("../../etc/passwd", "etcpasswd.md"),
        ("%s %n {{title}}", "s-n-title.md"),
        ("日本語のメモ", "日本語のメモ.md"),
        ("🎉", "party-popper.md"),
        ("...", "full-stop.md"),
        ("yes", "yes.md"),
        ("2026-01-01", "2026-01-01.md"),
        ("\"'\\: #", None),
    ],
)
def test_a_title_of_any_text_is_a_title(cli: Cli, create: Write, title: str, name: str | None) -> None:
    file = create(title)
    fields, body = parts(file)
    assert fields["title"] == title
    assert body.startswith(f"\n# {title}\n")
    if name:
        assert file.name.strip("-") == name.strip("-")


@pytest.mark.parametrize("title", ["word " * 13_000, "x" * 65_535, "第" * 21_845])
def test_a_title_of_65_535_bytes_is_one(cli: Cli, create: Write, title: str) -> None:
    file = create(title.strip())
    assert len(os.fsencode(file.name)) <= 255
    assert parts(file)[0]["title"] == title.strip()


def test_a_title_that_is_too_long_is_refused(opennotes: Cli, refused: Answer) -> None:
    document = refused("x" * 65_536)
    assert document["code"] == "INVALID_INPUT"
    assert "65,535" in json.dumps(document)


@pytest.mark.parametrize(
    "arguments",
    [
        {"title": "a\nb"},
        {"title": " "},
        {"title": "A", "path": "a\tb"},
        {"title": "A", "path": "tasks./"},
        {"title": "A", "data": {"k": None}},
        {"title": "A", "data": {"k": {"a": 1}}},
        {"title": "A", "data": {"k": [1]}},
        {"title": "A", "data": {"title": "B"}},
        {"title": "A", "data": {"k": "x" * 300_000}},
    ],
)
def test_what_no_note_can_have_is_invalid_input(opennotes: Cli, refused: Answer, arguments: dict[str, Any]) -> None:
    assert refused(**arguments)["code"] == "INVALID_INPUT"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("tasks", "tasks/a.md"),
        ("tasks/", "tasks/a.md"),
        ("./tasks//sub", "tasks/sub/a.md"),
        ("tasks/named.md", "tasks/named.md"),
        ("Named Note.md", "Named Note.md"),
        (".hidden/", ".hidden/a.md"),
        ("-x/--help", "-x/--help/a.md"),
    ],
)
def test_a_path_is_a_folder_or_names_the_note(cli: Cli, create: Write, root: Path, path: str, expected: str) -> None:
    assert create("A", path=path) == root / expected


@pytest.mark.parametrize(
    "path", ["..", "../x", "a/../../x", "/tmp", "~", "~/x", "a\\..\\b", "C:\\x", "../x.md", ".git/hooks"]
)
def test_a_path_out_of_the_notebook_is_blocked(cli: Cli, refused: Answer, tmp_path: Path, path: str) -> None:
    before = everything(tmp_path)
    document = refused("A", path=path)
    assert document["code"] == "PATH_TRAVERSAL"
    assert document["message"].startswith("Path traversal blocked: ")
    assert document["hint"] == "Use paths relative to notebook"
    assert everything(tmp_path) == before


@pytest.mark.slow
def test_a_link_out_of_the_notebook_is_blocked(cli: Cli, refused: Answer, root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    root.mkdir(exist_ok=True)
    (root / "link").symlink_to(tmp_path / "outside")
    assert refused("A", path="link/")["code"] == "PATH_TRAVERSAL"
    assert refused("A", path="link/new/a.md")["code"] == "PATH_TRAVERSAL"
    assert everything(tmp_path / "outside") == []


@pytest.mark.slow
def test_an_existing_note_is_left_alone(cli: Cli, create: Write, refused: Answer) -> None:
    file = create("Project Alpha", content="first")
    before = file.read_bytes()
    document = refused("project alpha!", content="second")
    assert (document["code"], document["details"]) == ("NOTE_EXISTS", {"path": "project-alpha.md"})
    assert file.read_bytes() == before
    assert refused("Other", path="project-alpha.md")["code"] == "NOTE_EXISTS"


@pytest.mark.slow
def test_of_many_calls_at_once_exactly_one_writes(cli: Cli, call: Callable[..., Run], notebook: Path) -> None:
    titles = [f"Same {sign} name" for sign in "!?.,;:"]
    with ThreadPoolExecutor(len(titles)) as pool:
        runs = list(pool.map(lambda title: call("create", title=title, path="new", notebook=str(notebook)), titles))
    won = [run.document["created"] for run in runs if run.exit_code == 0]
    assert [run.document["code"] for run in runs if run.exit_code] == ["NOTE_EXISTS"] * (len(titles) - 1)
    assert parts(Path(won[0]["absolutePath"]))[0]["title"] == won[0]["title"]


def test_a_refusal_of_the_cli_is_told_in_its_words(opennotes: Cli, refused: Answer, tmp_path: Path) -> None:
    opennotes.path.write_text("#!/bin/sh\necho 'Error: the disk is on fire' >&2\nexit 1\n")
    document = refused("A", path="new/")
    assert (document["code"], document["message"]) == ("CLI_FAILED", "The OpenNotes CLI failed: the disk is on fire")


def test_nothing_is_written_without_a_cli(opennotes: Cli, refused: Answer) -> None:
    opennotes.path.unlink()
    assert refused("A")["code"] == "CLI_NOT_FOUND"


def test_the_notebook_around_the_working_directory_is_the_default(
    cli: Cli, answer: Answer, notebook: Path, root: Path
) -> None:
    document = answer("create", title="A", cwd=notebook)
    assert document["created"]["absolutePath"] == str(root / "a.md")


def test_a_variable_of_the_cli_does_not_move_the_note(
    cli: Cli, answer: Answer, make_notebook: Callable[..., Path]
) -> None:
    one, other = make_notebook("one"), make_notebook("other")
    before = everything(other)
    names = ("OPENNOTES_NOTEBOOK", "JOT_NOTEBOOK")
    document = answer("create", title="A", notebook=str(one), environ=dict.fromkeys(names, str(other)))
    assert document["notebook"]["path"] == str(one)
    assert everything(other) == before


def test_no_temporary_notebook_stays_behind(
    cli: Cli, create: Write, tmp_path: Path, answer: Answer, notebook: Path
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    answer("create", title="🎉", notebook=str(notebook), environ={"TMPDIR": str(temporary)})
    assert everything(temporary) == []


def test_a_notebook_whose_path_is_no_text_takes_notes(
    cli: Cli, environment: dict[str, str], notebook: Path, tmp_path: Path
) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.rename(notebook, folder)
    done = subprocess.run(
        [executable("opennotes_create")], input=b'{"title": "A"}', capture_output=True, env=environment, cwd=folder
    )
    document = json.loads(done.stdout)
    assert document["created"]["absolutePath"].startswith(f"{tmp_path}/caf\ufffd/")
    assert list(Path(os.fsdecode(folder)).rglob("a.md"))
