"""The database of our own: its types, its limits, and what it says when it fails."""

import base64
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule import ToolError
from ferrule.text import strict_json
from ferrule_dev.testing import context
from ferrule_opennotes.notebook.notebook import Notebook
from ferrule_opennotes.sql import values
from ferrule_opennotes.sql.database import Database, ask

pytestmark = pytest.mark.process


Run = Callable[..., Database]
ENDLESS = (
    "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c WHERE a.range + b.range * c.range = -7"
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def do(statement: str, seconds: float = 20) -> Database:
        database = Database(seconds)
        database.run(database.judge(statement), Notebook(str(tmp_path), ".opennotes.json", {}).list_notes())
        return database

    return do


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("NULL", None),
        ("TRUE", True),
        ("1::TINYINT", 1),
        ("9223372036854775807", 9223372036854775807),
        ("170141183460469231731687303715884105727::HUGEINT", 170141183460469231731687303715884105727),
        ("sum(3)", 3),
        ("1.5::DOUBLE", 1.5),
        ("'NaN'::DOUBLE", "nan"),
        ("'-Infinity'::FLOAT", "-inf"),
        ("['nan'::DOUBLE, 1]", ["nan", 1.0]),
        ("1.10::DECIMAL(4, 2)", 1.1),
        ("3::DECIMAL(4, 2)", 3),
        ("DATE '2026-01-02'", "2026-01-02"),
        ("TIMESTAMP '2026-01-02 03:04:05'", "2026-01-02T03:04:05"),
        ("TIMESTAMP '2026-01-02 03:04:05.5'", "2026-01-02T03:04:05.500000"),
        ("TIMESTAMP_NS '2026-01-02 03:04:05.123456789'", "2026-01-02 03:04:05.123456789"),
        ("TIMESTAMPTZ '2026-01-02 03:04:05+01'", "2026-01-02T02:04:05Z"),
        ("[TIMESTAMPTZ '2026-01-02 03:04:05+00']", ["2026-01-02 03:04:05+00"]),
        ("TIME '03:04:05'", "03:04:05"),
        ("INTERVAL '1 month 2 days'", "1 month 2 days"),
        ("'0123'::BLOB", base64.b64encode(b"0123").decode()),
        ("'\\xFF\\x00'::BLOB", base64.b64encode(b"\xff\0").decode()),
        ("'101'::BIT", "101"),
        ("'6e2d5b1c-0a3f-4f63-9d2e-1b2c3d4e5f60'::UUID", "6e2d5b1c-0a3f-4f63-9d2e-1b2c3d4e5f60"),
        ("MAP {'b': 1, 'a': 2}", {"b": 1, "a": 2}),
        ("MAP {1: 'x'}", {"1": "x"}),
        ("MAP {true: 'x', false: 'y'}", {"true": "x", "false": "y"}),
        ("MAP {DATE '2026-01-02': 1}", {"2026-01-02": 1}),
        ("{'a': 1, 'b': {'c': [1, NULL]}}", {"a": 1, "b": {"c": [1, None]}}),
        ("[1, 2]::INTEGER[2]", [1, 2]),
        ("'{\"a\": 1}'::JSON", '{"a": 1}'),
        ("'a' || chr(0)", "a\ufffd"),
        ("'x'::ENUM('x', 'y')", "x"),
        ("[]", []),
    ],
)
def test_a_value_becomes_json(expression: str, expected: Any, run: Run):
    [row] = run(f"SELECT {expression} AS value").fetch_rows(0, 10)
    assert row == {"value": expected}
    assert type(row["value"]) is type(expected)
    assert strict_json.loads(strict_json.dumps(row)) == row


def test_the_total_is_exact_and_only_the_page_is_read(run: Run):
    database = run("SELECT range AS n FROM range(5000) ORDER BY n DESC")
    assert database.total == 5000
    assert [row["n"] for row in database.fetch_rows(10, 3)] == [4989, 4988, 4987]
    assert database.fetch_rows(5000, 10) == []
    pages = [row["n"] for offset in range(0, 5000, 700) for row in database.fetch_rows(offset, 700)]
    assert pages == list(range(4999, -1, -1))


def test_a_column_may_have_any_name(run: Run):
    [row] = run('SELECT 1 AS "a""b", 2 AS "\u00e4 \'x\'", now() AS "t;--"').fetch_rows(0, 1)
    assert list(row) == ['a"b', "ä 'x'", "t;--"]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("SELECT titel FROM read_markdown('**/*.md')", 'Binder Error: Referenced column "titel" not found'),
        ("SELECT contents FROM read_markdown('**/*.md')", 'Candidate bindings: "content"'),
        ("SELECT 1 +", "Parser Error: syntax error"),
        ("SELECT\n\n'x'::INTEGER", "Conversion Error: Could not convert string 'x' to INT32\nLINE 3: "),
        ("SELECT 1 FROM", "Parser Error: "),
        ("SELECT lower(1, 2, 3)", "Binder Error: No function matches"),
        ("SELECT 1" + "::INT" * 2000, "Parser Error: Max expression depth limit of 1000 exceeded."),
        ("SELECT regexp_matches('a', '(')", "missing ): ("),
    ],
)
def test_what_duckdb_says_is_handed_on(statement: str, said: str, run: Run):
    with pytest.raises(ToolError) as caught:
        run(statement)
    assert caught.value.code == "INVALID_SQL"
    assert said in caught.value.message
    for internal in ("answer", "ferrule", "patterns", "CREATE TEMP", "temp_directory", "SET "):
        assert internal not in caught.value.message


def test_too_many_tables_are_refused(run: Run):
    with pytest.raises(ToolError) as caught:
        run("SELECT 1 FROM range(1)" + ", range(1)" * 2000)
    assert caught.value.code == "INVALID_SQL"
    assert any(said in caught.value.message for said in ("nested too deeply", "expression depth limit"))


def test_an_unknown_column_gets_the_hint_that_helps(run: Run):
    with pytest.raises(ToolError) as caught:
        run("SELECT title FROM read_markdown('**/*.md')")
    assert "metadata['title']" in str(caught.value.hint)


def test_a_query_without_an_end_times_out(run: Run):
    started = time.monotonic()
    with pytest.raises(ToolError) as caught:
        run(ENDLESS, seconds=1)
    assert (caught.value.code, caught.value.message) == ("QUERY_TIMEOUT", "Query timed out after 1s")
    assert time.monotonic() - started < 20  # the statement itself would take years


def test_the_time_of_the_call_is_a_limit_too(tmp_path: Path):
    notebook = Notebook(str(tmp_path), ".opennotes.json", {})
    with pytest.raises(ToolError) as caught:
        ask(ENDLESS, notebook, context("opennotes_search", seconds=1.5))
    assert caught.value.code == "QUERY_TIMEOUT"
    assert caught.value.details == {"seconds": 1.0}


RUN = """
import os, sys
limit = int(sys.argv[1])
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (limit << 20, limit << 20))
from ferrule import ToolError
from ferrule_opennotes.notebook.notebook import Notebook
from ferrule_opennotes.sql.database import Database
try:
    database = Database(float(sys.argv[3]))
    database.run(database.judge(sys.argv[4]), Notebook(sys.argv[2], "x", {}).list_notes())
    print(database.fetch_rows(0, 10))
except ToolError as error:
    print(error.code, error.message)
sys.stdout.flush()
os._exit(0)  # as a call ends
"""


def in_a_process(statement: str, folder: Path, *, limit: int = 0, seconds: float = 20) -> str:
    command = [sys.executable, "-c", RUN, str(limit), str(folder), str(seconds), statement]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout.strip()


@pytest.mark.slow
def test_a_function_that_cannot_be_interrupted_times_out_too(tmp_path: Path):
    stubborn = "SELECT levenshtein(repeat('a', 300000), repeat('b', 300000))"
    assert in_a_process(stubborn, tmp_path, seconds=1) == "QUERY_TIMEOUT Query timed out after 1s"


def test_a_thousand_notes_fit_into_the_memory_of_a_call(tmp_path: Path):
    for number in range(1000):
        (tmp_path / f"{number:04}.md").write_text(f"---\ntitle: T{number}\n---\n" + "some words " * 500)
    statement = "SELECT count(*) AS n, max(length(content)) AS l FROM read_markdown('**/*.md')"
    assert in_a_process(statement, tmp_path, limit=1024) == "[{'n': 1000, 'l': 5520}]"


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT range FROM range(1000000000)",
        "SELECT list(range) FROM range(1000000000)",
        "SELECT string_agg(range::VARCHAR, ',') FROM range(1000000000)",
        "SELECT repeat('a', 1000000000)",
        "SELECT range, count(*) FROM range(1000000000) GROUP BY range",
        "SELECT a.range FROM range(100000000) a ORDER BY hash(a.range)",
    ],
)
def test_a_query_that_takes_too_much_memory_is_refused(statement: str, tmp_path: Path):
    said = in_a_process(statement, tmp_path, limit=1024, seconds=90)
    assert said.startswith("QUERY_TIMEOUT Query stopped: it needs more memory than the ")


def test_too_little_memory_for_the_package_is_said_plainly(tmp_path: Path):
    said = in_a_process("SELECT 1", tmp_path, limit=40)
    assert said.startswith("INVALID_SQL Invalid SQL query: the package duckdb cannot be loaded")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([], "[]"),
        (["a", "b c"], "[a, b c]"),
        (
            ["a, b", 'q"x', "b\\s", "", " s ", "null", None, 3, True],
            '["a, b", "q\\"x", "b\\\\s", "", " s ", "null", NULL, 3, true]',
        ),
        ({"a": [1]}, '{"a": [1]}'),
        (3, "3"),
        (1.5, "1.5"),
        (True, "true"),
        (None, None),
        ("text", "text"),
    ],
)
def test_frontmatter_is_text(value: Any, expected: str | None):
    assert values.to_map({"x": value}) == {"x": expected}


@pytest.mark.parametrize(
    "items", [["a, b", 'q"x', "b\\s", "", " s ", "null", "it's", "[x]", "{y}", "a:b", "a=b", "(z)", "ä\n", "#t"]]
)
def test_a_list_of_the_frontmatter_comes_back_as_a_list(items: list[str], tmp_path: Path):
    import json

    (tmp_path / "a.md").write_text(f"---\ntags: {json.dumps(items)}\n---\n")
    database = Database(20)
    statement = "SELECT CAST(metadata['tags'] AS VARCHAR[]) AS tags FROM read_markdown('**/*.md')"
    database.run(database.judge(statement), Notebook(str(tmp_path), "x", {}).list_notes())
    assert database.fetch_rows(0, 1) == [{"tags": items}]


def test_any_text_can_be_a_note(tmp_path: Path):
    texts = {"a.md": b"\xff\xfe not UTF-8", "b.md": "\U0001f600 \u2028".encode(), "c.md": b"nul \0 here", "d.md": b""}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
    (tmp_path / 'it\'s 100% "odd" \u00e4.md').write_text("odd name")
    database = Database(20)
    statement = "SELECT file_path, content FROM read_markdown('**/*.md') ORDER BY file_path"
    database.run(database.judge(statement), Notebook(str(tmp_path), "x", {}).list_notes())
    contents = [row["content"] for row in database.fetch_rows(0, 10)]
    assert contents == ["\ufffd\ufffd not UTF-8", "\U0001f600 \u2028", "nul \ufffd here", "", "odd name"]
