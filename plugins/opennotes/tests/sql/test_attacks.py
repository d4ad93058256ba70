"""What SQL must not do: the tree of DuckDB's parser refuses every attack, and the locks hold where it is bypassed."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ferrule import ToolError
from ferrule_dev.testing import context
from ferrule_opennotes.notebook.notebook import Notebook
from ferrule_opennotes.sql import tree
from ferrule_opennotes.sql.database import Database, ask
from ferrule_opennotes.sql.functions import FAMILIES
from ferrule_opennotes.sql.tree import Query
from ferrule_testkit.effort import examples

pytestmark = pytest.mark.process


SECRET = "the-canary-sings"
NOTES = "read_markdown('**/*.md')"

# {file}: a text file outside of the notebook; {new}: a path there at which nothing may appear; {folder}: its folder.
READING = [
    "SELECT * FROM '{file}'",
    'SELECT * FROM "{file}"',
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM read_blob('{file}')",
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM read_csv_auto('{file}')",
    "SELECT * FROM \"read_csv\"('{file}')",
    "SELECT * FROM READ_CSV ('{file}')",
    "SELECT * FROM read_csv/**/('{file}')",
    "SELECT * FROM read_csv -- x\n ('{file}')",
    "SELECT * FROM main.read_text('{file}')",
    "SELECT * FROM system.main.read_text('{file}')",
    'SELECT * FROM "system"."main"."read_text"(\'{file}\')',
    "SELECT * FROM read_json('{file}')",
    "SELECT * FROM read_ndjson_objects('{file}')",
    "SELECT * FROM read_parquet('{file}')",
    "SELECT * FROM parquet_scan('{file}')",
    "SELECT * FROM parquet_metadata('{file}')",
    "SELECT * FROM read_duckdb('{file}')",
    "SELECT * FROM sniff_csv('{file}')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_markdown_sections('{file}')",
    "SELECT * FROM read_text(['{file}'])",
    "SELECT * FROM $${file}$$",
    "SELECT * FROM e'{file}'",
    "SELECT * FROM U&'{file}'",
    "SELECT * FROM '{file}' AS t",
    "SELECT * FROM '{file}' t(a)",
    "SELECT * FROM t: '{file}'",
    "SELECT * FROM (SELECT 1) AS a, '{file}'",
    "SELECT * FROM (SELECT 1) AS a JOIN '{file}' ON true",
    "SELECT * FROM (SELECT 1) AS a CROSS JOIN read_text('{file}')",
    "SELECT * FROM (SELECT 1) AS a POSITIONAL JOIN '{file}'",
    "SELECT * FROM (SELECT 1 AS x) AS a ASOF JOIN '{file}' AS b ON a.x >= b.x",
    "SELECT * FROM (SELECT 1) AS a LEFT JOIN LATERAL (SELECT * FROM '{file}') AS b ON true",
    "SELECT * FROM (SELECT 1) AS a JOIN (SELECT 2) AS b ON 1 = 1, '{file}'",
    "SELECT * FROM (SELECT 1 AS \"limit\") AS a JOIN (SELECT 2) AS b ON a.limit = 1, '{file}'",
    "SELECT * FROM (SELECT 1) AS a JOIN (SELECT 2) AS b ON sum(1) WITHIN GROUP (ORDER BY 1) > 0, '{file}'",
    "SELECT * FROM ((SELECT 1) AS a CROSS JOIN '{file}')",
    "SELECT * FROM ('{file}')",
    "SELECT * FROM (FROM '{file}')",
    "SELECT * FROM (TABLE '{file}')",
    "SELECT (SELECT content FROM '{file}')",
    "SELECT (FROM '{file}')",
    "SELECT 1 WHERE 1 IN (SELECT 1 FROM '{file}')",
    "SELECT 1 WHERE EXISTS (FROM '{file}')",
    "SELECT ARRAY(SELECT content FROM read_text('{file}'))",
    "SELECT trim((SELECT content FROM read_text('{file}')))",
    "SELECT trim(SELECT content FROM '{file}')",
    "SELECT extract(year FROM (SELECT content FROM '{file}'))",
    "SELECT 1 UNION SELECT content FROM '{file}'",
    "SELECT 1 UNION FROM '{file}'",
    "SELECT 1 UNION ALL BY NAME (FROM '{file}')",
    "SELECT 1 EXCEPT (SELECT content FROM read_text('{file}'))",
    "SELECT 1 ORDER BY (SELECT content FROM read_text('{file}'))",
    "SELECT 1 LIMIT (SELECT count(*) FROM read_text('{file}'))",
    "SELECT max(1) FILTER (WHERE EXISTS (SELECT 1 FROM '{file}'))",
    "SELECT sum(1) OVER (ORDER BY (SELECT content FROM read_text('{file}')))",
    "SELECT [x FOR x IN (SELECT [content] FROM read_text('{file}'))]",
    "SELECT list_transform([1], lambda x: (SELECT content FROM read_text('{file}')))",
    "SELECT {{'a': (SELECT content FROM read_text('{file}'))}}",
    "SELECT CASE WHEN true THEN (SELECT content FROM read_text('{file}')) END",
    "SELECT ('{file}').read_text()",
    "SELECT '{file}'.read_text()",
    "SELECT read_text('{file}')",
    "SELECT * FROM unnest((SELECT list(content) FROM read_text('{file}')))",
    "SELECT * FROM range((SELECT count(*) FROM '{file}'))",
    "SELECT * FROM query('SELECT * FROM read_text(''{file}'')')",
    "SELECT * FROM query_table('{file}')",
    "SELECT * FROM query_table(['{file}'])",
    "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''{file}'')'))",
    "WITH a AS (SELECT * FROM '{file}') SELECT * FROM a",
    "WITH a AS (FROM '{file}') SELECT * FROM a",
    "WITH a AS MATERIALIZED (SELECT * FROM read_text('{file}')) SELECT * FROM a",
    "WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT x FROM a, '{file}') SELECT * FROM a",
    'WITH "{file}" AS (SELECT 1) SELECT * FROM "{file}"',
    'SELECT * FROM (WITH "{file}" AS (SELECT 1) SELECT 1), "{file}"',
    "SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) AS x, a, '{file}'",
    "SELECT 1 /* /* */ , (SELECT content FROM read_text('{file}')) -- */",
    "SELECT 1 -- \r , (SELECT content FROM read_text('{file}'))",
    "SELECT 'a\\' , (SELECT content FROM read_text('{file}')) --'",
    "SELECT e'a\\' , (SELECT content FROM read_text('{file}')) --'",
    "SELECT $a$ $a$, (SELECT content FROM read_text('{file}')) $a$ $a$",
    "SELECT a$$, (SELECT content FROM read_text('{file}')) AS b FROM (SELECT 1 AS a$$)",
    "SELECT 1FROM '{file}'",
    "SELECT 1.FROM '{file}'",
    "SELECT 1 AS from FROM '{file}'",
    "SELECT 1 AS x FROM '{file}' WHERE 1 IS NOT DISTINCT FROM 1",
    "SELECT\u00a0*\u00a0FROM\u00a0'{file}'",
    "SELECT * \ufeffFROM '{file}'",
    "SELECT 1; SELECT * FROM '{file}'",
    "SELECT * FROM read_markdown('{file}')",
    "SELECT * FROM read_markdown('../{name}')",
    "SELECT * FROM read_markdown('sub/../../{name}')",
    "SELECT * FROM read_markdown('sub' || '/../../{name}')",
    "SELECT * FROM read_markdown(concat('..', '/{name}'))",
    "SELECT * FROM read_markdown($$../{name}$$)",
    "SELECT * FROM read_markdown(e'\\x2e\\x2e/{name}')",
    "SELECT * FROM read_markdown(['../{name}'])",
    "SELECT * FROM read_markdown('~/{name}')",
    "SELECT * FROM read_markdown('C:/{name}')",
    "SELECT * FROM read_markdown('..\\{name}')",
    "SELECT * FROM read_markdown('file://{file}')",
    "SELECT * FROM read_markdown('https://example.com/a.md')",
    "SELECT * FROM read_markdown(?)",
    "SELECT * FROM read_markdown($1)",
    "SELECT * FROM read_markdown((SELECT '{file}'))",
    "SELECT * FROM read_markdown('**/*.md', union_by_name := true)",
    "SELECT * FROM read_markdown('**/*.md', '{file}')",
]
WRITING = [
    "SELECT 1; COPY (SELECT 1) TO '{new}'",
    "SELECT 1;;COPY/**/(SELECT 1) TO '{new}'",
    "SELECT 1 /* ; */ ; ATTACH '{new}' AS x",
    "COPY (SELECT 1) TO '{new}'",
    "EXPORT DATABASE '{new}'",
    "ATTACH '{new}' AS x",
    "WITH a AS (COPY (SELECT 1) TO '{new}') SELECT * FROM a",
    "WITH a AS (SELECT 1) COPY a TO '{new}'",
    "WITH a AS (DELETE FROM notes RETURNING *) SELECT * FROM a",
    "WITH a AS (INSERT INTO notes VALUES (1) RETURNING *) SELECT * FROM a",
    "WITH a AS (UPDATE notes SET content = '' RETURNING *) SELECT * FROM a",
    "WITH a AS (SELECT 1) INSERT INTO notes SELECT * FROM a",
    "WITH a AS (SELECT 1) DELETE FROM notes",
    "SELECT 1 INTO x",
    "CREATE TABLE x AS SELECT 1",
    "DROP TABLE notes",
    "INSERT INTO notes VALUES (1)",
    "EXPLAIN ANALYZE SELECT 1",
    "SELECT * FROM (EXPLAIN SELECT 1)",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SELECT 1; INSTALL httpfs; LOAD httpfs",
    "SET memory_limit = '1TB'",
    "RESET memory_limit",
    "PRAGMA database_list",
    "CALL pragma_version()",
    "PREPARE x AS SELECT 1",
    "EXECUTE x",
    "VACUUM",
    "CHECKPOINT",
    "USE memory",
    "BEGIN",
    "SELECT write_log('x')",
    "SELECT setseed(0.5)",
    "SELECT nextval('x')",
]
TELLING = [
    "SELECT getenv('HOME')",
    "SELECT \"getenv\"('HOME')",
    "SELECT main.getenv('HOME')",
    "SELECT current_setting('memory_limit')",
    "SELECT getvariable('x')",
    "SELECT current_query()",
    "SELECT version()",
    "SELECT pg_sleep(1)",
    "SELECT sleep_ms(1)",
    "SELECT json_serialize_sql('SELECT 1')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_settings",
    "SELECT * FROM duckdb_secrets()",
    "SELECT * FROM duckdb_functions()",
    "SELECT * FROM which_secret('x', 'y')",
    "SELECT * FROM pragma_database_size()",
    "SELECT * FROM pragma_table_info('notes')",
    "SELECT * FROM pragma_show('notes')",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM pg_catalog.pg_tables",
    "SELECT * FROM ferrule.notes",
    "SELECT * FROM memory.ferrule.notes",
    "SELECT * FROM notes",
    "WITH duckdb_settings AS (SELECT 1) SELECT * FROM duckdb_settings",
    "SELECT * FROM (WITH duckdb_settings AS (SELECT 1) SELECT 1), duckdb_settings",
    "SELECT * FROM (SHOW TABLES)",
    "SELECT * FROM (DESCRIBE SELECT 1)",
    "SELECT * FROM (SUMMARIZE SELECT 1)",
    "SHOW TABLES",
    "DESCRIBE SELECT 1",
    "SUMMARIZE SELECT 1",
    "FROM duckdb_settings()",
    "FROM read_markdown('**/*.md') SELECT content",
    "TABLE notes",
    "PIVOT read_markdown('**/*.md') ON content",
    "SELECT * FROM (PIVOT (SELECT 1 AS a) ON a)",
    "VALUES (1)",
    "(SELECT 1)",
    "SELECT * FROM sys, (SELECT 1)",
    "SELECT * FROM enable_logging()",
    "SELECT * FROM test_all_types()",
    "SELECT * FROM repeat_row(1, num_rows = 9)",
    "SELECT * FROM python_map_function(x)",
    "SELECT * FROM sys",
]
BROKEN = [
    "",
    "   ",
    ";",
    "-- nothing",
    "SELECT 'a",
    'SELECT "a',
    'SELECT ""',
    "SELECT 1 /* a",
    "SELECT $a$ x",
    "SELECT (1",
    "SELECT 1)",
    "SELECT [1)",
    "SELECT * FROM",
    "SELECT * FROM read_markdown",
    "SELECT * FROM read_markdown(",
    "SELECT * FROM read_markdown('a.md'",
    "SELECT * FROM read_markdown('a.md',",
    "SELECT * FROM read_markdown()",
    "SELECT * FROM read_markdown('')",
    "SELECT * FROM read_markdown('a.md', filename := 1)",
    "SELECT read_markdown('a.md')",
    "WITH",
    "WITH a",
    "WITH a AS",
    "WITH a AS (SELECT 1)",
    "WITH a AS SELECT 1",
    "SELECT 0x1F",
    "SELECT \0",
    "SELECT `a`",
    "SELECT \\a",
    "SELECT ?",
    "SELECT $1",
    "SELECT $name",
    "SELECT 1 +/* a */ 1",
    "SELECT 1 +-- a\n 1",
    "SELECT " + "(" * 150 + "1" + ")" * 150,
    "SELECT " + "[" * 150 + "1" + "]" * 150,
    "SELECT '" + "x" * 100_000 + "'",
    "SELECT 1 IN (1" + ",1" * 15_000 + ")",
]
# What looks like an attack, and is none: DuckDB's parser is the only reader, and there is nobody whom it could mislead.
HARMLESS_FORMS = [
    "VALUES (1)",
    "(SELECT 1)",
    "FROM read_markdown('**/*.md') SELECT content",
    "SELECT * FROM read_markdown('a.md', filename := 1)",
    "SELECT 0x1F",  # 0 AS x1F
    "SELECT 1 +/* a */ 1",
    "SELECT 1 +-- a\n 1",
    "SELECT 1 IN (1" + ",1" * 15_000 + ")",
    "SELECT " + "(" * 150 + "1" + ")" * 150,
    "SELECT " + "[" * 150 + "1" + "]" * 150,
    "SELECT 1 /* /* */ , (SELECT content FROM read_text('{file}')) -- */",  # one comment
]
# What is no SQL, which DuckDB says when it is to run it.
LEFT_TO_DUCKDB = [
    "SELECT * FROM read_markdown('**/*.md', union_by_name := true)",
    "SELECT read_markdown('a.md')",
    "SELECT `a`",
    "SELECT e'a\\' , (SELECT content FROM read_text('{file}')) --'",  # a string, divided by columns
]
ATTACKS = [*READING, *WRITING, *TELLING, *BROKEN]
REFUSED_BY_TREE = [each for each in ATTACKS if each not in (*HARMLESS_FORMS, *LEFT_TO_DUCKDB)]


class Ground:
    """A notebook with one note, and what lies outside of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "notebook"
        (self.root / "sub").mkdir(parents=True)
        (self.root / "a.md").write_text("---\ntitle: A\n---\n# A\n")
        self.file = folder / "canary.csv"
        self.file.write_text(f"content\n{SECRET}\n")
        self.new = folder / "new.db"
        self.notebook = Notebook(str(self.root), ".opennotes.json", {})

    def aim(self, attack: str) -> str:
        if attack in BROKEN:
            return attack
        places = {"file": self.file, "new": self.new, "folder": self.file.parent, "name": self.file.name}
        return attack.format(**places)

    def is_untouched(self) -> bool:
        return {path.name for path in self.file.parent.iterdir()} == {"notebook", "canary.csv"}


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path / "ground")


@pytest.fixture
def database() -> Database:
    return Database(600)


def refusal(work: Callable[[], object]) -> ToolError:
    with pytest.raises(ToolError) as caught:
        work()
    assert caught.value.code == "INVALID_SQL"
    assert caught.value.message.startswith("Invalid SQL query: ")
    return caught.value


def test_the_tree_refuses_every_attack(ground: Ground, database: Database):
    passed = []
    for attack in REFUSED_BY_TREE:
        try:
            database.judge(ground.aim(attack))
        except ToolError as error:
            if error.code == "INVALID_SQL" and SECRET not in str(error.facts()):
                continue
        passed.append(attack)
    assert passed == []
    assert len(REFUSED_BY_TREE) > 200
    assert ground.is_untouched()


def test_functions_that_are_listed_by_the_beginning_of_their_names_only_compute():
    with duckdb.connect() as connection:
        answer = connection.sql("SELECT function_name, function_type, has_side_effects FROM duckdb_functions()")
        found = answer.fetchall()
        del answer
    families = [each for each in found if each[0].startswith(FAMILIES)]
    assert len(families) > 100
    assert {kind for _, kind, _ in families} <= {"scalar", "aggregate", "macro"}
    assert not any(has_effects for _, _, has_effects in families)


@pytest.mark.slow
def test_the_locks_hold_where_the_tree_is_bypassed(ground: Ground):
    escaped = []
    for attack in (*READING, *WRITING):
        database, statement = Database(60), ground.aim(attack)
        shown = answer_of(lambda: database.run(Query(statement, ["**/*.md"]), ground.notebook.list_notes()))  # noqa: B023 - called before the loop goes on
        shown += answer_of(lambda: database._connection.execute(statement).fetchall())  # noqa: B023 - called before the loop goes on
        database._connection.close()
        if SECRET in shown or not ground.is_untouched():
            escaped.append(attack)
    assert escaped == []


def answer_of(work: Callable[[], object]) -> str:
    try:
        return str(work())
    except Exception as error:
        return f"{error} {error.facts() if isinstance(error, ToolError) else ''}"


@pytest.mark.parametrize("statement", HARMLESS_FORMS, ids=lambda statement: statement[:60])
def test_what_only_looks_like_an_attack_is_legal(statement: str, ground: Ground, database: Database):
    database.run(database.judge(ground.aim(statement)), ground.notebook.list_notes())
    assert SECRET not in str(database.fetch_rows(0, 10))
    assert database.total == 1


@pytest.mark.parametrize("statement", LEFT_TO_DUCKDB)
def test_what_is_no_sql_is_refused_when_it_is_run(statement: str, ground: Ground, database: Database):
    query = database.judge(ground.aim(statement))
    refusal(lambda: database.run(query, ground.notebook.list_notes()))


def test_a_database_that_is_not_locked_reads_and_writes_what_the_attacks_aim_at(ground: Ground):
    import duckdb

    with duckdb.connect() as connection:
        assert SECRET in str(connection.execute(ground.aim(READING[0])).fetchall())
        connection.execute(ground.aim(WRITING[3]))
    assert not ground.is_untouched()


def test_nothing_is_read_and_nothing_started_for_a_statement_that_is_refused(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
):
    for owner, name in ((Notebook, "list_notes"), (subprocess, "Popen")):
        monkeypatch.setattr(owner, name, lambda *arguments, **more: pytest.fail("something was read or started"))
    refusal(lambda: ask(ground.aim(READING[0]), ground.notebook, context("opennotes_search", seconds=30)))


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("", "the statement is empty"),
        ("DROP TABLE x", "a statement must be a SELECT, perhaps with WITH before it; DROP is none"),
        ("SELECT 1; SELECT 2", "a second statement is refused"),
        ("SELECT *\nFROM 'x.csv'", "no table 'x.csv'; read_markdown('**/*.md'), a subquery, the name of a WITH"),
        ("SELECT * FROM notes", "there is no table 'notes'"),
        ("SELECT * FROM read_text('x')", "read_text(...) is refused as a table"),
        ("SELECT getenv('HOME')", "getenv(...) is refused: it is not among the functions that compute"),
        ("SELECT * FROM read_markdown('../a.md')", "read_markdown('../a.md') leads out of the notebook"),
        ("SELECT * FROM read_markdown('/etc/*.md')", "read_markdown('/etc/*.md') leads out of the notebook"),
        ("SELECT * FROM read_markdown(concat('a', '.md'))", "read_markdown takes one pattern in single quotes"),
        ("SELECT * FROM read_markdown('" + "x" * 1001 + "')", "is longer than 1,000 characters"),
        ("SELECT '" + "x" * 100_000 + "'", "the statement is longer than 100,000 characters"),
        ("SELECT '\ud800'", "the statement holds a NUL character, or half of a surrogate pair"),
        ("SELECT $1", "parameters like ? and $1 are refused"),
        ("SELECT 'a", "Parser Error: unterminated"),
    ],
)
def test_a_refusal_says_what_is_refused_and_what_to_write_instead(statement: str, said: str, database: Database):
    assert said in refusal(lambda: database.judge(statement)).message


def test_a_pattern_that_leads_out_has_the_hint_that_helps(database: Database):
    statement = "SELECT * FROM read_markdown('../a.md')"
    assert refusal(lambda: database.judge(statement)).hint == "Use paths relative to notebook"


WORDS = """
select from where join with as union all except values table limit on using group order by lateral is not distinct for
window qualify fetch offset cross left natural asof positional recursive materialized unnest trim extract substring
replace range read_markdown include_filepath true a b 1 -- /* */ $$ :: := => -> '' "" e' '**/*.md' '{file}' "{file}"
read_text read_csv('{file}') x. (select ( ) [ ] { } ; , . : ' " $ ? * = - + < > \\ | # @ `
"""
PIECES = st.sampled_from([*WORDS.split(), " ", "\n", "\t", "\r", "\u00a0", "COPY (SELECT 1) TO '{new}'"])


HARMLESS = [
    "SELECT * FROM read_markdown('**/*.md') AS t WHERE content LIKE '%x%' ORDER BY file_path LIMIT 1 OFFSET 2",
    "SELECT a.x FROM ( VALUES (1) ) AS a(x) JOIN read_markdown('*.md') AS b ON a.x = 1 , ( SELECT 2 ) AS c",
    "WITH t AS ( SELECT 1 AS a ) , u AS ( SELECT * FROM t ) SELECT a FROM u UNION ALL SELECT 2 EXCEPT ( SELECT 3 )",
    "SELECT trim( BOTH 'a' FROM 'b' ) , 1 IS NOT DISTINCT FROM 2 , extract( year FROM now( ) ) FROM range( 3 ) AS r(n)",
    "SELECT quantile_cont( n , 0.5 ) OVER w FROM unnest( [1] ) WITH ORDINALITY AS t(n, o) WINDOW w AS ( ORDER BY n )",
]


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """An attack in which words are left out, doubled, swapped, or put in."""
    attack = draw(st.sampled_from([*READING, *WRITING, *HARMLESS]))
    words = attack.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split(" ")
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(words) - 1)) if words else 0
        what = draw(st.sampled_from(["put in", "leave out", "double", "swap", "replace"]))
        if what in ("put in", "replace"):
            words[place : place + (what == "replace")] = [draw(PIECES)]
        elif what == "leave out" and words:
            del words[place]
        elif words:
            other = draw(st.integers(0, len(words) - 1))
            words[place] = words[other] if what == "double" else words[place]
            if what == "swap":
                words[place], words[other] = words[other], words[place]
    return draw(st.sampled_from([" ", ""])).join(words) if draw(st.booleans()) else " ".join(words)


@pytest.fixture(scope="module")
def shared_ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("ground") / "ground")


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(mutation=mutations())
@example(mutation="SELECT * FROM read_markdown('**/*.md'), (SELECT 1)")
def test_no_mutation_of_an_attack_gets_out(mutation: str, shared_ground: Ground):
    """What passes is run in a database that could read everything, so that only the tree is in its way."""
    import duckdb

    statement = mutation.replace("{file}", str(shared_ground.file)).replace("{new}", str(shared_ground.new))
    statement = statement.replace("{name}", shared_ground.file.name).replace("{folder}", str(shared_ground.file.parent))
    with duckdb.connect(config={"threads": 1, "python_enable_replacements": False}) as connection:
        connection.execute(
            "CREATE MACRO read_markdown(p, include_filepath := true, filename := true) AS TABLE"
            " SELECT p AS file_path, '' AS content, MAP {'title': p} AS metadata"
        )
        try:
            shown = str(connection.execute(tree.judge(connection, statement).text).fetchmany(100))
        except (duckdb.Error, ToolError) as error:
            shown = str(error)
    assert SECRET not in shown, statement
    assert shared_ground.is_untouched(), statement
