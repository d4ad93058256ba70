"""Runs of chosen tests in the tree: what each test did, how the run ended, and what was executed."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mutants import processes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parent.parent.parent
_PROGRAM = Path(__file__).with_name("selected_tests.py")
_NO_TESTS = 5  # the exit code of pytest
_OPTIONS = ("-q", "-p", "no:cacheprovider", "--hypothesis-seed=0", "--timeout=120")


class Result(NamedTuple):
    """What a test did: passed, failed or skipped; its last words; seconds on the wall, set-up included."""

    outcome: str
    message: str = ""
    seconds: float = 0.0
    has_started_process: bool = False


class Run(NamedTuple):
    """results: by test, in the order of the run. code: of pytest, None where the limit passed.

    current: the test that had begun and not ended, "" if there is none. lines: see selected_tests, where asked for.
    seconds: on the wall. output: the end of what pytest printed.
    """

    results: dict[str, Result]
    code: int | None
    current: str
    seconds: float
    output: str
    executed: str

    @property
    def has_failed(self) -> bool:
        """Whether pytest says that something is wrong."""
        return self.code not in {0, _NO_TESTS}

    @property
    def killer(self) -> tuple[str, str]:
        """The first test that failed and its last words; if there is none, how the run as a whole ended."""
        for test, result in self.results.items():
            if result.outcome == "failed":
                return test, result.message
        return self.current, f"pytest ended with {self.code}: {self.output[-200:]}"


def run_tests(
    files: Sequence[str],
    tests: Sequence[str] | None,
    *,
    limit: float,
    markers: str = "",
    options: Sequence[str] = (),
    with_lines: bool = False,
) -> Run:
    """Run tests of these files, in a folder of their own that is removed; limit: seconds."""
    folder = Path(tempfile.mkdtemp(prefix="mutant-"))
    try:
        orders = {
            "tests": None if tests is None else list(tests),
            "events": str(folder / "events"),
            "lines": str(folder / "lines") if with_lines else None,
        }
        (folder / "orders.json").write_text(json.dumps(orders))
        argv = [sys.executable, str(_PROGRAM), str(folder / "orders.json"), *_OPTIONS, f"--basetemp={folder / 't'}"]
        argv += ["-m", markers] if markers else []
        started = time.monotonic()
        code = processes.run(
            [*argv, *options, *files], folder=ROOT, output=folder / "output", mark=folder.name, limit=limit
        )
        return _read(folder, code, time.monotonic() - started)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read(folder: Path, code: int | None, seconds: float) -> Run:
    results, current = {}, ""
    for event in _events(folder / "events"):
        test = str(event.pop("test"))
        if event.pop("event") == "begin":
            current = test
        else:
            results[test], current = Result(**event), ""  # type: ignore[arg-type] # the keys of a report are its fields
    output = (folder / "output").read_text(errors="replace")[-2000:].strip()
    lines = folder / "lines"
    return Run(results, code, current, seconds, output, lines.read_text() if lines.exists() else "")


def _events(path: Path) -> Iterator[dict[str, object]]:
    if not path.exists():
        return
    for line in path.read_text().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return  # the last one, cut off by the end of the process
