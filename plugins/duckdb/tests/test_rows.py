"""`ferrule ask --rows`: a file of rows, as a person runs it."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from ferrule_testkit.model.server import MODEL_KEY, after, failure, reset, says, silent
from ferrule_testkit.runs import wait_for

pytestmark = pytest.mark.process
FERRULE = Path(sys.executable).parent / "ferrule"
CITIES = 'city,zip\nOslo,0150\nBergen,5003\n"A, ""B""",\nOslo,0150\n'


@pytest.fixture
def environ(server, tmp_path):
    """The environment of `ferrule ask`, for which there is a folder with the file cities.csv."""
    (tmp_path / "cities.csv").write_text(CITIES)
    return {
        **os.environ,
        "HOME": str(tmp_path),
        "FERRULE_STATE": str(tmp_path / "state"),
        "FERRULE_ASK_TOOLS": "none",
    }


@pytest.fixture
def start(environ, tmp_path):
    """Start `ferrule ask ARGUMENT…` in that folder."""

    def start(*arguments, stdin=subprocess.DEVNULL):
        command = [FERRULE, "ask", *map(str, arguments)]
        ends = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, env=environ, cwd=tmp_path, text=True, **ends)

    return start


@pytest.fixture
def ask(run_ask, environ, tmp_path):
    """The same to its end: exit code, stdout, stderr."""

    def ask(*arguments):
        code, out, err = run_ask(environ, tmp_path, *arguments)
        assert MODEL_KEY not in out + err
        assert "Traceback" not in err
        return code, out, err

    return ask


@pytest.mark.slow
@pytest.mark.parametrize("source", [".csv", ".parquet", ".jsonl"])
@pytest.mark.parametrize("target", [".csv", ".parquet", ".jsonl"])
def test_each_row_of_a_file_is_asked_and_equal_ones_once(ask, server, tmp_path, source, target):
    file, out = tmp_path / f"in{source}", tmp_path / f"out{target}"
    duckdb.execute(f"COPY (FROM read_csv('{tmp_path}/cities.csv', all_varchar = true)) TO '{file}'")
    code, said, _ = ask("Where?", "--rows", file, "--out", out, "--context-column", "city", "--json")
    assert (code, json.loads(said)["answered"], json.loads(said)["requests"]) == (0, 4, 3)
    options = ", all_varchar = true" if target == ".csv" else ""
    reader = {".csv": "read_csv", ".parquet": "read_parquet", ".jsonl": "read_json"}[target]
    rows = duckdb.execute(f"SELECT city, zip, answer, code FROM {reader}('{out}'{options})").fetchall()
    added = [row[0] for row in duckdb.execute(f"DESCRIBE FROM {reader}('{out}'{options})").fetchall()][2:]
    assert added == [
        "answer",
        "code",
        "error",
        "tool_outcome",
        "tool_code",
        "tool_error",
        "tool_calls",
        "sources",
        "cost",
    ]
    cities = [("Oslo", "0150"), ("Bergen", "5003"), ('A, "B"', None), ("Oslo", "0150")]
    assert [(row[0], row[1]) for row in rows] == cities
    assert [row[2:] for row in rows] == [(f"Context: {city}\n\nQuestion: Where?", None) for city, _ in cities]


@pytest.mark.slow
def test_columns_may_have_any_name(ask, server, tmp_path, wanted_names):
    server.always(says("Norway"))
    values = [f"v{place}" for place, _ in enumerate(wanted_names)]
    lines = wanted_names, values, values[::-1]
    (tmp_path / "cities.csv").write_text("".join(f"{','.join(line)}\n" for line in lines))
    code, _, err = ask("Where?", "--rows", "cities.csv", "--out", "out.csv")
    assert code == 0, err
    written = [line.split(",")[: len(values) + 1] for line in (tmp_path / "out.csv").read_text().splitlines()]
    assert written == [[*wanted_names, "answer"], [*values, "Norway"], [*values[::-1], "Norway"]]


@pytest.mark.slow
def test_what_failed_is_told_and_asked_again_alone(ask, server, tmp_path):
    server.script(lambda request: failure(400, "No.") if "Bergen" in request.question else says("Norway."))
    command = ["Where?", "--rows", "cities.csv", "--out", "out.csv"]
    code, _, err = ask(*command)
    assert (code, len(server.requests)) == (1, 3)
    assert "1 of 4 rows have no whole answer: INVALID_REQUEST" in err
    server.always(says("Norway."))
    assert ask(*command)[0] == 0
    assert len(server.requests) == 4
    assert (tmp_path / "out.csv").read_text().count("Norway.") == 4


@pytest.mark.slow
def test_a_file_that_was_interrupted_goes_on_where_it_stopped(start, ask, server, tmp_path):
    (tmp_path / "many.csv").write_text("context,question\n" + "".join(f"row {i},What?\n" for i in range(60)))
    some = threading.Event()
    server.script(lambda request: (some.set() if request.number > 20 else None) or after(0.02, says("Yes.")))
    command = ["--rows", "many.csv", "--out", "out.csv"]
    with start(*command) as process:
        some.wait(60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    assert (process.returncode, (tmp_path / "out.csv").exists()) == (130, False)
    assert "run the same command again" in err
    assert not list(tmp_path.glob("*.part"))
    assert ask(*command)[0] == 0
    assert len(server.requests) <= 60 + 8  # what was under way is asked again
    assert (tmp_path / "out.csv").read_text().count("Yes.") == 60


@pytest.mark.slow
def test_thousands_of_rows_that_were_killed_are_each_paid_once_and_in_order(start, server, tmp_path):
    rows, most, at_once = 1500, 700, 8
    (tmp_path / "many.csv").write_text("context,question\n" + "".join(f"row {i},What?\n" for i in range(rows)))
    paid, under_way, is_killed = [], [], threading.Event()

    def answer(request):
        if len(paid) >= most and not is_killed.is_set():
            under_way.append(request)
            return silent()
        number = request.question.partition("row ")[2].partition("\n")[0]
        paid.append(int(number))
        return says(f"Answer {number}.")

    server.script(answer)
    command = ["--rows", "many.csv", "--out", "out.csv", "--concurrency", at_once]
    with start(*command) as process:
        # Each question that is under way is silent: all that was answered is kept.
        wait_for(lambda: len(under_way) >= at_once)
        process.kill()
        process.communicate()
    kept = len(paid)
    assert (most <= kept < rows, (tmp_path / "out.csv").exists()) == (True, False)
    is_killed.set()
    with start(*command, "--json") as process:
        said, err = process.communicate()
    assert process.returncode == 0, err
    assert sorted(paid) == list(range(rows))
    outcome = json.loads(said)
    assert [outcome[name] for name in ("rows", "answered", "requests", "failures")] == [rows, rows, rows - kept, {}]
    found = duckdb.execute(f"SELECT context, answer FROM read_csv('{tmp_path}/out.csv')").fetchall()
    assert found == [(f"row {i}", f"Answer {i}.") for i in range(rows)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "written", "value"),
    [
        ("MAP(VARCHAR, INTEGER)", [{"key": "a", "value": 1}], {"a": 1}),
        ("JSON", '{"a": [1, null]}', {"a": [1, None]}),
        ("JSON", "null", None),
        (
            "STRUCT(m MAP(DATE, JSON), n INTEGER)",
            {"m": [{"key": "2026-01-02", "value": "[1]"}], "n": 2},
            {"m": {"2026-01-02": [1]}, "n": 2},
        ),
    ],
)
def test_one_answer_of_a_type_is_the_same_json_as_in_a_file(ask, server, tmp_path, kind, written, value):
    server.always(says(json.dumps(written if "STRUCT" in kind else {"value": written})))
    code, said, err = ask("Which?", "--type", kind)
    assert (code, json.loads(said), err) == (0, value, "")
    code, said, _ = ask("Which?", "--type", kind, "--json")
    assert (code, json.loads(said)["value"]) == (0, value)
    assert ask("Which?", "--rows", "cities.csv", "--type", kind, "--out", "out.jsonl")[0] == 0
    assert json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])["answer"] == value


@pytest.mark.parametrize(
    ("target", "kind", "written", "value"),
    [
        ("out.csv", "MAP(VARCHAR, INTEGER)", [{"key": 'a "b", c\n', "value": 1}], {'a "b", c\n': 1}),
        (
            "out.tsv",
            "MAP(DATE, VARCHAR[])",
            [{"key": "2026-01-02", "value": ["x=1, y\t"]}],
            {"2026-01-02": ["x=1, y\t"]},
        ),
        ("out.csv", "VARCHAR[]", ["it's, so", "b"], ["it's, so", "b"]),
        ("out.csv", "STRUCT(a VARCHAR, n INTEGER)", {"a": "b, n: 5", "n": None}, {"a": "b, n: 5", "n": None}),
        ("out.csv", "VARCHAR", "plain, as it is", None),
        ("out.csv", '{"type": "array", "items": {"type": "integer"}}', [1], [1]),
    ],
)
def test_parts_of_answers_are_json_in_files_of_texts(ask, server, tmp_path, target, kind, written, value):
    server.always(says(json.dumps(written if "STRUCT" in kind else {"value": written})))
    code, _, err = ask("Which?", "--rows", "cities.csv", "--type", kind, "--out", target)
    assert code == 0, err
    with (tmp_path / target).open(newline="") as file:
        answers = [row["answer"] for row in csv.DictReader(file, delimiter="\t" if target.endswith("tsv") else ",")]
    assert [written if value is None else value] * 4 == [one if value is None else json.loads(one) for one in answers]


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("TINYINT", "300"),
        ("MAP(VARCHAR, INTEGER)", json.dumps([{"key": "a", "value": 1}] * 2)),
        ("JSON", '"[NaN]"'),
        ("JSON", '"[1e999]"'),
        ("DOUBLE", "1e999"),
        ("DOUBLE[]", "[-1e999]"),
    ],
)
def test_one_answer_that_is_no_value_of_its_type_is_none(ask, server, kind, written):
    server.always(says(f'{{"value": {written}}}'))
    code, said, err = ask("Which?", "--type", kind)
    assert (code, said) == (1, "")
    assert f"VALUE_UNFIT: What the model has written is no {kind}: " in err


@pytest.mark.slow
def test_rows_have_answers_of_a_type_and_a_plan(ask, server, tmp_path):
    server.always(says('{"n": 3, "country": "NO"}'))
    command = ["Where?", "--rows", "cities.csv", "--type", "STRUCT(n INTEGER, country VARCHAR)"]
    code, said, _ = ask(*command, "--plan", "--json")
    plan = json.loads(said)
    assert (code, plan["rows"], plan["requests_max"]) == (0, 4, 3)
    assert 0 < plan["cost_min"] < plan["cost_likely"] < plan["cost_max"]
    assert not server.requests
    assert ask(*command, "--out", "out.parquet")[0] == 0
    found = duckdb.execute(
        f"SELECT typeof(answer), sum(answer.n) FROM '{tmp_path}/out.parquet' GROUP BY ALL"
    ).fetchall()
    assert found == [("STRUCT(n INTEGER, country VARCHAR)", 12)]


def test_a_price_that_is_too_high_stops_the_rows(ask, server):
    code, _, err = ask("Where?", "--rows", "cities.csv", "--out", "out.csv", "--max-spend", "0.0001")
    assert (code, len(server.requests)) == (1, 0)
    assert "BUDGET_EXHAUSTED" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Q", "--rows", "cities.csv"], "--rows needs --out"),
        (["Q", "--rows", "cities.csv", "--files", "*", "--out", "x.csv"], "exclude each other"),
        (["Q", "--rows", "none.csv", "--out", "x.csv"], "There is no file none.csv"),
        (["Q", "--rows", "cities.csv", "--out", "x.txt"], "--out has to name a file that ends with"),
        (["--rows", "cities.csv", "--out", "x.csv"], "no column `question`"),
        (["Q", "--rows", "cities.csv", "--out", "x.csv", "--context-column", "town"], "no column `town`"),
        (["Q", "--rows", "cities.csv", "--out", "x.csv", "--type", "FOO"], "no type that a model can answer with"),
        (["Q", "--rows", "cities.csv", "--out", "none/x.csv"], "none"),
        (["Q", "--out", "x.csv"], "need --rows"),
    ],
)
def test_what_cannot_be_is_said(ask, arguments, said):
    code, _, err = ask(*arguments)
    assert code
    assert said in err


@pytest.mark.slow
def test_a_refused_key_ends_the_rows_at_once(ask, server):
    server.always(failure(401, "invalid key"))
    code, _, err = ask("Q", "--rows", "cities.csv", "--out", "x.csv")
    assert code == 1
    assert "AUTH_INVALID" in err


@pytest.mark.slow
def test_the_answers_of_a_file_are_renewed_in_it(ask, server, tmp_path):
    assert ask("Where?", "--rows", "cities.csv", "--out", "cities.csv", "--context-column", "city")[0] == 0
    first = (tmp_path / "cities.csv").read_text()
    assert ask("Where?", "--rows", "cities.csv", "--out", "cities.csv", "--context-column", "city")[0] == 0
    assert (tmp_path / "cities.csv").read_text() == first
    assert len(server.requests) == 3


@pytest.mark.slow
def test_rows_come_from_stdin_and_files_are_rows(start, server, tmp_path):
    with start("Where?", "--rows", "-", "--out", "out.jsonl", stdin=subprocess.PIPE) as process:
        _, err = process.communicate('{"city": "Oslo"}\n{"city": "Bergen"}\n', timeout=60)
    assert process.returncode == 0, err
    with start("Where?", "--files", "*.csv", "--out", "files.jsonl") as process:
        process.communicate(timeout=60)
    assert [json.loads(line)["city"] for line in (tmp_path / "out.jsonl").read_text().splitlines()] == [
        "Oslo",
        "Bergen",
    ]
    assert json.loads((tmp_path / "files.jsonl").read_text())["text"] == CITIES


@pytest.mark.slow
def test_failures_of_the_network_end_no_rows_of_which_some_are_answered(ask, server, tmp_path):
    (tmp_path / "many.csv").write_text("context\n" + "".join(f"row {i}\n" for i in range(40)))
    bad = {f"row {i}\n" for i in range(1, 40, 4)}
    server.script(lambda request: reset() if any(f"{one}\n" in request.question for one in bad) else says("Yes."))
    code, _, err = ask("What?", "--rows", "many.csv", "--out", "out.csv")
    assert (code, (tmp_path / "out.csv").read_text().count("Yes.")) == (1, 30)
    assert "10 of 40 rows have no whole answer: NETWORK_ERROR" in err
    server.always(says("Yes."))
    assert ask("What?", "--rows", "many.csv", "--out", "out.csv")[0] == 0
    assert (tmp_path / "out.csv").read_text().count("Yes.") == 40


@pytest.mark.slow
def test_what_failed_in_passing_is_asked_once_more_at_the_end(ask, server, tmp_path):
    seen = []

    def reply(request):
        seen.append(request.question)
        return reset() if "Bergen" in request.question and seen.count(request.question) <= 3 else says("Norway.")

    server.script(reply)
    assert ask("Where?", "--rows", "cities.csv", "--out", "out.csv")[0] == 0
    assert (tmp_path / "out.csv").read_text().count("Norway.") == 4


@pytest.mark.slow
def test_a_second_run_on_the_same_file_is_refused_while_the_first_is_at_work(start, ask, server, tmp_path):
    arrived, go_on = threading.Event(), threading.Event()

    def waits(request):
        arrived.set()
        go_on.wait()
        return says("x")

    server.script(waits)
    command = "Where?", "--rows", "cities.csv", "--out", "out.csv"
    with start(*command) as first:
        arrived.wait()
        code, _, said = ask(*command)
        assert (code, "Another `ferrule ask` is working on out.csv." in said) == (1, True)
        go_on.set()
        first.communicate()
    assert first.returncode == 0
    assert len(server.requests) == 3
    assert sorted(path.name for path in tmp_path.iterdir() if "out.csv" in path.name) == ["out.csv"]
    assert ask(*command)[0] == 0


@pytest.mark.parametrize(
    ("file", "options", "said"),
    [
        ("SELECT 'a'::BLOB AS photo, 'x' AS n", (), "The column `photo` of in.parquet is BLOB"),
        ("SELECT 'a'::BLOB AS photo, 'x' AS n", ("--type", "UNION(a BLOB)"), "The field `a` is BLOB"),
        ("SELECT 'x' AS n", ("--out", "no/out.csv"), "no/out.csv cannot be written"),
        ("SELECT 'x' AS n", ("--out", "out.txt"), "--out has to name a file that ends with"),
    ],
)
def test_what_cannot_be_asked_or_written_is_refused_before_the_first_row(ask, server, tmp_path, file, options, said):
    duckdb.execute(f"COPY ({file}) TO '{tmp_path}/in.parquet'")
    code, _, err = ask("Where?", "--rows", "in.parquet", "--out", "out.csv", *options)
    assert (code, said in err) == (1, True), err
    assert not server.requests


@pytest.mark.slow
def test_columns_of_any_type_are_asked_about_and_written(ask, server, tmp_path):
    with duckdb.connect() as con:
        kinds = con.execute("SELECT column_name, column_type FROM (DESCRIBE FROM test_all_types())").fetchall()
        # Files of Parquet have a time zone as UTC, and none of these three; one of a union, as versions before 2 write
        # it, is no table to them.
        unread = ("UNION(",) if duckdb.__version__.startswith("1.") else ()
        left_out = ("BLOB", "STRUCT", "TYPE")
        names = [f'"{name}"' for name, kind in kinds if kind not in left_out and not kind.startswith(unread)]
        con.execute(f"COPY (SELECT {', '.join(names)} FROM test_all_types()) TO '{tmp_path}/in.parquet'")
    for ending in (".csv", ".parquet", ".jsonl"):
        said = ask("Where?", "--rows", "in.parquet", "--out", f"out{ending}")
        assert said[0] == 0, said
    assert len(server.requests) == 3
