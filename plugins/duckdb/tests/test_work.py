"""Statements at work: what a row says, what ends a statement at once, pace, and answers that are kept."""

import io
import sys
import textwrap
import threading
from pathlib import Path
from subprocess import PIPE, Popen

import duckdb
import pytest

import ferrule_duckdb
from ferrule_ask import Client, Limits
from ferrule_ask.pace.clock import Clock
from ferrule_dev.testing import refused_port
from ferrule_duckdb.progress import Reporter
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools, no_tools
from ferrule_testkit.model.server import after, calls, failure, says, silent
from ferrule_testkit.model.token_bucket import TokenBucket, echo
from ferrule_testkit.programs.redis_server import RedisServer

pytestmark = pytest.mark.process
ROWS = "SELECT stps_ask_ai(i, 'p') FROM range({}) t(i)"
UNDER_WAY = 8  # how many questions are asked at once, unless told


@pytest.fixture
def searching(server):
    """The server, which wants to search first."""
    first = calls(SEARCH, {"query": "a"}, text="Let me look that up.")
    server.script(lambda request: says("From memory.") if request.is_second else first)
    return server


@pytest.fixture
def some_fail(server):
    """The server, which refuses rows with a 3."""
    server.script(lambda request: failure(400, "No.") if "3" in request.question else echo(request))
    return server


def failing_search() -> MemoryTools:
    return MemoryTools(content="No.", is_error=True, code="AUTH_INVALID", error="Brave refused the key.")


# ---- a row says what happened


@pytest.mark.parametrize(("choice", "text"), [("answer", "From memory."), ("null", None)])
def test_a_row_whose_search_failed_says_so(con, searching, choice, text):
    with Client(toolbox=failing_search(), on_tool_error=choice) as client:
        ferrule_duckdb.register(con, client=client)
        ((answer,),) = con.execute("SELECT ask_ai('a', 'p')").fetchall()
    assert (answer["text"], answer["tool_outcome"], answer["tool_code"]) == (text, "failed", "AUTH_INVALID")
    assert answer["tool_error"] == "Brave refused the key."
    assert answer["code"] == (None if text else "TOOL_FAILED")


def test_a_statement_can_end_at_the_first_search_that_fails(con, searching):
    with Client(toolbox=failing_search(), on_tool_error="raise") as client:
        ferrule_duckdb.register(con, client=client)
        with pytest.raises(duckdb.InvalidInputException, match=r"AskFailed: TOOL_FAILED: .*on_tool_error='answer'"):
            con.execute(ROWS.format(100)).fetchall()
    assert not any(request.is_second for request in searching.requests)


def test_an_option_for_tools_that_there_is_not_is_refused(con):
    with pytest.raises(Exception, match="on_tool_error"):
        ferrule_duckdb.register(con, tools=(), on_tool_error="ignore")


# ---- an answer is whole, or it is none


def test_half_an_answer_is_marked_and_is_an_error_where_errors_are(con, server):
    server.always(says("The first half", stop_reason="max_tokens"))
    ferrule_duckdb.register(con, tools=())
    sql = "SELECT stps_ask_ai('a', 'p'), (ask_ai('a', 'p')).code, (ask_ai('a', 'p')).error"
    ((text, code, error),) = con.execute(sql).fetchall()
    assert (text, code) == ("The first half … [cut off: max_tokens]", "MAX_TOKENS")
    assert "max_tokens := 4000" in error
    con.execute("SELECT stps_ask_ai('a', 'p')").fetchall()
    assert len(server.requests) == 2  # it is not remembered like a whole one
    ferrule_duckdb.register(con, tools=(), on_error="raise")
    with pytest.raises(duckdb.InvalidInputException, match="MAX_TOKENS"):
        con.execute("SELECT stps_ask_ai('a', 'p')").fetchall()


def test_a_question_that_a_cap_ends_gives_null_and_no_half_sentence(con, searching):
    with Client(toolbox=MemoryTools(), limits=Limits(calls=5)) as client:
        ferrule_duckdb.register(con, client=client)
        rows = con.execute("SELECT stps_ask_ai(i, 'p'), (ask_ai(i, 'p')).code FROM range(10) t(i)").fetchall()
    assert sorted(rows, key=str) == [("From memory.", None)] * 2 + [(None, "BUDGET_EXHAUSTED")] * 8
    assert len(searching.requests) == 4


# ---- what holds for every row


@pytest.mark.parametrize("on_error", ["null", "text"])
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (failure(401, "invalid x-api-key"), "AUTH_INVALID: .* In SQL: SELECT stps_set_api_key"),
        (failure(402), "BILLING: .*credit"),
        (failure(403), "FORBIDDEN: "),
        (failure(404, "model: claude-x"), "MODEL_NOT_FOUND: .* In SQL: SELECT stps_set_model"),
    ],
)
def test_what_holds_for_every_row_ends_the_statement_at_once(con, server, on_error, reply, words):
    server.always(reply)
    ferrule_duckdb.register(con, tools=(), on_error=on_error, concurrency=4)
    with pytest.raises(duckdb.InvalidInputException, match=words):
        con.execute(ROWS.format(3000)).fetchall()
    assert len(server.requests) <= 4


def test_without_a_key_nothing_is_sent_and_it_is_said_how_to_set_one(con, server, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    ferrule_duckdb.register(con, tools=())
    with pytest.raises(duckdb.InvalidInputException, match=r"AUTH_MISSING: .*stps_set_api_key"):
        con.execute(ROWS.format(3000)).fetchall()
    assert not server.requests


def test_a_model_that_some_rows_name_in_vain_is_a_failure_of_these(query, server):
    unknown = failure(404, "model: nonsense")
    server.script(lambda request: unknown if request.body["model"] == "nonsense" else echo(request))
    sql = "SELECT (ask_ai(i, 'p', CASE i % 2 WHEN 0 THEN 'nonsense' END)).code AS c, count(*) FROM range(20) t(i)"
    assert query(f"{sql} GROUP BY c ORDER BY c") == [("MODEL_NOT_FOUND", 10), (None, 10)]


def test_a_network_that_is_gone_ends_the_statement_after_several_rows(con, server, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{refused_port()}")
    with Client(tools=(), budgets=(0.3, 1, 1)) as client:
        registration = ferrule_duckdb.register(con, client=client, concurrency=2)
        assert con.execute(ROWS.format(3)).fetchall() == [(None,)] * 3  # so few may be bad luck
        with pytest.raises(duckdb.InvalidInputException, match=r"NETWORK_ERROR: .*Connection refused"):
            con.execute(ROWS.format(3000)).fetchall()
        assert registration.usage.questions <= 12


def test_rows_that_fail_between_others_end_nothing(query, some_fail):
    assert [text for (text,) in query(ROWS.format(13))].count(None) == 1


# ---- pace


@pytest.mark.slow
@pytest.mark.parametrize(("per_minute", "rows", "most"), [(50, 100, 110), (250, 200, 200)])
def test_every_row_is_answered_at_the_pace_of_the_provider(con, server, per_minute, rows, most):
    clock = Clock(60)
    server.script(TokenBucket(per_minute, clock=clock))
    with Client(toolbox=no_tools(), clock=clock) as client:
        ferrule_duckdb.register(con, client=client)
        answers = con.execute(ROWS.format(rows)).fetchall()
    assert len(answers) == rows
    assert all(text for (text,) in answers)
    assert len(server.requests) <= most


@pytest.mark.slow
def test_a_statement_has_a_timeout_and_its_rows_say_so(con, server):
    server.script(lambda request: silent() if "7" in request.question else echo(request))
    ferrule_duckdb.register(con, tools=(), timeout=1.5)
    rows = con.execute("SELECT i, stps_ask_ai(i, 'p'), (ask_ai(i, 'p')).code FROM range(10) t(i)").fetchall()
    assert [(text, code) for i, text, code in rows if i == 7] == [(None, "TIMEOUT")]
    ferrule_duckdb.register(con, tools=(), timeout=0.5, on_error="raise")
    with pytest.raises(duckdb.InvalidInputException, match=r"TIMEOUT: The 0.5 seconds of the statement"):
        con.execute("SELECT stps_ask_ai(77, 'p')").fetchall()


@pytest.mark.slow
def test_after_its_timeout_a_statement_still_gives_what_is_known(con, server):
    server.script(lambda request: silent() if "slow" in request.question else echo(request))
    ferrule_duckdb.register(con, tools=(), timeout=1)
    con.execute(ROWS.format(5)).fetchall()
    con.execute("CREATE TABLE t AS SELECT i % 5 AS x FROM range(5000) r(i)")
    con.execute("UPDATE t SET x = NULL WHERE rowid = 0")
    sql = "SELECT (ask_ai(coalesce(x::VARCHAR, 'slow'), 'p')).code AS code, count(*) FROM t GROUP BY code ORDER BY code"
    assert con.execute(sql).fetchall() == [("TIMEOUT", 1), (None, 4999)]


def test_a_line_on_a_terminal_tells_of_progress_and_other_streams_have_none():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    progress = ferrule_duckdb.Progress(answered=1200, failed=3, under_way=8, left=40, seconds=65.0)
    for stream, is_silent, said in (
        (Terminal(), False, "\r1,200 answered, 3 failed, 8 under way, 40 left of this vector; 65 s\n"),
        (Terminal(), True, ""),
        (io.StringIO(), False, ""),
    ):
        Reporter(None, is_silent=is_silent, stream=stream).tell(progress, is_end=True)
        assert stream.getvalue() == said


def test_progress_is_told(con, some_fail):
    told: list[ferrule_duckdb.Progress] = []
    ferrule_duckdb.register(con, tools=(), progress=told.append)
    con.execute(ROWS.format(10)).fetchall()
    last = told[-1]
    assert (last.answered, last.failed, last.remembered, last.under_way, last.left) == (10, 1, 0, 0, 0)
    con.execute(ROWS.format(12)).fetchall()
    assert (told[-1].answered, told[-1].remembered) == (12, 9)


# ---- nothing that is paid is lost


@pytest.mark.slow
def test_an_answer_that_is_kept_is_not_asked_again_by_another_program(con, server):
    program = """
        import duckdb, ferrule_duckdb
        con = duckdb.connect()
        con.execute("SET enable_progress_bar = false")  # which is shown where a statement takes seconds
        ferrule_duckdb.register(con, tools=(), remember="30d")
        print(con.execute("SELECT count(*), sum((ask_ai(i, 'p')).remembered::INT) FROM range(20) t(i)").fetchall())
    """
    told = []
    for _ in range(2):
        with Popen([sys.executable, "-c", textwrap.dedent(program)], stdout=PIPE, text=True) as process:
            told.append(process.communicate(timeout=60)[0].strip())
    assert told == ["[(20, 0)]", "[(20, 20)]"]
    assert len(server.requests) == 20
    ferrule_duckdb.register(con, tools=(), remember="30d", max_tokens=7)
    con.execute(ROWS.format(20)).fetchall()
    assert len(server.requests) == 40  # with other settings it is another question


@pytest.mark.slow
def test_a_statement_that_was_interrupted_goes_on_where_it_stopped(con, server):
    asked = threading.Event()

    def slow(request):
        if len(server.requests) >= 30:
            asked.set()
        return after(0.02, echo(request))

    server.script(slow)
    registration = ferrule_duckdb.register(con, tools=(), remember="1h")
    interrupter = threading.Thread(target=lambda: asked.wait(20) and registration.interrupt())
    interrupter.start()
    with pytest.raises(duckdb.Error, match=r"(?i)interrupted"):
        con.execute(ROWS.format(500)).fetchall()
    interrupter.join()
    paid = registration.usage.questions - registration.usage.failures
    before = len(server.requests)
    ferrule_duckdb.register(con, tools=(), remember="1h")  # which has nothing in memory
    assert all(text for (text,) in con.execute(ROWS.format(500)).fetchall())
    assert paid >= 20
    # What was under way at the interruption may be kept and not counted, or have come to the server after `before`.
    assert abs(len(server.requests) - before - (500 - paid)) <= UNDER_WAY
    assert len(server.requests) <= 500 + UNDER_WAY


def test_what_failed_is_not_kept(con, server):
    ferrule_duckdb.register(con, tools=(), remember="1h")
    server.script(failure(400, "No."), says("half", stop_reason="max_tokens"), says("whole"))
    texts = [con.execute("SELECT stps_ask_ai('a', 'p')").fetchone()[0] for _ in range(4)]
    assert texts == [None, "half … [cut off: max_tokens]", "whole", "whole"]


def test_machines_share_kept_answers_and_their_pace_over_redis(con, server, monkeypatch, tmp_path: Path):
    with RedisServer(tmp_path) as redis:
        monkeypatch.setenv("FERRULE_REDIS", redis.url)
        for machine, remembered in (("a", 0), ("b", 20)):
            monkeypatch.setenv("FERRULE_STATE", str(tmp_path / machine))
            ferrule_duckdb.register(con, tools=(), remember="1h", requests_per_minute=6_000)
            rows = con.execute("SELECT sum((ask_ai(i, 'p')).remembered::INT) FROM range(20) t(i)").fetchall()
            assert rows == [(remembered,)]
            assert not (tmp_path / machine).exists()
    assert len(server.requests) == 20


@pytest.mark.parametrize("where", ["files", "redis"])
def test_a_store_that_cannot_be_used_costs_nothing_but_the_memory(
    con, server, where, monkeypatch, tmp_path: Path, ferrule_settings
):
    if where == "redis":
        ferrule_settings(f'[ask]\nredis = "redis://127.0.0.1:{refused_port()}/0"\n')
    else:
        (tmp_path / "file").write_text("no folder")
        monkeypatch.setenv("FERRULE_STATE", str(tmp_path / "file"))
    ferrule_duckdb.register(con, tools=(), remember="1h")
    assert all(text for (text,) in con.execute(ROWS.format(20)).fetchall())


@pytest.mark.parametrize("remember", ["30", "30 days", "-1d", "", -1, float("nan")])
def test_a_time_that_is_none_is_refused(con, remember):
    with pytest.raises(ValueError, match='"30d", "12h"'):
        ferrule_duckdb.register(con, tools=(), remember=remember)


def test_ask_answers_lists_what_each_statement_has_got_and_paid(query, some_fail):
    assert query("FROM ask_answers()") == []
    query(ROWS.format(5))
    query(ROWS.format(7))
    sql = "SELECT statement, count(*), count(text), sum(cost), sum(remembered::INT) FROM ask_answers() GROUP BY ALL"
    first, second = query(f"{sql} ORDER BY 1")
    assert first[:3] == (1, 4, 4)  # the failure was asked again, by the second statement
    assert (second[:3], second[4]) == ((2, 7, 6), 4)
    assert (first[3], second[3]) == (pytest.approx(4 * 0.00014), pytest.approx(2 * 0.00014))
    row = query("SELECT context, prompt, code, tool_outcome FROM ask_answers() WHERE text IS NULL")
    assert row == [("3", "p", "INVALID_REQUEST", "none")]
