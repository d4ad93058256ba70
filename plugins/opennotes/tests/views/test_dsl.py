"""Views in the notation of jot, on real folders of notes."""

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ferrule_opennotes.notebook.notebook import Notebook
from ferrule_opennotes.views.definitions import DefinitionError, Parameter
from ferrule_opennotes.views.dsl.grammar import parse
from ferrule_opennotes.views.dsl.presentation import TextQuery
from ferrule_opennotes.views.parameters import fill

Run = Callable[..., list[dict[str, Any]]]
Matching = Callable[..., str]

A = """---
title: Project plan
status: Todo
priority: 9
tags: [Work, urgent]
modified: 2026-01-20
---
One two."""
B = """---
title: Order of work
status: done
priority: 10
tag: home
modified: 2026-01-21T12:00:00
---
Two, one; planned."""
C = """---
status: in-progress
created: 2026-01-05
modified: 2026-01-22
---
The Order | of things: 会议记录."""
NOTES = {"a.md": A, "b.md": B, "sub/c.md": C, "sub/d.md": "Plan of a project, and project."}
NOW = datetime.now().astimezone()  # the same for all of a test, though midnight may come
OLD = datetime(2025, 6, 1).timestamp()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a query: `run("tag:x")`, `run("tag:{{t}}", [parameter], t="value")`."""
    for path, content in NOTES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
        os.utime(tmp_path / path, (OLD, OLD))
    notebook = Notebook(str(tmp_path), ".jot.json", {})

    def run(query: str, parameters: Any = (), **given: str) -> list[dict[str, Any]]:
        values = fill("mine", parameters, given, NOW)
        return [
            {**note.summarize(), **facts} for note, facts in TextQuery(parse(query)).run(notebook.list_notes(), values)
        ]

    return run


@pytest.fixture
def matching(run: Run) -> Matching:
    """The letters of the notes that a query finds, in its order."""

    def matching(query: str, parameters: Any = (), **given: str) -> str:
        return "".join(row["path"].removeprefix("sub/")[0] for row in run(query, parameters, **given))

    return matching


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", "abcd"),
        ("|", "abcd"),
        ("plan", "ad"),
        ("PLAN", "ad"),
        ("planned", "b"),
        ("lan", ""),
        ("plan project", "ad"),
        ('"project plan"', "a"),
        ('"one two"', "a"),
        ('"two one"', "b"),
        ("one two", "ab"),
        ("order", "bc"),
        ('"order | of"', "bc"),
        ("会议", "c"),
        ("status", ""),
        ("tag:work", "a"),
        ("tags:WORK", "a"),
        ("tag:#work", "a"),
        ("tag:wor", ""),
        ("data.tag:home", "b"),
        ("-tag:work", "bcd"),
        ("status:todo", "a"),
        ("status: todo", "a"),
        ("status:in-progress", "c"),
        ("status:progress", ""),
        ("-status:done", "acd"),
        ("title:plan", "a"),
        ("title:d", "d"),
        ('title:"order of"', "b"),
        ("body:plan", "d"),
        ("path:sub/", "cd"),
        ("path:sub", "cd"),
        ("path:*.md", "ab"),
        ("path:**/c.md", "c"),
        ("priority:9", "a"),
        ("priority:>9", "b"),
        ("priority:>=9", "ab"),
        ("priority:<10", "a"),
        ("modified:>=2026-01-20 created:<2026-01-05T00:00:01", "c"),
        ("has:status", "abc"),
        ("missing:status", "d"),
        ("has:tag", "ab"),
        ("missing:tags", "cd"),
        ("-has:tag", "cd"),
        ("has:title", "ab"),
        ("has:created", "c"),
        ("missing:priority", "cd"),
        ("tag:work OR tag:home", "ab"),
        ("tag:work or status:in-progress plan OR tag:home", "ab"),
        ("tag:work AND status:todo", "a"),
        ("plan -tag:work", "d"),
        ('-"project plan" plan', "d"),
        ("modified:2026-01-21", "b"),
        ("modified:=2026-01-21", "b"),
        ("modified:>2026-01-21", "c"),
        ("modified:>=2026-01-21", "bc"),
        ("modified:<2026-01-21", "ad"),
        ("modified:<=2026-01-21", "abd"),
        ("modified:>2026-01-21T11:00:00", "bc"),
        ("updated:>={{today-1}}", ""),
        ("modified:<today", "abcd"),
        ("created:2026-01-05", "c"),
        ("-created:2026-01-05", "abd"),
        ("modified:>=this-month", ""),
        ("modified:this-week", ""),
        ("https://example.org", ""),
    ],
)
def test_a_filter(matching: Matching, query: str, names: str) -> None:
    assert matching(query) == names


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("| sort:modified:desc", "cbad"),
        ("| sort:modified", "dabc"),
        ("| sort:title", "bacd"),
        ("| sort:title:desc", "abcd"),
        ("| sort:path:desc", "dcba"),
        ("| sort:created:desc", "cabd"),
        ("| sort:priority:desc", "bacd"),
        ("| sort:priority", "abcd"),
        ("| sort:status:DESC", "acbd"),
        ("| sort:path limit:2", "ab"),
        ("| sort:path limit:2 offset:1", "bc"),
        ("| limit:3 limit:1", "a"),
        ("|limit:0", "abcd"),
        ("one | sort:relevance", "ab"),
        ("project | sort:relevance", "da"),
        ("project | sort:relevance:desc", "ad"),
        ("of | sort:relevance:desc", "bcd"),
        ("order -tag:work -plan | sort:relevance", "cb"),
        ("a OR the | sort:relevance:desc", "cd"),
        ("project OR one OR two | sort:relevance:desc", "abd"),
        ("body:project | sort:relevance:desc", "d"),
        ("has:status | sort:title", "bac"),
    ],
)
def test_directives(matching: Matching, query: str, names: str) -> None:
    assert matching(query) == names


def test_groups(run: Run) -> None:
    assert [(row["group"], row["path"]) for row in run("| group:status sort:title:asc")] == [
        ("Todo", "a.md"),
        ("done", "b.md"),
        ("in-progress", "sub/c.md"),
        ("(none)", "sub/d.md"),
    ]
    assert [row["group"] for row in run("| group:tag")] == ["Work", "home", "(none)", "(none)"]
    assert [row["group"] for row in run("| group:path")] == [".", ".", "sub", "sub"]
    assert [row["group"] for row in run("| group:priority limit:2 sort:path:desc")] == ["(none)", "(none)"]


def test_rows_are_summaries_with_the_fields_that_the_query_names(run: Run) -> None:
    assert run("status:todo | sort:priority:desc") == [
        {
            "path": "a.md",
            "title": "Project plan",
            "tags": ["Work", "urgent"],
            "modified": "2026-01-20",
            "status": "Todo",
            "priority": 9,
        }
    ]


def test_rows_have_the_fields_that_must_be_there(run: Run) -> None:
    assert [row.get("status") for row in run("has:status")] == ["Todo", "done", "in-progress"]
    assert "priority" not in run("has:status")[0]


def test_other_fields_compare_as_what_they_are(matching: Matching, tmp_path: Path) -> None:
    for name, due in (("e", "2026-01-09T23:00:00Z"), ("f", "2026-01-10"), ("g", "someday"), ("h", "10"), ("i", "9")):
        (tmp_path / f"{name}.md").write_text(f"---\ndue: {due}\nlevels: [{due}, x]\n---\n")
    assert matching("due:>9") == "gh"
    assert matching("due:<=2026-01-11T00:00:00Z") == "efh"
    assert matching("due:=SOMEDAY") == "g"
    assert matching("levels:>=someday") == "efghi"
    assert matching("levels:someday") == "g"


def test_dates_that_are_said_in_words(run: Run, tmp_path: Path) -> None:
    now = NOW
    monday = (now - timedelta(days=now.weekday())).date()
    moments = {"now": now, "yesterday": now - timedelta(days=1), "monday": monday, "before": monday - timedelta(days=1)}
    for name, moment in moments.items():
        (tmp_path / f"{name}.md").write_text(f"---\ncreated: {moment.isoformat()}\n---\n")

    def found(query: str) -> set[str]:
        return {row["path"].removesuffix(".md") for row in run(query)} & set(moments)

    # Monday, and the day before it, may be today or yesterday as well.
    assert found("created:today") >= {"now"}
    assert found("created:today").isdisjoint({"yesterday", "before"})
    assert found("created:yesterday") >= {"yesterday"}
    assert found("created:this-week") >= {"now", "monday"}
    assert "before" not in found("created:this-week")
    assert found("created:<this-week") == {"before"} | ({"yesterday"} if now.weekday() == 0 else set())
    assert "now" in found("created:this-month")
    assert found("created:>today") == set()


def test_parameters_are_one_value_whatever_is_in_them(matching: Matching) -> None:
    plain, several = Parameter("v"), Parameter("v", "list")
    assert matching("status:{{v}}", [several], v="todo,done") == "ab"
    assert matching("-status:{{v}}", [several], v="todo,done") == "cd"
    assert matching("status:{{v}}", [plain], v="todo,done") == ""
    assert matching("status:{{v}}", [plain], v="todo OR status:done") == ""
    assert matching("{{v}}", [plain], v="plan | limit:1") == ""
    assert matching("{{ v }}", [plain], v="project plan") == "a"
    assert matching("status:{{v}} | limit:1", [plain], v="x|y") == ""
    assert matching('title:"{{v}}"', [plain], v='order "of') == "b"
    assert matching("| sort:{{v}}:desc limit:{{n}}", [plain, Parameter("n")], v="path", n="2") == "dc"


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ('"not closed', "quotation mark is not closed"),
        ('tag:"not closed', "has no value"),
        ("tag:", "'tag:' has no value"),
        ("tag:>= | limit:1", "has no value"),
        ("OR tag:a", "OR has nothing on one side"),
        ("tag:a OR", "OR has nothing on one side"),
        ("a OR OR b", "OR has nothing on one side"),
        ("| limit", "the directive 'limit' is not known"),
        ("| limit:x", "'x' is no whole number"),
        ("| limit:-1", "'-1' is no whole number"),
        ("| order:title", "the directive 'order:title' is not known"),
        ("| sort:title:up", "neither FIELD:asc nor FIELD:desc"),
        ("a | limit:1 | limit:2", "the directive '|' is not known"),
    ],
)
def test_a_query_that_makes_no_sense(query: str, reason: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        parse(query)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("modified:soon", "is no date"),
        ("tag:{{x}}", "neither a parameter"),
        ("| limit:{{today}}", "is no whole number"),
    ],
)
def test_a_value_that_makes_no_sense(run: Run, query: str, reason: str) -> None:
    with pytest.raises(DefinitionError, match=reason):
        run(query)


@pytest.mark.parametrize(
    ("piece", "makes_sense"),
    [
        ("{{", True),
        ("{{a}}", True),
        ('"a" ', True),
        ("-", False),
        ("-a ", True),
        ("a:", True),
        ("a:b ", True),
        ("|", False),
        ("\\", True),
    ],
)
def test_a_long_query_ends(piece: str, makes_sense: bool) -> None:
    query = piece * (200_000 // len(piece))
    if makes_sense:
        assert parse(query).alternatives
        return
    with pytest.raises(DefinitionError) as caught:
        parse(query)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("query", "names"),
    [("status:todo,done", "ab"), ("tag:home,work", "ab"), ('status:"todo,done"', ""), ("-status:todo,done", "cd")],
)
def test_a_value_with_commas_is_any_of_its_items(matching: Matching, query: str, names: str) -> None:
    assert matching(query) == names


@pytest.mark.parametrize("query", ["(tag:work OR tag:home) status:todo", "((-tag:x)", "--", "a <> b"])
def test_brackets_and_signs_are_refused(run: Run, query: str) -> None:
    with pytest.raises(DefinitionError, match="group nothing"):
        run(query)


def test_numbers_come_before_text_and_nothing_comes_last_in_either_direction(run: Run, tmp_path: Path) -> None:
    ranks = {"e": "10", "f": "9", "g": "beta", "h": "Alpha", "i": "", "j": "[]", "k": "[8, x]"}
    for name, rank in ranks.items():
        (tmp_path / f"{name}.md").write_text(f"---\nrank: {rank}\n---\n")

    def order(query: str) -> str:
        return "".join(row["path"][0] for row in run(query) if row["path"][0] in ranks)

    assert order("| sort:rank") == "kfehgij"
    assert order("| sort:rank:desc") == "ghefkij"


def test_a_query_that_is_too_large_is_refused(run: Run) -> None:
    assert run(" OR ".join(f"tag:t{number}" for number in range(200))) == []
    with pytest.raises(DefinitionError, match="more than SQLite can do"):
        run(" OR ".join(f"tag:t{number}" for number in range(1100)))


@pytest.mark.parametrize("value", ["'", "x') OR TRUE --", "{0}", ":v0", "\0"])
def test_no_value_is_part_of_the_statement(matching: Matching, value: str) -> None:
    assert matching("status:{{v}}", [Parameter("v")], v=value) == ""
    assert matching("data.{{v}}:x", [Parameter("v")], v=value) == ""
    assert matching("-has:{{v}}", [Parameter("v")], v=value) == "abcd"
