"""`ferrule ask --rows`: a file of rows, as a person runs it."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest

from ferrule_testkit.model.server import MODEL_KEY, after, failure, says

pytestmark = pytest.mark.process
FERRULE = Path(sys.executable).parent / "ferrule"
CITIES = 'city,zip\nOslo,0150\nBergen,5003\n"A, ""B""",\nOslo,0150\n'


@pytest.fixture
def start(server, tmp_path):
    """Start `ferrule ask ARGUMENT…` in a folder with the file cities.csv."""
    (tmp_path / "cities.csv").write_text(CITIES)
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "FERRULE_STATE": str(tmp_path / "state"),
        "FERRULE_ASK_TOOLS": "none",
    }

    def start(*arguments):
        command = [FERRULE, "ask", *map(str, arguments)]
        return subprocess.Popen(
            command, env=environ, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    return start


@pytest.fixture
def ask(start):
    """The same to its end: exit code, stdout, stderr."""

    def ask(*arguments):
        with start(*arguments) as process:
            out, err = process.communicate(timeout=60)
        assert MODEL_KEY not in out + err
        assert "Traceback" not in err
        return process.returncode, out, err

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
