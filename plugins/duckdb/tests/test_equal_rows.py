"""Equal rows are asked once, rows of a vector at the same time, and limits hold."""

import threading

import duckdb
import pytest

import ferrule_duckdb
from ferrule.errors import FerruleError
from ferrule_testkit.model.server import ModelRequest, Reply, after, failure, says

pytestmark = pytest.mark.process


def echo(request: ModelRequest) -> Reply:
    return says(request.question)


@pytest.mark.parametrize(
    ("sql", "distinct"),
    [
        ("SELECT stps_ask_ai(x, 'p') FROM t", 10),
        ("SELECT stps_ask_ai(x, 'p'), stps_ask_ai(x, 'p'), ask_ai(x, 'p') FROM t WHERE stps_ask_ai(x, 'p') > ''", 10),
        ("SELECT unnest(ask_ai(x, 'p')) FROM t", 10),
        ("SELECT stps_ask_ai(x, 'p'), count(*) FROM t GROUP BY 1 HAVING max(stps_ask_ai(x, 'p')) > '' ORDER BY 1", 10),
        ("SELECT stps_ask_ai('a', 'p'), stps_ask_ai('a', i % 2) FROM t", 3),
        ("SELECT (SELECT stps_ask_ai('r1', 'p')) FROM t WHERE x IN (SELECT right(stps_ask_ai(x, 'p'), 2) FROM t)", 10),
    ],
)
def test_equal_rows_of_a_statement_are_asked_once(con, server, sql, distinct):
    ferrule_duckdb.register(con, tools=(), remember=0)
    con.execute("CREATE TABLE t AS SELECT 'r' || (i % 10) AS x, i FROM range(5000) r(i)")
    con.execute(sql).fetchall()
    assert len(server.requests) == distinct


def test_rows_that_differ_in_how_they_name_the_model_are_one_question(query, server):
    query("SELECT stps_set_model('m')")
    sql = "SELECT count(stps_ask_ai('a', 'p', m)), sum((ask_plan('b', 'p', m)).requests_max) FROM unnest(?) t(m)"
    assert query(sql, [["m", None, "", " m"]]) == [(4, 1)]
    assert len(server.requests) == 1


def test_equal_rows_are_asked_once_whichever_of_duckdb_s_threads_has_them(query, server):
    server.script(lambda request: after(0.05, echo(request)))
    query("SET threads = 4")
    query("CREATE TABLE t AS SELECT 'r' || (i % 12) AS x FROM range(500000) r(i)")
    rows = query("SELECT x, stps_ask_ai(x, 'p') AS y, count(*) FROM t GROUP BY ALL")
    assert len(rows) == len(server.requests) == 12


@pytest.mark.parametrize(("remember", "requests"), [(300, 1), (0, 2)])
def test_an_answer_counts_in_later_statements_for_some_time(con, server, remember, requests):
    ferrule_duckdb.register(con, tools=(), remember=remember)
    seen = [con.execute("SELECT (ask_ai('a', 'p')).remembered").fetchone() for _ in range(2)]
    assert len(server.requests) == requests
    assert seen == [(False,), (remember > 0,)]


@pytest.mark.parametrize("in_transaction", [False, True])
def test_what_is_executed_again_is_asked_again(con, server, in_transaction):
    ferrule_duckdb.register(con, tools=(), remember=0)
    if in_transaction:
        con.begin()
    for _ in range(3):
        con.execute("SELECT stps_ask_ai(?, 'p'), stps_ask_ai('a', 'p')", ["a"]).fetchall()
    assert len(server.requests) == 3


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_prepared_statement_is_asked_again_at_each_execution(con, server, in_transaction):
    ferrule_duckdb.register(con, tools=(), remember=0)
    con.execute("PREPARE q AS SELECT stps_ask_ai('a', 'p'), stps_ask_ai('a', 'p')")
    if in_transaction:
        con.begin()
    for _ in range(3):
        con.execute("EXECUTE q").fetchall()
    assert len(server.requests) == 3


def test_ask_clear_forgets(query, server):
    query("SELECT stps_ask_ai('a', 'p'), stps_ask_ai('b', 'p')")
    assert query("SELECT ask_clear()") == [(2,)]
    query("SELECT stps_ask_ai('a', 'p')")
    assert len(server.requests) == 3


def test_a_failure_counts_in_its_statement_alone(query, server):
    server.script(failure(400, "No."), says("yes"))
    assert query("SELECT stps_ask_ai('a', 'p') FROM range(3) WHERE stps_ask_ai('a', 'p') IS NULL") == [(None,)] * 3
    assert query("SELECT stps_ask_ai('a', 'p')") == [("yes",)]


def test_what_would_fail_in_every_row_is_not_asked_in_every_row(con, server, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong")
    ferrule_duckdb.register(con, tools=(), concurrency=2)
    with pytest.raises(duckdb.InvalidInputException, match="AUTH_INVALID"):
        con.execute("SELECT stps_ask_ai(i, 'p') FROM range(5000) t(i)").fetchall()
    assert len(server.requests) <= 2


def test_memory_for_answers_is_bounded(server):
    from concurrent.futures import Future

    from ferrule_ask import Answer
    from ferrule_duckdb.memo import Memo, Question

    def start(question: Question) -> "Future[Answer]":
        future: Future[Answer] = Future()
        future.set_result(Answer("x" * 1000))
        return future

    memo = Memo(capacity=50_000)
    with memo.statement("1/1") as statement:
        for number in range(1000):
            memo.flight(Question("", str(number), None, None), statement, start)
    assert memo.counts(Question("", "999", None, None), statement)
    assert not memo.counts(Question("", "0", None, None), statement)
    assert 10 < memo.clear() < 50


# ---- several at once


@pytest.mark.slow
def test_rows_of_a_vector_are_asked_at_the_same_time(query, server):
    server.script(lambda request: after(0.1, echo(request)))
    query("SELECT stps_ask_ai('warm', 'up')")
    query("SELECT stps_ask_ai(i, 'p') FROM range(50) t(i)")
    assert server.peak == 8


def test_concurrency_is_what_it_is_set_to(con, server):
    server.script(lambda request: after(0.02, echo(request)))
    ferrule_duckdb.register(con, tools=(), concurrency=3)
    con.execute("SELECT stps_ask_ai(i, 'p') FROM range(20) t(i)").fetchall()
    assert server.peak == 3


# ---- limits, account, plan


@pytest.mark.slow
def test_no_more_calls_than_allowed_are_made(con, server):
    ferrule_duckdb.register(con, tools=(), max_calls=5)
    codes = con.execute("SELECT (ask_ai(i, 'p')).code, count(*) FROM range(3000) t(i) GROUP BY 1 ORDER BY 1").fetchall()
    assert codes == [("BUDGET_EXHAUSTED", 2995), (None, 5)]
    assert len(server.requests) == 5


def test_no_more_dollars_than_allowed_are_spent(con, server):
    server.always(says("x", input_tokens=100, output_tokens=1000))  # 0.0102 dollars
    registration = ferrule_duckdb.register(con, tools=(), max_spend=0.05)
    con.execute("SELECT stps_ask_ai(i, 'p') FROM range(100) t(i)").fetchall()
    assert 1 <= len(server.requests) <= 4
    assert 0 < registration.usage.cost <= 0.05


def test_a_question_that_is_too_dear_keeps_no_other_from_being_asked(con, server):
    ferrule_duckdb.register(con, tools=(), max_spend=0.1, concurrency=1)
    sql = "SELECT (ask_ai(repeat('x', n), 'p')).code FROM unnest([100000, 1, 2, 3]) t(n)"
    assert con.execute(sql).fetchall() == [("BUDGET_EXHAUSTED",), (None,), (None,), (None,)]
    assert len(server.requests) == 3


def test_ask_usage_is_the_account(query):
    query("SELECT stps_ask_ai(i % 3, 'p') FROM range(100) t(i)")
    ((usage,),) = query("SELECT ask_usage()")
    assert (usage["questions"], usage["requests"], usage["failures"], usage["output_tokens"]) == (3, 3, 0, 30)
    assert usage["cost"] == pytest.approx(3 * 0.00014)


def test_the_sum_of_plans_is_what_the_query_would_cost_at_the_most(query, server):
    query("CREATE TABLE t AS SELECT 'r' || (i % 10) AS x FROM range(5000) r(i)")
    ((cost, requests, rows),) = query(
        "SELECT sum(p.cost_max), sum(p.requests_max), count(*) FROM (SELECT ask_plan(x, 'p') AS p FROM t)"
    )
    assert (requests, rows, len(server.requests)) == (10, 5000, 0)
    query("SELECT stps_ask_ai(x, 'p') FROM t")
    ((usage,),) = query("SELECT ask_usage()")
    assert 0 < usage["cost"] <= cost
    assert query("SELECT sum((ask_plan(x, 'p')).cost_max) FROM t") == [(0.0,)]
    ((first, second),) = query("SELECT sum((ask_plan('k', 'p')).cost_max), max((ask_plan('l', 'p')).cost_max) FROM t")
    assert first == second > 0


def test_a_plan_of_null_is_null(query):
    assert query("SELECT ask_plan(NULL, 'p')") == [(None,)]


# ---- connections


def test_registering_again_shares_and_takes_new_options(con, server):
    first = ferrule_duckdb.register(con, tools=())
    con.execute("SELECT stps_ask_ai('a', 'p')")
    cursor = con.cursor()
    second = ferrule_duckdb.register(cursor)
    cursor.execute("SELECT stps_ask_ai('a', 'p')")
    assert (len(server.requests), first.usage) == (1, second.usage)
    con.execute("SELECT stps_set_api_key('sk-ant-wrong')")
    third = ferrule_duckdb.register(con, tools=(), on_error="text")
    with pytest.raises(duckdb.InvalidInputException, match="AUTH_INVALID"):
        con.execute("SELECT stps_ask_ai('a', 'p')")
    assert third.usage.requests == 1


def test_two_databases_have_nothing_in_common(con, server):
    with duckdb.connect() as other:
        for one in (con, other):
            ferrule_duckdb.register(one, tools=())
            one.execute("SELECT stps_ask_ai('a', 'p')")
        other.execute("SELECT stps_set_model('x')")
        assert con.execute("SELECT stps_get_model()").fetchone() == ("claude-sonnet-5-5",)
    assert len(server.requests) == 2


def test_the_connection_of_duckdb_itself_can_be_registered(server):
    registration = ferrule_duckdb.register(duckdb.default_connection(), tools=())
    try:
        assert duckdb.sql("SELECT stps_ask_ai('a', 'p')").fetchall() == [("Context: a\n\nQuestion: p",)]
    finally:
        registration.close()


def test_what_is_no_connection_is_refused(server):
    with pytest.raises(TypeError, match="default_connection"):
        ferrule_duckdb.register(duckdb)


def test_a_cursor_outlives_the_connection_it_came_from(con, server):
    other = duckdb.connect(":memory:shared")
    ferrule_duckdb.register(other, tools=())
    cursor = other.cursor()
    ferrule_duckdb.register(cursor)
    del other
    assert cursor.execute("SELECT stps_ask_ai('a', 'p')").fetchone() is not None
    cursor.close()


def test_a_registration_outlives_a_transaction_that_is_rolled_back(con, server):
    con.begin()
    con.execute("SELECT count(*) FROM duckdb_functions()").fetchall()
    if duckdb.__version__ >= "2":  # where a transaction that is open does not see what others add since
        with pytest.raises(FerruleError, match="Commit or roll it back"):
            ferrule_duckdb.register(con, tools=())
        assert con.execute("SELECT 1").fetchone() == (1,)
    con.rollback()
    con.begin()
    ferrule_duckdb.register(con, tools=())
    con.rollback()
    ferrule_duckdb.register(con)
    assert con.execute("SELECT stps_ask_ai('a', 'p')").fetchone() is not None


def test_a_file_keeps_no_trace_and_its_views_work_once_registered(server, tmp_path):
    path = str(tmp_path / "some.duckdb")
    with duckdb.connect(path) as con:
        ferrule_duckdb.register(con, tools=())
        con.execute("CREATE TABLE t AS SELECT stps_ask_ai('a', 'p') AS x")
        con.execute("CREATE VIEW v AS SELECT stps_ask_ai('a', 'p', max_tokens := 5) AS x")
    with duckdb.connect(path, read_only=True) as con:
        with pytest.raises(duckdb.CatalogException, match="stps_ask_ai"):
            con.execute("SELECT * FROM v")
        ferrule_duckdb.register(con, tools=())
        assert con.execute("SELECT v.x = t.x FROM v, t").fetchall() == [(True,)]


def test_attached_databases_are_one_with_it(query, server):
    query("ATTACH ':memory:' AS other")
    query("CREATE TABLE other.t AS SELECT 'a' AS x")
    query("USE other")
    query("SELECT stps_ask_ai(x, 'p') FROM t WHERE stps_ask_ai(x, 'p') > ''")
    assert len(server.requests) == 1


@pytest.mark.slow
def test_close_takes_the_functions_away_and_they_can_be_had_again(con, server):
    with ferrule_duckdb.register(con, tools=()) as registration:
        con.execute("SELECT stps_ask_ai('a', 'p')")
    registration.close()
    with pytest.raises(duckdb.CatalogException, match="stps_ask_ai"):
        con.execute("SELECT stps_ask_ai('a', 'p')")
    ferrule_duckdb.register(con)
    assert con.execute("SELECT stps_ask_ai('a', 'p')").fetchone() is not None


def test_statements_of_several_connections_ask_the_same_question_once(con, server):
    server.script(lambda request: after(0.3, echo(request)))
    ferrule_duckdb.register(con, tools=())
    cursors = [con.cursor() for _ in range(4)]
    for cursor in cursors:
        ferrule_duckdb.register(cursor)
    rows = []
    ask = lambda cursor: rows.append(cursor.execute("SELECT stps_ask_ai('a', 'p')").fetchone())  # noqa: E731 - one line for one use
    threads = [threading.Thread(target=ask, args=[cursor]) for cursor in cursors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(rows), len(set(rows)), len(server.requests)) == (4, 1, 1)
