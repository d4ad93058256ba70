"""What a statement may do, judged by the tree that DuckDB's own parser makes of it.

What may stand where a table stands, and which functions may be called, is listed; everything else is refused. So a
statement that passes reads the notes of the notebook and computes from them, and can reach nothing else: no file, no
setting, no catalogue, no second statement.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ferrule import ToolError
from ferrule_opennotes.errors import invalid_sql
from ferrule_opennotes.notebook.characters import make_storable
from ferrule_opennotes.notebook.paths import normalize
from ferrule_opennotes.sql.functions import TABLES, is_computing

if TYPE_CHECKING:
    import duckdb

    from ferrule import JSONObject

_MAX_STATEMENT_CHARS = 100_000
_MAX_PATTERN_CHARS = 1_000
_READER = "read_markdown"
_FUNCTIONS = TABLES | {_READER}  # that may stand where a table stands
_CATALOGUE = ("duckdb_", "pragma_", "sqlite_", "pg_", "information_schema")  # names that DuckDB resolves by itself
_QUERIES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"))
_TABLES = frozenset(("EMPTY", "BASE_TABLE", "SUBQUERY", "JOIN", "TABLE_FUNCTION", "EXPRESSION_LIST"))
_EXPRESSIONS = frozenset(
    ("BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "LAMBDA")
) | {"LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "SUBQUERY", "TYPE", "WINDOW"}
_MAY_STAND_HERE = (
    "read_markdown('**/*.md'), a subquery, the name of a WITH, unnest(...), range(...) or generate_series(...) may "
    "stand here"
)


class Query(NamedTuple):
    """A statement that may be run. text: as it was given. patterns: those that read_markdown is given, each once."""

    text: str
    patterns: list[str]


def judge(connection: duckdb.DuckDBPyConnection, statement: str) -> Query:
    """The statement, if it is one SELECT that reads and calls only what is listed. It is parsed, and not run.

    Raises ToolError INVALID_SQL that says what is refused, and duckdb.Error for what DuckDB cannot parse.
    """
    if len(statement) > _MAX_STATEMENT_CHARS:
        raise invalid_sql(f"the statement is longer than {_MAX_STATEMENT_CHARS:,} characters")
    if make_storable(statement) != statement:
        raise invalid_sql("the statement holds a NUL character, or half of a surrogate pair")
    nodes = list(_nodes(_parse(connection, statement)))
    declared = {name for node in nodes for name in _declarations(node)}
    for node in nodes:
        if reason := _refusal(node, declared):
            raise invalid_sql(reason)
    patterns = [_pattern(node["function"]) for node in nodes if _is_reader(node)]
    return Query(statement, list(dict.fromkeys(patterns)))


def _parse(connection: duckdb.DuckDBPyConnection, statement: str) -> JSONObject:
    statements = connection.extract_statements(statement)
    if not statements:
        raise invalid_sql("the statement is empty")
    if len(statements) > 1:
        raise invalid_sql("a second statement is refused; one statement is all that may be written")
    if (kind := statements[0].type.name) != "SELECT":
        raise invalid_sql(f"a statement must be a SELECT, perhaps with WITH before it; {kind} is none")
    row = connection.execute("SELECT json_serialize_sql(?)", [statement]).fetchone()
    try:
        tree: JSONObject = json.loads(row[0]) if row else {"error": True}
    except RecursionError:
        raise invalid_sql("it is nested too deeply, or joins too many tables") from None
    if tree.get("error") or len(tree["statements"]) != 1:
        raise invalid_sql(str(tree.get("error_message", "it cannot be parsed")))
    return tree


def _nodes(tree: JSONObject) -> Iterator[JSONObject]:
    waiting: list[object] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _declarations(node: JSONObject) -> list[str]:
    """The names that a WITH gives to its queries. Raises ToolError INVALID_SQL for one that might be a file's."""
    names = node.get("cte_map")
    entries = names.get("map", []) if isinstance(names, dict) else []
    declared = [str(entry["key"]).lower() for entry in entries if isinstance(entry, dict) and "key" in entry]
    for name in declared:
        if not name.replace("_", "a").isalnum() or name.startswith(_CATALOGUE):
            raise invalid_sql(f"the name {name[:100]!r} is refused for a WITH; use letters, digits and '_'")
    return declared


def _refusal(node: JSONObject, declared: set[str]) -> str | None:
    """Why the statement is refused for this node; None where it is harmless."""
    kind = str(node.get("type", ""))
    if "class" in node:
        return _refusal_of_expression(node)
    if kind.endswith("_NODE"):
        return None if kind in _QUERIES else f"{kind.lower()} is no query that reads"
    if "sample" in node and "alias" in node:  # which every reference to a table has
        return _refusal_of_table(node, kind, declared)
    return None


def _refusal_of_expression(node: JSONObject) -> str | None:
    if node["class"] == "PARAMETER":
        return "parameters like ? and $1 are refused; write the value itself"
    if node["class"] not in _EXPRESSIONS:
        return f"an expression of the class {node['class']} is refused"
    name = str(node.get("function_name", "")).lower().removesuffix("__postfix")
    if not any(letter.isalpha() for letter in name):
        return None  # no function, or an operator
    # Before the name may stand a schema, or a column whose method it is called as; neither has anything else to offer.
    if is_computing(name) or name in _FUNCTIONS:
        return None
    return f"{name[:100]}(...) is refused: it is not among the functions that compute from their arguments alone"


def _refusal_of_table(node: JSONObject, kind: str, declared: set[str]) -> str | None:
    if kind not in _TABLES:
        return f"{kind.lower()} is refused as a table; {_MAY_STAND_HERE}"
    if kind == "TABLE_FUNCTION":
        name = str(node["function"].get("function_name", "")).lower()
        return None if name in _FUNCTIONS else f"{name[:100]}(...) is refused as a table; {_MAY_STAND_HERE}"
    name = str(node.get("table_name", ""))
    if kind != "BASE_TABLE" or (name.lower() in declared and not (node.get("schema_name") or node.get("catalog_name"))):
        return None
    return f"there is no table {name[:100]!r}; {_MAY_STAND_HERE}"


def _is_reader(node: JSONObject) -> bool:
    return node.get("type") == "TABLE_FUNCTION" and str(node["function"]["function_name"]).lower() == _READER


def _pattern(function: JSONObject) -> str:
    """What read_markdown reads. Raises ToolError INVALID_SQL for what leads, or could lead, out of the notebook."""
    pattern, *others = _literals(function) or [None]
    if pattern is None or not pattern.strip() or any(other is not None for other in others):
        raise invalid_sql(f"{_READER} takes one pattern in single quotes, like '**/*.md'")
    if len(pattern) > _MAX_PATTERN_CHARS:
        raise invalid_sql(f"a pattern of {_READER} is longer than {_MAX_PATTERN_CHARS:,} characters")
    try:
        if "://" not in pattern and normalize(pattern):
            return pattern
    except ToolError:
        pass
    raise invalid_sql(
        f"{_READER}({pattern[:100]!r}) leads out of the notebook; write a path or pattern like '**/*.md'",
        "Use paths relative to notebook",
    )


def _literals(function: JSONObject) -> list[str | None]:
    """The text that each argument is; None for one that is anything else, or has to be computed."""
    if "arguments" in function:  # since DuckDB 2
        literals = [each["expression"].get("literal") for each in function["arguments"]]
        return [each["text"] if each and each["kind"] == "STRING" else None for each in literals]
    values = [each.get("value") for each in function["children"]]
    return [each["value"] if each and each["type"]["id"] == "VARCHAR" else None for each in values]
