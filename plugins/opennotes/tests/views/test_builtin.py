"""The six built-in views, as a client runs them, with either generation of the CLI."""

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ferrule_testkit.programs.opennotes import Cli

pytestmark = pytest.mark.process


Write = Callable[..., Path]
Answer = Callable[..., dict[str, Any]]
View = Callable[..., list[dict[str, Any]]]

OLD = datetime(2025, 6, 1, 12).timestamp()


@pytest.fixture
def write(notebook: Path) -> Write:
    """Put a note into the notebook, in the folder that the CLI has chosen: `write("a.md", "text", "status: x")`."""
    config = next(file for file in notebook.iterdir() if file.name in (".opennotes.json", ".jot.json"))
    root = notebook / json.loads(config.read_text())["root"]

    def write(path: str, text: str = "", block: str | None = None, mtime: float = OLD) -> Path:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if block is None else f"---\n{block}\n---\n{text}")
        os.utime(file, (mtime, mtime))
        return file

    return write


@pytest.fixture
def view(notebook: Path, answer: Answer) -> View:
    """Run a view, and return its results: `view("kanban", status="todo")`."""

    def view(name: str, **params: str) -> list[dict[str, Any]]:
        document = answer("views", view=name, params=params, notebook=str(notebook))
        assert document["view"]["name"] == name
        assert document["view"]["description"]
        assert document["notebook"] == {"name": "notebook", "path": str(notebook)}
        assert document["pagination"]["total"] == len(document["results"])
        results: list[dict[str, Any]] = document["results"]
        return results

    return view


def paths(results: list[dict[str, Any]]) -> list[str]:
    return [result["path"] for result in results]


@pytest.mark.parametrize("name", ["today", "recent", "kanban", "untagged", "orphans", "broken-links"])
def test_an_empty_notebook_has_nothing_in_any_view(cli: Cli, view: View, name: str) -> None:
    assert view(name) == []


def test_today_is_what_was_created_or_modified_today(cli: Cli, notebook: Path, write: Write, answer: Answer) -> None:
    utc = datetime.now(UTC)
    hours = 12 - utc.hour  # to where it is noon, so that today is the same one until the test has ended
    now = utc.astimezone(timezone(timedelta(hours=hours)))
    write("touched.md", mtime=now.timestamp())
    write("created.md", block=f"created: {now.date()}")
    write("modified.md", block=f"modified: {now.isoformat()}")
    write("early.md", block=f"created: {now.replace(hour=0, minute=0).astimezone(UTC).isoformat()}")
    write("yesterday.md", block=f"created: {now.date() - timedelta(days=1)}")
    write("late.md", block=f"modified: {(now.replace(hour=0, minute=0) - timedelta(minutes=1)).isoformat()}")
    write("tomorrow.md", block=f"created: {now.date() + timedelta(days=1)}")
    write("old.md")
    document = answer("views", view="today", notebook=str(notebook), environ={"TZ": f"TEST{-hours:+d}"})
    assert set(paths(document["results"])) == {"touched.md", "created.md", "modified.md", "early.md"}
    assert paths(document["results"])[-2:] == ["created.md", "early.md"]


def test_recent_is_the_twenty_notes_that_were_modified_last(cli: Cli, write: Write, view: View) -> None:
    for number in range(25):
        write(f"{number:02}.md", mtime=OLD + number * 60)
    write("new.md", block="modified: 2025-07-01")
    write("old.md", block="modified: 2024-07-01", mtime=OLD * 1.01)
    assert paths(view("recent")) == ["new.md", *(f"{number:02}.md" for number in range(24, 5, -1))]


def test_kanban_shows_the_statuses_that_are_asked_for_in_their_order(cli: Cli, write: Write, view: View) -> None:
    write("a.md", block="status: todo\npriority: 1")
    write("b.md", block="status: done\ntitle: B\ntags: [x]")
    write("c.md", block="status: todo\npriority: 2")
    write("d.md", block="status: blocked, really")
    write("e.md", block="status: [review, todo]")
    write("f.md")
    results = view("kanban", status="done, todo,nothing")
    assert paths(results) == ["b.md", "c.md", "a.md", "e.md"]
    modified = results[0]["modified"]
    assert results[:2] == [
        {"path": "b.md", "title": "B", "tags": ["x"], "modified": modified, "status": "done"},
        {"path": "c.md", "modified": modified, "status": "todo", "priority": 2},
    ]


def test_kanban_orders_a_status_by_priority_then_by_change_then_by_path(cli: Cli, write: Write, view: View) -> None:
    for name, priority in {"a": "low", "b": "2", "c": "'10'", "d": "9.5", "e": "1", "f": "1"}.items():
        write(f"{name}.md", block=f"status: todo\npriority: {priority}")
    write("g.md", block="status: todo")
    write("h.md", block="status: todo\npriority: high", mtime=OLD + 60)
    write("i.md", block="status: todo\npriority: 1", mtime=OLD + 60)
    assert "".join(path[0] for path in paths(view("kanban", status="todo"))) == "cdbiefhag"


def test_kanban_without_statuses_shows_those_that_the_cli_names(opennotes: Cli, write: Write, view: View) -> None:
    for status in ("done", "todo", "backlog", "blocked"):
        write(f"{status}.md", block=f"status: {status}")
    assert paths(view("kanban")) == ["backlog.md", "todo.md", "done.md"]


def test_kanban_without_statuses_shows_all_where_the_cli_names_none(jot: Cli, write: Write, view: View) -> None:
    for status in ("done", "todo", "backlog", "blocked", "Alpha"):
        write(f"{status}.md", block=f"status: {status}")
    write("none.md", block="status:")
    assert paths(view("kanban")) == ["backlog.md", "todo.md", "done.md", "Alpha.md", "blocked.md"]


def test_untagged_notes_have_neither_tags_nor_a_tag(cli: Cli, write: Write, view: View) -> None:
    write("tags.md", block="tags: [a]")
    write("tag.md", block="tag: a")
    write("text.md", block="tags: a, b")
    write("empty.md", block="tags: []\ncreated: 2026-01-01")
    write("null.md", block="tags:\ncreated: 2026-01-02")
    write("none.md")
    assert paths(view("untagged")) == ["null.md", "empty.md", "none.md"]


@pytest.mark.slow
def test_orphans(cli: Cli, write: Write, view: View) -> None:
    write("linked.md", block="created: 2026-01-01")
    write("links.md", "[[linked]]", "created: 2026-01-02")
    write("alone.md", "[[alone]] [w](https://example.org) ![i](x.png)", "created: 2026-01-03")
    write("tagged.md", block="tags: [a]\ncreated: 2026-01-04")
    write("sorted.md", block="category: a")
    write("dangling.md", "[[nothing]]")
    assert paths(view("orphans")) == ["tagged.md", "alone.md", "links.md", "dangling.md", "sorted.md"]
    assert view("orphans", definition="no-incoming") == view("orphans")
    assert paths(view("orphans", definition="no-links")) == ["tagged.md", "alone.md", "sorted.md"]
    assert paths(view("orphans", definition="isolated")) == ["alone.md"]


def test_an_unknown_kind_of_orphan_is_refused(
    opennotes: Cli, notebook: Path, failure: Callable[..., dict[str, Any]]
) -> None:
    document = failure("views", view="orphans", params={"definition": "lonely"}, notebook=str(notebook))
    assert document["code"] == "INVALID_INPUT"
    assert "no-incoming, no-links, isolated" in document["message"]


def test_broken_links_are_told_with_their_notes(cli: Cli, write: Write, view: View) -> None:
    write("fine.md", "[[one]] [w](https://example.org/x.md)")
    write("one.md", "[[gone]] [a](sub/two.md) [b](missing.md#part) [[gone]]")
    write("sub/two.md", "[a](../one.md) ![i](no.png)", "title: Two", mtime=OLD + 60)
    results = view("broken-links")
    assert [(each["path"], each["brokenLinks"], each["linkCount"]) for each in results] == [
        ("sub/two.md", ["no.png"], 1),
        ("one.md", ["gone", "missing.md#part"], 2),
    ]
    assert results[0]["title"] == "Two"
