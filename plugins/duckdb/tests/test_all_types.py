"""Every type of DuckDB, as what a question is about and as what it is answered with."""

import json
from collections import Counter

import duckdb
import pytest

from ferrule_testkit.model.server import says

pytestmark = pytest.mark.process
JSON = '{"a": [1, null]}'
# The type of the answer, what a model writes for it, and what comes of that as a text of SQL.
ANSWERED = {
    "BOOLEAN": (True, "true"),
    "TINYINT": (-1, "-1"),
    "SMALLINT": (-1, "-1"),
    "INTEGER": (-1, "-1"),
    "BIGINT": (2**62, str(2**62)),
    "HUGEINT": (2**100, str(2**100)),
    "UTINYINT": (255, "255"),
    "USMALLINT": (1, "1"),
    "UINTEGER": (1, "1"),
    "UBIGINT": (2**63, str(2**63)),
    "UHUGEINT": (2**127, str(2**127)),
    "FLOAT": (1.5, "1.5"),
    "DOUBLE": (1.5, "1.5"),
    "DECIMAL(10,2)": (1.25, "1.25"),
    "DECIMAL(38,2)": ("12345678901234567890.12", "12345678901234567890.12"),
    "VARCHAR": ("ä", "ä"),
    "JSON": (JSON, JSON),
    "UUID": ("a51ec077-c6e1-4f27-a351-795e86b9da26", "a51ec077-c6e1-4f27-a351-795e86b9da26"),
    "DATE": ("2026-01-02", "2026-01-02"),
    "TIME": ("10:11:12", "10:11:12"),
    "TIME_NS": ("10:11:12", "10:11:12"),
    "TIMETZ": ("10:11:12+02:00", "10:11:12+02"),
    "TIMESTAMP": ("2026-01-02 10:11:12", "2026-01-02 10:11:12"),
    "TIMESTAMP_S": ("2026-01-02 10:11:12", "2026-01-02 10:11:12"),
    "TIMESTAMP_MS": ("2026-01-02 10:11:12", "2026-01-02 10:11:12"),
    "TIMESTAMP_NS": ("2026-01-02 10:11:12", "2026-01-02 10:11:12"),
    "TIMESTAMPTZ": ("2026-01-02T12:11:12+02:00", "2026-01-02 10:11:12+00"),
    "INTERVAL": ("3 days", "3 days"),
    "ENUM('a', 'b')": ("b", "b"),
    "INTEGER[]": ([1, 2], "[1, 2]"),
    "INTEGER[2]": ([1, 2], "[1, 2]"),
    "JSON[]": (["[1]", '"x"'], '[[1], "x"]'),
    "STRUCT(a INTEGER, b JSON)": ({"a": 1, "b": "[1]"}, "{'a': 1, 'b': '[1]'}"),
    "MAP(VARCHAR, INTEGER)": ([{"key": "k", "value": 1}], "{k=1}"),
    "MAP(DATE, DOUBLE[])": ([{"key": "2026-01-02", "value": [1]}], "{2026-01-02=[1.0]}"),
    "UNION(n INTEGER, s VARCHAR)": ({"s": "x"}, "x"),
}
# What a model writes that fits the schema, and is no value of the type all the same.
UNFIT = {
    "TINYINT": 300,
    "UTINYINT": -1,
    "UBIGINT": 2**64,
    "DATE": "2026-02-31",
    "TIMESTAMPTZ": "2026-02-31T00:00:00Z",
    "JSON": "{a",
    "INTERVAL": "soon",
    "INTEGER[2]": [1],
    "MAP(VARCHAR, INTEGER)": [{"key": "k", "value": 1}, {"key": "k", "value": 2}],
    "MAP(DATE, INTEGER)": [{"key": "soon", "value": 1}],
    "UNION(n INTEGER, s VARCHAR)": {"t": 1},
}
REFUSED = {
    "BLOB": "BLOB is no type that a model can answer with. Take VARCHAR and cast it",
    "BIT": "BIT is no type",
    "BIGNUM": "Take HUGEINT, or VARCHAR and cast it",
    "VARIANT": "Take JSON and cast it",
    "STRUCT(a INTEGER, photo BLOB)": "The field `photo` is BLOB",
    "STRUCT(a STRUCT(b BIT[])[])": "The field `a[].b[]` is BIT",
    "MAP(INTEGER[], INTEGER)": "keys of INTEGER[]",
    "MAP(VARCHAR, BLOB)": "The field `[value]` is BLOB",
}


def replies(kind, value):
    """What a model writes: an object as it is, and else under the name that the schema has."""
    is_object = kind.startswith("STRUCT")
    return says(json.dumps(value if is_object else {"value": value}))


# One connection for all types, since it takes longer to make one than to ask. Each type has a context of its own, or
# the answer to another one of the same schema would be remembered.
@pytest.mark.slow
def test_an_answer_may_be_of_any_type_that_json_can_be(query, server):
    query("SET TimeZone = 'UTC'")
    for number, (kind, (value, text)) in enumerate(ANSWERED.items()):
        server.always(replies(kind, value))
        call, before = f"ask_value('a{number}', 'p', NULL::{kind})", len(server.requests)
        assert query(f"SELECT {call}::VARCHAR, typeof({call}) = typeof(NULL::{kind})") == [(text, True)], kind
        outcome = f"SELECT unnest(ask_ai('a{number}', 'p', type := NULL::{kind}))"
        assert query(f"SELECT code, error FROM ({outcome})") == [(None, None)], kind
        assert len(server.requests) > before, kind


def test_an_answer_that_is_no_value_of_the_type_is_a_failure_of_its_row(query, server):
    for number, (kind, value) in enumerate(UNFIT.items()):
        before = len(server.requests)
        server.script(lambda request, kind=kind, value=value: replies(kind, value))
        contexts = f"(VALUES ('a{number}'), ('b{number}')) t(x)"
        asked = f"SELECT unnest(ask_ai(x, 'p', type := NULL::{kind})) FROM {contexts}"
        assert query(f"SELECT code, text FROM ({asked})") == [("VALUE_UNFIT", None)] * 2, kind
        assert len(server.requests) > before, kind


def test_another_type_is_refused_by_the_name_of_its_field_before_anything_is_sent(query, server):
    for kind, words in REFUSED.items():
        with pytest.raises(duckdb.InvalidInputException) as caught:
            query(f"SELECT ask_value(i, 'p', NULL::{kind}) FROM range(9) t(i)")
        assert words in str(caught.value), kind
    assert not server.requests


@pytest.mark.slow
def test_a_question_may_be_about_a_value_of_any_type_but_bytes(query, server):
    names = [row[0] for row in query("DESCRIBE FROM test_all_types()")]
    kinds = dict(query("SELECT column_name, column_type FROM (DESCRIBE FROM test_all_types())"))
    assert len(names) > 50
    outcomes = Counter()
    for name in names:
        if kinds[name] == "BLOB":
            with pytest.raises(duckdb.Error, match=f"{name} is a BLOB"):
                query(f"SELECT ask_ai(\"{name}\", 'p') FROM test_all_types()")
            outcomes["refused"] += 1
            continue
        rows = query(f'SELECT "{name}" IS NULL, "{name}"::VARCHAR, stps_ask_ai("{name}", \'p\') FROM test_all_types()')
        for is_null, text, answer in rows:
            asked = f"Context: {text}\n\nQuestion: p" if text else "p"
            assert answer == (None if is_null else asked)
        outcomes["answered"] += 1
    assert outcomes["refused"] == 1


def test_a_group_may_be_of_values_of_any_type_but_bytes(query, server):
    server.always(says("x"))
    kinds = dict(query("SELECT column_name, column_type FROM (DESCRIBE FROM test_all_types())"))
    for name in [name for name, kind in kinds.items() if kind != "BLOB"]:
        assert query(f"SELECT ask_agg('p', \"{name}\") FROM test_all_types()") == [("x",)]
