"""Legal statements: each is judged harmless, and gives the right rows on a notebook."""

from pathlib import Path
from typing import Any

import pytest

from ferrule_opennotes.notebook.notebook import Notebook
from ferrule_opennotes.sql.database import Database
from ferrule_opennotes.sql.tree import Query

pytestmark = pytest.mark.process


NOTES = {
    "alpha.md": "---\ntitle: Alpha\ntags: [work, 'a, b']\npriority: 3\ndue: 2026-03-01\ndone: false\n"
    "nested: {who: ann}\nempty:\n---\n# Alpha\n\nTODO call [Bea](beta.md), 100% sure\n",
    "beta.md": "---\ntitle: Beta\ntags:\n  - home\npriority: 1\n---\n# Beta\n\nupdate the file\n",
    "plain.md": "# Plain\n\nno frontmatter; is it *bold*?\n",
    "tasks/one.md": "---\ntitle: 'It''s one'\nstatus: todo\n---\nTODO one\n",
    "tasks/deep/two.md": "---\ntitle: Two\nstatus: done\n---\nTODO two\n",
    "öl/straße.md": "---\ntitle: Öl\n---\nschön\n",
}
ALL = "read_markdown('**/*.md')"
TITLES = "SELECT metadata['title'] AS t"


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> Notebook:
    root = tmp_path_factory.mktemp("notebook")
    for name, text in NOTES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "other.txt").write_text("not a note")
    return Notebook(str(root), ".opennotes.json", {})


def rows(notebook: Notebook, statement: str) -> list[dict[str, Any]]:
    database = Database(20)
    database.run(database.judge(statement), notebook.list_notes())
    found = database.fetch_rows(0, 1000)
    assert len(found) == database.total
    return found


def column(notebook: Notebook, statement: str) -> list[Any]:
    return [next(iter(row.values())) for row in rows(notebook, statement)]


# Each gives one column; what it holds, row by row.
LEGAL: list[tuple[str, list[Any]]] = [
    (f"SELECT file_path FROM {ALL}", sorted(NOTES)),
    (f"select file_path from {ALL};", sorted(NOTES)),
    (f"-- all\nSELECT file_path /* the path */ FROM {ALL} ; -- end", sorted(NOTES)),
    ("SELECT file_path FROM read_markdown('*.md')", ["alpha.md", "beta.md", "plain.md"]),
    ("SELECT file_path FROM read_markdown('tasks/*.md')", ["tasks/one.md"]),
    ("SELECT file_path FROM read_markdown('tasks/**/*.md')", ["tasks/deep/two.md", "tasks/one.md"]),
    ("SELECT file_path FROM read_markdown('[ab]*.md')", ["alpha.md", "beta.md"]),
    ("SELECT file_path FROM read_markdown('alpha.md')", ["alpha.md"]),
    ("SELECT file_path FROM read_markdown('./alpha.md')", ["alpha.md"]),
    ("SELECT file_path FROM read_markdown('nothing/*.md')", []),
    ("SELECT count(*) FROM read_markdown('nothing/*.md')", [0]),
    ("SELECT count(*) FROM read_markdown('*')", [3]),
    ("SELECT count(*) FROM read_markdown('**/*.md', include_filepath := true)", [6]),
    ("SELECT count(*) FROM read_markdown('**/*.md', include_filepath = true, filename=>false)", [6]),
    ("SELECT count(*) FROM READ_MARKDOWN ( '**/*.md' , INCLUDE_FILEPATH := TRUE )", [6]),
    ("SELECT count(*) FROM \"read_markdown\"('**/*.md')", [6]),
    (f"SELECT file_path FROM {ALL} WHERE content LIKE '%TODO%'", ["alpha.md", "tasks/deep/two.md", "tasks/one.md"]),
    (f"SELECT file_path FROM {ALL} WHERE content ILIKE '%UPDATE the%'", ["beta.md"]),
    (f"SELECT file_path FROM {ALL} WHERE content LIKE '%100\\%%' ESCAPE '\\'", ["alpha.md"]),
    (f"SELECT file_path FROM {ALL} WHERE contains(content, '*bold*?')", ["plain.md"]),
    (f"SELECT file_path FROM {ALL} WHERE content GLOB '*frontmatter*'", ["plain.md"]),
    (f"SELECT file_path FROM {ALL} WHERE content SIMILAR TO '(?s).*call.*'", ["alpha.md"]),
    (f"SELECT file_path FROM {ALL} WHERE regexp_matches(content, 'TO.O one')", ["tasks/one.md"]),
    (f"SELECT file_path FROM {ALL} WHERE content LIKE '%; DROP TABLE notes; --%'", []),
    (f"{TITLES} FROM {ALL} WHERE metadata['title'] IS NOT NULL ORDER BY t LIMIT 2", ["Alpha", "Beta"]),
    (f"SELECT metadata->>'title' AS t FROM {ALL} WHERE metadata->>'status' = 'todo'", ["It's one"]),
    (f"SELECT metadata->>'$.title' FROM {ALL} WHERE metadata->>'title' LIKE 'A%'", ["Alpha"]),
    (f"SELECT file_path FROM {ALL} WHERE metadata['title'] = 'It''s one'", ["tasks/one.md"]),
    (f"SELECT metadata['priority']::INTEGER FROM {ALL} WHERE metadata['priority'] IS NOT NULL", [3, 1]),
    (f"SELECT CAST(metadata['priority'] AS DECIMAL(4, 1)) AS p FROM {ALL} WHERE p > 1", [3]),
    (f"SELECT TRY_CAST(metadata['title'] AS INTEGER) FROM {ALL} LIMIT 1", [None]),
    (f"SELECT (metadata['due'])::DATE + INTERVAL '1 day' FROM {ALL} LIMIT 1", ["2026-03-02T00:00:00"]),
    (f"SELECT CAST(metadata['due'] AS DATE) FROM {ALL} LIMIT 1", ["2026-03-01"]),
    (f"SELECT metadata['done'] FROM {ALL} LIMIT 1", ["false"]),
    (f"SELECT metadata['nested']->>'who' FROM {ALL} LIMIT 1", ["ann"]),
    (f"SELECT map_contains(metadata, 'empty') AND metadata['empty'] IS NULL FROM {ALL} LIMIT 1", [True]),
    (f"SELECT CAST(metadata['tags'] AS VARCHAR[]) FROM {ALL} LIMIT 2", [["work", "a, b"], ["home"]]),
    (f"SELECT unnest(CAST(metadata['tags'] AS VARCHAR[])) FROM {ALL}", ["work", "a, b", "home"]),
    (f"SELECT file_path FROM {ALL} WHERE list_contains(metadata['tags']::VARCHAR[], 'home')", ["beta.md"]),
    (
        f"SELECT UNNEST(string_split(file_path, '/')) FROM {ALL} WHERE metadata['title'] = 'Two'",
        ["tasks", "deep", "two.md"],
    ),
    (f"SELECT tag FROM {ALL}, unnest(metadata['tags']::VARCHAR[]) AS u(tag) ORDER BY tag", ["a, b", "home", "work"]),
    (
        f"SELECT tag FROM {ALL} AS n CROSS JOIN LATERAL (SELECT unnest(n.metadata['tags']::VARCHAR[]) AS tag)",
        ["work", "a, b", "home"],
    ),
    (f"SELECT count(*) FROM {ALL} AS a JOIN {ALL} AS b USING (file_path)", [6]),
    (f"SELECT count(*) FROM {ALL} a LEFT JOIN read_markdown('tasks/*.md') b ON a.file_path = b.file_path", [6]),
    ("SELECT count(*) FROM read_markdown('*.md') a, read_markdown('tasks/*.md') b", [3]),
    ("SELECT count(*) FROM (read_markdown('*.md') a CROSS JOIN read_markdown('tasks/*.md') b)", [3]),
    (f"SELECT a.file_path FROM {ALL} a SEMI JOIN read_markdown('tasks/*.md') b USING (file_path)", ["tasks/one.md"]),
    ("SELECT a.n FROM range(2) AS a(n) POSITIONAL JOIN range(2) AS b(n)", [0, 1]),
    (f"WITH n AS (SELECT * FROM {ALL}) SELECT count(*) FROM n", [6]),
    (
        f"WITH n(p) AS MATERIALIZED (SELECT file_path FROM {ALL}), m AS NOT MATERIALIZED (SELECT p FROM n)"
        " SELECT p FROM m LIMIT 1",
        ["alpha.md"],
    ),
    ("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 4) SELECT sum(n) FROM t", [10]),
    ('WITH "Mixed" AS (SELECT 7 AS x) SELECT x FROM mixed', [7]),
    (f"SELECT count(*) FROM (SELECT * FROM {ALL} WHERE file_path LIKE 'tasks/%') AS t", [2]),
    (f"SELECT x FROM (WITH w AS (SELECT count(*) AS x FROM {ALL}) SELECT x FROM w)", [6]),
    (f"SELECT (SELECT count(*) FROM {ALL})", [6]),
    (
        f"SELECT file_path FROM {ALL} AS a WHERE EXISTS"
        " (SELECT 1 FROM read_markdown('tasks/*.md') b WHERE b.file_path = a.file_path)",
        ["tasks/one.md"],
    ),
    (
        f"SELECT file_path FROM {ALL} WHERE file_path IN (SELECT file_path FROM read_markdown('tasks/*.md'))",
        ["tasks/one.md"],
    ),
    (
        f"SELECT file_path FROM {ALL} WHERE file_path NOT IN ('alpha.md', 'beta.md') LIMIT 1 OFFSET 1",
        ["tasks/deep/two.md"],
    ),
    ("SELECT 1 UNION ALL SELECT 2 UNION ALL (SELECT 3)", [1, 2, 3]),
    ("SELECT 1 UNION SELECT 1 INTERSECT SELECT 1", [1]),
    ("SELECT x FROM (VALUES (1, 'a'), (2, 'b')) AS t(x, y) EXCEPT SELECT 1", [2]),
    ("SELECT x FROM ((SELECT 1 AS x) UNION ALL (SELECT 2)) ORDER BY x DESC", [2, 1]),
    ("SELECT * EXCLUDE (content, metadata) FROM read_markdown('alpha.md')", ["alpha.md"]),
    ("SELECT * REPLACE (upper(file_path) AS file_path) FROM read_markdown('alpha.md')", ["ALPHA.MD"]),
    ("SELECT COLUMNS('file_.*') FROM read_markdown('alpha.md')", ["alpha.md"]),
    ("SELECT replace(file_path, '.md', '') FROM read_markdown('alpha.md')", ["alpha"]),
    ('SELECT 1 AS "update"', [1]),
    ("SELECT 1 AS update", [1]),
    ('SELECT a."order" FROM (SELECT 5 AS "order") AS a', [5]),
    ("SELECT 'SELECT; DROP TABLE x -- /* '", ["SELECT; DROP TABLE x -- /* "]),
    ("SELECT $$it's$$ || $x$ $$ $x$", ["it's $$ "]),
    ("SELECT E'a\\tb'", ["a\tb"]),
    ('SELECT "a""b" FROM (SELECT 1 AS "a""b")', [1]),
    ("SELECT 1 IS DISTINCT FROM 2 AND NULL IS NOT DISTINCT FROM NULL", [True]),
    ("SELECT extract(year FROM DATE '2026-02-03') + trim(BOTH ' ' FROM ' 1 ')::INTEGER", [2027]),
    ("SELECT substring('notes' FROM 2 FOR 2) || position('e' IN 'notes')", ["ot4"]),
    ("SELECT CASE WHEN 1 IN (1, 2) THEN 'in' ELSE 'out' END", ["in"]),
    ("SELECT list_transform([1, 2], lambda x: x + 1)", [[2, 3]]),
    ("SELECT [x * 2 FOR x IN [1, 2, 3] IF x > 1]", [[4, 6]]),
    ("SELECT {'a': 1, 'b': [2]}", [{"a": 1, "b": [2]}]),
    ("SELECT MAP {'a': 1}['a']", [1]),
    ("SELECT 1e3 + .5 + 1.", [1001.5]),
    ("SELECT 7 // 2 - -1", [4]),
    ("SELECT '2026-01-01 10:00:00'::TIMESTAMP WITH TIME ZONE", ["2026-01-01T10:00:00Z"]),
    (f"SELECT count(*) FILTER (WHERE metadata['status'] = 'todo') FROM {ALL}", [1]),
    (
        "SELECT string_agg(file_path, ',' ORDER BY file_path DESC) FROM read_markdown('*.md')",
        ["plain.md,beta.md,alpha.md"],
    ),
    ("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY length(file_path)) FROM read_markdown('*.md')", [8.0]),
    ("SELECT row_number() OVER (PARTITION BY 1 ORDER BY file_path) FROM read_markdown('*.md')", [1, 2, 3]),
    (
        "SELECT sum(n) OVER w FROM range(3) AS r(n) WINDOW w AS (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        [0, 1, 3],
    ),
    (f"SELECT file_path FROM {ALL} QUALIFY row_number() OVER (ORDER BY file_path DESC) = 1", ["öl/straße.md"]),
    (f"SELECT count(*) FROM {ALL} GROUP BY metadata['status'] IS NULL HAVING count(*) > 2", [4]),
    ("SELECT count(*) FROM range(4) AS r(n) GROUP BY GROUPING SETS ((n), ()) ORDER BY ALL DESC LIMIT 1", [4]),
    ("SELECT count(*) FROM range(1000) USING SAMPLE reservoir(10 ROWS)", [10]),
    ("SELECT ordinality FROM unnest(['a', 'b']) WITH ORDINALITY AS t(v, ordinality)", [1, 2]),
    ("SELECT DISTINCT ON (n % 2) n FROM range(4) AS r(n) ORDER BY n", [0, 1]),
    ("SELECT n FROM generate_series(3, 1, -1) AS r(n)", [3, 2, 1]),
    ("SELECT file_path.upper().lower() FROM read_markdown('alpha.md')", ["alpha.md"]),
    ("SELECT t.file_path.upper() FROM read_markdown('alpha.md') AS t", ["ALPHA.MD"]),
    (
        f"SELECT file_path FROM {ALL} WHERE CAST(metadata['due'] AS DATE) > DATE '2026-04-01' - INTERVAL 90 DAY",
        ["alpha.md"],
    ),
    (f"SELECT DISTINCT metadata['status'] AS s FROM {ALL} WHERE s IS NOT NULL ORDER BY 1 NULLS LAST", ["done", "todo"]),
    (f"SELECT COALESCE(metadata['title'], file_path) FROM {ALL} WHERE file_path = 'plain.md'", ["plain.md"]),
    (f"SELECT count(*) FROM {ALL} WHERE CAST(metadata['priority'] AS INT) BETWEEN 1 AND 3", [2]),
    (f"SELECT split_part(file_path, '/', 1) AS folder FROM {ALL} GROUP BY ALL HAVING count(*) > 1", ["tasks"]),
    ("SELECT date_diff('day', DATE '2026-01-01', DATE '2026-01-03') AS days", [2]),
    ("SELECT TIMESTAMP '2026-01-01 12:00:00' AT TIME ZONE 'UTC' > TIMESTAMPTZ '2026-01-01 11:00:00+00'", [True]),
    ("SELECT current_date = today() AND now() > TIMESTAMP '2020-01-01'", [True]),
    ("SELECT 'it' || 's' LIKE 'i%' AND NOT 'a' ~ 'b'", [True]),
    ("SELECT a.x FROM (SELECT 1 AS x) a NATURAL JOIN (SELECT 1 AS x) b", [1]),
    ("SELECT max(x) FROM (SELECT unnest([3, 1, 2]) AS x) GROUP BY () LIMIT 10 OFFSET 0", [3]),
    ("WITH answer AS (SELECT 1 AS x), notes AS (SELECT 2 AS x) SELECT notes.x FROM answer, notes", [2]),
    ("SELECT straße FROM (SELECT 1 AS straße)", [1]),
    (f"SELECT file_path FROM {ALL} WHERE content LIKE '%schön%'", ["öl/straße.md"]),
    ("SELECT hash('a') = hash('a') AND md5('a') LIKE '0cc1%'", [True]),
    ("SELECT strftime(DATE '2026-01-02', '%d.%m.%Y')", ["02.01.2026"]),
    ("SELECT json_extract_string('{\"a\": {\"b\": 1}}', '$.a.b')", ["1"]),
    ("SELECT md_stats('---\na: b\n---\none two\nthree\n').word_count", [7]),
    (
        "SELECT md_extract_links('[a](b.md) `[c](d)` ![i](j.png) [e *f*](<g.md> \"t\")')",
        [[{"text": "a", "url": "b.md"}, {"text": "e *f*", "url": "g.md"}]],
    ),
    ("SELECT md_extract_links('```\n[a](b.md)\n```\n[c](d_(e).md)')", [[{"text": "c", "url": "d_(e).md"}]]),
    (
        "SELECT md_extract_headers('---\n# no: header\n---\n# One #\n\n~~~\n# code\n~~~\n### Three\n#no')",
        [[{"level": 1, "text": "One"}, {"level": 3, "text": "Three"}]],
    ),
    (
        "SELECT md_extract_code_blocks('a\n```python x\nb\n\nc\n```\n~~~\n```\n~~~\n```\nopen')",
        [[{"language": "python", "code": "b\n\nc"}, {"language": "", "code": "```"}, {"language": "", "code": "open"}]],
    ),
    ("SELECT len(md_extract_links(content)) FROM read_markdown('alpha.md')", [1]),
]


@pytest.mark.parametrize(("statement", "expected"), LEGAL, ids=[statement[:70] for statement, _ in LEGAL])
def test_a_legal_statement_gives_its_rows(statement: str, expected: list[Any], notebook: Notebook):
    assert column(notebook, statement) == expected


def test_a_note_has_three_columns(notebook: Notebook):
    [note] = rows(notebook, "SELECT * FROM read_markdown('beta.md', include_filepath := false)")
    assert note == {
        "file_path": "beta.md",
        "content": NOTES["beta.md"],
        "metadata": {"title": "Beta", "tags": "[home]", "priority": "1"},
    }


def test_only_the_notes_that_a_pattern_fits_are_read(notebook: Notebook, tmp_path: Path):
    notes = notebook.list_notes()
    Database(20).run(Query("SELECT 1", ["tasks/*.md"]), notes)
    assert [note.path for note in notes if note._text is not None] == ["tasks/one.md"]


def test_columns_of_one_name_are_told_apart(notebook: Notebook):
    assert rows(notebook, "SELECT 1 AS a, 2 AS a, 3 AS A") == [{"a": 1, "a_1": 2, "A_2": 3}]


def test_the_example_of_the_specification_works(notebook: Notebook):
    found = rows(notebook, "SELECT * FROM read_markdown('**/*.md') WHERE content LIKE '%TODO%' LIMIT 10")
    assert [row["file_path"] for row in found] == ["alpha.md", "tasks/deep/two.md", "tasks/one.md"]
