"""SQL through the CLI, where there is no DuckDB beside ferrule: what it is given, and what its answers mean."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opennotes_cli import Cli

from ferrule import Context, ToolError
from ferrule_opennotes.notebook.notebook import Notebook, read
from ferrule_opennotes.program.discovery import Program
from ferrule_opennotes.sql import guard, through_cli
from ferrule_opennotes.sql.cli_rewrite import rewritten

Ask = Callable[..., list[dict[str, Any]]]
MakeContext = Callable[..., Context]


@pytest.fixture
def opened(notebook: Path) -> Notebook:
    found = read(str(notebook), ["opennotes", "jot"])
    assert found
    root = Path(found.root)
    (root / "tasks").mkdir(parents=True)
    (root / "a_b.md").write_text("---\ntitle: Under_score\n---\nwhat? 5*3, update it\n")
    (root / "b.md").write_text("---\ntitle: B\n---\nplain\n")
    (root / "tasks" / "t.md").write_text("---\ntitle: It's\nstatus: todo\n---\nTODO\n")
    (root / "secret.json").write_text("{}")
    return found


@pytest.fixture
def ask(opened: Notebook, program: Program, make_context: MakeContext) -> Ask:
    def do(statement: str, *, seconds: float = 20) -> list[dict[str, Any]]:
        listed = through_cli.ask(guard.judge(statement), opened, program, make_context(seconds=seconds))
        found = listed.rows(0, 1000)
        assert listed.total == len(found)
        return found

    return do


def failure(ask: Ask, statement: str, **more: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        ask(statement, **more)
    return caught.value


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("SELECT file_path FROM read_markdown('**/*.md')", ["a_b.md", "b.md", "tasks/t.md"]),
        ("SELECT file_path FROM read_markdown('b.md')", ["b.md"]),
        ("SELECT file_path FROM read_markdown('*')", ["a_b.md", "b.md"]),
        ("SELECT file_path FROM read_markdown('tasks/')", ["tasks/t.md"]),
        ("SELECT file_path FROM read_markdown('tasks/**')", ["tasks/t.md"]),
        ("SELECT metadata->>'title' AS t FROM read_markdown('**/*.md')", ["Under_score", "B", "It's"]),
        ("SELECT file_path FROM read_markdown('**/*.md') WHERE content LIKE '%what?%'", ["a_b.md"]),
        ("SELECT file_path FROM read_markdown('**/*.md') WHERE content LIKE '%5*3%'", ["a_b.md"]),
        ("SELECT file_path FROM read_markdown('**/*.md') WHERE contains(content, 'update')", ["a_b.md"]),
        ("SELECT file_path FROM read_markdown('**/*.md') WHERE metadata['title'] = 'It''s'", ["tasks/t.md"]),
        ("SELECT 'a' || (2 * 3) || 'b' FROM read_markdown('b.md')", ["a6b"]),
        ("SELECT 'drop' AS x", ["drop"]),
        ("SELECT 'two\nlines' AS x", ["two\nlines"]),
        ("SELECT $$a ' b$$ AS x", ["a ' b"]),
        ("SELECT 'schön *' AS x", ["schön *"]),
        ("SELECT replace('abc', 'b', '*') AS x", ["a*c"]),
        ("SELECT 1 AS \"one two\" -- 'a * b'", [1]),
        ("SELECT count(*) FROM read_markdown('nothing/*.md')", [0]),
        ("SELECT file_path FROM read_markdown('nothing/*.md')", []),
        (
            "SELECT b.file_path FROM read_markdown('b.md') b LEFT JOIN read_markdown('no.md') n USING (file_path)",
            ["b.md"],
        ),
        (
            "WITH n AS (SELECT * FROM read_markdown('tasks/*.md')) SELECT file_path FROM n AS m(file_path, c, d)",
            ["tasks/t.md"],
        ),
    ],
)
def test_the_cli_gives_the_rows_that_are_meant(statement: str, expected: list[Any], opennotes: Cli, ask: Ask):
    assert [next(iter(row.values())) for row in ask(statement)] == expected


def test_every_string_and_pattern_has_a_line_of_its_own(opennotes: Cli, opened: Notebook):
    judged = guard.judge("SELECT metadata->>'title' AS t, 'x' FROM read_markdown('**/*.md') WHERE content LIKE '%?%'")
    lines = [line.strip() for line in rewritten(judged, ["a.md"]).splitlines()]
    assert "'title'" in lines
    assert "'**/*.md'" in lines
    assert f"'{b'%?%'.hex()}'" in lines
    assert ", include_filepath := true) where content like" in "\n".join(lines).lower()


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT * FROM read_markdown('secret.json')", "names no notes; end the pattern with '.md'"),
        ("SELECT E'a\\t*'", "a string with escapes holds what the CLI misreads"),
        ('SELECT 1 AS "what?"', "the CLI misreads the name 'what?'"),
        (
            "SELECT * FROM read_markdown('it''s.md')",
            "the CLI misreads a pattern with a quote in it; write '?' in its place",
        ),
        ("SELECT nothing FROM read_markdown('b.md')", 'Binder Error: Referenced column "nothing" not found'),
        ("SELECT 'x'::INTEGER", "Conversion Error: "),
    ],
)
def test_what_the_cli_cannot_do_is_invalid_sql(statement: str, said: str, opennotes: Cli, opened: Notebook, ask: Ask):
    error = failure(ask, statement)
    assert error.code == "INVALID_SQL"
    assert error.message.startswith("Invalid SQL query: ")
    assert said in error.message
    assert opened.root not in error.message


def test_a_link_out_of_the_notebook_is_not_followed(opennotes: Cli, opened: Notebook, ask: Ask, tmp_path: Path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_text("outside")
    Path(opened.root, "link").symlink_to(tmp_path / "outside")
    error = failure(ask, "SELECT * FROM read_markdown('**/*.md')")
    assert error.code == "INVALID_SQL"
    assert "the symbolic link link leads out of the notebook" in error.message


@pytest.mark.parametrize("name", ["100% a.md", "ä a.md", "a(b) a.md", "a;--a.md"])
def test_any_name_can_be_a_pattern(name: str, opennotes: Cli, opened: Notebook, ask: Ask):
    Path(opened.root, name).write_text("x")
    for pattern in (name, name.replace(" a", "*")):
        assert ask(f"SELECT file_path FROM read_markdown('{pattern}')") == [{"file_path": name}]


def test_a_link_inside_the_notebook_is_fine(opennotes: Cli, opened: Notebook, ask: Ask):
    Path(opened.root, "c.md").symlink_to("b.md")
    assert ask("SELECT file_path FROM read_markdown('c.md')") == [{"file_path": "c.md"}]


def test_the_cli_s_own_time_limit_is_query_timeout(opennotes: Cli, ask: Ask):
    opennotes.behave(kind="opennotes", sql_seconds=0.2)
    slow = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range = 7"
    error = failure(ask, slow)
    assert (error.code, error.message) == ("QUERY_TIMEOUT", "Query timed out after 30s")


def test_a_cli_that_hangs_is_query_timeout(
    opennotes: Cli, opened: Notebook, program: Program, make_context: MakeContext
):
    slow = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range = 7"
    with pytest.raises(ToolError) as caught:
        through_cli.ask(guard.judge(slow), opened, program, make_context(seconds=4))
    assert caught.value.code == "QUERY_TIMEOUT"


def test_a_missing_extension_is_said_plainly(opennotes: Cli, ask: Ask):
    opennotes.behave(kind="opennotes", offline=True)
    error = failure(ask, "SELECT 1")
    assert error.code == "CLI_FAILED"
    assert "it could not download DuckDB's markdown extension" in error.message
    assert 'pip install "ferrule-opennotes[sql]"' in str(error.hint)


def test_jot_has_no_sql(jot: Cli, ask: Ask):
    error = failure(ask, "SELECT 1")
    assert error.code == "INVALID_SQL"
    assert "jot has no SQL" in error.message
    assert 'pip install "ferrule-opennotes[sql]"' in str(error.hint)


def test_a_refused_statement_starts_no_process(opennotes: Cli, ask: Ask, tmp_path: Path):
    record = tmp_path / "record"
    opennotes.behave(kind="opennotes", record=str(record))
    failure(ask, "SELECT * FROM read_text('/etc/passwd')")
    assert not record.exists()
    ask("SELECT 1")
    started = [json.loads(line)["arguments"] for line in record.read_text().splitlines()]
    assert any(argument.startswith("--sql=") for arguments in started for argument in arguments)
