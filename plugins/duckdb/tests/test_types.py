"""Answers of a type in SQL, cursors, secrets, and statements as they are in use."""

import datetime
import threading

import duckdb
import pytest

import ferrule_duckdb
from ferrule_testkit.model.server import after, says

pytestmark = pytest.mark.process
TYPE = "STRUCT(price DOUBLE, as_of DATE)"
GOOD = {"price": 1.5, "as_of": datetime.date(2026, 1, 2)}


@pytest.fixture
def priced(server):
    """A server whose answers are prices, or for some rows are none."""
    said = {
        "wrong type": '{"price": "x", "as_of": "2026-01-02"}',
        "no date": '{"price": 1, "as_of": "2026-13-41"}',
        "no field": '{"price": 1}',
        "no JSON": "1.5 dollars",
    }
    good = '{"price": 1.5, "as_of": "2026-01-02"}'
    server.script(lambda request: says(next((text for name, text in said.items() if name in request.question), good)))
    return server


def test_a_type_gives_a_value_of_that_type_and_a_row_that_does_not_fit_an_error_of_its_own(query, priced):
    rows = query(
        f"SELECT x, ask_value(x, 'p', NULL::{TYPE}), (ask_ai(x, 'p', type := '{TYPE}')).code, "
        f"(ask_ai(x, 'p', type := '{TYPE}')).error "
        "FROM (VALUES ('good'), ('wrong type'), ('no date'), ('no field'), ('no JSON'), (NULL)) t(x)"
    )
    found = {x: (value, code) for x, value, code, _ in rows}
    assert found.pop("good") == (GOOD, None)
    assert found.pop(None) == (None, None)
    assert set(found.values()) == {(None, "VALUE_UNFIT")}
    assert len(priced.requests) == 5
    assert query(f"SELECT typeof(ask_value('good', 'p', NULL::{TYPE}))") == [(TYPE,)]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("INTEGER", "3", 3),
        ("DATE", '"2026-01-02"', datetime.date(2026, 1, 2)),
        ("BOOLEAN", "true", True),
        ("VARCHAR[]", '["a", "b"]', ["a", "b"]),
        ("ENUM('yes', 'no')", '"no"', "no"),
        ("STRUCT(a STRUCT(b BIGINT)[], c VARCHAR)", '{"a": [{"b": 1}], "c": null}', {"a": [{"b": 1}], "c": None}),
        ("TINYINT", "300", None),
        ("DATE", '"2026-02-31"', None),
        ("ENUM('yes', 'no')", '"maybe"', None),
    ],
)
def test_types_of_sql(query, server, kind, text, value):
    server.always(says(text if kind.startswith("STRUCT") else f'{{"value": {text}}}'))
    assert query(f"SELECT ask_value('a', 'p', NULL::{kind})") == [(value,)]
    assert query(f"SELECT (ask_ai('a', 'p', type := NULL::{kind})).code") == [
        (None if value is not None else "VALUE_UNFIT",)
    ]


def test_an_enum_is_asked_once_a_row(query, server):
    server.always(says('{"value": "no"}'))
    rows = query("SELECT ask_value(i, 'p', NULL::ENUM('yes', 'no')) FROM range(9) t(i)")
    assert (rows, len(server.requests)) == ([("no",)] * 9, 9)


def test_a_json_schema_gives_json(query, server):
    server.always(says('{"n": 3}'))
    schema = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
    assert query(f"SELECT ask_value('a', 'p', '{schema}')") == [('{"n": 3}',)]


@pytest.mark.parametrize("kind", ["FOO", "STRUCT(", '{"type": "objct"}', "{", "MAP(INTEGER, BLOB)"])
def test_what_is_no_type_ends_the_statement_before_anything_is_sent(query, server, kind):
    with pytest.raises(duckdb.InvalidInputException, match="ShapeMalformed"):
        query(f"SELECT ask_ai(x, 'p', type := '{kind}') FROM range(100) t(x)")
    assert not server.requests


# ---- cursors


@pytest.mark.parametrize("make", ["cursor", "duplicate"])
def test_a_cursor_of_a_registered_connection_has_the_functions(con, server, make):
    before = con.cursor()
    registration = ferrule_duckdb.register(con, tools=())
    later = getattr(con, make)()
    inner = later.cursor()
    for one in (later, inner):
        assert one.execute("SELECT stps_ask_ai('a', 'p')").fetchall() == [("Context: a\n\nQuestion: p",)]
    with pytest.raises(duckdb.CatalogException):
        before.execute("SELECT stps_ask_ai('a', 'p')")
    assert len(server.requests) == 1
    registration.close()
    with pytest.raises(duckdb.Error, match="No registered connection is left"):
        later.execute("SELECT stps_ask_ai('b', 'p')").fetchall()


def test_a_cursor_can_be_interrupted(con, server):
    asked = threading.Event()
    server.script(lambda request: asked.set() or after(0.05, says("x")))
    ferrule_duckdb.register(con, tools=())
    cursor = con.cursor()
    ending = threading.Thread(target=lambda: (asked.wait(), cursor.interrupt()))
    ending.start()
    with pytest.raises(duckdb.InterruptException):
        cursor.execute("SELECT stps_ask_ai(i, 'p') FROM range(2000) t(i)").fetchall()
    ending.join()
    assert len(server.requests) < 1000


# ---- secrets


def test_a_key_cannot_be_a_secret_of_duckdb(con):
    with pytest.raises(duckdb.Error, match=r"""["']anthropic["'].*(not found|does not exist)"""):
        con.execute("CREATE SECRET (TYPE anthropic, KEY 'sk-ant')")
    con.execute("CREATE SECRET own (TYPE http, BEARER_TOKEN 'sk-ant-x')")
    (shown,) = con.execute("SELECT secret_string FROM duckdb_secrets()").fetchone()
    assert "sk-ant-x" not in shown
    with pytest.raises(duckdb.Error, match="unredacted secrets is disabled"):
        con.execute("FROM duckdb_secrets(redact := false)")


# ---- statements as they are in use


@pytest.mark.slow
def test_two_thousand_rows_with_nulls_in_a_join_are_500_questions(query, server):
    query("CREATE TABLE line AS SELECT i, CASE WHEN i % 5 = 0 THEN NULL ELSE i % 625 END AS k FROM range(2000) t(i)")
    query("CREATE TABLE name AS SELECT k, 'Name ' || k AS name FROM range(625) t(k)")
    join = "FROM line LEFT JOIN name USING (k)"
    answers = "stps_ask_ai(name, 'p'), (ask_ai(name, 'p')).code"
    rows = query(f"SELECT name, {answers} {join} WHERE stps_ask_ai(name, 'p') != '' OR name IS NULL")
    assert len(rows) == 2000
    assert sum(name is None for name, _, _ in rows) == 400
    assert all(code is None for _, _, code in rows)
    assert all(text == (None if name is None else f"Context: {name}\n\nQuestion: p") for name, text, _ in rows)
    assert len(server.requests) == len({name for name, _, _ in rows} - {None}) == 500


def test_a_prepared_statement_asks_what_it_is_given_and_remembers(query, server):
    query("PREPARE q AS SELECT stps_ask_ai(x, $1) FROM (VALUES ('a'), ('b'), (NULL)) t(x)")
    for prompt in ("p", "q", "p"):
        expected = [(f"Context: {x}\n\nQuestion: {prompt}",) for x in "ab"] + [(None,)]
        assert query(f"EXECUTE q('{prompt}')") == expected
    assert len(server.requests) == 4


def test_several_connections_on_threads_share_what_they_ask(con, server):
    server.script(lambda request: after(0.01, says(request.question)))
    ferrule_duckdb.register(con, tools=())
    con.execute("CREATE TABLE t AS SELECT i % 50 AS i FROM range(400) r(i)")
    cursors, found = [con.cursor() for _ in range(6)], []
    sql = "SELECT count(DISTINCT stps_ask_ai(i, 'p')), count(stps_ask_ai(i, 'p')) FROM t"
    threads = [threading.Thread(target=lambda one=one: found.append(one.execute(sql).fetchall())) for one in cursors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(50, 400)]] * 6
    # Each by itself would ask 50; one that begins when another has ended may ask something again.
    assert 50 <= len(server.requests) < 75
