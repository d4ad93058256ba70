"""What SQL sees: the hidden functions that belong to a database, and the macros in front that a connection has.

A function of Python cannot have optional or named arguments, and a macro can. The hidden functions are told which
statement calls them. All of them have side effects for DuckDB, so that neither EXPLAIN nor the optimiser calls them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ferrule_duckdb.vectors import ANSWER_TYPE, PLAN_TYPE

if TYPE_CHECKING:
    from collections.abc import Callable

WHO = "__ferrule_ask_database"
_TEXT, _ANSWER, _PLAN = "__ferrule_ask_text", "__ferrule_ask_answer", "__ferrule_ask_plan"
# The number of the query names a statement. A prepared one would keep its first number for ever, were it not for the
# transaction's, which DuckDB knows to change: with that it works out both at each execution.
_STATEMENT = "concat(current_connection_id(), '/', current_query_id(), '/', txid_current())"
_QUESTION = ["VARCHAR", "VARCHAR", "VARCHAR", "INTEGER", "VARCHAR"]
_USAGE = (
    'STRUCT("questions" BIGINT, requests BIGINT, tool_calls BIGINT, input_tokens BIGINT, output_tokens BIGINT, '
    "cost DOUBLE, failures BIGINT)"
)
_MACROS = {"stps_ask_ai": _TEXT, "ask_ai": _ANSWER, "ask_plan": _PLAN}


class Bodies(NamedTuple):
    """The functions of Python behind those of SQL. The first three take and return Arrow arrays."""

    texts: Callable[..., Any]
    answers: Callable[..., Any]
    plans: Callable[..., Any]
    database: Callable[[], int]
    set_api_key: Callable[[str | None], str]
    set_brave_api_key: Callable[[str | None], str]
    set_model: Callable[[str | None], str]
    get_model: Callable[[], str]
    usage: Callable[[], dict[str, Any]]
    clear: Callable[[], int]


def database_of(con: Any) -> int | None:
    """The number that `create` has given to the connection's database; None where it has not been there."""
    cursor = con.cursor()
    try:
        row = cursor.execute(f"SELECT {WHO}()").fetchone() if are_seen(cursor) else None
        return None if row is None else int(row[0])
    finally:
        cursor.close()


def are_seen(con: Any) -> bool:
    """Whether the functions exist for the connection: its transaction may have begun before they did."""
    # Asked of the catalog, since a name that does not exist ends the transaction that is open.
    ((number,),) = con.execute("SELECT count(*) FROM duckdb_functions() WHERE function_name = ?", [WHO]).fetchall()
    return bool(number)


def connection_key(con: Any) -> str:
    """What the keys of this connection's statements begin with."""
    # All rows are fetched: DuckDB (2.0) refuses other work on a connection whose result is not finished.
    ((number,),) = con.execute("SELECT current_connection_id()").fetchall()
    return f"{number}/"


def create(con: Any, bodies: Bodies) -> None:
    """Create the functions in the connection's database. DuckDB does not keep `bodies` alive: the caller has to."""
    # By a cursor, so that they are there even when a transaction of the connection is rolled back.
    cursor = con.cursor()
    for name, body, kind in (
        (_TEXT, bodies.texts, "VARCHAR"),
        (_ANSWER, bodies.answers, ANSWER_TYPE),
        (_PLAN, bodies.plans, PLAN_TYPE),
    ):
        _create(cursor, name, body, _QUESTION, kind, "arrow")
    for name, setter in (
        ("stps_set_api_key", bodies.set_api_key),
        ("stps_set_brave_api_key", bodies.set_brave_api_key),
        ("stps_set_model", bodies.set_model),
    ):
        _create(cursor, name, setter, ["VARCHAR"], "VARCHAR", "native")
    _create(cursor, "stps_get_model", bodies.get_model, [], "VARCHAR", "native")
    _create(cursor, "ask_usage", bodies.usage, [], _USAGE, "native")
    _create(cursor, "ask_clear", bodies.clear, [], "BIGINT", "native")
    _create(cursor, WHO, bodies.database, [], "BIGINT", "native")
    cursor.close()


def create_macros(con: Any) -> None:
    """Create the macros for this connection alone; they leave no trace in a file."""
    for macro, function in _MACROS.items():
        con.execute(
            f'CREATE OR REPLACE TEMP MACRO {macro}("context", prompt, model := NULL, max_tokens := NULL) AS '
            f'{function}("context"::VARCHAR, prompt::VARCHAR, model::VARCHAR, max_tokens::INTEGER, {_STATEMENT})'
        )


def drop_macros(con: Any) -> None:
    """Drop the macros of this connection."""
    for macro in _MACROS:
        con.execute(f"DROP MACRO IF EXISTS temp.{macro}")


def _create(con: Any, name: str, body: Any, parameters: list[str], result: str, kind: str) -> None:
    con.create_function(name, body, parameters, result, type=kind, null_handling="special", side_effects=True)
