"""What list, search and get cost on small and large notebooks, in starts of a bare interpreter, beside the CLI itself.

The CLI's rows need what scripts/install-opennotes builds; without it they are left out, and an empty program stands
where the tools look for the CLI, which these calls do not run.

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

from installation import ROOT, Installation
from measuring import Command, compare

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = ("opennotes_list", "opennotes_search", "opennotes_get")
BUILT = ROOT / ".tools" / "bin"
_WORDS = ("plan", "review", "budget", "alpha", "beta", "meeting", "draft", "travel", "garden", "invoice", "server")
_STATES = ("todo", "in-progress", "done")


class Row(NamedTuple):
    """One measured call on a notebook of `notes` notes."""

    name: str
    notes: int
    command: Command


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
    """Measure every row against the bare interpreter and print it as soon as it is known."""
    baseline = Command([installation.python, "-I", "-c", "pass"])
    if not as_json:
        print(f"{'call':44} {'notes':>7} {'cpu':>7} {'wall':>7}")
    for row in rows(folder, notebooks):
        ratio = compare(row.command, baseline, runs=runs)
        if as_json:
            print(json.dumps({"call": row.name, "notes": row.notes, "cpu": ratio.cpu, "wall": ratio.wall}))
        else:
            print(f"{row.name:44} {row.notes:7} {ratio.cpu:7.1f} {ratio.wall:7.1f}", flush=True)


def rows(folder: Path, notebooks: dict[int, Path]) -> Iterator[Row]:
    """Every call on every notebook, and the same by the CLI where it has been built."""
    environ = {"PATH": f"{programs(folder)}:/usr/bin:/bin", "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    for size, path in notebooks.items():
        for name, tool, arguments in calls():
            stdin = json.dumps({**arguments, "notebook": str(path)}).encode()
            link = folder / "links" / f"{tool.replace('_', '-')}-tool"
            yield Row(name, size, Command([link], stdin, environ))
        for program, words in by_the_cli():
            command = [str(BUILT / program), f"--notebook={path}", *words]
            yield Row(f"{program} {' '.join(words)}", size, Command(command, environ=environ))


def calls() -> Iterator[tuple[str, str, dict[str, object]]]:
    """Name, tool and arguments of each measured call."""
    yield "list, by modification", "opennotes_list", {}
    yield "list, by title", "opennotes_list", {"sortBy": "title"}
    yield "get", "opennotes_get", {"path": "folder-0/note-00000.md"}
    yield "search, a word", "opennotes_search", {"query": "invoice"}
    yield "search, fuzzy", "opennotes_search", {"query": "invocie", "fuzzy": True}
    yield "search, a filter", "opennotes_search", {"filters": {"and": ["data.status=todo"], "not": ["data.tag=beta"]}}
    yield "search, links", "opennotes_search", {"filters": {"and": ["links-to=folder-1/*.md"]}}
    statement = "SELECT metadata['status'] AS status, count(*) AS n FROM read_markdown('**/*.md') GROUP BY ALL"
    yield "search, SQL", "opennotes_search", {"sql": statement}


def by_the_cli() -> Iterator[tuple[str, list[str]]]:
    """What a CLI that has been built can do of the same; it has no `get`, and prints text instead of JSON."""
    for program in ("opennotes", "jot"):
        if (BUILT / program).exists():
            yield program, ["notes", "list"]
            yield program, ["notes", "search", "invoice"]
            yield program, ["notes", "search", "--fuzzy", "invocie"]


def programs(folder: Path) -> Path:
    """A folder with the CLI in it."""
    if (BUILT / "jot").exists() or (BUILT / "opennotes").exists():
        return BUILT
    path = folder / "programs"
    path.mkdir(exist_ok=True)
    (path / "opennotes").write_text("#!/bin/sh\n")
    (path / "opennotes").chmod(0o755)
    return path


def notebook(path: Path, size: int) -> Path:
    """A notebook of `size` notes of about a kilobyte, in folders of up to 500, with fields, tags and links."""
    path.mkdir()
    for config in (".opennotes.json", ".jot.json"):
        (path / config).write_text(json.dumps({"root": ".", "name": f"{size} notes"}))
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
