"""What holds for all six tools: their schemas, their family of errors, their names, and what without a CLI comes."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ferrule_dev.testing import executable, schema_of
from ferrule_opennotes.failures import render

TOOLS = ("search", "list", "get", "create", "notebooks", "views")
ARGUMENTS = {"get": {"path": "a.md"}, "create": {"title": "A"}, "views": {"view": "recent"}, "search": {"query": "x"}}
PARAMETERS = {
    "search": {"query", "sql", "fuzzy", "filters", "notebook", "limit", "offset"},
    "list": {"notebook", "sortBy", "sortOrder", "limit", "offset", "pattern"},
    "get": {"path", "notebook", "includeContent"},
    "create": {"title", "path", "template", "content", "data", "notebook"},
    "notebooks": set(),
    "views": {"view", "params", "notebook", "limit", "offset"},
}
REQUIRED = {"get": ["path"], "create": ["title"]}

every = pytest.mark.parametrize("tool", TOOLS)


@pytest.mark.process
@every
def test_the_schema_is_that_of_the_specification(tool):
    schema = schema_of(f"opennotes_{tool}")
    assert schema["name"] == f"opennotes_{tool}"
    assert set(schema["parameters"]["properties"]) == PARAMETERS[tool]
    assert schema["parameters"]["required"] == REQUIRED.get(tool, [])
    assert schema == importlib.import_module(f"ferrule_opennotes.{tool}").schema()


@pytest.mark.process
def test_limits_and_defaults_are_those_of_the_specification():
    for tool in ("search", "list"):
        properties = schema_of(f"opennotes_{tool}")["parameters"]["properties"]
        assert {key: properties["limit"][key] for key in ("type", "default", "minimum", "maximum")} == {
            "type": "number",
            "default": 50,
            "minimum": 1,
            "maximum": 1000,
        }
        assert properties["offset"]["minimum"] == 0
    assert schema_of("opennotes_create")["parameters"]["properties"]["title"]["minLength"] == 1
    listing = schema_of("opennotes_list")["parameters"]["properties"]
    assert listing["sortBy"]["enum"] == ["modified", "created", "title", "path"]
    assert listing["sortOrder"]["enum"] == ["asc", "desc"]


@pytest.mark.process
@every
def test_without_a_cli_every_tool_says_where_it_looked_and_what_to_install(tool, tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    environ = {"PATH": f"{folders[0]}::.:{folders[1]}:relative", "HOME": str(tmp_path)}
    done = subprocess.run(
        [executable(f"opennotes_{tool}")],
        input=json.dumps(ARGUMENTS.get(tool, {})),
        capture_output=True,
        text=True,
        env=environ,
        cwd=tmp_path,
        check=False,
    )
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert document["error"] is True
    assert document["code"] == "CLI_NOT_FOUND"
    assert document["message"] == "OpenNotes CLI not found in PATH"
    assert document["hint"].startswith(
        "Install OpenNotes: go install github.com/zenobi-us/opennotes@latest\n"
        "Or ensure the 'opennotes' binary is in your PATH."
    )
    assert "go install github.com/zenobi-us/opennotes@v0.1.0" in document["hint"]
    assert document["details"] == {"searchedPaths": [str(folder) for folder in folders]}


@pytest.mark.process
@every
def test_an_argument_that_does_not_fit_is_told_in_the_family_of_the_tools(opennotes, failure, tool):
    document = failure(tool, {**ARGUMENTS.get(tool, {}), "unheard_of": 1, "path": 7, "limit": "many", "notebook": 1})
    assert document["code"] == "INVALID_INPUT"
    assert set(document) <= {"error", "message", "code", "hint", "details"}


@pytest.mark.process
@pytest.mark.parametrize("tool", ["search", "list", "views"])
def test_a_fraction_of_a_result_cannot_be_asked_for(opennotes, failure, tool):
    assert "limit: 1.5 is no whole number" in failure(tool, limit=1.5)["message"]


def test_a_failure_has_what_is_known_of_it_and_nothing_else():
    facts = {"code": "A", "message": "b", "hint": "c", "details": {"d": 1}, "retry_after": 3, "event": {}}
    assert render(facts) == {"error": True, "message": "b", "code": "A", "hint": "c", "details": {"d": 1}}
    assert render({"code": "A", "message": "b", "details": {}}) == {"error": True, "message": "b", "code": "A"}


@pytest.mark.slow
@pytest.mark.process
def test_the_prefix_is_the_administrators_choice(opennotes, environment, notebook, tmp_path):
    ferrule = Path(sys.executable).parent / "ferrule"
    folder = tmp_path / "tools"
    command = [
        ferrule,
        "link",
        *(f"opennotes_{tool}" for tool in TOOLS),
        "--prefix",
        "opennotes_=notes_",
        "--to",
        folder,
    ]
    linked = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    assert linked.returncode == 0, linked.stderr
    assert sorted(os.listdir(folder)) == sorted(f"notes-{tool}-tool" for tool in TOOLS)

    def call(tool, *flags, **arguments):
        program = [str(folder / f"notes-{tool}-tool"), *flags]
        done = subprocess.run(program, input=json.dumps(arguments), capture_output=True, text=True, env=environment)
        return json.loads(done.stdout)

    schema = call("list", "--schema")
    assert schema["name"] == "notes_list"
    assert schema["description"].endswith("For full content, use notes_get.")
    missing = call("views", view="unheard-of", notebook=str(notebook))
    assert missing["code"] == "VIEW_NOT_FOUND"
    assert missing["hint"] == "Use notes_views to list available views"


@pytest.mark.process
def test_no_tool_imports_what_its_call_does_not_need(opennotes, notebook, environment):
    heavy = {"yaml", "markdown_it", "duckdb", "rapidfuzz", "subprocess", "difflib", "tempfile", "pathlib"}
    heavy |= {"typing_extensions"}
    code = (
        "import importlib, json, sys, time, ferrule\n"
        "tool, arguments = sys.argv[1], json.loads(sys.argv[2])\n"
        "module = importlib.import_module(f'ferrule_opennotes.{tool}')\n"
        "context = ferrule.Context(f'opennotes_{tool}', time.monotonic() + 20)\n"
        "getattr(module, 'validate', list)(arguments); module.execute(arguments, context)\n"
        "print(json.dumps(sorted(sys.modules)))"
    )
    for tool, arguments in (("list", {}), ("notebooks", {}), ("search", {"query": "x"}), ("list", {"sortBy": "path"})):
        command = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path += {sys.path!r}\n{code}", tool]
        done = subprocess.run(
            [*command, json.dumps(arguments)],
            env=environment,
            cwd=notebook,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not heavy & set(json.loads(done.stdout.splitlines()[-1])), tool


def test_codes_and_hints_of_the_specification_stand_in_the_errors():
    from ferrule_opennotes import errors

    expected = {
        "NOTEBOOK_NOT_FOUND": (errors.notebook_not_found(), "Specify --notebook or cd to a notebook directory"),
        "NOTE_NOT_FOUND": (errors.note_not_found("p"), "Check path is relative to notebook root"),
        "VIEW_NOT_FOUND": (
            errors.view_not_found("n", "opennotes_views", []),
            "Use opennotes_views to list available views",
        ),
        "TEMPLATE_NOT_FOUND": (
            errors.template_not_found("n", ".opennotes.json", []),
            "Check notebook .opennotes.json for templates",
        ),
        "INVALID_SQL": (errors.invalid_sql("e"), "Only SELECT/WITH allowed, see docs"),
        "QUERY_TIMEOUT": (errors.query_timeout(), "Simplify query or add LIMIT"),
        "PATH_TRAVERSAL": (errors.path_traversal("p"), "Use paths relative to notebook"),
    }
    for code, (error, hint) in expected.items():
        assert error.code == code
        assert (error.hint or "").startswith(hint)
    assert errors.query_timeout().message == "Query timed out after 30s"
    assert re.fullmatch(r"Invalid SQL query: e", errors.invalid_sql("e").message)
