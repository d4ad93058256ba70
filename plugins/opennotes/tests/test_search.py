"""opennotes_search by text, likeness and filters, as a client calls it. SQL has tests of its own."""

import json

import pytest

pytestmark = pytest.mark.process


NOTES = {
    "alpha.md": "title: Project Alpha\ntags: [project, new]\nstatus: todo\npriority: 1\n---\nThe kick-off MEETING.\n",
    "beta.md": 'title: Beta\ntag: project\nstatus: done\nowner: "Ann\'s"\nlinks: [alpha.md]\n---\nWhat? Why* update.\n',
    "tasks/one_a.md": "title: Implement\ntags:\n  - task\nstatus: todo\nmeta: {area: core}\n---\n\nSee [[alpha]].\n",
    "tasks/oneXa.md": "flag: true\n---\n\nSee [beta](../beta.md). Straße CAFÉ\n",
    "meeting-notes.md": "nothing: 100%_sure\n---\n",
}


@pytest.fixture
def search(notebook, answer):
    """Search a notebook with NOTES; the paths that were found."""
    config = next(file for file in notebook.iterdir() if file.name in (".opennotes.json", ".jot.json"))
    root = notebook / json.loads(config.read_text())["root"]
    for path, text in NOTES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"---\n{text}")

    def search(**arguments):
        document = answer("search", arguments, notebook=str(notebook))
        assert document["pagination"]["total"] == len(document["results"])
        return [result["path"] for result in document["results"]]

    return search


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("meeting", ["alpha.md", "meeting-notes.md"]),
        ("Project", ["alpha.md", "beta.md"]),
        ("what?", ["beta.md"]),
        ("why*", ["beta.md"]),
        ("update", ["beta.md"]),
        ("query", []),
        ("--help", []),
        ("-fuzzy", []),
        ("100%_", ["meeting-notes.md"]),
        ("notebook", []),
        ("strasse", ["tasks/oneXa.md"]),
        ("café", ["tasks/oneXa.md"]),
        ("cafe\u0301", ["tasks/oneXa.md"]),
        ("' OR 1=1 --", []),
        ("x" * 100_000, []),
        ("a\nb", []),
    ],
)
def test_text_is_found_as_it_stands_in_titles_and_content(cli, search, query, expected):
    assert search(query=query) == expected


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("meetign", "meeting-notes.md"),
        ("mtng", "meeting-notes.md"),
        ("projcet alpha", "alpha.md"),
        ("implment", "tasks/one_a.md"),
        ("Bta", "beta.md"),
    ],
)
def test_fuzzy_search_forgives_typing_errors_and_puts_titles_first(cli, search, query, first):
    assert search(query=query, fuzzy=True)[0] == first


def test_fuzzy_search_finds_nothing_where_nothing_is_alike(opennotes, search):
    assert search(query="zebra crossing", fuzzy=True) == []


def test_fuzzy_search_finds_words_of_which_some_are_in_the_title_and_some_in_the_content(opennotes, search):
    assert search(query="kickof projcet", fuzzy=True) == ["alpha.md"]


@pytest.mark.parametrize("query", ["\u4f1a\u8b70", "\u8a18"])
def test_fuzzy_search_finds_words_of_scripts_that_write_no_blanks(opennotes, notebook, search, query):
    (notebook / ".notes" / "tokyo.md").write_text("\u4f1a\u8b70\u306e\u8a18\u9332\u3067\u3059")
    assert search(query=query, fuzzy=True) == ["tokyo.md"]


def test_fuzzy_search_for_signs_finds_what_has_them(opennotes, search):
    assert search(query="%", fuzzy=True) == ["meeting-notes.md"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"and": ["data.status=todo"]}, ["alpha.md", "tasks/one_a.md"]),
        ({"and": ["data.tag=project"]}, ["alpha.md", "beta.md"]),
        ({"and": ["data.tags=task"]}, ["tasks/one_a.md"]),
        ({"and": ["data.priority=1"]}, ["alpha.md"]),
        ({"and": ["data.flag=true"]}, ["tasks/oneXa.md"]),
        ({"and": ["data.meta.area=core"]}, ["tasks/one_a.md"]),
        ({"and": ["data.owner=Ann's"]}, ["beta.md"]),
        ({"and": ["data.status=Todo"]}, []),
        ({"and": ["path=tasks/one_a.md"]}, ["tasks/one_a.md"]),
        ({"and": ["path=tasks/*_a.md"]}, ["tasks/one_a.md"]),
        ({"and": ["path=tasks"]}, ["tasks/oneXa.md", "tasks/one_a.md"]),
        ({"and": ["path=**/*.md"], "not": ["path=tasks/"]}, ["alpha.md", "beta.md", "meeting-notes.md"]),
        ({"and": ["title=project"]}, ["alpha.md"]),
        ({"and": ["title=meeting"]}, ["meeting-notes.md"]),
        ({"and": ["links-to=alpha.md"]}, ["beta.md", "tasks/one_a.md"]),
        ({"and": ["links-to=*.md"]}, ["beta.md", "tasks/oneXa.md", "tasks/one_a.md"]),
        ({"and": ["linked-by=tasks/oneXa.md"]}, ["beta.md"]),
        ({"and": ["linked-by=tasks/*.md"]}, ["alpha.md", "beta.md"]),
        ({"or": ["data.status=done", "data.tag=task"]}, ["beta.md", "tasks/one_a.md"]),
        ({"not": ["data.status=todo"]}, ["beta.md", "meeting-notes.md", "tasks/oneXa.md"]),
        (
            {"and": ["data.tag=project"], "or": ["data.status=done", "data.priority=1"], "not": ["title=alpha"]},
            ["beta.md"],
        ),
        ({"and": [" data.status = todo "]}, ["alpha.md", "tasks/one_a.md"]),
        ({"and": ["data.status=todo; DROP"]}, []),
    ],
)
def test_filters_hold_on_what_the_notes_really_say(cli, search, filters, expected):
    assert search(filters=filters) == expected


def test_filters_and_text_hold_together(opennotes, search):
    assert search(filters={"and": ["data.tag=project"]}, query="update") == ["beta.md"]


@pytest.mark.parametrize(
    ("filters", "problem"),
    [
        ({"and": ["status"]}, "filters.and[0]: 'status' is no condition; write field=value"),
        ({"or": ["data.a=1", "colour=red"]}, "filters.or[1]: there is no field 'colour'"),
        ({"not": ["data.a="]}, "filters.not[0]: 'data.a' has no value"),
        ({"and": ["data.a=" + "x" * 1001]}, "filters.and[0]: the value has 1001 characters"),
        ({"xor": ["data.a=1"]}, "filters.xor: there are and, or, not"),
        ({"and": ["data.a!=1"]}, "filters.and[0]: 'data.a!=1' has another operator than ="),
        ({"and": ["data.a >= 1"]}, "filters.and[0]: 'data.a >= 1' has another operator than ="),
        ({"and": ["data.=1"]}, "filters.and[0]: there is no field 'data.'"),
    ],
)
def test_a_filter_that_is_none_is_refused_with_its_place(opennotes, notebook, failure, filters, problem):
    document = failure("search", filters=filters, notebook=str(notebook))
    assert document["code"] == "INVALID_INPUT"
    assert problem in document["message"]


@pytest.mark.parametrize("more", [{"query": "a"}, {"filters": {"and": ["data.a=1"]}}])
def test_sql_stands_alone(opennotes, notebook, failure, more):
    document = failure("search", sql="SELECT 1", notebook=str(notebook), **more)
    assert document["code"] == "INVALID_INPUT"
    assert "sql: it stands alone" in document["message"]


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"query": "it's"}, {"type": "text", "executed": 'title or content contains "it\'s"'}),
        ({"query": "a", "fuzzy": True}, {"type": "fuzzy", "executed": "title or content is like 'a'"}),
        (
            {"filters": {"and": ["data.a=1", "path=x"], "or": ["title=it's", "data.b=2"], "not": ["data.c=3"]}},
            {
                "type": "boolean",
                "executed": "data.a = '1' AND path = 'x' AND (title = 'it''s' OR data.b = '2') AND NOT data.c = '3'",
            },
        ),
    ],
)
def test_the_answer_says_what_was_carried_out(opennotes, notebook, answer, arguments, query):
    assert answer("search", arguments, notebook=str(notebook))["query"] == query


def test_pages_put_together_are_all_results_and_each_fits(opennotes, notebook, answer):
    for number in range(700):
        (notebook / ".notes" / f"{number:03}.md").write_text(f"---\ntitle: {'long title ' * 10}\n---\nword\n")
    gathered, offset = [], 0
    while offset is not None:
        document = answer("search", query="WORD", limit=1000, offset=offset, notebook=str(notebook))
        assert len(json.dumps(document["results"], separators=(",", ":"))) <= 38_400
        assert document["pagination"]["total"] == 700
        gathered += [result["path"] for result in document["results"]]
        offset = document["pagination"].get("nextOffset")
    assert gathered == [f"{number:03}.md" for number in range(700)]


@pytest.mark.parametrize(
    "arguments", [{}, {"sql": ""}, {"limit": 0}, {"filters": {}}, {"query": "", "filters": {"and": []}}]
)
def test_a_search_for_nothing_is_refused_and_lists_nothing(opennotes, notebook, failure, arguments):
    document = failure("search", arguments, notebook=str(notebook))
    assert document["code"] == "INVALID_INPUT"
    assert "query, filters, sql: nothing is asked for" in document["message"]
    assert "opennotes_list" in document["message"]
