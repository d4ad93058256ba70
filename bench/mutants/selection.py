"""Which tests are run for a mutant: those that execute its line, then those of its room that start processes."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from mutants import rooms
from mutants.runs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mutants.reference import Reference
    from mutants.sites import Mutant

MOST_FIRST = 60
FIRST_SECONDS = 12.0
_NAME_WEIGHT = 10.0


class Selection(NamedTuple):
    """first: the quickest that execute the line. then: more of these, and tests of the room, within the budget."""

    first: list[str]
    then: list[str]


def selection(reference: Reference, mutant: Mutant, budget: float) -> Selection:
    """The tests for a mutant, each phase file by file; budget: seconds that the second phase takes unmutated."""
    touching = _in_turn(_by(reference.tests_of(mutant.file, mutant.lines), lambda test: test.partition("[")[0]))
    first = _within(reference, touching, FIRST_SECONDS, MOST_FIRST)
    taken = set(first)
    more = _within(reference, (test for test in touching if test not in taken), budget / 2)
    taken |= set(more)
    left = budget - sum(reference.results[test].seconds for test in more)
    room = _within(reference, (test for test in _of_room(reference, mutant.file) if test not in taken), left)
    return Selection(_file_by_file(first), _file_by_file([*more, *room]))


def _of_room(reference: Reference, source: str) -> list[str]:
    """The tests of the room's files in which processes are started.

    All files have the same part of the time, but those that go by the name of the source have ten times as much.
    """
    by_file = _by(reference.results, lambda test: test.partition("::")[0])
    places: list[tuple[float, str]] = []
    for file in rooms.test_files(ROOT, source):
        tests = by_file.get(file, [])
        if any(reference.results[test].has_started_process for test in tests):
            weight = _NAME_WEIGHT if rooms.is_of_name(file, source) else 1.0
            places += [(seconds / weight, test) for seconds, test in _ends(reference, tests)]
    return [test for _, test in sorted(places)]


def _ends(reference: Reference, tests: list[str]) -> Iterator[tuple[float, str]]:
    """The tests of a file that passed, quickest first, with the seconds until each has ended."""
    seconds = 0.0
    for test in reference.quickest_first(tests):
        if reference.results[test].outcome == "passed":
            seconds += reference.results[test].seconds
            yield seconds, test


def _within(reference: Reference, tests: Iterable[str], seconds: float, most: int = 1000) -> list[str]:
    """As many of the tests as take no more than the seconds together, in their order."""
    kept: list[str] = []
    for test in tests:
        needed = reference.results[test].seconds
        if needed <= seconds and len(kept) < most:
            kept.append(test)
            seconds -= needed
    return kept


def _by(tests: Iterable[str], key: Callable[[str], str]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for test in tests:
        groups.setdefault(key(test), []).append(test)
    return groups


def _in_turn(groups: dict[str, list[str]]) -> list[str]:
    """The first of each group, then the second of each."""
    rounds = zip_longest(*groups.values())
    return [test for test in chain.from_iterable(rounds) if test is not None]


def _file_by_file(tests: list[str]) -> list[str]:
    """The same, with the tests of a file side by side, since they may share what takes long to make."""
    return list(chain.from_iterable(_by(tests, lambda test: test.partition("::")[0]).values()))
