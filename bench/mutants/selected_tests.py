"""A run of pytest that keeps to a list of tests and writes down what each did; started as a program by `runs`.

Usage: python selected_tests.py ORDERS.json [argument of pytest ...]

The orders are an object: `tests` (names in the order to run them, or null for all), `events` (the file that gets a line
of JSON for each event) and `lines` (null, or the file that gets what each test executed, for which coverage is needed).
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

SOURCES = ("host/src/*", "plugins/*/src/*")
_STARTS = frozenset({"os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen"})


class Data(Protocol):
    """What was executed, as the package coverage has it."""

    def measured_files(self) -> Iterable[str]:
        """Paths."""

    def contexts_by_lineno(self, filename: str) -> dict[int, list[str]]:
        """The names of the tests that executed a line, by its number."""


class Coverage(Protocol):
    """The part of the package coverage that is used here."""

    def start(self) -> None:
        """Begin to note lines."""

    def stop(self) -> None:
        """End it."""

    def switch_context(self, new_context: str) -> None:
        """Say which test the lines belong to from now on."""

    def get_data(self) -> Data:
        """All that was noted."""


class Recorder:
    """A plugin of pytest: selects, and writes an event for each test that begins and for each that ends."""

    def __init__(self, tests: list[str] | None, events: Path, coverage: Coverage | None) -> None:
        self._wanted = None if tests is None else {name: place for place, name in enumerate(tests)}
        self._events = events.open("a")
        self._coverage = coverage
        self._has_started_process = False
        self._outcome, self._message, self._seconds = "passed", "", 0.0
        sys.addaudithook(self._hear)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the wanted tests, in the order in which they are wanted."""
        wanted = self._wanted
        if wanted is None:
            return
        dropped = [item for item in items if item.nodeid not in wanted]
        items[:] = sorted((item for item in items if item.nodeid in wanted), key=lambda item: wanted[item.nodeid])
        config.hook.pytest_deselected(items=dropped)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Write that a test begins, and when it has ended how it did."""
        self._outcome, self._message, self._seconds, self._has_started_process = "passed", "", 0.0, False
        self._write(event="begin", test=item.nodeid)
        if self._coverage:
            self._coverage.switch_context(item.nodeid)
        try:
            return (yield)
        finally:
            if self._coverage:
                self._coverage.switch_context("")
            self._write_end(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase of a test to what is known of it."""
        self._seconds += report.duration
        if report.outcome != "passed" and self._outcome != "failed":
            self._outcome = report.outcome
            self._message = _last_words(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write which file could not be collected."""
        if report.failed:
            self._write(event="end", test=report.nodeid, outcome="failed", message=_last_words(report))

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _STARTS:
            self._has_started_process = True

    def _write_end(self, test: str) -> None:
        self._write(
            event="end",
            test=test,
            outcome=self._outcome,
            message=self._message,
            seconds=round(self._seconds, 4),
            has_started_process=self._has_started_process,
        )

    def _write(self, **event: str | float | bool) -> None:
        self._events.write(json.dumps(event) + "\n")
        self._events.flush()


def main() -> int:
    """Run pytest by the orders; its exit code."""
    sys.path.remove(str(Path(__file__).resolve().parent))  # the tests have modules of the same names
    orders = json.loads(Path(sys.argv[1]).read_text())
    coverage = _new_coverage() if orders["lines"] else None
    if coverage:
        coverage.start()
    code = pytest.main(sys.argv[2:], plugins=[Recorder(orders["tests"], Path(orders["events"]), coverage)])
    if coverage:
        coverage.stop()
        _write_lines(coverage.get_data(), Path(orders["lines"]))
    return int(code)


def _new_coverage() -> Coverage:
    package = importlib.import_module("coverage")
    return cast("Coverage", package.Coverage(data_file=None, config_file=False, include=list(SOURCES), messages=False))


def _write_lines(data: Data, path: Path) -> None:
    """`tests`: names; `files`: by path and line number, the places in `tests` of those that executed the line."""
    places: dict[str, int] = {}
    files: dict[str, dict[int, list[int]]] = {}
    for file in data.measured_files():
        contexts = data.contexts_by_lineno(file)
        files[file] = {
            line: sorted({places.setdefault(test, len(places)) for test in tests if test})
            for line, tests in contexts.items()
        }
    path.write_text(json.dumps({"tests": list(places), "files": files}))


def _last_words(report: pytest.TestReport | pytest.CollectReport) -> str:
    lines = [line for line in report.longreprtext.splitlines() if line.startswith("E ")]
    return (lines[-1][1:] if lines else report.longreprtext[-200:]).strip()[:200]


if __name__ == "__main__":
    sys.exit(main())
