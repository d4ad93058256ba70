"""Queries of both notations, run by the real programs (`notes view NAME --format json`) and by the tool.

They find the same notes, in the same order where the query asks for one. What differs is listed with its reason, which
docs/reference/opennotes-views.md has as well; a difference that is none any more is an error, too.
"""

import json
import os
from datetime import datetime

import pytest

from ferrule_opennotes.notebook.notebook import Notebook
from ferrule_opennotes.views.catalogue import parse_query
from ferrule_opennotes.views.definitions import DefinitionError, parse
from ferrule_opennotes.views.parameters import fill
from ferrule_testkit import PROJECT
from ferrule_testkit.programs import opennotes as opennotes_programs
from ferrule_testkit.programs.opennotes import OFFLINE

pytestmark = pytest.mark.slow

NOW = datetime.now().astimezone()
NOTES = {
    "alpha.md": (
        "title: Alpha plan\nstatus: todo\npriority: 9\ntags: [work, home]\ncreated: 2026-01-10T08:00:00Z",
        "Budget.",
    ),
    "beta.md": ("title: Beta\nstatus: done\npriority: 10\ntag: work\ncreated: 2026-01-11T09:00:00Z", "A plan of work."),
    "sub/gamma.md": (
        "title: Gamma\nstatus: in-progress\npriority: 2\nowner: Ann's\ncreated: 2026-02-01T00:00:00Z",
        "The budget plan.",
    ),
    "sub/d_x.md": ("title: delta\narchived: true\ncategory: 100%", "Nothing."),
    "sub/deep/e.md": (
        "title: Epsilon\nstatus: Todo\ntags: [meeting]\nmodified: 2026-01-05T00:00:00Z",
        "Meeting of plans, done.",
    ),
    "plain.md": ("", "No frontmatter, a budget-plan."),
}


def condition(field, operator, value="", **more):
    return {"conditions": [{"logic": "AND", "field": field, "operator": operator, "value": value}], **more}


def both(*conditions, **more):
    return {"conditions": [each for one in conditions for each in one["conditions"]], **more}


STATUS, PRIORITY, TITLE = "metadata->>'status'", "metadata->>'priority'", "metadata->>'title'"
CONDITIONS = {
    "all": {},
    "equal": condition(STATUS, "=", "todo"),
    "equal-case": condition(STATUS, "=", "TODO"),
    "arrow": condition("metadata->'status'", "=", "todo"),
    "brackets": condition("(metadata->>'status')", "=", "done"),
    "unequal": condition(STATUS, "!=", "todo"),
    "unequal-missing": condition("metadata->>'archived'", "!=", "false"),
    "missing-field": condition("metadata->>'nothing'", "=", "x"),
    "null": condition(STATUS, "IS NULL"),
    "null-archived": condition("metadata->>'archived'", "IS NULL"),
    "not-null": condition(STATUS, "IS NOT NULL"),
    "in": condition(STATUS, "IN", "todo,done"),
    "in-blanks": condition(STATUS, "IN", "todo , in-progress"),
    "in-one": condition(STATUS, "IN", "done"),
    "like-start": condition(TITLE, "LIKE", "Al%"),
    "like-case": condition(TITLE, "LIKE", "al%"),
    "like-middle": condition(TITLE, "LIKE", "%a%"),
    "like-one": condition(TITLE, "LIKE", "B_ta"),
    "like-none": condition(TITLE, "LIKE", "eta"),
    "like-percent": condition("metadata->>'category'", "LIKE", "100%"),
    "ilike": condition(TITLE, "ILIKE", "%PLAN"),
    "not-like": condition(TITLE, "NOT LIKE", "%a%"),
    "not-in": condition(STATUS, "NOT IN", "todo"),
    "less-text": condition(PRIORITY, "<", "5"),
    "greater-text": condition(PRIORITY, ">", "2"),
    "number": condition(f"({PRIORITY})::INTEGER", ">", "5"),
    "number-at-most": condition(f"({PRIORITY})::INTEGER", "<=", "9"),
    "number-equal": condition(f"({PRIORITY})::INTEGER", "=", "10"),
    "cast": condition(f"CAST({PRIORITY} AS INTEGER)", ">=", "9"),
    "content": condition("content", "LIKE", "%budget%"),
    "content-frontmatter": condition("content", "LIKE", "%owner: Ann%"),
    "path": condition("file_path", "LIKE", "%/sub/%"),
    "path-end": condition("file_path", "LIKE", "%/beta.md"),
    "quote": condition("metadata->>'owner'", "=", "Ann's"),
    "bool-text": condition("metadata->>'archived'", "=", "true"),
    "and": both(condition(STATUS, "=", "todo"), condition(PRIORITY, "=", "9")),
    "and-none": both(condition(STATUS, "=", "todo"), condition(STATUS, "=", "done")),
    "today": condition("metadata->>'created'", ">=", "{{today}}"),
    "since": condition("metadata->>'created'", ">=", "2026-01-11"),
    "before": condition("metadata->>'created'", "<", "2026-02-01"),
    "order": {"order_by": f"{TITLE} ASC"},
    "order-desc": {"order_by": f"{TITLE} DESC"},
    "order-limit": {"order_by": f"{TITLE} DESC", "limit": 2},
    "order-number": {"order_by": f"({PRIORITY})::INTEGER DESC", **condition(PRIORITY, "LIKE", "%")},
    "order-text": {"order_by": f"{PRIORITY} ASC", **condition(PRIORITY, "LIKE", "%")},
    "order-null": {"order_by": f"({PRIORITY})::INTEGER ASC, file_path", "limit": 4},
    "order-two": {"order_by": f"metadata->>'archived', {TITLE}"},
    "list-exact": condition("metadata->>'tags'", "=", "[work, home]"),
    "list-item": condition("metadata->>'tags'", "=", "work"),
    "list-like": condition("metadata->>'tags'", "LIKE", "%work%"),
    "or": {
        "conditions": [{"logic": "OR", "field": STATUS, "operator": "=", "value": each} for each in ("todo", "done")]
    },
    "day": condition("metadata->>'created'", "=", "2026-01-10"),
    "bad-cast": condition("(metadata->>'title')::INTEGER", ">", "5"),
}  # fmt: skip
# jot orders a title of several words by any one of them.
QUERIES = [
    "", "tag:work", "tag:WORK", "tag:none", "-tag:work", "status:todo", "status:TODO", "-status:done",
    "status:in-progress", "title:plan", "title:alpha", "title:PLAN", "body:budget", "body:nothing", "budget", "plan",
    "Budget plan", '"budget plan"', '"plan budget"', "-budget", "budget -plan", "has:status", "has:tag",
    "missing:tag", "missing:status", "has:created", "tag:work status:todo", "tag:work OR tag:meeting",
    "status:done OR status:todo", "tag:work status:done OR tag:meeting", "created:2026-01-10", "created:>2026-01-10",
    "created:>=2026-01-11", "created:<2026-01-11", "created:<=2026-01-11", "modified:>=today", "modified:<today",
    "created:>=2026-01-10 created:<2026-02-01", "path:sub", "path:sub/", "path:alpha.md", "path:sub/deep/e.md",
    'title:"alpha plan"', 'status:"in-progress"', "-title:plan | sort:title:asc", "-title:plan | sort:title:desc",
    "| sort:path:asc", "| sort:path:desc", "| sort:created:desc limit:2", "has:status -title:plan | sort:title:asc",
    "has:status | group:status", "| group:status", "| sort:path:asc limit:2", "| sort:path:asc limit:2 offset:2",
    "tag:work -title:plan | sort:title", "| limit:0", "(tag:work OR tag:meeting) status:todo", "status:todo,done",
    "priority:9", "has:priority", "has:owner", "plans", "meeting done", "tag:", "| nonsense", "| sort:", "no", '"',
    "--", "tag:work AND status:todo", "tag:meeting or tag:work", "archived:true", "title:a*",
]  # fmt: skip

PRECEDENCE = "two conditions on fields are an error there"
CONDITIONS_THAT_DIFFER = {
    "and": PRECEDENCE,
    "and-none": PRECEDENCE,
    "or": PRECEDENCE,
    "arrow": "`metadata->'x'` finds nothing there that is no JSON",
    "not-null": "`IS NOT NULL` is an error there",
    "list-exact": "a list is compared as the text of its line there",
    "list-item": "a list is compared as the text of its line there",
    "bad-cast": "what a cast cannot read ends the query there",
}
INSTANT = "`created:>DAY` counts from the beginning of the day there"
FILE_TIME = "a note without `created` has the file's time there"
PREFIX = "`path:` finds a whole path alone there"
OTHER_FIELDS = "any other field is an error there, and `has:` finds none"
PHRASE = "a phrase is any of its words there"
QUERIES_THAT_DIFFER = {
    "status:in-progress": "a hyphen without quotation marks negates what follows there",
    '"budget plan"': PHRASE,
    '"plan budget"': PHRASE,
    "has:created": FILE_TIME,
    "created:>2026-01-10": INSTANT,
    "created:<2026-01-11": FILE_TIME,
    "created:<=2026-01-11": INSTANT,
    "path:sub": PREFIX,
    "path:sub/": PREFIX,
    "priority:9": OTHER_FIELDS,
    "has:priority": OTHER_FIELDS,
    "has:owner": OTHER_FIELDS,
    "archived:true": OTHER_FIELDS,
    "| sort:": "a directive without a value counts as none there",
    "no": "English words such as `no` and `and` are dropped there",
    "tag:work AND status:todo": "English words such as `no` and `and` are dropped there",
}


@pytest.fixture
def probe(tmp_path, home):
    """The names that the real program finds, None for an error; the same of the tool: `probe("jot", definitions)`."""

    def probe(name, build, definitions):
        opennotes_programs.require_built(build)
        cli = opennotes_programs.real(build, tmp_path / "bin")
        folder = tmp_path / "notebook"
        for path, (block, body) in NOTES.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(f"---\n{block}\n---\n\n{body}\n" if block else f"{body}\n")
            os.utime(folder / path, (1.7e9, 1.7e9))
        names = {view: f"view-{number}" for number, view in enumerate(definitions)}
        views = {names[view]: {"name": names[view], "query": query} for view, query in definitions.items()}
        config = {"root": ".", "name": "probes", "contexts": [], "views": views}
        (folder / cli.config_name).write_text(json.dumps(config))
        environment = opennotes_programs.surroundings(home, cli.folder)
        notebook = Notebook(str(folder), cli.config_name, config)
        return {
            view: (by_program(cli, name, folder, environment), by_tool(views[name], notebook))
            for view, name in names.items()
        }

    return probe


def by_program(cli, view, folder, environment):
    done = cli.run("notes", "view", view, "--format=json", f"--notebook={folder}", environment=environment)
    if done.returncode:
        return None
    try:
        answer = json.loads(done.stdout or "[]")
    except ValueError:
        return []  # "No notes found", whatever the format
    rows = answer if isinstance(answer, list) else answer.get("notes") or []
    for group in sorted((answer.get("groups") or {}) if isinstance(answer, dict) else {}):
        rows = rows + [row | {"group": group} for row in answer["groups"][group]]
    return [
        os.path.relpath(row["file_path"], folder) if "file_path" in row else row["file"]["relative"] for row in rows
    ]


def by_tool(view, notebook):
    try:
        definition = parse(view["name"], "notebook", view)
        rows = parse_query(definition).run(notebook.list_notes(), fill(view["name"], (), {}, NOW))
    except DefinitionError:
        return None
    return [note.path for note, _ in rows]


def differing(answers, is_ordered):
    """The views of which the answers differ; None stands for an error."""
    found = {}
    for view, (program, tool) in answers.items():
        pair = [each if each is None or is_ordered(view) else sorted(each) for each in (program, tool)]
        if pair[0] != pair[1]:
            found[view] = pair
    return found


def test_conditions_find_what_opennotes_finds(probe):
    answers = probe("opennotes", OFFLINE, CONDITIONS)
    found = differing(answers, lambda view: view.startswith("order"))
    assert sorted(found) == sorted(CONDITIONS_THAT_DIFFER), found


def test_the_dsl_finds_what_jot_finds(probe):
    answers = probe("jot", "jot", {query: query for query in QUERIES})
    found = differing(answers, lambda query: "sort:" in query)
    assert sorted(found) == sorted(QUERIES_THAT_DIFFER), found


def test_there_are_enough_probes_and_every_difference_has_a_reason():
    assert len(CONDITIONS) + len(set(QUERIES)) > 100
    assert len(CONDITIONS_THAT_DIFFER) + len(QUERIES_THAT_DIFFER) < 30
    page = (PROJECT / "docs" / "reference" / "opennotes-views.md").read_text()
    for reason in {**CONDITIONS_THAT_DIFFER, **QUERIES_THAT_DIFFER}.values():
        assert reason in " ".join(page.split())
