"""The functions as SQL sees them."""

import json
import sys

import duckdb
import pytest

import ferrule_duckdb
from ferrule_ask import Client, Keys
from ferrule_dev.testing import Server
from ferrule_testkit.model.memory_tools import SEARCH, MemoryTools
from ferrule_testkit.model.server import MODEL_KEY, calls, failure, says
from ferrule_testkit.search.server import BRAVE_KEY, BRAVE_PATH, Brave, some_hits

pytestmark = pytest.mark.process


QUESTION = "Context: {}\n\nQuestion: {}"


def test_a_question_is_answered_with_the_model_s_text(query, server):
    assert query("SELECT stps_ask_ai('Bitcoin', 'What is it?')") == [(QUESTION.format("Bitcoin", "What is it?"),)]
    assert not server.refused


@pytest.mark.parametrize(
    ("call", "model", "max_tokens"),
    [
        ("stps_ask_ai('a', 'b')", "claude-sonnet-5-5", 1000),
        ("stps_ask_ai('a', 'b', 'claude-x')", "claude-x", 1000),
        ("stps_ask_ai('a', 'b', 'claude-x', 7)", "claude-x", 7),
        ("stps_ask_ai('a', 'b', max_tokens := 7)", "claude-sonnet-5-5", 7),
        ("stps_ask_ai('a', 'b', max_tokens => 7)", "claude-sonnet-5-5", 7),
        ("stps_ask_ai('a', 'b', '', 7)", "claude-sonnet-5-5", 7),
        ("(ask_ai('a', 'b', 'claude-x', 7)).text", "claude-x", 7),
    ],
)
def test_model_and_max_tokens_may_be_given_in_order_and_by_name(query, server, call, model, max_tokens):
    query(f"SELECT {call}")
    assert (server.bodies[0]["model"], server.bodies[0]["max_tokens"]) == (model, max_tokens)


def test_model_and_max_tokens_may_differ_from_row_to_row(query, server):
    query("SELECT stps_ask_ai('a', 'b', m, n) FROM (VALUES ('x', 1), ('y', 2), (NULL, NULL)) t(m, n)")
    asked = {(body["model"], body["max_tokens"]) for body in server.bodies}
    assert asked == {("x", 1), ("y", 2), ("claude-sonnet-5-5", 1000)}


@pytest.mark.parametrize(("value", "text"), [("42", "42"), ("DATE '2026-01-02'", "2026-01-02"), ("[1, 2]", "[1, 2]")])
def test_a_context_may_be_of_any_type(query, value, text):
    assert query(f"SELECT stps_ask_ai({value}, 'b')") == [(QUESTION.format(text, "b"),)]


def test_null_is_answered_with_null_and_nothing_is_sent(query, server):
    assert query("SELECT stps_ask_ai(NULL, 'b'), stps_ask_ai('a', NULL), ask_ai(NULL, 'b')") == [(None, None, None)]
    assert query("SELECT stps_ask_ai(x, 'b') FROM (VALUES (NULL), ('a')) t(x) ORDER BY x") == [
        (QUESTION.format("a", "b"),),
        (None,),
    ]
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "text",
    [
        "```python\n[x for x in y]\n```",
        'say "x"',
        "C:\\",
        "\\u0041\\n",
        "a\r\nb\tc",
        "ä😀\u2028",
        "nul\0",
        "'; DROP",
        "x" * 70_000,
    ],
)
def test_an_answer_comes_as_it_is(query, server, text):
    server.always(says(text))
    assert query("SELECT stps_ask_ai('a', 'b'), (ask_ai('a', 'b')).text") == [(text, text)]


def test_half_a_character_is_replaced_since_sql_cannot_hold_it(query, server):
    server.always(says("a\ud83d!"))
    assert query("SELECT stps_ask_ai('a', 'b')") in ([("a?!",)], [("a\ufffd!",)])


def test_a_constant_prompt_counts_in_all_rows(query):
    rows = query("SELECT x, stps_ask_ai(x, 'p') FROM (SELECT 'r' || i AS x, i FROM range(5000) t(i)) WHERE i % 200 = 1")
    assert len(rows) == 25
    assert all(text == QUESTION.format(x, "p") for x, text in rows)


def test_ask_ai_tells_what_an_answer_cost(query):
    (answer,) = query("SELECT ask_ai('a', 'b')")[0]
    assert answer["text"] == QUESTION.format("a", "b")
    assert (answer["input_tokens"], answer["output_tokens"], answer["cost"]) == (20, 10, pytest.approx(0.00014))
    assert answer["request_id"] == "req_000000000000000000000000"
    assert (answer["code"], answer["error"], answer["tool"], answer["remembered"]) == (None, None, None, False)


@pytest.mark.parametrize(
    "sql",
    [
        "EXPLAIN SELECT stps_ask_ai('a', 'b')",
        "EXPLAIN SELECT ask_ai(x, 'b') FROM t WHERE stps_ask_ai('a', 'b') IS NULL",
        "SELECT ask_plan(x, 'b') FROM t",
        "PREPARE q AS SELECT stps_ask_ai('a', 'b')",
        "CREATE VIEW v AS SELECT stps_ask_ai('a', 'b') AS x",
        "SELECT CASE WHEN false THEN stps_ask_ai('a', 'b') END",
        "SELECT stps_ask_ai(x, 'b') FROM t LIMIT 0",
    ],
)
def test_nothing_is_sent_by(query, server, sql):
    query("CREATE TABLE t AS SELECT 'a' AS x")
    query(sql)
    assert not server.requests


# ---- settings


def test_a_key_that_no_installed_tool_takes_is_told(query, monkeypatch):
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if "site-packages" not in folder])
    ((told,),) = query("SELECT stps_set_brave_api_key('BSA-1')")
    assert told == "ERROR: No tool takes this key. Install ferrule-brave, which brings web_search_brave."


def test_a_key_whose_tool_is_disabled_is_told(query, monkeypatch):
    monkeypatch.setenv("FERRULE_DISABLE", "web_search_brave")
    assert query("SELECT stps_set_brave_api_key('BSA-1')") == [
        ("ERROR: No tool takes this key: web_search_brave is disabled by FERRULE_DISABLE.",)
    ]


@pytest.mark.parametrize("function", ["stps_set_api_key", "stps_set_brave_api_key"])
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("NULL", "ERROR: API key cannot be NULL"),
        ("' '", "ERROR: API key cannot be blank"),
        ("'se cret'", "ERROR: The value"),
        ("'BSA...your-key-here'", "ERROR: The value"),
    ],
)
def test_what_cannot_be_a_key_is_refused_in_words(query, function, value, text):
    ((answer,),) = query(f"SELECT {function}({value})")
    assert answer.startswith(text)
    assert "cret" not in answer


def test_keys_are_set_for_the_session(query, server, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong")
    with pytest.raises(duckdb.InvalidInputException, match=r"AUTH_INVALID: .* In SQL: SELECT stps_set_api_key"):
        query("SELECT (ask_ai('a', 'b')).code")
    assert query("SELECT stps_set_api_key(?)", [MODEL_KEY]) == [("API key configured successfully",)]
    assert query("SELECT (ask_ai('a', 'b')).code") == [(None,)]
    assert query("SELECT stps_set_brave_api_key('BSA')") == [("Brave API key configured successfully",)]


def test_the_model_is_set_for_the_session(query, server):
    assert query("SELECT stps_get_model()") == [("claude-sonnet-5-5",)]
    assert query("SELECT stps_set_model('claude-opus-5-5')") == [("Model set to: claude-opus-5-5",)]
    query("SELECT stps_ask_ai('a', 'b'), stps_ask_ai('a', 'b', 'claude-x')")
    assert query("SELECT stps_get_model(), stps_set_model(NULL)") == [
        ("claude-opus-5-5", "ERROR: Model cannot be NULL")
    ]
    assert {body["model"] for body in server.bodies} == {"claude-opus-5-5", "claude-x"}


def test_a_client_of_one_s_own_is_asked_with_the_keys_that_sql_sets(con, server, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-wrong")
    with Client(model="claude-haiku-5-5", tools=()) as client:
        ferrule_duckdb.register(con, client=client)
        con.execute("SELECT stps_set_api_key(?)", [MODEL_KEY])
        assert con.execute("SELECT (ask_ai('a', 'b')).code, stps_get_model()").fetchall() == [
            (None, "claude-haiku-5-5")
        ]
        assert client.usage.requests == 1


@pytest.mark.slow
def test_by_default_the_installed_search_is_offered_once_a_provider_has_its_key(con, server, monkeypatch):
    search = calls("web_search", {"query": "BTC"})
    of_tool = (
        "SELECT a.text, a.tool_outcome, a.tool_code, a.tool_error, a.remembered FROM (SELECT ask_ai('a', 'b') AS a)"
    )
    server.script(lambda request: search if "tools" in request.body and not request.is_second else says("It is."))
    with Server() as provider:
        provider.route("*", Brave(some_hits(30)))
        monkeypatch.setenv("FERRULE_BRAVE_ENDPOINT", provider.url + BRAVE_PATH)
        ferrule_duckdb.register(con)
        assert con.execute("SELECT (ask_ai('a', 'b')).tool").fetchall() == [(None,)]
        con.execute("SELECT stps_set_brave_api_key(?)", [BRAVE_KEY])
        assert con.execute("SELECT (ask_ai('a', 'b')).tool").fetchall() == [("web_search",)]
        con.execute("SELECT stps_set_brave_api_key('BSAwrong')")
        for _ in range(2):  # the second statement does not take the first one's answer for a good one
            ((text, outcome, code, error, remembered),) = con.execute(of_tool).fetchall()
            assert (text, outcome, code, remembered) == ("It is.", "failed", "AUTH_INVALID", False)
            assert "Brave" in error
        ((usage,),) = con.execute("SELECT ask_usage()").fetchall()
        assert (usage["tool_calls"], usage["tool_failures"], usage["failures"]) == (3, 2, 0)
    of_good, of_bad, _ = (body["messages"][2]["content"][0] for body in server.bodies if len(body["messages"]) > 1)
    assert of_good["content"].startswith(
        "Search Results:\n\n1. Title 0\n   https://www.example.com/0\n   Text 0\n   Publ"
    )
    assert (of_bad["content"], of_bad["is_error"]) == ("Search unavailable. Please answer from your knowledge.", True)
    assert not server.refused


def test_ask_ai_tells_where_an_answer_comes_from(con, server):
    server.script(calls(SEARCH, {"query": "BTC"}), says("It is 95 dollars."))
    tools = MemoryTools(sources=[("Prices", "https://e.example/", "2026-01-02", SEARCH)])
    with Client(toolbox=tools) as client:
        ferrule_duckdb.register(con, client=client)
        ((url, date, cited, trace),) = con.execute(
            "SELECT a.sources[1].url, a.sources[1].published, a.sources[1].cited, a.tool_calls->>'$[0].tool'"
            " FROM (SELECT ask_ai('Bitcoin', 'Price?') AS a)"
        ).fetchall()
    assert (url, date, cited, trace) == ("https://e.example/", "2026-01-02", None, SEARCH)


def test_ask_ai_tells_which_tool_was_called_and_with_what(con, server):
    server.script(calls(SEARCH, {"query": "Kürzel “BTC”"}), says("It is 95 dollars."))
    with Client(toolbox=MemoryTools(content="95 dollars")) as client:
        ferrule_duckdb.register(con, client=client)
        ((answer,),) = con.execute("SELECT ask_ai('Bitcoin', 'Price?')").fetchall()
        ((plan,),) = con.execute("SELECT ask_plan('Ether', 'Price?')").fetchall()
    assert (answer["text"], answer["tool"]) == ("It is 95 dollars.", SEARCH)
    assert json.loads(answer["tool_input"]) == {"query": "Kürzel “BTC”"}
    assert (plan["requests_max"], plan["tools"]) == (2, [SEARCH])
    assert not server.refused


# ---- errors


def test_by_default_a_failure_is_null_with_a_code(query, server):
    server.script(lambda request: failure(400, "No.") if "bad" in request.question else says("fine"))
    rows = query("SELECT stps_ask_ai(x, 'p'), ask_ai(x, 'p') FROM (VALUES ('bad'), ('good')) t(x) ORDER BY x")
    assert [(text, answer["code"]) for text, answer in rows] == [(None, "INVALID_REQUEST"), ("fine", None)]
    assert "No." in rows[0][1]["error"]


def test_a_failure_may_be_text(con, server):
    server.always(failure(400, "No."))
    ferrule_duckdb.register(con, tools=(), on_error="text")
    ((text, answer),) = con.execute("SELECT stps_ask_ai('a', 'p'), ask_ai('a', 'p')").fetchall()
    assert text.startswith("ERROR: INVALID_REQUEST: ")
    assert answer["text"] is None


def test_a_failure_may_end_the_query_and_shows_no_key(con, server, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-and-wrong")
    ferrule_duckdb.register(con, tools=(), on_error="raise", concurrency=4)
    with pytest.raises(duckdb.InvalidInputException, match="AskFailed: AUTH_INVALID: ") as raised:
        con.execute("SELECT stps_ask_ai(i, 'p') FROM range(500) t(i)").fetchall()
    assert "sk-ant-secret" not in str(raised.value)
    assert str(raised.value).count("\n") <= 4
    assert len(server.requests) <= 4


def test_an_answer_that_was_cut_off_is_kept_with_its_code(query, server):
    server.always(says("The first half", stop_reason="max_tokens"))
    ((answer,),) = query("SELECT ask_ai('a', 'p')")
    assert (answer["text"], answer["code"]) == ("The first half", "MAX_TOKENS")


@pytest.mark.parametrize("max_tokens", [0, -1])
def test_a_number_of_tokens_that_cannot_be_is_a_failure_of_its_row(query, server, max_tokens):
    ((bad, good),) = query(f"SELECT ask_ai('a', 'p', NULL, {max_tokens}), ask_ai('a', 'p', NULL, 1)")
    assert (bad["code"], good["code"]) == ("INVALID_REQUEST", None)


@pytest.mark.parametrize(
    "options",
    [
        {"on_error": "zero"},
        {"concurrency": 0},
        {"client": object(), "max_calls": 1},
        {"client": object(), "keys": Keys()},
        {"max_calls": -1},
    ],
)
def test_options_that_do_not_fit_are_refused(con, options):
    with pytest.raises((TypeError, ValueError)):
        ferrule_duckdb.register(con, **options)


def test_a_tool_that_is_not_installed_is_refused_at_once(con):
    with pytest.raises(Exception, match="no_such_tool"):
        ferrule_duckdb.register(con, tools=["no_such_tool"])
