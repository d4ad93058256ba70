"""Functions that filter, sum up and rank rows."""

import json

import duckdb
import pytest

import ferrule_duckdb
from ferrule_ask import Client
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools
from ferrule_testkit.model.server import calls, failure, says

pytestmark = pytest.mark.process


def rows_of(request):
    """The rows that a request is about."""
    return json.loads(request.question.removeprefix("Context: ").partition("\n\nQuestion: ")[0])


def adds(request):
    """A model that can count: its answer is the sum of the rows, or of the answers for parts."""
    return says(str(sum(int(one["answer"]) if isinstance(one, dict) else one for one in rows_of(request))))


def ranks(request):
    """A model that ranks numbers, the largest first."""
    values = rows_of(request)
    return says(json.dumps({"value": sorted(map(int, values), key=lambda place: -values[str(place)])}))


def test_a_filter_is_true_false_or_null(query, server):
    said = {"Oslo": "true", "Bergen": "false", "Nowhere": "maybe"}
    server.script(lambda request: says(f'{{"value": {next(v for k, v in said.items() if k in request.question)}}}'))
    rows = query("SELECT c, ask_filter('A capital?', c) FROM (VALUES ('Oslo'), ('Bergen'), ('Nowhere'), (NULL)) t(c)")
    assert dict(rows) == {"Oslo": True, "Bergen": False, "Nowhere": None, None: None}
    assert query("SELECT c FROM (VALUES ('Oslo'), ('Bergen')) t(c) WHERE ask_filter('A capital?', c)") == [("Oslo",)]
    assert len(server.requests) == 3
    codes = query("SELECT context, code FROM ask_answers() WHERE code IS NOT NULL")
    assert codes == [("Nowhere", "VALUE_UNFIT")]


def test_a_group_is_one_request_whatever_the_order_of_its_rows(query, server):
    server.script(adds)
    query("CREATE TABLE t AS SELECT i % 3 AS k, i FROM range(30) r(i)")
    sums = query("SELECT k, sum(i)::VARCHAR FROM t GROUP BY k ORDER BY k")
    assert query("SELECT k, ask_agg('Add them', i) FROM t GROUP BY k ORDER BY k") == sums
    assert query("SELECT k, ask_agg('Add them', i) FROM (FROM t ORDER BY i DESC) GROUP BY k ORDER BY k") == sums
    assert len(server.requests) == 3
    assert query("SELECT ask_agg('Add them', i) FROM t WHERE false") == [(None,)]
    assert query("SELECT ask_agg('Add them', x) FROM (VALUES (1), (NULL), (2)) v(x)") == [("3",)]


def test_the_least_requests_of_groups_are_known_before_they_are_asked(con, server):
    server.script(adds)
    ferrule_duckdb.register(con, tools=(), group_tokens=20)
    con.execute("CREATE TABLE t AS SELECT i % 2 AS k, 1000 + i AS i FROM range(100) r(i) WHERE i % 2 = 0 OR i < 4")
    least = con.execute("SELECT k, ask_agg_requests('Add them', i) FROM t GROUP BY k ORDER BY k").fetchall()
    assert con.execute("SELECT ask_agg_requests('Add them', i) FROM t WHERE false").fetchall() == [(0,)]
    assert not server.requests
    con.execute("SELECT ask_agg('Add them', i) FROM t WHERE k = 1").fetchall()
    assert (least[1], len(server.requests)) == ((1, 1), 1)
    con.execute("SELECT ask_agg('Add them', i) FROM t WHERE k = 0").fetchall()
    parts = sum(isinstance(rows_of(request)[0], int) for request in server.requests[1:])
    assert least[0] == (0, parts + 1)
    assert parts > 2


def test_more_rows_than_fit_are_answered_in_parts_and_those_in_parts_again(con, server):
    server.script(adds)
    ferrule_duckdb.register(con, tools=(), group_tokens=20)
    found = con.sql("SELECT ask_group('Add them', i) AS a FROM range(1000, 1100) t(i)").select("a.*")
    ((text, code, tokens, output),) = found.select("text, code, input_tokens, output_tokens").fetchall()
    assert (int(text), code) == (sum(range(1000, 1100)), None)
    sizes = [len(rows_of(request)) for request in server.requests]
    # Twenty tokens are 20 numbers of 4 figures, and fewer answers; what is left of them fits into one request.
    assert sum(size for size in sizes if size == 20) == 100
    assert len(sizes) > 6
    assert max(sizes) == 20
    one = con.execute("SELECT (ask_group('Add them', i)).output_tokens FROM range(2) t(i)").fetchall()[0][0]
    assert output == one * len(sizes)
    assert tokens > 0


def test_parts_with_the_same_answers_are_combined_by_one_request_that_counts_once(con, server):
    server.script(lambda _: says("none"))
    ferrule_duckdb.register(con, tools=(), group_tokens=20)
    sql = "SELECT a.text, a.code, a.output_tokens FROM (SELECT ask_group('Faults?', i) AS a FROM range({}) t(i))"
    ((_, _, of_one),) = con.execute(sql.format(2)).fetchall()
    before = len(server.requests)
    ((text, code, output),) = con.execute(sql.format("1000, 1200")).fetchall()
    assert sum(one["rows"] for one in rows_of(server.requests[-1])) == 200
    asked = [request.question for request in server.requests[before:]]
    assert (text, code) == ("none", None)
    assert len(set(asked)) == len(asked)
    assert output == of_one * len(asked)


def test_groups_with_rows_in_common_have_an_answer_each(con, server):
    server.script(adds)
    ferrule_duckdb.register(con, tools=(), group_tokens=10)
    con.execute("CREATE TABLE t AS SELECT k, i FROM range(1000, 1031) r(i), range(2) s(k) WHERE i <> 1030 - k")
    sums = con.execute("SELECT k, sum(i)::VARCHAR, NULL FROM t GROUP BY k ORDER BY k").fetchall()
    sql = "SELECT k, ask_group('Add', i) AS a FROM t GROUP BY k"
    assert con.execute(f"SELECT k, a.text, a.code FROM ({sql}) ORDER BY k").fetchall() == sums


def test_groups_with_values_in_common_are_ranked_each(query, server):
    server.script(ranks)
    query("CREATE TABLE t AS SELECT k, i FROM range(100, 160) r(i), range(2) s(k) WHERE k = 0 OR i >= 120 OR i < 103")
    found = dict(query("SELECT k, ask_rank('The largest', i) FROM t GROUP BY k"))
    assert {k: one[:20] for k, one in found.items()} == {key: list(range(159, 139, -1)) for key in (0, 1)}
    assert {k: len(one) for k, one in found.items()} == {0: 60, 1: 43}
    assert len(server.requests) == 3


def test_one_part_that_fails_is_the_failure_of_its_group_alone(con, server):
    fails = "[1000,"
    server.script(lambda request: failure(400, "No.") if fails in request.question else adds(request))
    ferrule_duckdb.register(con, tools=(), group_tokens=10)
    sql = "SELECT k, ask_group('Add', i) AS a, ask_agg('Add', i) AS text FROM t GROUP BY k"
    sql = f"SELECT k, a.code, a.error, text FROM ({sql}) ORDER BY k"
    con.execute("CREATE TABLE t AS SELECT i >= 1030 AS k, i FROM range(1000, 1060) r(i)")
    (bad, good) = con.execute(sql).fetchall()
    assert (bad[1], bad[3]) == ("INVALID_REQUEST", None)
    assert bad[2].startswith("Part 1 of 3 of the group has no whole answer.")
    assert good == (True, None, None, str(sum(range(1030, 1060))))
    before = len(server.requests)
    assert con.execute(sql).fetchall()[1] == good
    assert len(server.requests) == before + 1  # the part that failed; those that were answered are remembered


def test_a_group_keeps_the_sources_of_all_its_parts(con, server):
    def searches(request):
        is_last = request.is_second or "parts of a group" in request.question
        return adds(request) if is_last else calls(SEARCH, {"query": str(rows_of(request)[0])})

    server.script(searches)
    found = [("A", "https://a.example/", "", SEARCH), ("B", "https://b.example/", "", SEARCH)]
    with Client(toolbox=MemoryTools(sources=found)) as client:
        ferrule_duckdb.register(con, client=client, group_tokens=10)
        ((tools, sources),) = con.execute(
            "SELECT json_array_length(a.tool_calls)::INTEGER, [one.url FOR one IN a.sources] "
            "FROM (SELECT ask_group('Add', i) AS a FROM range(1000, 1030) t(i))"
        ).fetchall()
    assert (tools, sources) == (3, ["https://a.example/", "https://b.example/"])


def test_a_group_may_have_an_answer_of_a_type(query, server):
    server.script(lambda request: says(json.dumps({"value": sum(rows_of(request))})))
    assert query("SELECT (ask_group('Add', i, type := NULL::INTEGER)).value FROM range(9) t(i)") == [("36",)]


@pytest.mark.parametrize(("number", "requests"), [(0, 0), (1, 0), (7, 1), (40, 1), (100, 4)])
def test_values_are_ranked_and_keep_their_type(query, server, number, requests):
    server.script(ranks)
    ((found,),) = query(f"SELECT ask_rank('The largest', i) FROM range({number}) t(i)")
    assert (found or [])[:20] == sorted(range(number), reverse=True)[:20]
    assert sorted(found or []) == list(range(number))
    assert len(server.requests) == requests


def test_a_ranking_that_leaves_a_value_out_is_none(query, server):
    server.script(
        lambda request: says('{"value": [1, 1, 2]}') if '"c"' not in request.question else says('{"value": [3, 1, 2]}')
    )
    query("CREATE TABLE t AS FROM (VALUES (1, 'a'), (1, 'b'), (1, 'd'), (2, 'a'), (2, 'b'), (2, 'c')) v(k, s)")
    assert query("SELECT k, ask_rank('?', s) FROM t GROUP BY k ORDER BY k") == [(1, None), (2, ["c", "a", "b"])]
    assert query("SELECT code FROM ask_answers() WHERE code IS NOT NULL") == [("VALUE_UNFIT",)]


def test_groups_keep_the_budget(con, server):
    server.script(adds)
    ferrule_duckdb.register(con, tools=(), group_tokens=10, max_calls=4)
    rows = con.execute(
        "SELECT k, (ask_group('Add', i)).code FROM (SELECT i // 30 AS k, i + 1000 AS i FROM range(60) t(i)) "
        "GROUP BY k ORDER BY k"
    ).fetchall()
    assert {code for _, code in rows} == {"BUDGET_EXHAUSTED"} or sorted(rows)[0][1] is None
    assert len(server.requests) <= 4


@pytest.mark.parametrize(
    "call", ["ask_agg('q', photo)", "ask_rank('q', photo)", "ask_filter('q', photo)", "ask_ai(photo, 'q')"]
)
def test_bytes_are_refused_by_the_name_of_their_column_before_anything_is_sent(query, server, call):
    query("CREATE TABLE t AS SELECT 'ab'::BLOB AS photo FROM range(9)")
    with pytest.raises(duckdb.Error, match=r"photo is a BLOB.*decode\(column\)"):
        query(f"SELECT {call} FROM t")
    assert not server.requests


def test_explain_asks_no_group(query, server):
    query("EXPLAIN SELECT ask_agg('q', i), ask_rank('q', i) FROM range(9) t(i) WHERE ask_filter('q', i)")
    assert not server.requests


def test_a_group_takes_a_number_of_tokens(con):
    with pytest.raises(ValueError, match="group_tokens has to be a number from 1"):
        ferrule_duckdb.register(con, tools=(), group_tokens=0)
