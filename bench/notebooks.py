"""What list, search, get and views cost on small and large notebooks, in starts of a bare interpreter and in seconds.

Each row also has what the real CLIs take for the same, in seconds: one run, none where a smaller notebook has
taken ten seconds. They need what scripts/install-opennotes builds; without it an empty program stands where the tools
look for the CLI, which these calls do not run.

Usage: python bench/notebooks.py [--runs N] [--sizes 100,1000,10000] [--json]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from installations.installation import ROOT, Installation
from measuring import Command, compare, run

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = ("opennotes_list", "opennotes_search", "opennotes_get", "opennotes_views")
# The older one with a macro in place of the extension that it downloads for each query.
BUILT = {"opennotes": ROOT / ".tools/bin/opennotes-offline", "jot": ROOT / ".tools/bin/jot"}
MAX_SECONDS = 10.0
_WORDS = ("plan", "review", "budget", "alpha", "beta", "meeting", "draft", "travel", "garden", "invoice", "server")
_STATES = ("todo", "in-progress", "done")
_TODO = {"logic": "AND", "field": "metadata->>'status'", "operator": "=", "value": "todo"}
_VIEWS: dict[str, object] = {
    "todo": {"conditions": [_TODO], "order_by": "(metadata->>'priority')::INTEGER DESC", "limit": 50},
    "todo-dsl": "status:todo | sort:title:desc limit:50",
}


class Call(NamedTuple):
    """A call of a tool. words: what is asked of the CLIs for the same, by program; those that cannot are left out."""

    name: str
    tool: str
    arguments: dict[str, object]
    words: dict[str, list[str]]


def main() -> None:
    """Install, make the notebooks, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--sizes", default="100,1000,10000")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        installation = Installation(folder / "environment")
        installation.install(f"{ROOT / 'host'}", f"{ROOT / 'plugins' / 'opennotes'}")
        ferrule = [str(installation.scripts / "ferrule"), "link", *TOOLS, "--to", str(folder / "links")]
        subprocess.run(ferrule, check=True, stdout=subprocess.DEVNULL, stderr=sys.stderr)
        notebooks = {size: notebook(folder / f"notes-{size}", size) for size in sizes}
        report(installation, folder, notebooks, options.runs, as_json=options.json)


def report(installation: Installation, folder: Path, notebooks: dict[int, Path], runs: int, *, as_json: bool) -> None:
    """Measure every call on every notebook and print it as soon as it is known."""
    baseline = Command([installation.python, "-I", "-c", "pass"])
    environ = {"PATH": f"{programs(folder)}:/usr/bin:/bin", "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    if not as_json:
        print(
            f"{'call':28} {'notes':>7} {'cpu':>7} {'wall':>7} {'seconds':>9} "
            + "".join(f"{name:>11}" for name in BUILT)
        )
    too_slow: set[tuple[str, str]] = set()
    for size, path in notebooks.items():
        for call in calls():
            stdin = json.dumps({**call.arguments, "notebook": str(path)}).encode()
            command = Command([folder / "links" / f"{call.tool.replace('_', '-')}-tool"], stdin, environ)
            ratio, seconds = compare(command, baseline, runs=runs), run(command).wall
            peers = {name: by_the_cli(name, call, path, environ, too_slow) for name in BUILT}
            if as_json:
                row = {"call": call.name, "notes": size, "cpu": ratio.cpu, "wall": ratio.wall, "seconds": seconds}
                print(json.dumps(row | peers))
                continue
            told = "".join(f"{'—' if taken is None else f'{taken:.2f}':>11}" for taken in peers.values())
            print(f"{call.name:28} {size:7} {ratio.cpu:7.1f} {ratio.wall:7.1f} {seconds:9.2f} {told}", flush=True)


def calls() -> Iterator[Call]:
    """Each measured call. The CLIs have no `get` and no order, and print text; jot has neither SQL nor links."""
    everything = ["notes", "list"]
    yield Call("list, by modification", "opennotes_list", {}, dict.fromkeys(BUILT, everything))
    yield Call("list, by title", "opennotes_list", {"sortBy": "title"}, {})
    yield Call("get", "opennotes_get", {"path": "folder-0/note-00000.md"}, {})
    word = ["notes", "search", "invoice"]
    yield Call("search, a word", "opennotes_search", {"query": "invoice"}, dict.fromkeys(BUILT, word))
    fuzzy = ["notes", "search", "--fuzzy", "invocie"]
    arguments: dict[str, object] = {"query": "invocie", "fuzzy": True}
    yield Call("search, fuzzy", "opennotes_search", arguments, dict.fromkeys(BUILT, fuzzy))
    arguments = {"filters": {"and": ["data.status=todo"], "not": ["data.tag=beta"]}}
    filters = ["notes", "search", "query", "--and=data.status=todo", "--not=data.tag=beta"]
    yield Call("search, a filter", "opennotes_search", arguments, dict.fromkeys(BUILT, filters))
    links = ["notes", "search", "query", "--and=links-to=folder-1/*.md"]
    arguments = {"filters": {"and": ["links-to=folder-1/*.md"]}}
    yield Call("search, links", "opennotes_search", arguments, {"opennotes": links})
    statement = "SELECT metadata['status'] AS status, count(*) AS n FROM read_markdown('**/*.md') GROUP BY ALL"
    sql = ["notes", "search", "--sql", statement]
    yield Call("search, SQL", "opennotes_search", {"sql": statement}, {"opennotes": sql})
    view = ["notes", "view", "todo", "--format=json"]
    yield Call("view, conditions", "opennotes_views", {"view": "todo"}, {"opennotes": view})
    yield Call(
        "view, DSL", "opennotes_views", {"view": "todo-dsl"}, {"jot": ["notes", "view", "todo-dsl", "--format=json"]}
    )


def by_the_cli(
    name: str, call: Call, path: Path, environ: dict[str, str], too_slow: set[tuple[str, str]]
) -> float | None:
    """Seconds that the CLI takes for the same; None where it cannot, is not built, or took too long for fewer notes."""
    program = BUILT[name]
    if name not in call.words or not program.exists() or (name, call.name) in too_slow:
        return None
    taken = run(Command([program, f"--notebook={path}", *call.words[name]], environ=environ)).wall
    if taken > MAX_SECONDS:
        too_slow.add((name, call.name))
    return taken


def programs(folder: Path) -> Path:
    """A folder with a program in it that the tools take for the CLI."""
    path = folder / "programs"
    path.mkdir(exist_ok=True)
    (path / "opennotes").write_text("#!/bin/sh\n")
    (path / "opennotes").chmod(0o755)
    return path


def notebook(path: Path, size: int) -> Path:
    """A notebook of `size` notes of about a kilobyte, in folders of up to 500, with fields, tags and links."""
    path.mkdir()
    views = {name: {"name": name, "query": query} for name, query in _VIEWS.items()}
    for config in (".opennotes.json", ".jot.json"):
        (path / config).write_text(json.dumps({"root": ".", "name": f"{size} notes", "views": views}))
    for number in range(size):
        file = path / f"folder-{number // 500}" / f"note-{number:05}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(note(number, size))
    return path


def note(number: int, size: int) -> str:
    """The text of one note; the same number has the same text each time."""
    words = [_WORDS[(number * 7 + index * index) % len(_WORDS)] for index in range(120)]
    other = (number * 31 + 7) % size
    lines = [
        "---",
        f"title: Note {number} about {words[0]}",
        f"tags: [{words[1]}, {words[2]}]",
        f"status: {_STATES[number % 3]}",
        f"priority: {number % 5}",
        f"created: 2026-01-{number % 28 + 1:02}T10:00:00Z",
        "---",
        "",
        f"# Note {number}",
        "",
        f"See [the other](folder-{other // 500}/note-{other:05}.md).",
        "",
        *(" ".join(words[start : start + 12]) for start in range(0, len(words), 12)),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
