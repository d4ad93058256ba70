"""SQL as a client asks for it: the executable of opennotes_search, with the database of our own."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule_opennotes import search
from ferrule_opennotes.notebook.notebook import read
from ferrule_testkit.programs.opennotes import Cli

pytestmark = pytest.mark.process


Answer = Callable[..., dict[str, Any]]


@pytest.fixture
def asked(notebook: Path) -> str:
    found = read(str(notebook), ["opennotes", "jot"])
    assert found
    root = Path(found.root)
    root.mkdir(exist_ok=True)
    for number in range(1, 6):
        (root / f"{number}.md").write_text(f"---\ntitle: T{number}\n---\nTODO {number}\n")
    return str(notebook)


@pytest.mark.slow
def test_rows_come_in_pages_with_an_exact_total(standin: Cli, asked: str, answer: Answer):
    statement = "SELECT metadata['title'] AS title FROM read_markdown('**/*.md') ORDER BY title DESC;"
    page = answer("search", sql=statement, notebook=asked, limit=2, offset=2)
    assert page["results"] == [{"title": "T3"}, {"title": "T2"}]
    assert page["query"] == {"type": "sql", "executed": statement}
    assert {name: page["pagination"][name] for name in ("total", "returned", "hasMore", "nextOffset")} == {
        "total": 5,
        "returned": 2,
        "hasMore": True,
        "nextOffset": 4,
    }


def test_a_refused_statement_says_why(standin: Cli, asked: str, failure: Answer):
    document = failure("search", sql="SELECT * FROM read_text('/etc/passwd')", notebook=asked)
    assert document["code"] == "INVALID_SQL"
    assert document["message"].startswith("Invalid SQL query: read_text(...) is refused as a table; read_markdown(")
    assert document["hint"] == "Only SELECT/WITH allowed, see docs"


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c WHERE a.range + b.range * c.range = -7",
        "SELECT list_sum(list_transform(range(100000), lambda x: list_sum(range(x * 100))))",
        "SELECT a.range, b.range, c.range FROM range(100000) a, range(100000) b, range(100000) c",
    ],
)
def test_a_query_that_does_not_end_is_query_timeout(statement: str, jot: Cli, asked: str, failure: Answer):
    document = failure("search", sql=statement, notebook=asked, environ={"FERRULE_DEADLINE": "5"})
    assert document["code"] == "QUERY_TIMEOUT", document
    assert document["message"].startswith(("Query timed out after ", "Query stopped: it needs more memory than "))


@pytest.mark.slow
def test_an_uninterruptible_query_is_query_timeout(jot: Cli, asked: str, failure: Answer):
    statement = "SELECT levenshtein(repeat('a', 500000), repeat('b', 500000))"
    document = failure("search", sql=statement, notebook=asked, environ={"FERRULE_DEADLINE": "5"})
    assert document["code"] == "QUERY_TIMEOUT"


# Those of test_database.py, which are refused by the database itself, are left to it.
@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT repeat('a', 3000000000)",
        "SELECT lpad('a', 2000000000, 'b')",
        "SELECT list_sum(range(1000000000))",
        "SELECT range(100000000)",
        "SELECT string_agg(repeat('x', 1000000), '') FROM range(10000)",
        "WITH RECURSIVE t AS (SELECT repeat('x', 1000) AS x UNION ALL SELECT x || x FROM t) SELECT * FROM t",
    ],
)
def test_a_query_that_takes_all_memory_ends_with_an_error_of_its_own(
    statement: str, jot: Cli, asked: str, failure: Answer
):
    document = failure("search", sql=statement, notebook=asked, environ={"FERRULE_DEADLINE": "15"})
    assert document["code"] == "QUERY_TIMEOUT", document


def test_a_row_that_is_larger_than_an_answer_is_not_lost_without_a_word(jot: Cli, asked: str, answer: Answer):
    document = answer("search", sql="SELECT repeat('x', 200000) AS x", notebook=asked)
    assert document["pagination"]["total"] == 1
    assert document.get("_guidance") or document["results"]


def test_the_cli_is_never_handed_sql(opennotes: Cli, asked: str, answer: Answer, tmp_path: Path):
    record = tmp_path / "record"
    opennotes.behave(kind="opennotes", record=str(record))
    assert answer("search", sql="SELECT 1 AS x", notebook=asked)["results"] == [{"x": 1}]
    assert not record.exists()


def test_sums_and_decimals_are_numbers_which_they_are_not_through_the_cli(
    opennotes: Cli, asked: str, answer: Answer, environment: dict[str, str]
):
    statement = "SELECT sum(x) AS total, 1.5 AS half FROM range(3) t(x)"
    (row,) = answer("search", sql=statement, notebook=asked)["results"]
    assert row == {"total": 3, "half": 1.5}
    if opennotes.is_real:
        done = opennotes.run("notes", "search", f"--notebook={asked}", "--sql", statement, environment=environment)
        assert json.loads(done.stdout) == [{"half": {"Scale": 1, "Value": 15, "Width": 2}, "total": {}}]


def test_the_example_in_the_description_of_the_tool_works(opennotes: Cli, asked: str, answer: Answer):
    schema = json.loads(Path(search.__file__).with_name("schema.json").read_text())
    example = re.search("Example SQL: (.*)", schema["description"])
    assert example
    assert answer("search", sql=example[1], notebook=asked)["query"]["type"] == "sql"
