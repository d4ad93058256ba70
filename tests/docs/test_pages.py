"""The pages of the documentation: links and anchors lead somewhere, every block is what its language says."""

from __future__ import annotations

import ast
import functools
import json
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PATTERNS = ("*.md", "changelog.d/README.md", "host/README.md", "docs/**/*.md", "plugins/*/README.md")
PAGES = sorted(page for pattern in PATTERNS for page in ROOT.glob(pattern) if page.name != "CHANGELOG.md")
FENCE = re.compile(r"^( *)(`{3,})(\w*)\n(.*?)^\1\2$", re.MULTILINE | re.DOTALL)  # in a list, too
LINK = re.compile(r"\]\((?!https?://)([^)\s]+)\)")
LANGUAGES = {"console", "html", "json", "markdown", "mermaid", "python", "sh", "sql", "text", "toml"}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@functools.cache
def fences(page: Path) -> list[tuple[str, str]]:
    """Language and text of each fenced block."""
    return [(language, textwrap.dedent(text)) for _, _, language, text in FENCE.findall(page.read_text())]


def blocks(*languages: str) -> list[object]:
    return [
        pytest.param(text, id=f"{name(page)}-{number}")
        for page in PAGES
        for number, (language, text) in enumerate(fences(page), 1)
        if language in languages
    ]


@functools.cache
def prose(page: Path) -> str:
    """The text of a page without its blocks."""
    return re.sub(r"^(    .*\n)+", "", FENCE.sub("", page.read_text()), flags=re.MULTILINE)


# ---- links


@functools.cache
def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


def is_there(target: str, page: Path) -> bool:
    """Whether what a link of a page names is a file, with that anchor."""
    file, _, anchor = target.partition("#")
    there = (page.parent / file).resolve() if file else page
    return there.exists() and (not anchor or anchor in anchors(there))


def test_links_lead_to_files_and_anchors() -> None:
    links = [(name(page), target, is_there(target, page)) for page in PAGES for target in LINK.findall(prose(page))]
    assert links
    assert [(page, target) for page, target, is_good in links if not is_good] == []


def test_pages_that_the_source_names_exist() -> None:
    folders = ("host/src", "host/tests", "plugins/*/src", "bench/[!.]*", "demo", "scripts", "tests")
    sources = [
        path
        for pattern in ("bench/*", *(f"{folder}/**/*" for folder in folders))
        for path in ROOT.glob(pattern)
        if path.suffix in ("", ".py") and "/." not in str(path)
    ]
    texts = [path.read_text(errors="replace") for path in sources if path.is_file() and path != Path(__file__)]
    named = {one for text in texts for one in re.findall(r"\bdocs/[\w./-]+\.(?:md|conf|svg|png)\b", text)}
    assert {one for one in named if not (ROOT / one).exists()} == set()


def test_every_page_is_in_the_index() -> None:
    index = DOCS / "README.md"
    linked = {(DOCS / target.partition("#")[0]).resolve() for target in LINK.findall(index.read_text())}
    pages = {page for page in DOCS.glob("**/*.md") if page.parent.name != "decisions"} - {index}
    assert pages - linked == set()


def test_every_page_is_in_a_folder_for_its_purpose() -> None:
    assert {page.name for page in DOCS.glob("*.md")} == {"README.md", "benchmarks.md"}
    folders = {folder.name for folder in DOCS.iterdir() if folder.is_dir()}
    assert folders == {"tutorial", "how-to", "reference", "explanation", "decisions", "pictures"}


def test_decisions_are_numbered_dated_and_listed() -> None:
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    index = (DOCS / "decisions" / "README.md").read_text()
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        title, date, figure = re.match(
            r"# \d+\. (.+)\n\n- Date: (\d{4}-\d\d-\d\d)\n- Deciding figure: (.+)\n", page.read_text()
        ).groups()  # type: ignore[union-attr] # a page of another shape fails here
        assert f"| [{page.name[:4]}]({page.name}) | {title} | {date} |" in index
        assert re.search(r"\d|one|two|three|four|five", figure)


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


# ---- blocks


def test_every_block_is_closed_and_names_a_language() -> None:
    named = {(name(page), language) for page in PAGES for language, _ in fences(page)}
    assert [one for one in sorted(named) if one[1] not in LANGUAGES] == []
    open_block = re.compile(r"^ *```", re.MULTILINE)
    assert [name(page) for page in PAGES if open_block.search(FENCE.sub("", page.read_text()))] == []


@pytest.mark.parametrize("text", blocks("json"))
def test_json_is_json(text: str) -> None:
    json.loads(text)


@pytest.mark.parametrize("text", blocks("toml"))
def test_toml_is_toml(text: str) -> None:
    tomllib.loads(text)


@pytest.mark.parametrize("text", blocks("python"))
def test_python_is_python(text: str) -> None:
    ast.parse(text)


@pytest.mark.parametrize("text", blocks("sql"))
def test_sql_is_sql(text: str) -> None:
    assert duckdb.extract_statements(text)


# ---- mermaid: enough of its grammar for what the pages draw

ARROW = re.compile(r"^(\w+)(?:--?>>|--?x|-->>)(\w+): \S")
PARTICIPANT = re.compile(r"^participant (\w+)(?: as .+)?$")
NOTE = re.compile(r"^Note over (\w+)(?:,(\w+))?: \S")
NODE = r'\w+(?:\["[^"]+"\]|\[[^\]"]+\])?'
EDGE = re.compile(rf"^{NODE} (?:-->|-- [^-]+ -->|-\. [^.]+ \.->) {NODE}$")
RESERVED = {"call", "class", "click", "default", "end", "graph", "href", "linkStyle", "style", "subgraph"}
TASK = re.compile(r"^[^:]+:(\w+), (0|after \w+), \d+s$")


def check_sequence(lines: list[str]) -> None:
    declared = {match[1] for line in lines if (match := PARTICIPANT.match(line))}
    for line in lines:
        match = ARROW.match(line) or NOTE.match(line)
        assert match or PARTICIPANT.match(line), line
        assert {one for one in match.groups() if one} <= declared if match else True, line


def check_graph(lines: list[str]) -> None:
    for line in lines:
        assert EDGE.match(line), line
        nodes = {line.split("[")[0].split(" ")[0], re.split(r"-->|\.->", line)[-1].split("[")[0].strip()}
        assert not nodes & RESERVED, line


def check_gantt(lines: list[str]) -> None:
    assert lines[1:3] == ["dateFormat X", "axisFormat %s"]
    known = {"0"}
    for line in lines[3:]:
        if not line.startswith("section "):
            name, start = TASK.match(line).groups()  # type: ignore[union-attr] # a line of another shape fails here
            assert start.removeprefix("after ") in known, line
            known.add(name)


KINDS = {"sequenceDiagram": check_sequence, "graph TD": check_graph, "gantt": check_gantt}


@pytest.mark.parametrize("text", blocks("mermaid"))
def test_mermaid_is_of_a_known_shape(text: str) -> None:
    kind, *lines = [line.strip() for line in text.splitlines()]
    KINDS[kind](lines)


# ---- commands: they exist, and so do their options

REFERENCE = (DOCS / "reference" / "commands.md").read_text()
HELP = dict(re.findall(r"^## (ferrule[^\n]*)\n\n```text\n(.*?)^```$", REFERENCE, re.MULTILINE | re.DOTALL))
TARGETS = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
CLIENTS = {"claude", "codex", "npx"}  # which tests/serve/test_clients.py runs
PROGRAMS = {
    "cp",
    "docker",
    "install",
    "systemctl",
    ".",
    "cd",
    "chmod",
    "curl",
    "echo",
    "export",
    "git",
    "go",
    "kill",
    "mv",
    "mypy",
    "openssl",
    "pip",
    "pipx",
    "pytest",
    "ruff",
    "twine",
    "unset",
    "uv",
}
PYTHON_MODULES = {"build", "twine", "venv"}
OF_THE_READER = {"../tide_service.py"}  # programs that a tutorial has its reader write
EXAMPLES = {"greet"}  # a subcommand that the pages show how to write


def commands(page: Path) -> Iterator[str]:
    """Each command line of the blocks in sh and console, and of indented ones."""
    for language, text in fences(page):
        for line in text.splitlines() if language in ("sh", "console") else ():
            if language == "sh" or line.startswith("$ "):
                yield line.removeprefix("$ ")
    for line in re.findall(r"^    (\$ .*|(?:pip|ferrule|[A-Z_]+=\S+ ferrule) .*)$", page.read_text(), re.MULTILINE):
        yield line.removeprefix("$ ")


def words(line: str) -> Iterator[list[str]]:
    """The words of each simple command of a line, without its variables and redirections."""
    lexer = shlex.shlex(line.replace("2>", ">"), posix=True, punctuation_chars="|;&<>()")
    lexer.whitespace_split = True
    simple: list[str] = []
    for word in [*lexer, ";"]:
        if word in ("|", ";", "&", "&&", ";;", "(", ")", "<", ">"):
            while simple and re.match(r"[A-Z_]+=", simple[0]):
                simple.pop(0)
            if simple:
                yield simple
            simple = [""] if word in ("<", ">") else []
        else:
            simple.append(word)


def check_ferrule(arguments: list[str]) -> None:
    words = [word for word in arguments if not word.startswith("-")]
    if words and words[0] in EXAMPLES:
        return
    command = max((one for one in HELP if ["ferrule", *words][: len(one.split())] == one.split()), key=len)
    assert command != "ferrule" or not words, f"no such command: ferrule {words[0]}"
    for word in arguments:
        assert not word.startswith("--") or re.search(rf"{word}\b", HELP[command]), f"{command} has no {word}"


def check_make(arguments: list[str]) -> None:
    for word in arguments:
        assert word in TARGETS or re.match(r"(DOCUMENTATION|PYTHON|REPOSITORY|TESTS|TIER|VERSION)=\S", word), (
            f"make has no {word}"
        )


def check_python(arguments: list[str]) -> None:
    if arguments[0] == "-m":
        assert arguments[1] in PYTHON_MODULES
        return
    if arguments[0] in OF_THE_READER:
        return
    source = (ROOT / arguments[0]).read_text()
    for word in arguments[1:]:
        assert not word.startswith("--") or f'"{word}"' in source, f"{arguments[0]} has no {word}"


def check(simple: list[str]) -> None:
    program, *arguments = simple
    checks = {"ferrule": check_ferrule, "make": check_make, "python": check_python, "python3": check_python}
    program = program.removeprefix("../fresh/bin/").removeprefix("/opt/ferrule/bin/")  # environments of a reader
    if program in checks:
        checks[program](arguments)
    elif program == "towncrier":
        assert set(arguments) <= {"build", "--draft"}
    elif program and not re.fullmatch(r"(?:.*/)?[a-z-]+-tool", program):
        assert program in PROGRAMS | CLIENTS or (ROOT / program).exists(), f"no such program: {program}"


@pytest.mark.parametrize("page", [page for page in PAGES if any(commands(page))], ids=name)
def test_commands_and_their_options_exist(page: Path) -> None:
    for line in commands(page):
        for simple in words(line):
            check(simple)


def test_the_check_of_commands_finds_what_does_not_exist() -> None:
    for wrong in ("ferrule lst", "ferrule run --fast x", "make tset", "python bench/none.py", "frrule list"):
        with pytest.raises((AssertionError, FileNotFoundError)):
            check(next(words(wrong)))


def test_every_bench_is_on_the_page_of_benchmarks() -> None:
    page = (DOCS / "benchmarks.md").read_text()
    programs = {
        path.name
        for path in (ROOT / "bench").glob("*.py")
        if "\nUsage: python bench/" in path.read_text()
        and not re.search(r"Usage: python bench/\S+ NAME", path.read_text())
    }
    assert {one for one in programs if one not in page} == set()
    assert {one for one in set(re.findall(r"bench/(\w+\.py)", page)) if not (ROOT / "bench" / one).exists()} == set()


def test_the_table_of_packages_is_that_of_the_source() -> None:
    table = (DOCS / "explanation" / "architecture.md").read_text().split("| room | content |")[1].split("\n\n")[0]
    listed = {one for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for one in re.findall(r"`(\w+)`", row)}
    host = ROOT / "host/src/ferrule"
    rooms = {path.stem for path in host.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert listed == rooms - {"__init__", "_version"}


# ---- language

TURNS = [
    "whoever",
    "what is what",
    "a person",
    "the person",
    "told so",
    "is told",
    "are told",
    "nobody",
    "somebody",
    "by the same terms",
    "as it comes",
    "as they come",
    "meanwhile",
    "beside",
]


# Sentences of these pages come from the source.
OF_THE_SOURCE = {"commands.md", "python-api.md", "schema-rules.md"}


def test_pages_are_in_plain_english() -> None:
    pages = [one for one in PAGES if one.name not in OF_THE_SOURCE]
    texts = {name(one): " ".join(prose(one).split()).lower() for one in pages}
    banned = [re.compile(rf"\b{turn}\b") for turn in TURNS]
    assert [(page, one.pattern) for page, text in texts.items() for one in banned if one.search(text)] == []
