"""Mutants put to the tests, one at a time, in the tree itself; the file is as it was afterwards."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from mutants.runs import ROOT, Result, Run, run_tests
from mutants.selection import selection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from mutants.reference import Reference
    from mutants.sites import Mutant

Outcome = Literal["killed", "survived", "timed out"]

_CHECK_SECONDS = 3600.0
_START_SECONDS = 25.0  # to start pytest and to collect, with room for a busy machine
_TEST_SECONDS = 15.0
_TIMED_OUT = "from pytest-timeout"
_PATIENCE = 3  # times what the tests take unmutated


class Verdict(NamedTuple):
    """outcome: of a phase. test: that killed the mutant, or hung. message: its last words."""

    outcome: Outcome
    test: str = ""
    message: str = ""


@dataclass
class Trial:
    """A mutant and what became of it. phase: 1 or 2, of the kill; 0 where it survived. tests: that were run for it.

    seconds: on the wall. unsteady: tests that failed once, and passed when they were run again on the same mutant.
    """

    id: str
    file: str
    line: int
    column: int
    function: str
    operator: str
    old: str
    new: str
    outcome: Outcome
    phase: int
    seconds: float
    tests: int
    test: str
    message: str
    unsteady: list[str]


class Court:
    """Tries mutants. markers: of the tests that count, for pytest -m. budget: seconds of tests in the second phase."""

    def __init__(self, reference: Reference, markers: str, budget: float) -> None:
        self.reference = reference
        self._markers = markers
        self._budget = budget
        self._unsteady: list[str] = []

    def check(self, mutants: Iterable[Mutant]) -> bool:
        """Run what the mutants will meet on the source as it is; whether there was anything left to check."""
        wanted: dict[str, None] = {}
        for mutant in mutants:
            for phase in selection(self.reference, mutant, self._budget):
                wanted.update(dict.fromkeys(phase))
        tests = [test for test in wanted if test not in self.reference.checked]
        if not tests:
            return False
        print(f"check: {len(tests)} tests without a mutant …", file=sys.stderr, flush=True)
        run = self._run(_sorted_by_file(tests), _CHECK_SECONDS)
        if run.code is None:
            sys.exit(f"The tests hang without a mutant: {run.current}")
        if not run.results:
            sys.exit(f"No test ran: {run.output}")
        missing = {test: Result("failed", "not there a second time") for test in tests if test not in run.results}
        self.reference.check({**run.results, **missing})
        return True

    def try_mutant(self, mutant: Mutant) -> Trial:
        """Apply it, run the tests that may see it until one fails, restore the source."""
        started, self._unsteady, tests, phase = time.monotonic(), [], 0, 0
        verdict = Verdict("survived")
        with _applied(ROOT / mutant.file, mutant):
            for number, phase_tests in enumerate(selection(self.reference, mutant, self._budget), 1):
                if phase_tests and verdict.outcome == "survived":
                    verdict, tests = self._hear(phase_tests), tests + len(phase_tests)
                    phase = 0 if verdict.outcome == "survived" else number
        return _trial(mutant, verdict, phase, time.monotonic() - started, tests, self._unsteady)

    def _hear(self, tests: list[str]) -> Verdict:
        """What the tests say of the mutant that is in the tree. A test that fails has to fail again, on its own."""
        while tests:
            run = self._run(tests, self._limit(tests), "-x", f"--timeout={self._test_limit(tests):.0f}")
            if run.code is None:
                return Verdict("timed out", run.current, "the limit passed")
            if not run.has_failed:
                break
            test, message = run.killer
            if _TIMED_OUT in message:
                return Verdict("timed out", test, message)
            if test not in tests or self._is_confirmed(test):
                return Verdict("killed", test, message)
            self._unsteady.append(test)
            tests = [other for other in tests if other != test]
        return Verdict("survived")

    def _is_confirmed(self, test: str) -> bool:
        run = self._run([test], self._limit([test]))
        return run.code is None or run.has_failed

    def _run(self, tests: list[str], limit: float, *options: str) -> Run:
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        return run_tests(files, tests, limit=limit, markers=self._markers, options=options)

    def _limit(self, tests: list[str]) -> float:
        return _START_SECONDS + _PATIENCE * sum(self.reference.results[test].seconds for test in tests)

    def _test_limit(self, tests: list[str]) -> float:
        """Seconds for one test, fixtures included, unless the test has a limit of its own."""
        return _TEST_SECONDS + _PATIENCE * max(self.reference.results[test].seconds for test in tests)


@contextmanager
def _applied(path: Path, mutant: Mutant) -> Iterator[None]:
    """The mutant in its file. What Python compiled is removed, since it is known by size and second alone."""
    data, times = path.read_bytes(), path.stat()
    compiled = ROOT / importlib.util.cache_from_source(str(path))
    try:
        path.write_bytes(mutant.applied(data))
        compiled.unlink(missing_ok=True)
        yield
    finally:
        path.write_bytes(data)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        compiled.unlink(missing_ok=True)


def _sorted_by_file(tests: list[str]) -> list[str]:
    files = {test: test.partition("::")[0] for test in tests}
    order = {file: place for place, file in enumerate(dict.fromkeys(files.values()))}
    return sorted(tests, key=lambda test: order[files[test]])


def _trial(mutant: Mutant, verdict: Verdict, phase: int, seconds: float, tests: int, unsteady: list[str]) -> Trial:
    return Trial(
        id=mutant.id,
        file=mutant.file,
        line=mutant.line,
        column=mutant.column,
        function=mutant.function,
        operator=mutant.operator,
        old=mutant.old,
        new=mutant.new,
        outcome=verdict.outcome,
        phase=phase,
        seconds=round(seconds, 1),
        tests=tests,
        test=verdict.test,
        message=verdict.message,
        unsteady=unsteady,
    )
