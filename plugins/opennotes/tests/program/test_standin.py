"""That the stand-ins answer as the real CLIs do: each test asks both, where the real ones have been built."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ferrule_testkit.programs import opennotes as opennotes_programs
from ferrule_testkit.programs.opennotes import GENERATIONS, OFFLINE, Cli

pytestmark = pytest.mark.slow
_KINDS = ("real", "standin")


Do = Callable[..., "subprocess.CompletedProcess[str]"]


def make(name: str, kind: str, folder: Path) -> Cli:
    if kind == "standin":
        return opennotes_programs.stand_in(name, folder)
    build = OFFLINE if name == "opennotes" else name
    opennotes_programs.require_built(build)
    return opennotes_programs.real(build, folder)


@pytest.fixture(params=[f"{kind}-{name}" for kind in _KINDS for name in GENERATIONS])
def cli(request: pytest.FixtureRequest, tmp_path: Path) -> Cli:
    """Each generation, real and not."""
    kind, _, name = request.param.partition("-")
    return make(name, kind, tmp_path / "bin")


@pytest.fixture(params=_KINDS)
def opennotes(request: pytest.FixtureRequest, tmp_path: Path) -> Cli:
    """`opennotes` v0.1.0, real and not."""
    return make("opennotes", request.param, tmp_path / "bin")


@pytest.fixture(params=_KINDS)
def jot(request: pytest.FixtureRequest, tmp_path: Path) -> Cli:
    """`jot` v0.2.0, real and not."""
    return make("jot", request.param, tmp_path / "bin")


@pytest.fixture
def do(chosen: Cli, environment: dict[str, str], notebook: Path) -> Do:
    """Run the CLI in its notebook."""

    def do(*arguments: str | Path, **variables: str) -> "subprocess.CompletedProcess[str]":
        return chosen.run(*arguments, environment={**environment, **variables}, cwd=notebook)

    return do


@pytest.fixture
def root(notebook: Path, chosen: Cli) -> Path:
    """Where the notes of the notebook are."""
    return notebook / json.loads((notebook / chosen.config_name).read_text())["root"]


def write(root: Path, path: str, **fields: Any) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\n{yaml.safe_dump(fields)}---\n\n# {path}\n" if fields else f"# {path}\n")


def configure(notebook: Path, cli: Cli, **more: Any) -> None:
    file = notebook / cli.config_name
    file.write_text(json.dumps({**json.loads(file.read_text()), **more}))


def refusal(done: "subprocess.CompletedProcess[str]") -> str:
    """The message of a run that failed as all do: exit code 1, the message, the usage, the message again."""
    assert done.returncode == 1, done
    found = re.match(r"(?:.*\n)*?Error: ((?:.|\n)*?)\nUsage:\n(?:.|\n)*\n\1\n\Z", done.stderr)
    assert found, done.stderr
    return found[1]


def test_a_notebook_is_made_with_its_notes_beside_or_below_it(cli: Cli, make_notebook: Callable[..., Path]):
    notebook = make_notebook(copy=False)
    assert (notebook / ("." if cli.name == "jot" else ".notes")).is_dir()
    config = json.loads((notebook / cli.config_name).read_text())
    assert config["name"] == "notebook"
    assert config["root"] == ("." if cli.name == "jot" else ".notes")
    assert config["contexts"] == [str(notebook)]


def test_a_copy_of_a_notebook_is_what_the_program_would_have_made(cli: Cli, make_notebook: Callable[..., Path]):
    copied = make_notebook()
    before = {path.name: path.is_dir() or path.read_bytes() for path in copied.iterdir()}
    shutil.rmtree(copied)
    made = make_notebook(copy=False)
    assert {path.name: path.is_dir() or path.read_bytes() for path in made.iterdir()} == before


def test_the_answer_to_what_every_call_asks_is_that_of_the_program(standin: Cli, environment: dict[str, str]):
    quick = standin.run("notes", "--help", environment=environment)
    standin.behave(sleep=0)
    slow = standin.run("notes", "--help", environment=environment)
    assert (quick.returncode, quick.stdout, quick.stderr) == (slow.returncode, slow.stdout, slow.stderr)
    assert f"{standin.name} notes " in quick.stdout


def test_a_notebook_is_registered(cli: Cli, environment: dict[str, str], make_notebook: Callable[..., Path]):
    folder = make_notebook("mine", register=True)
    file = Path(environment["XDG_CONFIG_HOME"]) / cli.name / "config.json"
    assert str(folder) in json.loads(file.read_text())["notebooks"]
    assert "mine" in cli.run("notebook", "list", environment=environment).stdout


def test_notebooks_are_not_listed_before_init(cli: Cli, do: Do):
    assert refusal(do("notebook", "list")) == f"{cli.name} not initialized. Run '{cli.name} init' to create config file"
    assert "initialized at " in do("init").stdout
    assert "notebook" in do("notebook", "list").stdout


def test_every_release_calls_itself_by_the_same_number(cli: Cli, do: Do):
    assert do("version").stdout.endswith(" 0.0.2\n")


def test_a_note_is_added(cli: Cli, do: Do, root: Path):
    done = do("notes", "add", "A Note!", "--data", "status=todo", "--data", "tag=a", "--data", "tag= b")
    assert done.stdout == f"Created note: {root.resolve()}/a-note.md\n"
    opening, _, body = (root / "a-note.md").read_text().removeprefix("---\n").partition("---\n")
    fields = yaml.safe_load(opening)
    assert body == "\n# A Note!\n\n"
    assert list(fields) == ["created", "status", "tag", "title"]
    assert (fields["status"], fields["tag"], fields["title"]) == ("todo", ["a", "b"], "A Note!")
    assert re.search(r'created: "?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)"?\n', opening)


def test_data_is_always_text(cli: Cli, do: Do, root: Path):
    do("notes", "add", "x", "--data", "priority=2", "--data", "done=true")
    assert re.search(r'done: "true"\npriority: "2"\n', (root / "x.md").read_text())


def test_a_note_is_read_from_a_pipe(cli: Cli, do: Do, notebook: Path, root: Path, environment: dict[str, str]):
    command = [cli.path, "notes", "add", "x"]
    subprocess.run(command, input=b"from the pipe", env=environment, cwd=notebook, check=True, capture_output=True)
    assert (root / "x.md").read_text().endswith("---\n\nfrom the pipe")


@pytest.mark.parametrize(
    ("path", "file"),
    [("", "x-y.md"), ("a/b/", "a/b/x-y.md"), ("a/b", "a/b.md"), ("a/c.md", "a/c.md"), ("../z/", "../z/x-y.md")],
)
def test_a_note_goes_where_the_path_says_even_out_of_the_notebook(path: str, file: str, cli: Cli, do: Do, root: Path):
    assert do("notes", "add", "X y", path).returncode == 0
    assert (root / file).exists()


def test_a_template_is_filled_in_and_an_unknown_one_is_no_error(cli: Cli, do: Do, notebook: Path, root: Path):
    configure(notebook, cli, templates={"t": "by {{title}} {{date}}\n"})
    do("notes", "add", "Known", "--template", "t")
    done = do("notes", "add", "Unknown", "--template", "u")
    assert (root / "known.md").read_text().endswith("---\n\nby Known {{date}}\n")
    assert done.returncode == 0
    assert (root / "unknown.md").read_text().count("\n---\n") == 3  # two blocks of frontmatter


def test_a_note_that_is_there_is_not_written_over(cli: Cli, do: Do, root: Path):
    do("notes", "add", "x")
    assert refusal(do("notes", "add", "x")) == f"note already exists: {root.resolve()}/x.md"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["notes", "add", "日本"], "title produces empty filename after slugification"),
        (["notes", "add", "日本", "x.md"], "title produces empty filename after slugification"),
        (["notes", "add", "x", "--data", "y"], "parsing --data flags: invalid --data format: y (expected field=value)"),
        (["notes", "add", "x", "y", "z"], "accepts at most 2 arg(s), received 3"),
        (["notes", "search", "x", "y"], "accepts at most 1 arg(s), received 2"),
        (["notebook", "info", "--format", "json"], "unknown flag: --format"),
        (["notes", "search", "--fuzzi"], "unknown flag: --fuzzi"),
        (["notes", "add", "--template"], "flag needs an argument: --template"),
        (["notes", "search", "query"], "at least one condition is required (use --and, --or, or --not)"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value),
)
def test_a_refusal_has_its_usage_between_twice_its_message(arguments: list[str], message: str, cli: Cli, do: Do):
    assert refusal(do(*arguments)) == message


def test_a_refused_condition_is_told(cli: Cli, do: Do):
    def told(*words: str) -> str:
        return refusal(do("notes", "search", "query", *words))

    assert told("--and", "x").endswith("invalid condition format: x (expected field=value)")
    assert told("--and", "data.secret=x").startswith("invalid condition: invalid field: data.secret (allowed: ")
    assert told("--not", "title=") == "invalid condition: value cannot be empty for field: title"
    assert told("--or", f"title={'x' * 1001}") == "invalid condition: value too long (max 1000 chars)"


def test_a_notebook_that_is_none_is_told(cli: Cli, do: Do, environment: dict[str, str], home: Path):
    name = f"/nowhere/{cli.config_name}"
    assert refusal(do("notes", "list", "--notebook", "/nowhere")) == f"open {name}: no such file or directory"
    told = refusal(cli.run("notes", "list", environment=environment, cwd=home))
    assert told.startswith(f"no notebook found. Set {cli.name.upper()}_NOTEBOOK, use --notebook flag")


def test_a_configuration_that_is_no_json_is_told(cli: Cli, do: Do, notebook: Path):
    (notebook / cli.config_name).write_text("{")
    assert refusal(do("notes", "list")).startswith("invalid notebook config: ")


def test_the_variable_beats_the_flag(cli: Cli, do: Do, notebook: Path):
    variable = {f"{cli.name.upper()}_NOTEBOOK": "/nowhere"}
    assert refusal(do("notes", "list", f"--notebook={notebook}", **variable)).startswith("open /nowhere/")


def test_a_flag_of_all_commands_may_come_first(cli: Cli, environment: dict[str, str], notebook: Path, root: Path):
    cli.run(f"--notebook={notebook}", "notes", "add", "--", "-x", environment=environment)
    assert (root / "x.md").exists()


def test_help_needs_no_notebook(cli: Cli, environment: dict[str, str]):
    for command in ([], ["notes"], ["notes", "search"], ["notes", "view"]):
        done = cli.run(*command, "--help", environment=environment)
        assert done.returncode == 0
        words = " ".join([cli.name, *command])
        assert re.search(rf"^Usage:\n  {words} ", done.stdout, re.MULTILINE)
        assert re.search(r"^Flags:\n", done.stdout, re.MULTILINE)


def test_notes_are_shown_as_text(cli: Cli, do: Do, root: Path):
    assert do("notes", "list").stdout.strip() == "No notes found."
    write(root, "b/two.md", title="Two")
    write(root, "One Two.md")
    lines = ("### Notes (2)", "", "• [one-two] One Two.md", "• [Two] b/two.md")
    assert do("notes", "list").stdout == "\n" + "".join(f"  {line:<96}\n" for line in lines) + "\n"
    assert do("notes", "search", "nothing").stdout == "No notes found matching 'nothing'\n"
    assert do("notes", "search", "# b").stdout.startswith("Found 1 note(s) matching '# b':\n\n\n  ### Notes (1)")
    fuzzy = do("notes", "search", "--fuzzy", "two").stdout
    assert "note(s) fuzzy matching 'two':" in fuzzy
    assert "b/two.md" in fuzzy


def test_every_note_of_opennotes_matches_the_name_of_its_folder(opennotes: Cli, do: Do, root: Path):
    write(root, "x.md")
    assert "Found 1 note(s)" in do("notes", "search", "notebook").stdout


def test_opennotes_never_finds_a_path_with_an_underscore(cli: Cli, do: Do, root: Path):
    write(root, "a_b.md", status="todo")
    is_found = "a_b.md" in do("notes", "search", "query", "--and", "path=a_b.md").stdout
    assert is_found is (cli.name == "jot")
    done = do("notes", "search", "query", "--and", "data.status=todo", "--not", "data.tag=x")
    assert "a_b.md" in done.stdout
    line = r"\x1b\[90m\d\d:\d\d:\d\d\x1b\[0m \x1b\[32mINF\x1b\[0m \x1b\[1mexecuting boolean query\x1b\[0m "
    assert re.match(line + r"\x1b\[36mconditionCount=\x1b\[0m2 .*namespace=\x1b\[0mNoteService", done.stderr)


def test_an_error_of_list_is_swallowed(opennotes: Cli, do: Do, root: Path):
    write(root, "x.md")
    opennotes.behave(offline=True)
    assert do("notes", "list").stdout.strip() == "No notes found."
    assert "Failed to download extension" in refusal(do("notes", "search", "x"))


def test_jot_has_no_sql(jot: Cli, do: Do):
    assert refusal(do("notes", "search", "--sql", "SELECT 1")) == "unknown flag: --sql"


def test_views_are_listed_in_any_order(cli: Cli, do: Do):
    orders = set()
    for _ in range(12):
        views = json.loads(do("notes", "view", "--list", "--format", "json").stdout)["views"]
        assert {view["origin"] for view in views} == {"built-in"}
        orders.add(tuple(view["name"] for view in views))
    assert len(orders) > 1
    assert len({tuple(sorted(order)) for order in orders}) == 1


def test_opennotes_lists_a_view_that_shadows_a_built_in_one_as_built_in(cli: Cli, do: Do, notebook: Path):
    query: Any = "" if cli.name == "jot" else {}
    views = {"today": {"name": "today", "description": "Mine", "query": query}, "b": {"query": query}}
    configure(notebook, cli, views=views)
    listed = {view["name"]: view for view in json.loads(do("notes", "view", "--format", "json").stdout)["views"]}
    listing = ("notebook", "Mine") if cli.name == "jot" else ("built-in", "Notes created or updated today")
    assert (listed["today"]["origin"], listed["today"]["description"]) == listing
    assert listed[""]["origin"] == "notebook"
    assert "b" not in listed


def test_a_list_of_views_is_not_read(cli: Cli, do: Do, notebook: Path):
    configure(notebook, cli, views=[{"name": "mine", "query": ""}])
    assert "mine" not in do("notes", "view", "--format", "json").stdout


def test_a_view_that_is_missing_is_told(cli: Cli, do: Do):
    how = "failed to get view 'x': " if cli.name == "jot" else "failed to load view: "
    assert refusal(do("notes", "view", "x")) == f"{how}view not found: x"


def test_a_list_of_values_falls_apart(cli: Cli, do: Do):
    told = refusal(do("notes", "view", "kanban", "--param", "status=todo,done"))
    assert told == "failed to parse parameters: invalid parameter format: done (expected key=value)"


def test_a_parameter_that_is_unknown_is_told(cli: Cli, do: Do):
    how = "invalid parameters" if cli.name == "jot" else "failed to generate query"
    assert refusal(do("notes", "view", "recent", "--param", "x=y")) == f"{how}: unknown parameter: x"


def test_a_view_of_opennotes_is_an_array_of_rows(opennotes: Cli, do: Do, root: Path):
    write(root, "a.md", status="todo", priority=1, links=["b"])
    write(root, "b.md", status="done", priority=10)
    write(root, "c.md", status="lost")
    found = json.loads(do("notes", "view", "kanban").stdout)
    assert [row["file_path"] for row in found] == [f"{root}/b.md", f"{root}/a.md"]
    assert json.loads(do("notes", "view", "kanban", "--param", "status=todo").stdout)[0]["metadata"]["status"] == "todo"
    assert len(json.loads(do("notes", "view", "orphans").stdout)) == 3  # all of them
    write(root, "d.md", status="todo", priority="low")
    assert "Conversion Error: Could not convert string 'low' to INT32" in refusal(do("notes", "view", "kanban"))


def test_a_view_of_jot_is_an_object(jot: Cli, do: Do, root: Path):
    assert do("notes", "view", "recent", "--format", "json").stdout == "View 'recent': No notes found\n"
    write(root, "a.md", status="todo", title="A")
    write(root, "b/b.md", tags=["x"], modified="2020-01-02T03:04:05Z")
    recent = json.loads(do("notes", "view", "recent", "--format", "json").stdout)
    assert [note["file"]["relative"] for note in recent["notes"]] == ["a.md", "b/b.md"]
    assert recent["notes"][1]["metadata"]["modified"] == "2020-01-02T03:04:05Z"
    assert recent["count"] == 2
    kanban = json.loads(do("notes", "view", "kanban", "--format", "json").stdout)
    assert kanban["count"] == 1
    assert kanban["groups"]["todo"][0]["metadata"]["title"] == "A"
    untagged = json.loads(do("notes", "view", "untagged", "--format", "json").stdout)
    assert [note["file"]["relative"] for note in untagged["notes"]] == ["a.md"]


def test_a_view_of_the_configuration_runs(cli: Cli, do: Do, notebook: Path, root: Path):
    write(root, "a.md", status="todo")
    write(root, "b.md", status="done")
    condition = {"logic": "AND", "field": "metadata->>'status'", "operator": "=", "value": "todo"}
    query: Any = "status:todo | sort:path" if cli.name == "jot" else {"conditions": [condition]}
    configure(notebook, cli, views={"today": {"name": "today", "query": query}})
    found = json.loads(do("notes", "view", "today", "--format", "json").stdout)
    notes = found["notes"] if cli.name == "jot" else found
    assert len(notes) == 1
    assert notes[0]["metadata"]["status"] == "todo"
