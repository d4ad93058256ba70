"""Views in the notation of OpenNotes, on real folders of notes."""

import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ferrule_opennotes.notebook.notebook import Notebook
from ferrule_opennotes.views.conditions.comparison import compile_like
from ferrule_opennotes.views.conditions.statement import parse_statement
from ferrule_opennotes.views.definitions import DefinitionError, Parameter
from ferrule_opennotes.views.parameters import fill

Run = Callable[..., list[dict[str, Any]]]

A = """title: Alpha
status: todo
priority: 9
tags: [work, home]
created: 2026-01-10
modified: 2026-01-20T10:00:00Z"""
B = """title: Beta
status: done
priority: 10
tags: work
created: 2026-01-11T09:00:00
modified: 2026-01-21"""
NOTES = {
    "a.md": A,
    "b.md": B,
    "sub/c.md": "status: done\npriority: high\ntags: []\nmodified: 2026-01-22",
    "sub/d_x.md": "status:\narchived: true\ncreated_at: 2026-01-12\nmodified: 2026-01-23",
}


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    for path, block in NOTES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(f"---\n{block}\n---\nThe text of {path}.\n")
    return Notebook(str(tmp_path), ".opennotes.json", {})


@pytest.fixture
def run(notebook: Notebook) -> Run:
    """Run a query: `run({"limit": 1})`, `run({…}, [parameter], name="value")`."""

    def run(query: dict[str, Any], parameters: Any = (), **given: str) -> list[dict[str, Any]]:
        values = fill("mine", parameters, given, datetime.now().astimezone())
        return [
            {**note.summarize(), **facts} for note, facts in parse_statement(query).run(notebook.list_notes(), values)
        ]

    return run


@pytest.fixture
def matching(run: Run) -> Callable[..., list[str]]:
    """The names of the notes for which conditions hold: `matching("path", "=", "a.md")`."""

    def matching(*conditions: Any, **more: Any) -> list[str]:
        if isinstance(conditions[0], str):
            conditions = (dict(zip(("field", "operator", "value"), conditions, strict=False)),)
        return [row["path"].removeprefix("sub/")[0] for row in run({"conditions": list(conditions), **more})]

    return matching


@pytest.mark.parametrize(
    ("field", "operator", "value", "names"),
    [
        ("metadata->>'status'", "=", "done", "bc"),
        ("metadata->'status'", "=", "done", "bc"),
        ("metadata ->> 'status'", "==", "done", "bc"),
        ("METADATA['status']", "=", "done", "bc"),
        ("metadata->>'status'", "=", "Done", ""),
        ("metadata->>'status'", "!=", "done", "a"),
        ("metadata->>'status'", "<>", "done", "a"),
        ("metadata->>'status'", "IN", "todo, done", "abc"),
        ("metadata->>'status'", "IN", ["todo", "done"], "abc"),
        ("metadata->>'status'", "NOT IN", ["todo"], "bc"),
        ("metadata->>'status'", "in", ["todo"], "a"),
        ("metadata->>'status'", "IS NULL", "", "d"),
        ("metadata->>'status'", "IS", "NULL", "d"),
        ("metadata->>'status'", "IS NOT NULL", "", "abc"),
        ("metadata->>'status'", "is  not", "null", "abc"),
        ("metadata->>'nothing'", "=", "", ""),
        ("metadata->>'nothing'", "!=", "x", ""),
        ("metadata->>'nothing'", "NOT LIKE", "x", ""),
        ("metadata->>'nothing'", "NOT IN", ["x"], ""),
        ("metadata->>'tags'", "=", "work", "ab"),
        ("metadata->>'tags'", "IN", ["home", "x"], "a"),
        ("metadata->>'tags'", "!=", "home", "bc"),
        ("metadata->>'tags'", "LIKE", "%om%", "a"),
        ("metadata->>'tags'", "NOT LIKE", "%om%", "bc"),
        ("metadata->>'archived'", "=", True, "d"),
        ("metadata->>'archived'", "=", "true", "d"),
        ("(metadata->>'archived')::BOOLEAN", "=", "true", "d"),
        ("metadata->>'priority'", "=", 9, "a"),
        ("metadata->>'priority'", "=", "9", "a"),
        ("metadata->>'priority'", ">", "8", "ac"),
        ("(metadata->>'priority')::INTEGER", ">", "8", "ab"),
        ("metadata->>'priority'::INTEGER", ">=", "10", "b"),
        ("CAST(metadata->>'priority' AS DOUBLE)", "<", 9.5, "a"),
        ("TRY_CAST(metadata->>'priority' AS DECIMAL(10, 2))", "!=", 9, "b"),
        ("path", "LIKE", "sub/%", "cd"),
        ("path", "LIKE", "%_x.md", "d"),
        ("path", "LIKE", "_.md", "ab"),
        ("path", "like", "SUB/%", ""),
        ("path", "ILIKE", "SUB/%", "cd"),
        ("file_path", "LIKE", "%/sub/c.md", "c"),
        ("title", "=", "Alpha", "a"),
        ("title", "=", "c", "c"),
        ("content", "LIKE", "%text of b.md%", "b"),
        ("content", "LIKE", "%title: Beta%", "b"),
        ("body", "LIKE", "%title: Beta%", ""),
        ("updated_at", ">=", "2026-01-22", "cd"),
        ("updated_at", "<", "2026-01-21T00:00:00", "a"),
        ("created_at", "=", "2026-01-11", "b"),
        ("created_at", "IN", ["2026-01-10", "2026-01-12"], "ad"),
        ("created_at", "IS NULL", None, "c"),
        ("metadata->>'created_at'", ">=", "2026-01-11", "bd"),
        ("metadata->>'updated_at'", ">", "2026-01-22T12:00:00", "d"),
    ],
)
def test_a_condition(matching: Callable[..., list[str]], field: str, operator: str, value: Any, names: str) -> None:
    assert matching(field, operator, value) == list(names)


def where(field: str, value: str, logic: str | None = None) -> dict[str, str]:
    found = {"field": f"metadata->>'{field}'", "operator": "=", "value": value}
    return found | ({"logic": logic} if logic else {})


def test_conditions_are_joined_by_and(matching: Callable[..., list[str]]) -> None:
    assert matching(where("status", "done"), where("priority", "10")) == ["b"]


def test_or_joins_a_condition_to_the_one_before_and_binds_less_than_and(matching: Callable[..., list[str]]) -> None:
    assert matching(where("status", "todo"), where("priority", "high", "OR")) == ["a", "c"]
    three = where("status", "todo"), where("status", "done", "or"), where("priority", "10", "AND")
    assert matching(*three) == ["a", "b"]
    assert matching(where("status", "todo", "OR"), where("priority", "9")) == ["a"]


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("metadata->>'status'", "bcad"),
        ("metadata->>'status' ASC, updated_at DESC", "cbad"),
        ("metadata->>'status' DESC", "abcd"),
        ("metadata->>'status' DESC NULLS FIRST", "dabc"),
        ("metadata->>'priority' DESC", "cabd"),
        ("(metadata->>'priority')::INTEGER DESC", "bacd"),
        ("(metadata->>'priority')::INTEGER", "abcd"),
        ("metadata->>'updated_at' DESC", "dcba"),
        ("metadata->>'created_at' desc", "dbac"),
        ("updated_at:desc", "dcba"),
        ("title", "abcd"),
        ("CAST(metadata->>'priority' AS INTEGER) DESC, path DESC", "badc"),
    ],
)
def test_the_order(run: Run, order: Any, names: str) -> None:
    rows = run({"order_by": order})
    assert [row["path"].removeprefix("sub/")[0] for row in rows] == list(names)
    assert run({"orderBy": order}) == rows


def test_the_path_decides_where_the_order_does_not(run: Run) -> None:
    assert [row["path"] for row in run({"order_by": "metadata->>'nothing' DESC"})] == sorted(NOTES)


def test_the_limit(run: Run) -> None:
    assert [row["path"] for row in run({"order_by": "path DESC", "limit": 2})] == ["sub/d_x.md", "sub/c.md"]
    assert len(run({"limit": 0})) == 4


def test_rows_are_summaries_with_the_fields_that_the_query_names(run: Run) -> None:
    query = {"conditions": [where("status", "todo")], "order_by": "metadata->>'priority'"}
    assert run(query) == [
        {
            "path": "a.md",
            "title": "Alpha",
            "tags": ["work", "home"],
            "created": "2026-01-10",
            "modified": "2026-01-20T10:00:00Z",
            "status": "todo",
            "priority": 9,
        }
    ]


def test_notes_in_groups(run: Run) -> None:
    rows = run({"group_by": "metadata->>'status'", "order_by": "updated_at DESC"})
    assert [(row["path"], row["group"]) for row in rows] == [
        ("sub/c.md", "done"),
        ("b.md", "done"),
        ("a.md", "todo"),
        ("sub/d_x.md", None),
    ]


@pytest.mark.parametrize(
    ("field", "value", "others"),
    [
        ("(metadata->>'n')::INTEGER", "4", "3.7"),
        ("(metadata->>'n')::DOUBLE", "3.7", "4"),
        ("(metadata->>'t')::BIGINT", "3", "2.5"),
        ("(metadata->>'t')::DECIMAL(9,2)", "2.5", "3"),
        ("(metadata->>'b')::BOOLEAN", "true", "false"),
        ("(metadata->>'z')::BOOL", "false", "1"),
        ("(metadata->>'l')::VARCHAR", '[1, "ü"]', "1"),
        ("(metadata->>'n')::VARCHAR", "3.7", "4"),
        ("((metadata->>'n')::INTEGER)::VARCHAR", "4", "4.0"),
        ("(metadata->>'d')::DATE", "2026-01-02", "2026-01-03"),
        ("(((metadata->>'d')))", "2026-01-02", "2026-01-03"),
    ],
)
def test_a_cast(matching: Callable[..., list[str]], notebook: Notebook, field: str, value: str, others: str) -> None:
    Path(notebook.root, "e.md").write_text("---\nn: 3.7\nt: '2.5'\nb: 'TRUE'\nz: 0\nl: [1, ü]\nd: 2026-01-02\n---\n")
    assert matching(field, "=", value) == ["e"]
    assert matching(field, "=", others) == []


@pytest.mark.parametrize("field", ["(metadata->>'n')::BOOL", "(metadata->>'l')::INTEGER", "(metadata->>'d')::INTEGER"])
def test_what_a_cast_cannot_read_is_null(matching: Callable[..., list[str]], notebook: Notebook, field: str) -> None:
    Path(notebook.root, "e.md").write_text("---\nn: 3.7\nl: [1]\nd: 2026-01-02\n---\n")
    assert "e" in matching(field, "IS NULL")


def test_parameters_and_variables_are_filled_in(run: Run, matching: Callable[..., list[str]]) -> None:
    query = {"conditions": [{"field": "metadata->>'status'", "operator": "IN", "value": "{{status}}"}]}
    status = Parameter("status", "list", default="todo,x")
    assert [row["path"] for row in run(query, [status])] == ["a.md"]
    assert len(run(query, [status], status="todo,done")) == 3
    query["conditions"][0]["value"] = ["{{status}}", "x"]
    assert len(run(query, [status], status="todo,done")) == 3
    query["conditions"][0] |= {"operator": "=", "value": "{{status}}"}
    assert run(query, [status], status="todo,done") == []
    assert matching("updated_at", "<", "{{today}}") == list("abcd")
    assert matching("title", "!=", "{{today}}") == list("abcd")


def test_a_value_is_text_whatever_it_looks_like(run: Run) -> None:
    query = {"conditions": [{"field": "metadata->>'status'", "operator": "=", "value": "{{status}}"}]}
    assert run(query, [Parameter("status")], status="todo' OR '1'='1") == []


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ({"conditions": {}}, "'conditions' is no list"),
        ({"conditions": ["x"]}, "a condition is no object"),
        ({"conditions": [{"operator": "=", "value": "x"}]}, "is no field"),
        ({"conditions": [{"field": " ", "value": "x"}]}, "is no field"),
        ({"conditions": [{"field": f"metadata->>'{'x' * 500}'", "value": "x"}]}, "is no field"),
        ({"order_by": "x" * 501}, "is no field"),
        ({"conditions": [{"field": "secret", "value": "x"}]}, "the field 'secret' is not known"),
        ({"conditions": [{"field": "read_text('/etc/passwd')", "value": "x"}]}, "is not known"),
        ({"conditions": [{"field": "(path)::BLOB", "value": "x"}]}, "the type BLOB is not known"),
        ({"conditions": [{"field": "path", "operator": "~", "value": "x"}]}, "the operator '~' is not known"),
        ({"conditions": [{"field": "path", "operator": "IS", "value": "x"}]}, "goes with NULL only"),
        ({"conditions": [{"field": "path", "operator": "="}]}, "has no value"),
        ({"conditions": [{"field": "path", "value": "x", "logic": "XOR"}]}, "neither AND nor OR"),
        ({"conditions": [{"field": "COUNT(*)", "operator": ">", "value": "1"}]}, "is not known"),
        ({"conditions": [{"field": "path", "operator": "=", "value": ["a"]}]}, "a list goes with IN only"),
        ({"group_by": "title, secret"}, "the field 'secret' is not known"),
        ({"order_by": 5}, "is no order"),
        ({"limit": -1}, "'limit' is no whole number"),
        ({"limit": "3"}, "'limit' is no whole number"),
        ({"select_columns": ["path"]}, "'selectcolumns', which is none of"),
        ({"filter": []}, "'filter', which is none of"),
    ],
)
def test_a_query_that_makes_no_sense(query: dict[str, Any], reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        parse_statement(query)


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"field": "updated_at", "operator": ">", "value": "soon"}, "'soon' is no date"),
        ({"field": "(metadata->>'p')::INTEGER", "operator": ">", "value": "many"}, "'many' is no number"),
        ({"field": "path", "operator": "=", "value": "{{nothing}}"}, "neither a parameter"),
    ],
)
def test_a_value_that_cannot_be_compared(run: Run, condition: dict[str, Any], reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        run({"conditions": [condition]})


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("", "", True),
        ("", "a", False),
        ("%", "", True),
        ("%%", "a", True),
        ("a%a", "a", False),
        ("a%a", "aa", True),
        ("a%b%c", "a-b-b-c", True),
        ("a%b%c", "a-c-b", False),
        ("%ab", "aab", True),
        ("%ab%ab", "ab", False),
        ("a_c", "abc", True),
        ("a_c", "ac", False),
        ("a_", "a\n", True),
        ("100\\%", "100\\x", True),
        ("[a-z].*", "[a-z].*", True),
        ("[a-z].*", "b", False),
    ],
)
def test_like(pattern: str, text: str, fits: bool) -> None:
    assert (re.search(compile_like(pattern), text) is not None) is fits


def test_a_hostile_pattern_ends() -> None:
    assert re.search(compile_like("%a" * 200 + "b"), "a" * 200_000) is None
