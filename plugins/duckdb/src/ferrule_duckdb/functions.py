"""What SQL sees: the hidden functions that belong to a database, and the macros in front that a connection has.

A function of Python cannot have optional or named arguments, and a macro can. The hidden functions are told which
statement calls them. All of them have side effects for DuckDB, so that neither EXPLAIN nor the optimiser calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ferrule_duckdb.cursors import bare_cursor
from ferrule_duckdb.vectors import ANSWER_TYPE, GIVEN_TYPE, PLAN_TYPE

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Bodies = Mapping[str, Callable[..., object]]
"""The functions of Python behind those of SQL, by name. Those of `_QUESTION` take and return Arrow arrays."""

WHO = "__ferrule_ask_database"
TEXT, ANSWER, PLAN = "__ferrule_ask_text", "__ferrule_ask_answer", "__ferrule_ask_plan"
VALUE = "__ferrule_ask_value"
GROUP_TEXT, GROUP, RANK = "__ferrule_ask_group_text", "__ferrule_ask_group", "__ferrule_ask_rank"
GROUP_REQUESTS = "__ferrule_ask_group_requests"
ANSWERS = "__ferrule_ask_answers"
# The number of the query names a statement. A prepared one would keep its first number for ever, were it not for the
# transaction's, which DuckDB knows to change: with that it works out both at each execution.
_STATEMENT = "concat(current_connection_id(), '/', current_query_id(), '/', txid_current())"
_QUESTION = ["VARCHAR", "VARCHAR", "VARCHAR", "INTEGER", "VARCHAR", "VARCHAR"]
_USAGE = (
    'STRUCT("questions" BIGINT, requests BIGINT, tool_calls BIGINT, input_tokens BIGINT, output_tokens BIGINT, '
    "cost DOUBLE, failures BIGINT, tool_failures BIGINT, unpriced BIGINT)"
)
_LISTING, _VALUE_MACRO, _FILTER, _RANKING = "ask_answers", "ask_value", "ask_filter", "ask_rank"
_COUNTING = "ask_agg_requests"
_GROUPS = {"ask_agg": GROUP_TEXT, "ask_group": GROUP}
# In one order, so that the same rows are the same question, whichever thread has brought them first.
_LIST = "list_sort(list(value) FILTER (value IS NOT NULL))"
_NO_BYTES = "' is a BLOB, which no model can read. If it is text, ask about decode(column); if not, leave it out.'"
# A type is given as a value of it, such as NULL::DATE, which casts the answer, too; or as text, as a schema is.
_SHAPE = (
    """CASE typeof("type") WHEN 'VARCHAR' THEN coalesce("type"::VARCHAR, 'VARCHAR') """
    """WHEN '"NULL"' THEN NULL ELSE typeof("type") END"""
)
_MACROS = {"stps_ask_ai": TEXT, "ask_ai": ANSWER, "ask_plan": PLAN}
# Parameters, result and kind of each function.
_SIGNATURES = {
    TEXT: (_QUESTION, "VARCHAR", "arrow"),
    ANSWER: (_QUESTION, ANSWER_TYPE, "arrow"),
    VALUE: (_QUESTION, "VARCHAR", "arrow"),
    GROUP_TEXT: (_QUESTION, "VARCHAR", "arrow"),
    GROUP: (_QUESTION, ANSWER_TYPE, "arrow"),
    RANK: (_QUESTION, "BIGINT[]", "arrow"),
    PLAN: (_QUESTION, PLAN_TYPE, "arrow"),
    GROUP_REQUESTS: (_QUESTION, "BIGINT", "arrow"),
    "stps_set_api_key": (["VARCHAR"], "VARCHAR", "native"),
    "stps_set_brave_api_key": (["VARCHAR"], "VARCHAR", "native"),
    "stps_set_model": (["VARCHAR"], "VARCHAR", "native"),
    "stps_get_model": ([], "VARCHAR", "native"),
    "ask_usage": ([], _USAGE, "native"),
    "ask_clear": ([], "BIGINT", "native"),
    ANSWERS: ([], f"{GIVEN_TYPE}[]", "native"),
    WHO: ([], "BIGINT", "native"),
}


def database_of(con: DuckDBPyConnection) -> int | None:
    """The number that `create` has given to the connection's database; None where it has not been there."""
    import duckdb

    cursor = bare_cursor(con)
    try:
        row = cursor.execute(f"SELECT {WHO}()").fetchone()  # the cursor has no transaction that an error would end
        return None if row is None else int(row[0])
    except duckdb.CatalogException:
        return None
    finally:
        cursor.close()


def are_seen(con: DuckDBPyConnection) -> bool:
    """Whether the functions exist for the connection: its transaction may have begun before they did."""
    # Asked of the catalog, since a name that does not exist ends the transaction that is open.
    ((number,),) = con.execute("SELECT count(*) FROM duckdb_functions() WHERE function_name = ?", [WHO]).fetchall()
    return bool(number)


def connection_key(con: DuckDBPyConnection) -> str:
    """What the keys of this connection's statements begin with."""
    # All rows are fetched: DuckDB (2.0) refuses other work on a connection whose result is not finished.
    ((number,),) = con.execute("SELECT current_connection_id()").fetchall()
    return f"{number}/"


def create(con: DuckDBPyConnection, bodies: Bodies) -> None:
    """Create the functions in the connection's database. DuckDB does not keep `bodies` alive: the caller has to."""
    # By a cursor, so that they are there even when a transaction of the connection is rolled back.
    cursor = bare_cursor(con)
    for name, (parameters, result, kind) in _SIGNATURES.items():
        cursor.create_function(  # type: ignore[call-overload] # its types know no Arrow arrays
            name, bodies[name], parameters, result, type=kind, null_handling="special", side_effects=True
        )
    cursor.close()


def create_macros(con: DuckDBPyConnection) -> None:
    """Create the macros for this connection alone; they leave no trace in a file."""
    for macro, function in _MACROS.items():
        given, named = ("NULL", "") if macro == "stps_ask_ai" else (_SHAPE, ', "type" := NULL')
        con.execute(
            f'CREATE OR REPLACE TEMP MACRO {macro}("context", prompt, model := NULL, max_tokens := NULL{named}) AS '
            f"{_call(function, given)}"
        )
    con.execute(
        f'CREATE OR REPLACE TEMP MACRO {_VALUE_MACRO}("context", prompt, "type", model := NULL, max_tokens := NULL) AS '
        f"{_value_cast(con)}"
    )
    _create_group_macros(con)
    rows = f"SELECT one.* FROM (SELECT unnest(many) AS one FROM (SELECT {ANSWERS}() AS many))"  # noqa: S608 - a constant
    con.execute(f"CREATE OR REPLACE TEMP MACRO {_LISTING}() AS TABLE {rows}")


def _create_group_macros(con: DuckDBPyConnection) -> None:
    """What asks about a value with the question before it, alone or with the others of its group."""
    given = "question, value, model := NULL, max_tokens := NULL"
    yes_or_no = _call(VALUE, "'BOOLEAN'", _text_of("value"), "question")
    con.execute(f"CREATE OR REPLACE TEMP MACRO {_FILTER}({given}) AS ({yes_or_no}::JSON)::BOOLEAN")
    name = r"regexp_extract(alias(any_value(value)), '\((.*)\)$', 1)"  # alone, it would have to be grouped by
    bytes_end = f"WHEN typeof({_LIST}) = 'BLOB[]' THEN error(concat({name}, {_NO_BYTES}))"
    rows = f"CASE {bytes_end} ELSE to_json({_LIST}) END"
    for macro, function in _GROUPS.items():
        shape, named = ("NULL", "") if function == GROUP_TEXT else (_SHAPE, ', "type" := NULL')
        call = _call(function, shape, f"({rows})::VARCHAR", "question")
        con.execute(f"CREATE OR REPLACE TEMP MACRO {macro}({given}{named}) AS {call}")
    least = _call(GROUP_REQUESTS, "NULL", f"({rows})::VARCHAR", "question")
    con.execute(f"CREATE OR REPLACE TEMP MACRO {_COUNTING}({given}) AS coalesce({least}, 0)")
    ranks = _call(RANK, "NULL", f"({rows})::VARCHAR", "question")
    con.execute(f"CREATE OR REPLACE TEMP MACRO {_RANKING}({given}) AS list_select({_LIST}, {ranks})")


def _call(function: str, shape: str, value: str = "", prompt: str = "prompt") -> str:
    about = value or _text_of('"context"')
    arguments = f"{about}, {prompt}::VARCHAR, model::VARCHAR, max_tokens::INTEGER, {shape}, {_STATEMENT}"
    return f"{function}({arguments})"


def _text_of(value: str) -> str:
    """A value as text; an error, before anything is asked, where it is bytes."""
    return (
        f"CASE WHEN typeof({value}) = 'BLOB' THEN error(concat(alias({value}), {_NO_BYTES})) ELSE {value}::VARCHAR END"
    )


def _value_cast(con: DuckDBPyConnection) -> str:
    value = f"{_call(VALUE, _SHAPE)}::JSON"
    # A text of JSON is cast with its quotes, as a JSON schema wants it, and the type VARCHAR does not.
    is_text = """typeof("type") = 'VARCHAR' AND "type"::VARCHAR IS NULL"""
    text = f"""cast_to_type({value} ->> '$', "type")"""
    plain = f'CASE WHEN {is_text} THEN {text} ELSE cast_to_type({value}, "type") END'
    found = con.execute("SELECT version()").fetchone()
    if not found or not found[0].startswith("v1.4."):
        return plain
    in_a_list = f'(cast_to_type(json_array({value}), ["type"]))[1]'  # see sql_types.cast_from_json
    kinds = "^(ENUM\\(.*|TIMESTAMP_(S|MS|NS)|TIME_NS)$"
    return f"CASE WHEN regexp_matches(typeof(\"type\"), '{kinds}') THEN {in_a_list} ELSE {plain} END"


def drop_macros(con: DuckDBPyConnection) -> None:
    """Drop the macros of this connection."""
    for macro in (*_MACROS, _VALUE_MACRO, _FILTER, *_GROUPS, _RANKING, _COUNTING):
        con.execute(f"DROP MACRO IF EXISTS temp.{macro}")
    con.execute(f"DROP MACRO TABLE IF EXISTS temp.{_LISTING}")
