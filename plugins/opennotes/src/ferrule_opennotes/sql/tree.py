"""The second judge: DuckDB's own parser says what the statement is, and the tree of it is walked.

It knows nothing of the first judge's tokens, and both have to agree before a statement is run.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ferrule_opennotes.errors import invalid_sql
from ferrule_opennotes.sql.functions import COMPUTING, TABLES
from ferrule_opennotes.sql.parser import CATALOGUE, READER
from ferrule_opennotes.sql.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

_QUERIES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"))
_TABLES = frozenset(("EMPTY", "BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST"))
_EXPRESSIONS = words(
    "BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION LAMBDA LAMBDA_REF OPERATOR "
    "POSITIONAL_REFERENCE STAR SUBQUERY TYPE WINDOW"
)


def judge(connection: duckdb.DuckDBPyConnection, statement: str) -> None:
    """Return if the statement is one SELECT that reads and calls only what is listed.

    Raises ToolError INVALID_SQL, and duckdb.Error for what DuckDB cannot parse.
    """
    statements = connection.extract_statements(statement)
    if len(statements) != 1 or statements[0].type.name != "SELECT":
        raise invalid_sql("it is not one SELECT")
    row = connection.execute("SELECT json_serialize_sql(?)", [statement]).fetchone()
    try:
        tree: dict[str, Any] = json.loads(row[0]) if row else {"error": True}
    except RecursionError:
        raise invalid_sql("it is nested too deeply, or joins too many tables") from None
    if tree.get("error"):
        raise invalid_sql(str(tree.get("error_message", "it cannot be parsed")))
    if len(tree["statements"]) != 1:
        raise invalid_sql("it is not one SELECT")
    declared = {name for node in _nodes(tree) for name in _declared(node)}
    for node in _nodes(tree):
        reason = _what_is_wrong(node, declared)
        if reason:
            raise invalid_sql(reason)


def _nodes(tree: dict[str, Any]) -> Iterator[dict[str, Any]]:
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _declared(node: dict[str, Any]) -> list[str]:
    """The names that a WITH gives to its queries."""
    names = node.get("cte_map")
    entries = names.get("map", []) if isinstance(names, dict) else []
    return [str(entry["key"]).lower() for entry in entries if isinstance(entry, dict) and "key" in entry]


def _what_is_wrong(node: dict[str, Any], declared: set[str]) -> str | None:
    kind = str(node.get("type", ""))
    if "class" in node:
        return _wrong_expression(node)
    if kind.endswith("_NODE"):
        return None if kind in _QUERIES else f"{kind.lower()} is no query that reads"
    if "sample" in node and "alias" in node:  # which every reference to a table has
        return _wrong_table(node, kind, declared)
    return None


def _wrong_expression(node: dict[str, Any]) -> str | None:
    if node["class"] not in _EXPRESSIONS:
        return f"an expression of the class {node['class']} is refused"
    name = str(node.get("function_name", "")).lower().removesuffix("__postfix")
    if not name or not any(letter.isalpha() for letter in name):
        return None  # an operator
    # Before the name may stand a schema, or a column whose method it is called as; neither has anything else to offer.
    return None if name in COMPUTING or name == READER or name in TABLES else f"the function {name} is refused"


def _wrong_table(node: dict[str, Any], kind: str, declared: set[str]) -> str | None:
    if kind not in _TABLES:
        return f"{kind.lower()} is refused as a table"
    if kind == "BASE_TABLE":
        return _wrong_name(node, declared)
    if kind == "TABLE_FUNCTION":
        name = str(node["function"].get("function_name", "")).lower()
        return None if name == READER or name in TABLES else f"{name}(...) is refused as a table"
    return None


def _wrong_name(node: dict[str, Any], declared: set[str]) -> str | None:
    name = str(node.get("table_name", "")).lower()
    is_declared = name in declared and not name.startswith(CATALOGUE)
    return (
        None if is_declared and not node.get("schema_name") and not node.get("catalog_name") else f"no table {name!r}"
    )
