"""What the tests do while nothing is mutated: outcomes, seconds, and which of them execute a line in their process."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mutants import rooms
from mutants.runs import ROOT, Result, run_tests

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_TRACKED = ("host", "plugins", "tests", "conftest.py", "pyproject.toml")
_LIMIT_SECONDS = 3600.0


@dataclass
class Reference:
    """state: of the tree and the markers that it holds for. results: by test. lines: by source and line, tests.

    checked: tests that were run a second time, in the order and company in which mutants meet them.
    """

    state: str
    results: dict[str, Result] = field(default_factory=dict)
    lines: dict[str, dict[int, list[str]]] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)

    @property
    def failed(self) -> dict[str, str]:
        """The tests that fail though nothing is mutated, and say nothing of a mutant; with their last words."""
        return {test: result.message for test, result in self.results.items() if result.outcome == "failed"}

    def tests_of(self, source: str, lines: Iterable[int]) -> list[str]:
        """The tests that execute one of the lines of a source, quickest first; only those that passed."""
        by_line = self.lines.get(source, {})
        tests = {test for line in lines for test in by_line.get(line, ()) if self.results[test].outcome == "passed"}
        return self.quickest_first(tests)

    def check(self, results: Mapping[str, Result]) -> None:
        """Take in what tests did a second time; one that failed now counts as one that fails."""
        self.checked |= set(results)
        self.results.update({test: result for test, result in results.items() if result.outcome == "failed"})

    def quickest_first(self, tests: Iterable[str]) -> list[str]:
        """The same tests by their seconds, and by name where these are equal."""
        return sorted(tests, key=lambda test: (self.results[test].seconds, test))


def is_tree_clean() -> bool:
    """Whether sources and tests are as they were committed: a run that was killed may have left a mutant."""
    command = ["git", "status", "--porcelain", "--", *_TRACKED]
    return not subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout


def state(markers: str) -> str:
    """A digest of all that tests and sources are, and of the choice of tests."""
    command = ["git", "ls-files", "--stage", "--", *_TRACKED]
    files = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    return hashlib.sha256(files + markers.encode()).hexdigest()


def reference(path: Path, markers: str) -> Reference:
    """The one in the file where it still holds; else measured and written there, folder by folder."""
    now = state(markers)
    known = _read(path)
    if known is None or known.state != now:
        known = Reference(now)
    for folder, files in _by_folder(rooms.all_test_files(ROOT)).items():
        if not any(test.startswith(folder + "/") for test in known.results):
            _measure(known, folder, files, markers)
            write(path, known)
    return known


def _measure(known: Reference, folder: str, files: list[str], markers: str) -> None:
    if importlib.util.find_spec("coverage") is None:
        sys.exit(f"The package coverage is missing; have it with: {sys.executable} -m pip install coverage")
    print(f"reference: {folder}, {len(files)} files …", file=sys.stderr, flush=True)
    run = run_tests(files, None, limit=_LIMIT_SECONDS, markers=markers, with_lines=True)
    if not run.executed:
        sys.exit(f"The tests of {folder} did not run to their end: {run.output[-1000:]}")
    known.results.update(run.results)
    executed = json.loads(run.executed)
    names = executed["tests"]
    for file, by_line in executed["files"].items():
        source = Path(file).relative_to(ROOT).as_posix()
        lines = known.lines.setdefault(source, {})
        for line, places in by_line.items():
            lines.setdefault(int(line), []).extend(names[place] for place in places)
    failed = [test for test, result in run.results.items() if result.outcome == "failed"]
    print(f"reference: {folder}, {len(run.results)} tests, {run.seconds:.0f} s, failed: {failed}", file=sys.stderr)


def _by_folder(files: list[str]) -> dict[str, list[str]]:
    folders: dict[str, list[str]] = {}
    for file in files:
        folders.setdefault(file.rpartition("/")[0], []).append(file)
    return folders


def _read(path: Path) -> Reference | None:
    if not path.exists():
        return None
    stored = json.loads(path.read_text())
    names = stored["names"]
    lines = {
        source: {int(line): [names[place] for place in places] for line, places in by_line.items()}
        for source, by_line in stored["lines"].items()
    }
    results = {test: Result(*result) for test, result in stored["results"].items()}
    return Reference(stored["state"], results, lines, set(stored.get("checked", ())))


def write(path: Path, known: Reference) -> None:
    """Keep it for the next time."""
    names = list(known.results)
    places = {name: place for place, name in enumerate(names)}
    lines = {
        source: {line: [places[test] for test in tests] for line, tests in by_line.items()}
        for source, by_line in known.lines.items()
    }
    document = {"state": known.state, "results": known.results, "checked": sorted(known.checked), "names": names}
    path.write_text(json.dumps({**document, "lines": lines}))
