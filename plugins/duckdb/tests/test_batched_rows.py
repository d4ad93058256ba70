"""`ferrule ask --rows --batch`, as a person runs it, kills it and runs it again."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from ferrule_testkit.model.batch_server import EXPIRED, BatchServer, says
from ferrule_testkit.model.server import MODEL_KEY

pytestmark = pytest.mark.process
FERRULE = Path(sys.executable).parent / "ferrule"
COMMAND = "Where?", "--rows", "cities.csv", "--out", "out.csv", "--batch"
RECORD = "out.csv.batch.jsonl"


@pytest.fixture
def server(ferrule_environment):
    """A server that answers each question, but for those of Bergen, once `is_late` is there."""
    late = []

    def outcome(body):
        asked = json.dumps(body.get("messages") or body.get("input"))
        return EXPIRED if late and "Bergen" in asked else says("Norway")

    with BatchServer(outcome) as server:
        server.late = late
        yield server


@pytest.fixture
def environ(server, tmp_path):
    """The environment of `ferrule ask`, for which there is a folder with the file cities.csv."""
    (tmp_path / "cities.csv").write_text("city\nOslo\nBergen\nTromsø\nOslo\n")
    return {name: value for name, value in os.environ.items() if name != "ANTHROPIC_AUTH_TOKEN"} | {
        "HOME": str(tmp_path),
        "FERRULE_STATE": str(tmp_path / "state"),
        "FERRULE_ASK_TOOLS": "none",
        "ANTHROPIC_API_KEY": MODEL_KEY,
        "OPENAI_API_KEY": MODEL_KEY,
        "ANTHROPIC_BASE_URL": server.url,
        "OPENAI_BASE_URL": f"{server.url}/v1",
    }


@pytest.fixture
def start(environ, tmp_path):
    """Start `ferrule ask ARGUMENT…` in that folder."""

    def start(*arguments):
        ends = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen([FERRULE, "ask", *arguments], env=environ, cwd=tmp_path, text=True, **ends)

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


def rows_in(path):
    """City, answer and code of each row."""
    return duckdb.execute(f"SELECT city, answer, code FROM read_csv('{path}', all_varchar = true)").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "openai/gpt-5"])
def test_all_rows_are_one_batch(ask, server, tmp_path, model):
    code, said, err = ask(*COMMAND, "--model", model, "--json")
    assert code == 0, err
    assert rows_in(tmp_path / "out.csv") == [(one, "Norway", None) for one in ("Oslo", "Bergen", "Tromsø", "Oslo")]
    assert [len(one.requests) for one in server.batches] == [3]
    assert json.loads(said)["requests"] == 3
    assert f"Batch {server.batches[0].id} of 3 requests is sent." in err
    assert not (tmp_path / RECORD).exists()
    assert ask(*COMMAND, "--model", model)[0] == 0  # all is kept
    assert len(server.batches) == 1


def test_columns_may_have_any_name(ask, tmp_path, wanted_names):
    values = [f"v{place}" for place, _ in enumerate(wanted_names)]
    lines = wanted_names, values, values[::-1]
    (tmp_path / "cities.csv").write_text("".join(f"{','.join(line)}\n" for line in lines))
    code, _, err = ask(*COMMAND)
    assert code == 0, err
    written = [line.split(",")[: len(values) + 1] for line in (tmp_path / "out.csv").read_text().splitlines()]
    assert written == [[*wanted_names, "answer"], [*values, "Norway"], [*values[::-1], "Norway"]]


# A command that is killed goes on in `test_a_folder_that_is_copied_to_another_machine_goes_on_there`, too.
@pytest.mark.slow
@pytest.mark.parametrize(
    "ending", [pytest.param(signal.SIGKILL, marks=pytest.mark.full), signal.SIGINT, signal.SIGTERM]
)
def test_a_command_that_was_ended_goes_on_with_its_batch(start, ask, server, tmp_path, ending):
    server.go_on.clear()
    with start(*COMMAND) as process:
        server.made.wait()
        for line in process.stderr:
            if "is sent" in line:
                break
        process.send_signal(ending)
        process.communicate()
    assert process.returncode != 0
    server.go_on.set()
    code, _, err = ask(*COMMAND)
    assert code == 0, err
    assert len(server.batches) == 1
    assert {answer for _, answer, _ in rows_in(tmp_path / "out.csv")} == {"Norway"}


@pytest.mark.slow
@pytest.mark.parametrize("model", ["claude-sonnet-5-5", "openai/gpt-5"])
def test_thousands_of_rows_that_were_killed_before_their_batch_came_back_are_one_batch(
    start, ask, server, tmp_path, model
):
    rows = 1500
    (tmp_path / "cities.csv").write_text("city\n" + "".join(f"City {i}\n" for i in range(rows)))
    server.go_on.clear()
    with start(*COMMAND, "--model", model) as process:
        server.made.wait()
        process.kill()  # the id may have come or not
        process.communicate()
    server.go_on.set()
    code, _, err = ask(*COMMAND, "--model", model)
    assert code == 0, err
    assert [len(one.requests) for one in server.batches] == [rows]
    assert rows_in(tmp_path / "out.csv") == [(f"City {i}", "Norway", None) for i in range(rows)]


@pytest.mark.slow
def test_a_folder_that_is_copied_to_another_machine_goes_on_there(start, ask, server, tmp_path):
    server.go_on.clear()
    with start(*COMMAND) as process:
        for line in process.stderr:
            if "is sent" in line:
                break
        process.kill()
        process.communicate()
    subprocess.run(["rm", "-rf", tmp_path / "state"], check=True)
    server.go_on.set()
    assert ask(*COMMAND)[0] == 0
    assert len(server.batches) == 1


def test_what_expired_is_said_and_asked_by_the_next_run(ask, server, tmp_path):
    server.late.append(True)
    code, _, err = ask(*COMMAND)
    assert (code, "1 of 4 rows have no whole answer: TIMEOUT." in err) == (1, True)
    assert [row[2] for row in rows_in(tmp_path / "out.csv")] == [None, "TIMEOUT", None, None]
    server.late.clear()
    assert ask(*COMMAND)[0] == 0
    assert [len(one.requests) for one in server.batches] == [3, 1]
    assert {code for _, _, code in rows_in(tmp_path / "out.csv")} == {None}


def test_answers_of_a_type_are_checked_in_batches(ask, server, tmp_path):
    code, _, err = ask(*COMMAND, "--type", "INTEGER")
    assert (code, "4 of 4 rows have no whole answer: VALUE_UNFIT." in err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("Q", "--batch"), "--batch needs --rows or --files"),
        ((*COMMAND, "--model", "ollama/x"), "ollama has no batches. Ask without --batch, or another model"),
        (("Q", "--rows", "none.csv", "--out", "out.csv", "--batch"), "There is no file none.csv"),
        ((*COMMAND[:4], "no/out.csv", "--batch"), "cannot be written"),
    ],
)
def test_what_cannot_be_is_said(ask, server, tmp_path, arguments, said):
    code, _, err = ask(*arguments)
    assert code
    assert said in err.replace("\n", " ")
    assert not server.batches
    assert not (tmp_path / RECORD).exists()


def test_a_plan_has_half_the_price_and_leaves_no_file(ask, server, tmp_path):
    plans = [json.loads(ask(*COMMAND[:3], *one, "--plan", "--json")[1]) for one in ((), ("--batch",))]
    assert plans[1]["cost_max"] == pytest.approx(plans[0]["cost_max"] / 2)
    assert not list(tmp_path.glob("*.batch.jsonl"))
