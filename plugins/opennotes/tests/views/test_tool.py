"""opennotes_views, as a client calls it: which views there are, which of several counts, and what cannot be run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ferrule_opennotes.views.handler import find_problems
from ferrule_testkit.programs.opennotes import Cli

Answer = Callable[..., dict[str, Any]]
Define = Callable[[Any], None]

BUILT_IN = ["broken-links", "kanban", "orphans", "recent", "today", "untagged"]
CONDITIONS = {"query": {"conditions": [{"field": "metadata->>'status'", "operator": "=", "value": "todo"}]}}


@pytest.fixture
def config(notebook: Path) -> Path:
    """The configuration of the notebook."""
    return next(file for file in notebook.iterdir() if file.name in (".opennotes.json", ".jot.json"))


@pytest.fixture
def root(notebook: Path, config: Path) -> Path:
    """The folder of its notes."""
    folder = notebook / json.loads(config.read_text())["root"]
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def define(config: Path) -> Define:
    """Give the notebook views of its own."""

    def define(views: Any) -> None:
        config.write_text(json.dumps(json.loads(config.read_text()) | {"views": views}))

    return define


@pytest.fixture
def define_globally(home: Path, chosen: Cli) -> Callable[..., None]:
    """Give all notebooks views."""

    def define(views: Any, kind: str = chosen.name) -> None:
        folder = home / ".config" / kind
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text(json.dumps({"notebooks": [], "views": views}))

    return define


def origins(document: dict[str, Any]) -> dict[str, str]:
    return {view["name"]: view["origin"] for view in document["views"]}


@pytest.mark.process
def test_the_built_in_views_are_those_of_the_cli(
    cli: Cli, notebook: Path, answer: Answer, environment: dict[str, str]
) -> None:
    document = answer("views", notebook=str(notebook))
    assert set(document) == {"views", "notebook"}
    assert document["notebook"] == {"name": "notebook", "path": str(notebook)}
    assert [view["name"] for view in document["views"]] == BUILT_IN
    assert all(view["description"] and view["origin"] == "built-in" for view in document["views"])
    command = ["notes", "view", "--list", "--format=json", f"--notebook={notebook}"]
    by_cli = json.loads(cli.run(*command, environment=environment).stdout)["views"]
    assert sorted(view["name"] for view in by_cli) == BUILT_IN
    parameters = {view["name"]: view.get("parameters", []) for view in document["views"]}
    for view in by_cli:
        for stated in view.get("parameters") or []:
            (known,) = parameters[view["name"]]
            assert known | {"description": ""} == stated | {"description": ""}


@pytest.mark.process
def test_parameters_of_built_in_views_can_be_given_with_either_cli(cli: Cli, notebook: Path, answer: Answer) -> None:
    views = {view["name"]: view for view in answer("views", notebook=str(notebook))["views"]}
    for name, parameter, kind in (("kanban", "status", "list"), ("orphans", "definition", "string")):
        (stated,) = views[name]["parameters"]
        assert (stated["name"], stated["type"], stated["required"]) == (parameter, kind, False)
        assert stated["description"]
    assert views["orphans"]["parameters"][0]["default"] == "no-incoming"
    assert "parameters" not in views["recent"]


@pytest.mark.process
def test_views_are_listed_once_with_the_definition_that_counts(
    cli: Cli, notebook: Path, answer: Answer, define: Define, define_globally: Callable[..., None]
) -> None:
    define(
        {"zeta": {"query": "tag:a"}, "kanban": {"query": "has:status"}, "both": {"query": "", "description": "mine"}}
    )
    define_globally({"both": {"query": ""}, "alpha": CONDITIONS, "today": {"name": "other", **CONDITIONS}})
    document = answer("views", notebook=str(notebook))
    assert list(origins(document).items()) == [
        *((name, "built-in") for name in ("broken-links", "orphans", "recent", "untagged")),
        *((name, "global") for name in ("alpha", "today")),
        *((name, "notebook") for name in ("both", "kanban", "zeta")),
    ]
    assert {"name": "both", "origin": "notebook", "description": "mine"} in document["views"]
    assert "_guidance" not in document


@pytest.mark.process
def test_views_may_be_a_list_as_the_documentation_has_it(
    opennotes: Cli, notebook: Path, root: Path, answer: Answer, define: Define
) -> None:
    define([{"name": "urgent", "description": "Now", **CONDITIONS}, {"query": "tag:x"}])
    (root / "a.md").write_text("---\nstatus: todo\n---\n")
    document = answer("views", notebook=str(notebook))
    assert origins(document)["urgent"] == "notebook"
    assert set(origins(document)) == {"urgent", *BUILT_IN}
    assert document["_guidance"] == "The view 'number 2 of a list' (notebook) cannot be used: it has no name."
    results = answer("views", view="urgent", notebook=str(notebook))["results"]
    assert [result["path"] for result in results] == ["a.md"]


@pytest.mark.process
def test_global_views_of_the_other_generation_count_after_those_of_this_one(
    jot: Cli, notebook: Path, answer: Answer, define_globally: Callable[..., None]
) -> None:
    define_globally({"both": {"query": "", "description": "jot"}})
    define_globally({"both": {"query": "", "description": "opennotes"}, "old": CONDITIONS}, "opennotes")
    views = {view["name"]: view for view in answer("views", notebook=str(notebook))["views"]}
    assert views["both"]["description"] == "jot"
    assert views["old"]["origin"] == "global"


@pytest.mark.process
def test_parameters_are_listed_with_their_defaults_as_text(
    opennotes: Cli, notebook: Path, answer: Answer, define: Define
) -> None:
    parameters = [
        {"name": "status", "type": "list", "default": ["todo", "done"], "description": "Which"},
        {"name": "all", "type": "bool", "default": False},
        {"name": "who", "type": "string", "required": True},
    ]
    define({"mine": {**CONDITIONS, "parameters": parameters}})
    views = {view["name"]: view for view in answer("views", notebook=str(notebook))["views"]}
    assert views["mine"]["parameters"] == [
        {"name": "status", "type": "list", "required": False, "default": "todo,done", "description": "Which"},
        {"name": "all", "type": "bool", "required": False, "default": "false"},
        {"name": "who", "type": "string", "required": True},
    ]


FLAWED = {
    "text": ("x", "it is no object"),
    "empty": ({}, "its 'query' is missing"),
    "number": ({"query": 5}, "its 'query' is neither an object nor text"),
    "field": ({"query": {"conditions": [{"field": "x", "value": "y"}]}}, "the field 'x' is not known"),
    "quote": ({"query": 'tag:a "b'}, "a quotation mark is not closed"),
    "type": ({"query": "", "parameters": [{"name": "p", "type": "colour"}]}, "has the type 'colour'"),
    "magic": ({"type": "special"}, "there is no special view 'magic'"),
    "today": ({"query": 5}, "its 'query' is neither"),
}


@pytest.mark.process
def test_a_view_that_cannot_be_used_is_not_listed_but_told(
    opennotes: Cli, notebook: Path, answer: Answer, define: Define
) -> None:
    define({name: value for name, (value, _) in FLAWED.items()} | {"good": CONDITIONS})
    document = answer("views", notebook=str(notebook))
    assert set(origins(document)) == {"good", *BUILT_IN} - {"today"}
    for name, (_, reason) in FLAWED.items():
        assert f"The view '{name}' (notebook) cannot be used: " in document["_guidance"]
        assert reason in document["_guidance"]


@pytest.mark.process
def test_a_view_that_cannot_be_used_is_refused_even_where_another_has_its_name(
    opennotes: Cli, notebook: Path, define: Define, failure: Answer
) -> None:
    define({"today": {"query": 5}})
    document = failure("views", view="today", notebook=str(notebook))
    assert document["code"] == "INVALID_INPUT"
    assert document["message"].startswith("View 'today': its definition cannot be used: its 'query' is neither")
    assert document["hint"] == f"Correct it in {notebook}/.opennotes.json."


@pytest.mark.process
def test_an_unknown_view_is_told_with_those_that_there_are(
    cli: Cli, notebook: Path, define: Define, failure: Answer
) -> None:
    define({"mine": CONDITIONS})
    assert failure("views", view="kanbn", notebook=str(notebook)) == {
        "error": True,
        "message": "View not found: kanbn",
        "code": "VIEW_NOT_FOUND",
        "hint": "Use opennotes_views to list available views",
        "details": {"view": "kanbn", "available": [*BUILT_IN, "mine"]},
    }


@pytest.mark.process
@pytest.mark.parametrize("name", ["--list", "--help", "a\nb", "x" * 10_000, "../x"])
def test_a_name_does_nothing_but_name(cli: Cli, notebook: Path, failure: Answer, name: str) -> None:
    assert failure("views", view=name, notebook=str(notebook))["code"] == "VIEW_NOT_FOUND"


@pytest.mark.process
def test_a_view_that_is_filled_in_with_nothing_lists_all(opennotes: Cli, notebook: Path, answer: Answer) -> None:
    document = answer("views", view="", params={}, limit=0, offset=0, notebook=str(notebook))
    assert [view["name"] for view in document["views"]] == BUILT_IN
    recent = answer("views", view="recent", params={}, limit=0, offset=0, notebook=str(notebook))
    assert recent["pagination"]["pageSize"] == 50


@pytest.mark.process
def test_a_custom_view_of_the_name_of_a_built_in_one_is_the_one_that_runs(
    cli: Cli, notebook: Path, root: Path, answer: Answer, define: Define
) -> None:
    (root / "a.md").write_text("---\nstatus: todo\n---\n")
    (root / "b.md").write_text("")
    define({"recent": {"description": "Mine", **CONDITIONS}})
    document = answer("views", view="recent", notebook=str(notebook))
    assert document["view"] == {"name": "recent", "description": "Mine"}
    assert [result["path"] for result in document["results"]] == ["a.md"]


@pytest.mark.process
def test_both_notations_run_with_either_cli(
    cli: Cli, notebook: Path, root: Path, answer: Answer, define: Define
) -> None:
    for number in range(3):
        (root / f"{number}.md").write_text(f"---\nstatus: todo\nrank: {number}\n---\n")
    order = "(metadata->>'rank')::INTEGER DESC"
    define({"c": {"query": CONDITIONS["query"] | {"order_by": order}}, "d": {"query": "status:todo | sort:rank:desc"}})
    for name in "cd":
        results = answer("views", view=name, notebook=str(notebook))["results"]
        assert [(each["path"], each["rank"], each["status"]) for each in results] == [
            (f"{number}.md", number, "todo") for number in (2, 1, 0)
        ]


@pytest.mark.process
def test_special_views_are_those_of_their_names(
    opennotes: Cli, notebook: Path, root: Path, answer: Answer, define: Define
) -> None:
    define({"orphans": {"type": "special"}, "broken-links": {"type": "special", "query": ""}})
    (root / "a.md").write_text("[[b]] [[c]]")
    (root / "b.md").write_text("")
    results = answer("views", view="orphans", notebook=str(notebook))["results"]
    assert [result["path"] for result in results] == ["a.md"]
    assert answer("views", view="orphans", params={"definition": "no-links"}, notebook=str(notebook))["results"] == []
    assert answer("views", view="broken-links", notebook=str(notebook))["results"][0]["brokenLinks"] == ["c"]


@pytest.mark.process
def test_params_of_a_call(
    opennotes: Cli, notebook: Path, root: Path, answer: Answer, define: Define, failure: Answer
) -> None:
    (root / "a.md").write_text("---\nauthor: Doe, Jane\n---\n")
    condition = {"field": "metadata->>'author'", "operator": "=", "value": "{{author}}"}
    parameters = [{"name": "author", "type": "string", "required": True}]
    define({"by-author": {"query": {"conditions": [condition]}, "parameters": parameters}})
    found = answer("views", view="by-author", params={"author": "Doe, Jane"}, notebook=str(notebook))
    assert [result["path"] for result in found["results"]] == ["a.md"]
    for params, reason in (
        ({}, "it needs the parameter 'author'"),
        ({"author": ""}, "its parameter 'author' is empty"),
        ({"author": "x", "other": "y"}, "it has no parameter 'other'"),
    ):
        document = failure("views", view="by-author", params=params, notebook=str(notebook))
        assert (document["code"], document["message"]) == ("INVALID_INPUT", f"View 'by-author': {reason}")
        assert document["hint"] == "Its parameters: author (string, required)."


@pytest.mark.process
def test_a_view_without_parameters_takes_none(opennotes: Cli, notebook: Path, failure: Answer) -> None:
    document = failure("views", view="recent", params={"limit": "3"}, notebook=str(notebook))
    assert document["message"] == "View 'recent': it has no parameter 'limit'"
    assert document["hint"] == "It takes no parameters."


@pytest.mark.process
def test_the_environment_stays_where_it_is(
    opennotes: Cli, notebook: Path, root: Path, answer: Answer, define: Define
) -> None:
    for name in ("the-secret", "none", "ada"):
        (root / f"{name}.md").write_text(f"---\nwho: {name}\n---\n")
    define({"secret": {"query": "who:{{env:none:A_KEY}}"}, "user": {"query": "who:{{env:USER}}"}})
    environ = {"A_KEY": "the-secret", "USER": "ada"}

    def found(view: str) -> list[str]:
        document = answer("views", view=view, notebook=str(notebook), environ=environ)
        return [result["path"] for result in document["results"]]

    assert found("secret") == ["none.md"]
    assert found("user") == ["ada.md"]


@pytest.mark.process
def test_pages_neither_lose_nor_repeat_a_note(
    opennotes: Cli, notebook: Path, root: Path, answer: Answer, define: Define
) -> None:
    for number in range(12):
        (root / f"{number:02}.md").write_text("---\nstatus: todo\n---\n")
    define({"eleven": {"query": "status:todo | limit:10 offset:1"}})
    first = answer("views", view="eleven", limit=7, notebook=str(notebook))
    assert first["pagination"] == {
        "total": 10,
        "returned": 7,
        "page": 1,
        "pageSize": 7,
        "hasMore": True,
        "nextOffset": 7,
    }
    assert "offset: 7" in first["_guidance"]
    second = answer("views", view="eleven", limit=7, offset=7, notebook=str(notebook))
    assert second["pagination"]["hasMore"] is False
    assert "_guidance" not in second
    found = [result["path"] for result in first["results"] + second["results"]]
    assert found == [f"{number:02}.md" for number in range(1, 11)]


@pytest.mark.process
def test_no_view_needs_the_cli(opennotes: Cli, notebook: Path, answer: Answer) -> None:
    opennotes.behave(kind="opennotes", exit=1)
    assert [view["name"] for view in answer("views", notebook=str(notebook))["views"]] == BUILT_IN
    for view, params in (("recent", {}), ("kanban", {"status": "todo"}), ("kanban", {})):
        assert answer("views", view=view, params=params, notebook=str(notebook))["results"] == []


@pytest.mark.parametrize(
    ("arguments", "finding"),
    [
        ({"view": "x", "params": {"a": 5}}, 'params.a: it is no text; write it as one, such as "5"'),
        ({"view": "x", "params": {"a": ["b", "c"]}}, 'params.a: it is no text; write it as one, such as "b,c"'),
        ({"view": "x", "params": {"a": True}}, 'params.a: it is no text; write it as one, such as "true"'),
        ({"view": " "}, "view: it is blank; leave it out to list all views"),
        ({"params": {"a": "b"}}, "params: they are for a view, and 'view' names none"),
        ({"view": "x", "limit": -1}, "limit: -1 is less than 1"),
        ({"view": "x", "limit": 1.5}, "limit: 1.5 is no whole number"),
        ({"view": "x", "offset": -1}, "offset: -1 is less than 0"),
        ({"view": "x", "offset": 0.5}, "offset: 0.5 is no whole number"),
    ],
)
def test_what_the_schema_cannot_say(arguments: dict[str, Any], finding: str) -> None:
    assert find_problems(arguments) == [finding]


@pytest.mark.parametrize(
    "arguments", [{}, {"params": {}}, {"view": "x", "params": {"a": "b"}, "limit": 1.0, "offset": 0}, {"limit": 0}]
)
def test_what_is_fine(arguments: dict[str, Any]) -> None:
    assert find_problems(arguments) == []


@pytest.mark.process
def test_findings_are_told_to_the_client(opennotes: Cli, notebook: Path, failure: Answer) -> None:
    document = failure("views", view="kanban", params={"status": ["todo"]}, notebook=str(notebook))
    assert document["code"] == "INVALID_INPUT"
    assert "params.status: it is no text" in document["message"]


@pytest.mark.process
def test_thousands_of_views_are_cut_to_what_fits(
    opennotes: Cli, notebook: Path, answer: Answer, define: Define
) -> None:
    define({f"view-{number}": {"query": "", "description": "x" * 100} for number in range(1000)})
    document = answer("views", notebook=str(notebook))
    shown = len(document["views"])
    assert 50 < shown < 1006
    assert f"{1006 - shown} more views do not fit" in document["_guidance"]
